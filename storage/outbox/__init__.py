"""What every change leaves behind: audit entries, webhook events and notifications to send.

``audit`` and the two outboxes write them in the transaction of the change. ``resources`` is how
admins' things are changed with both.
``leased_queue`` is how other packages claim due rows; ``organisation_config`` caches an
organisation's configuration, and counts changes for its feeds.
"""
