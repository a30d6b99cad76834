"""Messages as Block Kit: cards, notifications, responses to commands, digests and reminders."""
