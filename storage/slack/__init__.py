"""What Hiatus keeps about Slack: installations, linked accounts, events and messages sent.

Also what it sends on its own: notifications, reminders, escalations and digests. ``join_policy``
says who becomes a member. Nothing in here calls Slack; ``bot`` does.
"""
