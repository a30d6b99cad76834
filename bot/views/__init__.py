"""The Home tab, the request form and other modals, as Block Kit; the installation's web pages."""
