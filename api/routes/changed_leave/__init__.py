"""Routes below `/leave-requests/{id}` that change approved leave."""
