"""PostgreSQL that was stopped while its host lives: nothing answers, and every call ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from storage.base.errors import DatabaseUnavailable
from storage.base.secrets import Secrets
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.postgresql import THREADS
from storage.db.schema import check_schema, migrate
from tests import outside, postgres
from tests.storage.test_connections import notify, until
from tests.storage.test_database import keep, names_outside, stored_names

pytestmark = pytest.mark.slow

TIMEOUT_SECONDS = 2.0
# A machine that is busy with something else.
GRACE_SECONDS = 8.0


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    """A server of this module's own: others are not to freeze with it."""
    server = postgres.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def other_server() -> Iterator[postgres.Server]:
    server = postgres.start()
    yield server
    server.stop()


@pytest.fixture
def url(server: postgres.Server) -> Iterator[str]:
    """A migrated database on the server that is going to freeze."""
    url = postgres.make_database(server.url, "hiatus")
    migrate(url)
    yield url
    postgres.drop_database(url)


async def read_often(database: Database) -> None:
    """Have every thread of the handle connect."""
    await asyncio.gather(*(database.read(stored_names) for _ in range(50)))


def test_reads_and_writes_end_within_the_time_out(server: postgres.Server, url: str) -> None:
    async def ask_at_once() -> list[object]:
        reads = [database.read(stored_names) for _ in range(10)]
        writes = [database.write(keep, f"short {number}") for number in range(10)]
        long = [database.write(keep, f"long {number}") for number in range(10)]
        return await asyncio.gather(*reads, *writes, *long, return_exceptions=True)

    with closing(open_database(url, Secrets.generate(), TIMEOUT_SECONDS)) as database:
        database.write_now(keep, "before")
        asyncio.run(read_often(database))
        with postgres.frozen(server.folder):
            began_at = time.monotonic()
            outcomes = asyncio.run(ask_at_once())
            took_seconds = time.monotonic() - began_at
        assert {type(outcome) for outcome in outcomes} == {DatabaseUnavailable}
        assert took_seconds < 3 * TIMEOUT_SECONDS + GRACE_SECONDS
        assert database.write_now(keep, "after") == "after"

    assert {"before", "after"} <= names_outside(url)


def test_work_that_no_thread_begins_in_time_is_given_up(url: str) -> None:
    all_are_busy, may_end = threading.Barrier(THREADS + 1), threading.Event()

    def occupy_a_thread(tx: Transaction) -> None:
        all_are_busy.wait(60)
        may_end.wait(60)

    async def write_while_all_are_busy(database: Database) -> None:
        busy = [asyncio.ensure_future(database.write(occupy_a_thread)) for _ in range(THREADS)]
        await asyncio.to_thread(all_are_busy.wait, 60)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS + GRACE_SECONDS):
                with pytest.raises(DatabaseUnavailable, match="No thread became free"):
                    await database.write(keep, "given up")
        finally:
            may_end.set()
            await asyncio.gather(*busy)
        await database.write(keep, "afterwards")

    with closing(open_database(url, Secrets.generate(), TIMEOUT_SECONDS)) as database:
        asyncio.run(write_while_all_are_busy(database))

    assert names_outside(url) == {"afterwards"}


def test_long_work_without_a_connection_ends_within_the_time_out(
    server: postgres.Server, url: str
) -> None:
    async def write(database: Database) -> float:
        began_at = time.monotonic()
        with pytest.raises(DatabaseUnavailable):
            await database.write(keep, "long")
        return time.monotonic() - began_at

    with (
        closing(open_database(url, Secrets.generate(), 8.0)) as database,
        postgres.frozen(server.folder),
    ):
        # Each attempt to connect may take five seconds; three of them would take fifteen.
        assert asyncio.run(write(database)) < 8.0 + 4.0


def test_callers_without_an_event_loop_and_commands_end_too(
    server: postgres.Server, url: str
) -> None:
    with closing(open_database(url, Secrets.generate(), TIMEOUT_SECONDS)) as database:
        database.write_now(keep, "before")
        with postgres.frozen(server.folder):
            began_at = time.monotonic()
            with pytest.raises(DatabaseUnavailable):
                database.read_now(stored_names)
            with pytest.raises(DatabaseUnavailable):
                database.write_now(keep, "during")
            with pytest.raises(DatabaseUnavailable):
                check_schema(url, TIMEOUT_SECONDS)
            with pytest.raises(DatabaseUnavailable):
                migrate(url, TIMEOUT_SECONDS)
            assert time.monotonic() - began_at < 8 * TIMEOUT_SECONDS + GRACE_SECONDS


