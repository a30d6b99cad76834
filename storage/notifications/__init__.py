"""Messages that the app sends on its own: notifications, reminders, escalations and digests.

``notification_queue``, ``reminder_checks`` and ``digests`` claim what is due. The ``_data``
modules, ``approval_cards`` and ``digests`` read the contents of a message when it is sent.
``slack_messages`` has the messages that were sent. Nothing in here calls Slack; ``bot`` does.
"""
