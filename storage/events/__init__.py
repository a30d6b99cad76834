"""What every change leaves behind: audit entries, webhook events and notifications to send.

``audit`` and ``outbox`` write them in the transaction of the change; ``delivery_queue`` and
``deliveries`` send events to webhook endpoints, and ``delivery_log`` shows what became of them.
"""
