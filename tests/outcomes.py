"""Outcomes of delivery attempts, as the sender records them."""

from __future__ import annotations

from storage.webhooks.deliveries import Outcome

DELIVERED = Outcome(
    verdict="delivered",
    status_code=204,
    error=None,
    duration_ms=12,
    response_excerpt=b"",
    retry_after_seconds=None,
    at_least_60_seconds=False,
)
FAILED = Outcome(
    verdict="retry",
    status_code=500,
    error="bad_status",
    duration_ms=12,
    response_excerpt=b"oh no",
    retry_after_seconds=None,
    at_least_60_seconds=False,
)
