"""Sending webhooks: which addresses are allowed, the connection, one attempt, the dispatcher."""
