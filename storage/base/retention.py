"""How long rows are kept that nothing needs any more; ``storage.operations.pruning`` deletes them.

docs/privacy.md and the privacy page name the same times. The audit trail is kept for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """What operators choose, in days since a row was delivered, failed or given up."""

    delivery_days: int = 30
    notification_days: int = 30


# An endpoint that fails is switched off after five days: what it missed can still be sent again.
MIN_DAYS: Final = 7
MAX_DAYS: Final = 365
# The response to a repeated request with an idempotency key.
STORED_RESPONSES: Final = timedelta(hours=24)
# Slack's last retry comes six minutes after the first delivery.
SLACK_EVENTS: Final = timedelta(days=1)
# After they expired: the clock of another process may be behind.
USED_OAUTH_STATES: Final = timedelta(minutes=10)
