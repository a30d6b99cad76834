"""What people type after the command, other than leave that is understood."""
