"""What every change leaves behind: audit entries, webhook events and notifications to send.

``audit`` and the two outboxes write them in the transaction of the change. ``delivery_queue``
claims deliveries to webhook endpoints with ``leased_queue``, ``deliveries`` records their results
as ``retry_schedule`` says, and ``delivery_log`` shows them.
"""
