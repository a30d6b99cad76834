"""What the app sends in Slack on its own: notifications, reminders, escalations and digests.

Each is claimed when it is due, read as values to render, and released with its result.
``approval_cards`` reads a request as one person may see it; ``slack_messages`` has the messages
sent. Nothing in here calls Slack; ``bot`` does.
"""
