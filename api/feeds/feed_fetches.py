"""When each feed was last fetched, and by which program."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Final

import structlog

from storage.access import feed_owners
from storage.access.feed_owners import FeedOwner
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database

MAX_PROGRAM_LENGTH: Final = 60

_COMMENTS: Final = re.compile(r"\([^()]*\)")
_NOT_IN_PROGRAM: Final = re.compile(r"[^A-Za-z0-9 ._+-]+")
# Engines that browsers, and programs built on them, name as well.
_ENGINES: Final = frozenset({"Mozilla", "AppleWebKit", "Gecko", "Version", "Mobile", "Safari"})


_log = structlog.stdlib.get_logger("hiatus.api")


async def record_fetch(
    database: Database, owner: FeedOwner, user_agent: str | None, now: datetime
) -> None:
    """Record a fetch, unless one was recorded within the last hour; call it after the response."""
    if not owner.is_fetch_due(now):
        return
    try:
        await database.write(
            feed_owners.record_fetch,
            owner.organisation_id,
            owner.last_fetch.feed_id,
            program_of(user_agent or ""),
            now=now,
        )
    except DatabaseUnavailable as error:
        _log.warning("feed fetch not recorded", reason=str(error))


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
