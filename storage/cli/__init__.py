"""The operator's commands, the demo organisation and the deletion of old rows.

``commands`` builds the command line; ``console`` has what the commands share.
"""
