"""Sending webhooks: allowed addresses, connections, one attempt, the dispatcher."""
