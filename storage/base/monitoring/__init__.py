"""What a process counts and times in memory, for `/metrics`."""
