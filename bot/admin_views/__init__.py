"""The modals in which admins change settings, as Block Kit."""