def test_a_migration_waits_while_the_server_answers_and_ends_when_it_does_not(
    server: postgres.Server, url: str
) -> None:
    async def migrate_behind_a_lock() -> None:
        loop = asyncio.get_running_loop()
        migrating = loop.run_in_executor(None, migrate, url, 1.0)
        await asyncio.sleep(4)
        assert not migrating.done()
        with postgres.frozen(server.folder):
            async with asyncio.timeout(6 + GRACE_SECONDS):
                with pytest.raises(DatabaseUnavailable):
                    await migrating

    with psycopg.connect(url) as other:
        # What a migration takes first: another process is migrating.
        other.execute("SELECT pg_advisory_lock(4852613)")
        asyncio.run(migrate_behind_a_lock())


def test_another_host_of_the_url_answers_in_its_place(
    server: postgres.Server, url: str, other_server: postgres.Server
) -> None:
    other_url = postgres.make_database(other_server.url, "hiatus")
    migrate(other_url)
    both = f"postgresql://hiatus@/hiatus?host={server.folder},{other_server.folder}"

    async def write_all() -> list[object]:
        writes = [database.write(keep, f"during {number}") for number in range(20)]
        return await asyncio.gather(*writes, return_exceptions=True)

    with closing(open_database(both, Secrets.generate(), 8.0)) as database:
        database.write_now(keep, "before")
        asyncio.run(read_often(database))
        with postgres.frozen(server.folder):
            during = asyncio.run(write_all())
            assert {type(outcome) for outcome in during} <= {str, DatabaseUnavailable}
            began_at = time.monotonic()
            asyncio.run(database.write(keep, "next"))
            assert time.monotonic() - began_at < 4
            # The host that is known to answer comes first now.
            asyncio.run(read_often(database))
            assert time.monotonic() - began_at < 5
        # Also once the other one is back.
        database.write_now(keep, "later")

    kept = {outcome for outcome in during if isinstance(outcome, str)}
    assert names_outside(url) == {"before"}
    assert names_outside(other_url) == kept | {"next", "later"}
    postgres.drop_database(other_url)


def test_a_handle_closes_while_nothing_answers(server: postgres.Server, url: str) -> None:
    database = open_database(url, Secrets.generate(), TIMEOUT_SECONDS)
    # The notification is sent on a connection of its own.
    database.write_now(notify)
    asyncio.run(read_often(database))

    async def close_amid_a_write() -> None:
        writing = asyncio.ensure_future(database.write(keep, "during"))
        await asyncio.sleep(0.2)
        await asyncio.to_thread(database.close)
        with pytest.raises(DatabaseUnavailable):
            await writing

    with postgres.frozen(server.folder):
        began_at = time.monotonic()
        asyncio.run(close_amid_a_write())
        assert time.monotonic() - began_at < 3 * TIMEOUT_SECONDS + GRACE_SECONDS


def test_a_listener_for_notifications_can_stop(server: postgres.Server, url: str) -> None:
    notifications: list[str] = []

    async def listen_and_stop() -> None:
        hearing = asyncio.create_task(database.listen())
        await until(lambda: bool(notifications))
        with postgres.frozen(server.folder):
            hearing.cancel()
            async with asyncio.timeout(TIMEOUT_SECONDS + GRACE_SECONDS):
                await asyncio.wait({hearing})

    with closing(open_database(url, Secrets.generate(), TIMEOUT_SECONDS)) as database:
        database.on_notify("webhooks", lambda: notifications.append("webhooks"))
        asyncio.run(listen_and_stop())


def test_of_several_hosts_the_one_that_takes_writes_is_used(
    url: str, server: postgres.Server, other_server: postgres.Server
) -> None:
    other_url = postgres.make_database(other_server.url, "hiatus")
    migrate(other_url)
    both = f"postgresql://hiatus@/hiatus?host={server.folder},{other_server.folder}"

    with closing(open_database(both, Secrets.generate())) as database:
        database.write_now(keep, "before")
        # As a standby is; the connection that there is already does not know it.
        outside.run(url, "ALTER DATABASE hiatus SET default_transaction_read_only = on")
        outside.run(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                         " WHERE datname = 'hiatus' AND pid <> pg_backend_pid()")  # fmt: skip
        database.write_now(keep, "after")

    assert names_outside(url) == {"before"}
    assert names_outside(other_url) == {"after"}
    postgres.drop_database(other_url)
