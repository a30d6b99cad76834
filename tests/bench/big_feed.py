"""A feed of everyone's leave with 10,000 events: rendered the first time, and from the cache."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Final

from storage.base.ids import new_id
from storage.base.secrets import Secrets, new_secret_key
from storage.db.database import Transaction
from storage.db.engines import open_database
from storage.db.schema import migrate
from storage.db.tables import LeaveRequestRow
from tests.bench import servers
from tests.bench.prepared import Organisation, organisation
from tests.bench.servers import Server
from tests.builders import personal_token

EVENTS: Final = 10_000
PEOPLE: Final = 50
WARM_REQUESTS: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class BigFeed:
    """One round on one engine, with a server that has just started."""

    engine: str
    cold_milliseconds: float
    warm_milliseconds: float
    warm_cpu_milliseconds: float
    unchanged_milliseconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Side:
    engine: str
    url: str
    secret_key: str
    path: str


def measure_big_feed(engines: Sequence[str], rounds: int, folder: Path) -> Iterator[BigFeed]:
    """Yields each round; engines take turns."""
    with ExitStack() as stack:
        sides = []
        for engine in engines:
            url = stack.enter_context(servers.empty_database(engine, folder, "big_feed"))
            sides.append(_filled(engine, url))
        for number in range(rounds):
            for side in sides:
                name = f"big-feed-{side.engine}-{number}"
                with servers.hiatus(side.url, side.secret_key, folder, name) as running:
                    yield _round(side, running)


def _round(side: _Side, server: Server) -> BigFeed:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=120)) as connection:
        cold, tag = _get(connection, side.path)
        cpu_before = server.cpu_seconds()
        warm = [_get(connection, side.path)[0] for _ in range(WARM_REQUESTS)]
        cpu = (server.cpu_seconds() - cpu_before) / WARM_REQUESTS
        unchanged = [_get(connection, side.path, tag)[0] for _ in range(WARM_REQUESTS)]
    return BigFeed(
        engine=side.engine,
        cold_milliseconds=cold,
        warm_milliseconds=median(warm),
        warm_cpu_milliseconds=cpu * 1_000,
        unchanged_milliseconds=median(unchanged),
    )


def _get(connection: HTTPConnection, path: str, tag: str | None = None) -> tuple[float, str]:
    """The milliseconds that a whole response takes, and its entity tag."""
    started = time.perf_counter()
    connection.request("GET", path, headers={} if tag is None else {"If-None-Match": tag})
    response = connection.getresponse()
    content = response.read()
    milliseconds = (time.perf_counter() - started) * 1_000
    if tag is None:
        assert (response.status, content.count(b"BEGIN:VEVENT")) == (200, EVENTS)
    else:
        assert response.status == 304
    return milliseconds, str(response.getheader("ETag"))


def _filled(engine: str, url: str) -> _Side:
    secret_key = new_secret_key()
    migrate(url)
    with closing(open_database(url, Secrets([secret_key]))) as database:
        filled = database.write_now(organisation, 0, PEOPLE)
        database.write_now(_leave, filled)
        token = database.write_now(personal_token, by=filled.owner, now=datetime.now(UTC))
    return _Side(engine=engine, url=url, secret_key=secret_key, path=f"/cal/{token}?scope=org")


def _leave(tx: Transaction, filled: Organisation) -> None:
    """Approved days as rows, without the rules: that takes seconds instead of minutes."""
    now = datetime.now(UTC)
    today = date.today()  # noqa: DTZ011  # within a feed's window in every time zone
    for number in range(EVENTS):
        day = (today + timedelta(days=number % 500)).isoformat()
        tx.insert(
            LeaveRequestRow,
            organisation_id=filled.owner.organisation_id,
            id=new_id(now),
            user_id=filled.members[number % len(filled.members)].id,
            leave_type_id=filled.leave_type_id,
            status="approved",
            start_date=day,
            end_date=day,
            start_half_day="am" if number % 5 == 0 else None,
            total_half_days=2,
            counted_halves="3",
            decided_at=now,
            created_at=now,
            updated_at=now,
            version=2,
        )
