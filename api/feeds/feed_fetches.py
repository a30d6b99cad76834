"""Records when each feed was last fetched and by which program, after the response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from api.base.deferred_writes import DeferredWrites
from storage.access import feed_owners
from storage.access.feed_owners import FeedOwner
from storage.db.database import Database, Transaction

MAX_PROGRAM_LENGTH: Final = 60

_COMMENTS: Final = re.compile(r"\([^()]*\)")
_NOT_IN_PROGRAM: Final = re.compile(r"[^A-Za-z0-9 ._+-]+")
# Engines that browsers, and programs built on them, name as well.
_ENGINES: Final = frozenset({"Mozilla", "AppleWebKit", "Gecko", "Version", "Mobile", "Safari"})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Fetch:
    organisation_id: str
    program: str | None
    at: datetime


class FeedFetches:
    """Collects fetches on the event loop, and records at most one per feed and hour."""

    def __init__(self, database: Database) -> None:
        self._fetches: DeferredWrites[_Fetch] = DeferredWrites(
            database, _record_all, lost="feed fetches not recorded", counted="feeds"
        )

    def record(self, owner: FeedOwner, user_agent: str | None, now: datetime) -> None:
        """Record a fetch soon, unless one was recorded within the last hour."""
        if not owner.is_fetch_due(now):
            return
        program = program_of(user_agent or "")
        self._fetches.add(
            owner.last_fetch.feed_id,
            _Fetch(organisation_id=owner.organisation_id, program=program, at=now),
        )
        self._fetches.write_soon()


@lru_cache(maxsize=1_024)
def program_of(user_agent: str) -> str | None:
    """The program's name, as in ``Thunderbird`` or ``Google-Calendar-Importer``.

    Browsers and programs built on them name their engines first and themselves last.
    """
    products = _COMMENTS.sub(" ", user_agent[:1_000])
    if products.startswith("Mozilla/"):
        names = [product.partition("/")[0] for product in products.split()]
        own = [name for name in names if name not in _ENGINES]
        products = own[-1] if own else names[-1]
    name = _NOT_IN_PROGRAM.sub(" ", products.partition("/")[0])
    return " ".join(name.split())[:MAX_PROGRAM_LENGTH].strip() or None


def _record_all(tx: Transaction, fetches: Mapping[str, _Fetch]) -> None:
    # In the same order in every process, to avoid deadlocks.
    for feed_id, fetch in sorted(fetches.items()):
        feed_owners.record_fetch(tx, fetch.organisation_id, feed_id, fetch.program, now=fetch.at)
