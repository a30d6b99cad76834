"""A process that delivers webhooks and does nothing else, to be killed.

``python -m tests.flows.delivering URL KEY LEASE_SECONDS`` delivers what the database holds.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta

from api.webhooks.webhook_delivery import Sender
from api.webhooks.webhook_dispatch import webhook_dispatcher
from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database


def clock() -> datetime:
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


async def _deliver(database: Database, lease_seconds: int) -> None:
    async with Sender(allow_private=True, attempt_seconds=lease_seconds / 2) as sender:
        lease = timedelta(seconds=lease_seconds)
        dispatcher = webhook_dispatcher(database, sender, clock, lease=lease)
        dispatcher.start()
        while True:
            await asyncio.sleep(0.1)
            dispatcher.wake()


if __name__ == "__main__":
    url, key, lease = sys.argv[1:]
    asyncio.run(_deliver(open_database(url, Secrets([key])), int(lease)))
