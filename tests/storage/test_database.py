"""The database handle: acknowledged changes are stored, refused ones not, and no caller hangs."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from contextvars import ContextVar
from pathlib import Path
from traceback import format_exception
from typing import Any

import peewee
import psycopg
import pytest

from storage.base.errors import DatabaseUnavailable
from storage.base.ids import new_id
from storage.base.secrets import Secrets
from storage.db.compiled import compiled
from storage.db.database import Database, DuplicateRow, Transaction
from storage.db.engines import open_database
from storage.db.postgresql import ATTEMPTS, THREADS
from storage.db.sqlite import SqliteDatabase
from storage.db.tables import HolidaySetRow, LeaseRow, OrganisationRow, UserRow
from tests import outside
from tests.builders import NOW, an_organisation
from tests.refusals import in_threads

pytestmark = pytest.mark.both_engines

KILLED = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hiatus'"


class Refused(Exception):
    """The error of a use case that refuses."""


def keep(tx: Transaction, name: str) -> str:
    tx.insert(LeaseRow, name=name, holder="ada", held_until=0)
    return name


def keep_and_refuse(tx: Transaction, name: str) -> None:
    keep(tx, name)
    raise Refused(name)


@compiled
def all_names() -> peewee.Select:
    return LeaseRow.select(LeaseRow.name).order_by(LeaseRow.name)


def stored_names(tx: Transaction) -> set[str]:
    return {name for (name,) in tx.all(all_names)}


def names_outside(url: str) -> set[str]:
    return {name for (name,) in outside.rows(url, "SELECT name FROM leases")}


@pytest.fixture
def named_database(postgres_url: str) -> Iterator[Database]:
    """PostgreSQL, whose connections the statement ``KILLED`` finds and ends."""
    handle = open_database(f"{postgres_url}&application_name=hiatus", Secrets.generate())
    yield handle
    handle.close()


def test_written_rows_can_be_read(database: Database, database_url: str) -> None:
    async def write_and_read() -> None:
        assert await database.write(keep, "report") == "report"
        assert names_outside(database_url) == {"report"}
        assert await database.read(stored_names) == {"report"}

    asyncio.run(write_and_read())
    assert database.read_now(stored_names) == {"report"}


def test_reads_see_what_others_have_committed(database: Database, database_url: str) -> None:
    assert database.read_now(stored_names) == set()
    outside.run(database_url, "INSERT INTO leases VALUES ('digest', 'grace', 0)")
    assert database.read_now(stored_names) == {"digest"}


def test_all_statements_of_a_read_see_the_same_moment(
    database: Database, database_url: str
) -> None:
    def look_twice(tx: Transaction) -> list[set[str]]:
        before = stored_names(tx)
        outside.run(database_url, "INSERT INTO leases VALUES ('digest', 'grace', 0)")
        return [before, stored_names(tx)]

    assert database.read_now(look_twice) == [set(), set()]
    assert database.read_now(stored_names) == {"digest"}


def test_a_write_that_raises_leaves_nothing(database: Database, database_url: str) -> None:
    with pytest.raises(Refused, match="report"):
        database.write_now(keep_and_refuse, "report")
    with pytest.raises(Refused, match="digest"):
        asyncio.run(database.write(keep_and_refuse, "digest"))

    assert names_outside(database_url) == set()
    assert database.write_now(keep, "report") == "report"


def test_a_duplicate_row_undoes_its_transaction_only(database: Database, database_url: str) -> None:
    def keep_two(tx: Transaction) -> None:
        keep(tx, "digest")
        keep(tx, "report")

    database.write_now(keep, "report")
    with pytest.raises(DuplicateRow):
        database.write_now(keep_two)

    assert names_outside(database_url) == {"report"}
    database.write_now(keep, "digest")
    assert names_outside(database_url) == {"report", "digest"}


def test_a_duplicate_row_names_the_columns_that_have_to_be_unique(database: Database) -> None:
    acme = an_organisation(database)

    def add(tx: Transaction, email: str) -> None:
        values: dict[str, Any] = {
            "organisation_id": acme.id,
            "id": new_id(NOW),
            "email": email,
            "version": 1,
        }
        values |= {"email_key": email.casefold(), "first_name": "Ada", "last_name": ""}
        values |= {"role": "member", "status": "active", "created_at": NOW, "updated_at": NOW}
        tx.insert(UserRow, **values)

    database.write_now(add, "ada@example.com")
    with pytest.raises(DuplicateRow) as refused:
        database.write_now(add, "Ada@example.com")
    assert refused.value.columns == {"organisation_id", "email_key"}

    database.write_now(keep, "report")
    with pytest.raises(DuplicateRow) as refused:
        database.write_now(keep, "report")
    assert refused.value.columns == {"name"}


def test_rows_are_found_by_value_null_or_any_item_of_a_list(database: Database) -> None:
    def found(tx: Transaction, /, **where: Any) -> list[str]:
        rows = tx.select(HolidaySetRow, organisation_id=organisation_id, **where)
        return sorted(row.country_code for row in rows)

    organisation_id = an_organisation(database).id
    ids = {code: new_id(NOW) for code in ("FR", "ES")}
    for code, set_id in ids.items():
        database.write_now(a_holiday_set, organisation_id, set_id, code)
    assert database.read_now(found, id=ids["FR"]) == ["FR"]
    assert database.read_now(found, id=[*ids.values()]) == ["ES", "FR"]
    assert database.read_now(found, id=[]) == []
    assert database.read_now(found, id=None) == []
    assert database.write_now(
        lambda tx: (
            tx.update(OrganisationRow, {"domain": "a.test"}, id=organisation_id, domain=None),
            tx.update(OrganisationRow, {"domain": "b.test"}, id=organisation_id, domain=None),
            tx.delete(HolidaySetRow, organisation_id=organisation_id, id=[*ids.values()]),
        )
    ) == (1, 0, 2)


def test_a_row_is_added_once_or_changed(database: Database) -> None:
    def use_case(tx: Transaction) -> list[str]:
        lease = {"name": "ada", "holder": "first", "held_until": 0}
        assert tx.insert_new(LeaseRow, **lease)
        assert not tx.insert_new(LeaseRow, **lease | {"holder": "second"})
        holders = [row.holder for row in tx.select(LeaseRow)]
        for holder in ("third", "fourth"):
            tx.upsert(LeaseRow, {"name": "ada"}, holder=holder, held_until=0)
        return [*holders, *[row.holder for row in tx.select(LeaseRow)]]

    assert database.write_now(use_case) == ["first", "fourth"]


def a_holiday_set(tx: Transaction, organisation_id: str, set_id: str, code: str) -> None:
    tx.insert(
        HolidaySetRow,
        organisation_id=organisation_id,
        id=set_id,
        country_code=code,
        created_at=NOW,
        categories="[]",
    )


def test_the_traceback_of_a_refused_row_contains_none_of_its_values(database: Database) -> None:
    def keep_without_holder(tx: Transaction) -> None:
        tx.insert(LeaseRow, name="hunter2", holder=None, held_until=0)

    with pytest.raises(Exception, match=r"(?i)not.null") as missing:
        database.write_now(keep_without_holder)
    database.write_now(keep, "hunter2")
    with pytest.raises(DuplicateRow, match=r"(?i)unique") as duplicate:
        database.write_now(keep, "hunter2")

    tracebacks = [*format_exception(missing.value), *format_exception(duplicate.value)]
    # With the source code of this test, in which the name stands.
    shown = [line for line in tracebacks if __file__ not in line]
    assert "hunter2" not in "".join(shown)


def test_a_row_that_refers_to_nothing_is_no_unavailable_database(database: Database) -> None:
    def refer_to_nothing(tx: Transaction) -> None:
        tx.insert(HolidaySetRow, organisation_id=new_id(NOW), id=new_id(NOW), country_code="GB",
                  created_at=NOW)  # fmt: skip

    with pytest.raises((psycopg.errors.ForeignKeyViolation, sqlite3.IntegrityError)):
        database.write_now(refer_to_nothing)
    with pytest.raises((psycopg.errors.ForeignKeyViolation, sqlite3.IntegrityError)):
        asyncio.run(database.write(refer_to_nothing))
    assert database.write_now(keep, "after") == "after"


def test_each_of_two_hundred_concurrent_writes_has_its_own_outcome(
    database: Database, database_url: str
) -> None:
    async def write(number: int) -> str | None:
        if number % 7 == 0:
            with pytest.raises(Refused, match=f"^{number}$"):
                await database.write(keep_and_refuse, str(number))
            return None
        name = await database.write(keep, str(number))
        if number % 10 == 1:
            assert name in names_outside(database_url)
        return name

    async def write_all() -> list[str | None]:
        return await asyncio.gather(*map(write, range(200)))

    written = asyncio.run(write_all())

    assert written == [str(number) if number % 7 else None for number in range(200)]
    assert names_outside(database_url) == {name for name in written if name}


def test_writes_from_several_threads_all_land(database: Database, database_url: str) -> None:
    def write_ten(number: int) -> None:
        for digit in range(10):
            database.write_now(keep, str(10 * number + digit))

    in_threads(8, write_ten)

    assert names_outside(database_url) == {str(number) for number in range(80)}


language: ContextVar[str] = ContextVar("language", default="none")


def note_language(tx: Transaction, name: str) -> str:
    keep(tx, name)
    if name == "0":
        raise Refused(language.get())
    return language.get()


def test_each_use_case_sees_the_context_of_its_own_caller(database: Database) -> None:
    async def all_ways(name: str) -> list[str]:
        language.set(name)

        def spoken(tx: Transaction) -> str:
            return language.get()

        with_refusal: str = ""
        try:
            with_refusal = await database.write(note_language, name)
        except Refused as refusal:
            with_refusal = str(refusal)
        return [
            with_refusal,
            await database.read(spoken),
            await database.dry_run(spoken),
            await asyncio.to_thread(database.write_now, spoken),
        ]

    async def all_callers() -> list[list[str]]:
        return await asyncio.gather(*(all_ways(str(number)) for number in range(20)))

    assert asyncio.run(all_callers()) == [[str(number)] * 4 for number in range(20)]


def test_listeners_are_notified_only_after_the_commit(
    database: Database, database_url: str
) -> None:
    visible_names: list[set[str]] = []

    def keep_and_wake(tx: Transaction, name: str, *, refusing: bool = False) -> None:
        keep(tx, name)
        tx.notify("outbox")
        tx.notify("unknown")
        if refusing:
            raise Refused

    database.on_notify("outbox", lambda: visible_names.append(names_outside(database_url)))
    with pytest.raises(Refused):
        database.write_now(keep_and_wake, "digest", refusing=True)
    database.write_now(keep, "quiet")
    database.write_now(keep_and_wake, "report")
    database.close()

    assert visible_names == [{"quiet", "report"}]


def test_the_event_loop_goes_on_during_a_slow_write(database: Database) -> None:
    is_writing, has_ticked = threading.Event(), threading.Event()

    def dawdle(tx: Transaction) -> bool:
        keep(tx, "slow")
        is_writing.set()
        return has_ticked.wait(10)

    async def tick_meanwhile() -> bool:
        writing = asyncio.create_task(database.write(dawdle))
        while not is_writing.is_set():
            await asyncio.sleep(0.001)
        for _ in range(10):
            await asyncio.sleep(0.001)
        has_ticked.set()
        return await writing

    assert asyncio.run(tick_meanwhile())


def test_closing_finishes_started_writes(database: Database, database_url: str) -> None:
    async def close_amid_writes() -> None:
        writes = [asyncio.create_task(database.write(keep, str(n))) for n in range(50)]
        await asyncio.sleep(0)
        await asyncio.to_thread(database.close)
        await asyncio.gather(*writes)

    asyncio.run(close_amid_writes())

    assert names_outside(database_url) == {str(number) for number in range(50)}


def test_a_closed_sqlite_handle_refuses_to_write(sqlite_url: str) -> None:
    database = open_database(sqlite_url, Secrets.generate())
    database.close()
    with pytest.raises(DatabaseUnavailable, match="closed"):
        database.write_now(keep, "report")


def test_a_locked_sqlite_file_is_unavailable_to_all_who_wait(sqlite_url: str) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    database = SqliteDatabase(path, Secrets.generate(), timeout_seconds=1)

    async def write_ten() -> list[BaseException | str]:
        writes = (database.write(keep, str(number)) for number in range(10))
        return await asyncio.gather(*writes, return_exceptions=True)

    with closing(database), closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began_at = time.monotonic()
        outcomes = asyncio.run(write_ten())
        assert [type(outcome) for outcome in outcomes] == [DatabaseUnavailable] * 10
        # Together, not one after the other.
        assert time.monotonic() - began_at < 8
        assert database.read_now(stored_names) == set()
        other.execute("ROLLBACK")
        assert database.write_now(keep, "report") == "report"
    assert names_outside(sqlite_url) == {"report"}


def test_an_event_loop_that_closed_blocks_no_other_writer(sqlite_url: str) -> None:
    async def ask_and_leave() -> None:
        writing = asyncio.create_task(database.write(keep, "lost"))
        await asyncio.sleep(0)
        writing.cancel()

    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        for _ in range(5):
            asyncio.run(ask_and_leave())
        assert database.write_now(keep, "report") == "report"
        assert "report" in names_outside(sqlite_url)


def test_a_sqlite_file_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/no-such-folder/hiatus.db"
    with closing(open_database(url, Secrets.generate())) as database:
        with pytest.raises(DatabaseUnavailable):
            database.read_now(stored_names)
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable):
                database.write_now(keep, "report")


def test_postgresql_connections_that_ended_between_uses_are_replaced(
    named_database: Database, postgres_url: str
) -> None:
    async def connect_all() -> None:
        all_are_connected = threading.Barrier(THREADS)
        reads = (named_database.read(lambda _: all_are_connected.wait(60)) for _ in range(THREADS))
        await asyncio.gather(*reads)

    asyncio.run(connect_all())
    outside.run(postgres_url, KILLED)
    assert named_database.read_now(stored_names) == set()
    asyncio.run(connect_all())
    outside.run(postgres_url, KILLED)
    assert named_database.write_now(keep, "after") == "after"


def test_a_use_case_whose_connection_ended_is_retried_and_stored_once(
    named_database: Database, postgres_url: str
) -> None:
    attempts: list[int] = []

    def keep_two(tx: Transaction) -> None:
        keep(tx, "first")
        attempts.append(1)
        if len(attempts) == 1:
            outside.run(postgres_url, KILLED)
        keep(tx, "second")

    named_database.write_now(keep_two)

    assert len(attempts) == 2
    assert names_outside(postgres_url) == {"first", "second"}


@pytest.mark.parametrize("is_between", [True, False], ids=["between statements", "before COMMIT"])
def test_a_use_case_whose_every_connection_ends_leaves_nothing(
    named_database: Database, postgres_url: str, is_between: bool
) -> None:
    attempts: list[int] = []

    def keep_two(tx: Transaction) -> None:
        keep(tx, "first")
        attempts.append(1)
        outside.run(postgres_url, KILLED)
        if is_between:
            keep(tx, "second")

    with pytest.raises(DatabaseUnavailable):
        named_database.write_now(keep_two)

    # A COMMIT that was not answered may have been carried out, so it is not tried again.
    assert len(attempts) == (ATTEMPTS if is_between else 1)
    assert names_outside(postgres_url) == set()
    assert named_database.write_now(keep, "after") == "after"


def test_postgresql_acknowledges_no_rolled_back_change(postgres_url: str) -> None:
    def carry_on(tx: Transaction) -> None:
        keep(tx, "digest")
        with pytest.raises(DuplicateRow):
            keep(tx, "digest")

    with closing(open_database(postgres_url, Secrets.generate())) as database:
        with pytest.raises(RuntimeError, match="continued after an error"):
            database.write_now(carry_on)
        assert names_outside(postgres_url) == set()
        assert database.write_now(keep, "after") == "after"


def test_an_unreachable_postgresql_is_unavailable() -> None:
    with closing(open_database("postgresql://ada@/hiatus?host=/nowhere", Secrets.generate())) as it:
        began_at = time.monotonic()
        with pytest.raises(DatabaseUnavailable):
            it.write_now(keep, "report")
        with pytest.raises(DatabaseUnavailable):
            asyncio.run(it.read(stored_names))
        assert time.monotonic() - began_at < 10


def test_a_postgresql_that_does_not_answer_is_unavailable_soon() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        url = f"postgresql://ada@127.0.0.1:{port}/hiatus?connect_timeout=2&sslmode=disable"
        with closing(open_database(url, Secrets.generate())) as database:
            began_at = time.monotonic()
            with pytest.raises(DatabaseUnavailable):
                database.read_now(stored_names)
            assert time.monotonic() - began_at < 10


_ACKNOWLEDGING = """
import asyncio, itertools, sys
from storage.db.engines import open_database
from storage.base.secrets import Secrets
from tests.storage.test_database import keep

database = open_database(sys.argv[1], Secrets.generate())

async def write(task):
    for number in itertools.count():
        name = await database.write(keep, f"{sys.argv[2]}-{task}-{number}")
        print(name, flush=True)

async def write_all():
    await asyncio.gather(*(write(task) for task in range(8)))

asyncio.run(write_all())
"""


@pytest.mark.slow
def test_kill_9_loses_no_acknowledged_write(database_url: str) -> None:
    acknowledged: set[str] = set()
    for life in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", _ACKNOWLEDGING, database_url, str(life)],
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stdout is not None
            enough = random.randint(1, 150)
            for line, _ in zip(process.stdout, range(enough), strict=False):
                acknowledged.add(line.strip())
            os.kill(process.pid, signal.SIGKILL)
            # The last line may be cut off in the middle.
            acknowledged |= {line[:-1] for line in process.stdout if line.endswith("\n")}

    assert len(acknowledged) >= 3
    assert acknowledged <= names_outside(database_url)
