"""The listeners of the modals in which admins change settings: a module for each."""
