"""When a failed delivery is retried, and when it has failed for good.

Source: Standard Webhooks 1.0, "Deliverability and reliability".
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

# Waits after the 1st, 2nd … failed attempt, about 75 hours in all. A delivery fails after the last.
RETRY_AFTER_SECONDS: Final = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
# The wait where no key of this deployment decrypts the secret that signs the delivery.
UNSIGNED_RETRY: Final = timedelta(minutes=10)
# Such a delivery fails after this time, when any other would have no attempts left.
UNSIGNED_FOR: Final = timedelta(seconds=1.2 * sum(RETRY_AFTER_SECONDS))


def retry_delay_seconds(
    attempts: int,
    *,
    jitter: float,
    retry_after_seconds: int | None = None,
    at_least_60_seconds: bool = False,
) -> float:
    """The wait after that many attempts; ``jitter`` is between 0.8 and 1.2.

    ``retry_after_seconds``, which the receiver requested, is a lower bound of at most twice the
    scheduled wait.
    """
    wait = float(RETRY_AFTER_SECONDS[attempts - 1])
    if at_least_60_seconds:
        wait = max(wait, 75.0)  # Still a minute with the shortest jitter.
    if retry_after_seconds is None:
        return wait * jitter
    requested = min(float(retry_after_seconds), 2 * wait)
    # Up to a fifth longer, so that many deliveries do not return at the same moment.
    return max(wait * jitter, requested * (1 + (jitter - 0.8) / 2))


def has_attempts_left(attempts: int) -> bool:
    return attempts <= len(RETRY_AFTER_SECONDS)


def is_unsigned_for_too_long(created_at: datetime, now: datetime) -> bool:
    return now - UNSIGNED_FOR >= created_at
