"""Forms about approved leave beside the request form."""
