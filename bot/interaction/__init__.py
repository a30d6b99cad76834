"""Shared by listeners: authentication, forms, modals and error sentences."""
