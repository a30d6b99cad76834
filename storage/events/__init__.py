"""What every change leaves behind: audit entries, webhook events and notifications to send.

``audit`` and the two outboxes write them in the transaction of the change, ``feed_changes`` counts
changes for feeds. ``leased_queue`` is how other packages claim what is due; ``organisation_config``
is an organisation's cached configuration.
"""
