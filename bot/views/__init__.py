"""Messages, modals and Home as Block Kit. Nothing in here reads a database or calls Slack."""
