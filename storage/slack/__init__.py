"""What Hiatus keeps about Slack: installations, linked accounts, events and messages sent.

Also what is sent there by itself: notifications, reminders and digests. Nothing in here calls
Slack; ``bot`` does.
"""
