"""The client."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import httpx

from hiatus_client.models import UserRecord
from hiatus_client.operations import Operations
from hiatus_client.transport import Transport

# A change may be visible a little after its `updated_at`, and clocks differ.
OVERLAP: Final = timedelta(minutes=5)


class Hiatus(Operations):
    """The REST API of one Hiatus, as one API key may use it.

    Each group of operations is a member: ``hiatus.leave_requests.create(...)``. A failed request
    raises a ``Problem`` with a ``code``. Close it, or use it in a ``with`` statement.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: int = 3,
        timeout_seconds: float = 30.0,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        transport = Transport(
            base_url,
            api_key,
            retries=retries,
            timeout_seconds=timeout_seconds,
            http=http,
            sleep=sleep,
        )
        super().__init__(transport)
        self._own_transport = transport

    def __enter__(self) -> Hiatus:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._own_transport.close()

    def people(self, **filters: str) -> Iterator[UserRecord]:
        """All users, page by page, with the filters of ``users.list_all``.

        They are full records, whatever the key's variant.
        """
        headers = {"API-Variant": "1"}
        people: Iterator[UserRecord] = self.users.pages("/users", filters, headers=headers)
        return people


def updated_since(poll_began: datetime) -> str:
    """The ``updated_since`` of the next poll, of the time at which the last one began."""
    return (poll_began.astimezone(UTC) - OVERLAP).isoformat()
