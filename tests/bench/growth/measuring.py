"""Fills a database on each engine and measures every operation, small beside large."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

import click
import psycopg
from peewee import Select, fn

from storage.base.secrets import Secrets, new_secret_key
from storage.db.compiled import compiled
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.schema import migrate
from tests.bench import servers
from tests.bench.filling import Filled, Sizes, fill
from tests.bench.growth.operations import Operation, Place, operations
from tests.builders import personal_token

# psycopg prepares a statement after five runs: only then it has the plan that it keeps.
_WARM_UP_RUNS: Final = 6
_RUNS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Growth:
    """An operation's median for one caller, in a small organisation and in the large one.

    It is the processor time of all threads, on PostgreSQL with that of the connection's server
    process, which other processes hardly change; without /proc, the time that passes.
    """

    engine: str
    operation: Operation
    small_milliseconds: float
    large_milliseconds: float


def measure_growth(engines: Sequence[str], sizes: Sizes, folder: Path) -> Iterator[Growth]:
    """Yields each operation on each engine in turn."""
    for engine in engines:
        with servers.empty_database(engine, folder, "growth") as url:
            yield from _measure(engine, url, sizes)


def _measure(engine: str, url: str, sizes: Sizes) -> Iterator[Growth]:
    secrets = Secrets([new_secret_key()])
    now = datetime.now(UTC).replace(microsecond=0)
    started = time.perf_counter()
    migrate(url)
    filled = fill(url, secrets, sizes, now)
    if engine == "postgresql":
        # As autovacuum does within a minute of so many changes.
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
    click.echo(f"{engine} filled in {time.perf_counter() - started:.0f} s", err=True)
    with closing(open_database(url, secrets)) as database:
        small, large = (place(database, one, now) for one in filled)
        yield from _measure_operations(engine, small, large)


def _measure_operations(engine: str, small: Place, large: Place) -> Iterator[Growth]:
    clock = _clock(engine, small.database)
    for operation in operations():
        yield Growth(
            engine=engine,
            operation=operation,
            small_milliseconds=_median_milliseconds(operation, small, clock),
            large_milliseconds=_median_milliseconds(operation, large, clock),
        )


def _clock(engine: str, database: Database) -> Callable[[], float]:
    if engine == "sqlite":
        return time.process_time
    # Its first number is nanoseconds on a processor.
    times = Path(f"/proc/{database.read_now(_server_process)}/schedstat")
    if not times.exists():
        return time.perf_counter
    return lambda: time.process_time() + int(times.read_text().split()[0]) / 1e9


def _server_process(tx: Transaction) -> int:
    """The id of the process that serves this thread's connection to PostgreSQL."""
    row = tx.first(_process_id)
    assert row is not None
    return int(row.process_id)


@compiled
def _process_id() -> Select:
    return Select((), (fn.pg_backend_pid().alias("process_id"),))


def place(database: Database, filled: Filled, now: datetime) -> Place:
    """The place of a filled organisation, with a feed of its member."""
    token = database.write_now(personal_token, by=filled.caller(filled.member_id), now=now)
    return Place(database=database, filled=filled, feed_token=token, now=now)


def _median_milliseconds(
    operation: Operation, measured: Place, clock: Callable[[], float]
) -> float:
    milliseconds: list[float] = []
    for number in range(_WARM_UP_RUNS + _RUNS):
        started = clock()
        operation.run(measured, number)
        seconds = clock() - started
        if number >= _WARM_UP_RUNS:
            milliseconds.append(seconds * 1_000)
    return median(milliseconds)
