"""A process that used a primary until a standby was promoted does not go back to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import peewee
import pytest

from storage.base.errors import DatabaseUnavailable, OutcomeUnknown
from storage.base.secrets import Secrets
from storage.db.compiled import compiled
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.schema import migrate
from tests import outside, replication
from tests.replication import Node, Pair
from tests.storage.test_database import keep, names_outside, stored_names

pytestmark = pytest.mark.slow


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Both run as primaries after ``promote``, as if nothing had stopped the old one."""
    with replication.running() as pair:
        migrate(pair.url)
        yield pair


@compiled
def own_process() -> peewee.Select:
    return peewee.Select(columns=[peewee.fn.pg_backend_pid().alias("pid")])


def process_of(tx: Transaction) -> int:
    (row,) = tx.all(own_process)
    pid: int = row.pid
    return pid


async def read_often(database: Database) -> list[set[str]]:
    """What every thread of the handle reads."""
    return [
        set(names)
        for names in await asyncio.gather(*(database.read(stored_names) for _ in range(50)))
    ]


def end_connections(node: Node, condition: str) -> None:
    outside.rows(
        node.local_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE application_name LIKE 'hiatus %' AND {condition}",
    )


def test_every_thread_leaves_the_old_primary_once_one_connection_is_lost(pair: Pair) -> None:
    with closing(open_database(pair.url, Secrets.generate())) as database:
        database.write_now(keep, "before")
        assert asyncio.run(read_often(database)) == [{"before"}] * 50
        pair.promote()
        end_connections(pair.primary, f"pid = {database.read_now(process_of)}")

        database.write_now(keep, "after")

        assert asyncio.run(read_often(database)) == [{"before", "after"}] * 50


def test_a_process_that_met_the_new_primary_refuses_the_old_one(pair: Pair) -> None:
    with closing(open_database(pair.url, Secrets.generate())) as database:
        database.write_now(keep, "before")
        pair.promote()
        end_connections(pair.primary, "true")
        database.write_now(keep, "after")
        # Now the old primary is the first host to try.
        end_connections(pair.standby, "true")

        assert set(database.read_now(stored_names)) == {"before", "after"}
        database.write_now(keep, "later")

    assert names_outside(pair.standby.local_url) == {"before", "after", "later"}


def test_the_old_primary_alone_acknowledges_nothing(pair: Pair) -> None:
    pair.promote()

    with (
        closing(open_database(pair.primary.url, Secrets.generate(), 2.0)) as database,
        pytest.raises(OutcomeUnknown),
    ):
        database.write_now(keep, "lost")

    assert names_outside(pair.primary.local_url) == set()


def test_a_migration_of_a_standby_says_what_to_set(pair: Pair) -> None:
    with pytest.raises(DatabaseUnavailable, match="leads to a standby. Name the primary"):
        migrate(pair.standby.url)
