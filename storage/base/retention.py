"""How long rows are kept that nothing needs any more; ``storage.operations.pruning`` deletes them.

docs/operations and the privacy page name the same times.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

# Since they were delivered, failed or given up.
DELIVERIES: Final = timedelta(days=30)
NOTIFICATIONS: Final = timedelta(days=30)
# The response to a repeated request with an idempotency key.
STORED_RESPONSES: Final = timedelta(hours=24)
# Slack's last retry comes six minutes after the first delivery.
SLACK_EVENTS: Final = timedelta(days=1)
# After they expired: the clock of another process may be behind.
USED_OAUTH_STATES: Final = timedelta(minutes=10)
