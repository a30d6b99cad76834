"""Webhook endpoints and the deliveries to them; events reach their queue in ``events``.

``webhooks`` has the endpoints, ``endpoint_health`` disables those that fail. ``delivery_queue``
claims due deliveries, ``deliveries`` records their results as ``retry_schedule`` says, and
``delivery_log`` shows them. ``api.webhooks`` sends.
"""
