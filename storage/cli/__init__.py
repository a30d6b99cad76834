"""The operator's commands, the demo organisation and the deletion of old rows."""
