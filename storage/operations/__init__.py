"""The operator's commands, the import of people, the demo organisation, the deletion of old rows.

``commands`` builds the command line; ``console`` has what the commands share.
"""
