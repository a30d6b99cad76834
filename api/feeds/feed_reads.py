"""Reads what a feed shows: on a standby if that has everything, otherwise on the primary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

import structlog

from api.feeds.feed_requests import FeedRequest
from api.http.handlers import Clock
from storage.access import feed_owners
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database, Transaction

T = TypeVar("T")

# How long a standby that did not answer is left alone.
PAUSE: Final = timedelta(seconds=30)

_log = structlog.stdlib.get_logger("hiatus.feeds")


class _Behind(Exception):
    """The standby lacks a change that the feed may show."""


class FeedReads:
    """For one event loop.

    The owner of a feed is always read on the primary, with its counters of changes. A standby with
    the same counters has every change that the feed may show, so its answer is as new as the
    primary's, however far it lags otherwise.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._primary = database
        self._clock = clock
        self._paused_until: datetime | None = None

    async def read(
        self, use_case: Callable[[Transaction, FeedRequest], T], request: FeedRequest
    ) -> T:
        """Run the use case with the request; its owner was just read."""
        standby = self._primary.standby
        if standby is not None and not self._is_paused():
            try:
                return await standby.read_long(_run_if_current, use_case, request)
            except _Behind:
                pass
            except DatabaseUnavailable as error:
                self._paused_until = self._clock() + PAUSE
                _log.warning("standby.unavailable", reason=str(error))
        return await self._primary.read_long(use_case, request)

    def _is_paused(self) -> bool:
        return self._paused_until is not None and self._clock() < self._paused_until


def _run_if_current(
    tx: Transaction, use_case: Callable[[Transaction, FeedRequest], T], request: FeedRequest
) -> T:
    """Raises _Behind."""
    owner = feed_owners.find_by_token(tx, request.subscription.token)
    # The servers differ, of course.
    if owner is None or replace(owner, server=request.owner.server) != request.owner:
        raise _Behind
    return use_case(tx, request)
