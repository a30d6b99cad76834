"""Webhook endpoints and the deliveries to them; events reach their queue in ``outbox``.

``webhooks`` has the endpoints and their secrets, ``endpoint_health`` disables those that fail.
``delivery_queue`` claims due deliveries, ``deliveries`` records results and schedules retries,
and ``delivery_log`` shows them, sends them again and deletes them. ``api.webhooks`` sends.
"""
