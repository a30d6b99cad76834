"""PostgreSQL plans a statement once for all organisations: no plan may be slow in a large one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date
from typing import Any, Final

import psycopg
import pytest
from peewee import Select, Table, fn

from storage.base.secrets import Secrets
from storage.db.compiled import Compiled, compiled
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.leave import previews
from storage.leave.drafts import Draft
from storage.leave.lists import filtered_leave
from tests import outside
from tests.bench.filling import Sizes, fill
from tests.bench.growth.measuring import place
from tests.bench.growth.operations import Place, operations
from tests.builders import NOW, an_organisation, type_id
from tests.plans import Recorder, plans_of

_SIZES: Final = Sizes(people=500, requests=20_000, organisations=100, small_requests=100)
# psycopg prepares a statement after five runs.
_WARM_UP_RUNS: Final = 6
# Of tables and indexes; a scan of all leave in the organisation reads three times as many.
_MAX_PAGES: Final = 5_000
_MORE_PAGES: Final = {
    # All leave of a year.
    "feed, org": 20_000,
    # Approvers of a hundred people.
    "reminders, a batch": 20_000,
}
_TABLES: Final = Table(
    "pg_statio_user_tables", ("heap_blks_hit", "heap_blks_read", "idx_blks_hit", "idx_blks_read")
)
_SEQUENTIAL_SCANS: Final = "SELECT relname, seq_scan FROM pg_stat_user_tables ORDER BY relname"


def test_every_table_has_the_assumed_size_of_organisations(postgres_url: str) -> None:
    assumed = outside.rows(
        postgres_url,
        """
        SELECT DISTINCT attoptions FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = 'organisation_id' AND relkind = 'r'
        """,
    )

    assert assumed == [(["n_distinct=100"],)]


def test_psycopg_caches_every_statement_of_a_preview(database: Database) -> None:
    acme = an_organisation(database)
    draft = Draft(
        leave_type_id=type_id(database, acme),
        start_date=date(2026, 6, 9),
        end_date=date(2026, 6, 9),
    )
    recorded: list[tuple[Compiled[...], dict[str, Any]]] = []

    def record(tx: Transaction) -> None:
        recorder: Any = Recorder(tx)
        previews.preview(recorder, by=acme.caller, draft=draft, now=NOW)
        recorded.extend(recorder.queries)

    database.read_now(record)

    statements = [query.bind("postgresql", (), params) for query, params in recorded]
    assert any("approver" in sql for sql, _ in statements)
    for sql, values in statements:
        assert len(sql) <= 4_096, sql
        assert len(values) <= 50


@pytest.fixture
def large(postgres_url: str) -> Iterator[Place]:
    """A large organisation beside small ones, with PostgreSQL's statistics."""
    secrets = Secrets.generate()
    _, filled = fill(postgres_url, secrets, _SIZES, NOW)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    with closing(open_database(postgres_url, secrets)) as database:
        yield place(database, filled, NOW)


@pytest.mark.slow
def test_no_operation_reads_many_pages_or_the_rows_of_all_organisations(
    large: Place, postgres_url: str
) -> None:
    _pages(large.database)
    scans = outside.rows(postgres_url, _SEQUENTIAL_SCANS)
    pages = {}
    for operation in operations():
        for number in range(_WARM_UP_RUNS):
            operation.run(large, number)
        before = _pages(large.database)
        operation.run(large, _WARM_UP_RUNS)
        pages[operation.name, operation.details] = _pages(large.database) - before

    too_many = {
        (name, details): count
        for (name, details), count in pages.items()
        if count > _MORE_PAGES.get(name, _MAX_PAGES)
    }
    assert too_many == {}
    assert outside.rows(postgres_url, _SEQUENTIAL_SCANS) == scans


@pytest.mark.slow
def test_a_list_with_two_filters_that_many_rows_pass_is_read_in_its_order(
    large: Place, postgres_url: str
) -> None:
    plan = plans_of(
        large.database,
        postgres_url,
        filtered_leave.page,
        PageOf(),
        has_few_rows=False,
        by=large.owner,
        sort="-start_date",
        status="approved",
        leave_type_id=large.filled.leave_type_id,
    )[-1]

    assert "Index Scan Backward using leaverequestrow_organisation_id_start_date_id" in plan
    assert "Sort" not in plan


def _pages(database: Database) -> int:
    """How many pages of tables and indexes were read so far."""

    def read(tx: Transaction) -> int:
        tx.first(_flush)
        row = tx.first(_read)
        assert row is not None
        return int(row.pages)

    return database.read_now(read)


@compiled
def _flush() -> Select:
    return Select((), (fn.pg_stat_force_next_flush(),))


@compiled
def _read() -> Select:
    hit, read = _TABLES.heap_blks_hit + _TABLES.idx_blks_hit, _TABLES.heap_blks_read
    return _TABLES.select(fn.SUM(hit + read + _TABLES.idx_blks_read).alias("pages"))
