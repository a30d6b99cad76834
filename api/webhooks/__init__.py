"""Sending webhooks to endpoints that others run.

``webhook_urls`` says where they may go, ``vetted_connections`` holds every connection to that,
``webhook_delivery`` makes one attempt, and ``webhook_dispatch`` claims due deliveries and records
their outcomes. Retries and the delivery log belong to storage.
"""
