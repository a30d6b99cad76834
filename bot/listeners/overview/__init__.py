"""What people look at: the Home tab, and the calendar of who is off."""
