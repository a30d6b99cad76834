"""Outgoing messages: notifications, Home tabs, digests; and the daily sync of people."""
