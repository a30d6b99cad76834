"""The queries that run most are served by indexes; on SQLite by the ones written for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from typing import Any, Final

import psycopg
import pytest

from storage.base.secrets import Secrets
from storage.calendars import absences
from storage.db.compiled import Compiled
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.leave import leave_lists, previews
from storage.leave.drafts import Draft
from storage.outbox import audit
from storage.people import people_lists
from storage.workspaces import home
from tests import outside
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    caller_for,
    type_id,
)

pytestmark = pytest.mark.both_engines

_MONTH: Final = {"first_day": date(2026, 6, 1), "last_day": date(2026, 6, 30)}
_BY_CREATION: Final = "leaverequestrow_organisation_id_created_at_id (organisation_id=?"
_BY_DAYS: Final = "leaverequestrow_organisation_id_start_date_end_date (organisation_id=?"
_BY_PERSON: Final = "(organisation_id=? AND user_id=?"
_BY_CHANGE: Final = (
    "leaverequestrow_organisation_id_updated_at_id (organisation_id=? AND updated_at>"
)


class Recorder:
    """A transaction that records the queries for all rows."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.queries: list[tuple[Compiled[...], dict[str, Any]]] = []

    def all(self, query: Compiled[...], **params: Any) -> Any:
        self.queries.append((query, params))
        return self._tx.all(query, **params)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


def plans_of(
    database: Database, url: str, use_case: Callable[..., Any], /, *args: Any, **params: Any
) -> list[str]:
    """The plan of each query with which the use case reads rows, in their order."""
    recorded: list[Any] = []

    def run(tx: Transaction) -> None:
        recorded.append(Recorder(tx))
        use_case(recorded[-1], *args, **params)

    database.read_now(run)
    return [_plan(url, query, params) for query, params in recorded[-1].queries]


def _plan(url: str, query: Compiled[...], params: dict[str, Any]) -> str:
    rows: list[Any]
    if url.startswith("sqlite:"):
        sql, values = query.bind("sqlite", (), params)
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            rows = file.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
    else:
        sql, values = query.bind("postgresql", (), params)
        with psycopg.connect(url) as connection:
            # It would read a table with a few rows as a whole.
            connection.execute("SET enable_seqscan = off")
            rows = connection.execute(f"EXPLAIN {sql}".encode(), values).fetchall()
    return "\n".join(str(row[-1]) for row in rows)


def reads_a_whole_table(plan: str) -> bool:
    return any(
        "Seq Scan" in line or (line.startswith("SCAN t") and "INDEX" not in line)
        for line in plan.splitlines()
    )


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


def test_no_frequent_query_reads_a_whole_table(
    database: Database, database_url: str, acme: Acme
) -> None:
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id, role="approver")
    a_request(database, acme, ada)
    by = caller_for(acme, ada)
    annual = type_id(database, acme)
    draft = Draft(leave_type_id=annual, start_date=date(2026, 6, 9), end_date=date(2026, 6, 9))
    page = PageOf()
    use_cases: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
        (leave_lists.filtered, (page,), {"by": acme.caller}),
        (leave_lists.filtered, (page,), {"by": acme.caller, "department_id": team.id}),
        (leave_lists.filtered, (page,), {"by": acme.caller, "leave_type_id": annual, **_MONTH}),
        (leave_lists.filtered, (page,), {"by": acme.caller, "sort": "start_date"}),
        (leave_lists.filtered, (page,), {"by": by}),
        (leave_lists.visible, (page,), {"by": by, "now": NOW}),
        (leave_lists.assigned, (page,), {"by": by, "now": NOW}),
        (leave_lists.assigned, (page,), {"by": acme.caller, "now": NOW}),
        (home.load, (), {"by": by, "now": NOW}),
        (previews.preview, (), {"by": by, "draft": draft, "now": NOW}),
        (people_lists.page, (page,), {"by": by}),
        (people_lists.page, (page,), {"by": by, "manager_id": ada.id}),
        (audit.entries, (page,), {"by": acme.caller}),
        (audit.entries, (page,), {"by": acme.caller, "action": "user.created"}),
        (audit.entries, (page,), {"by": acme.caller, "subject_id": ada.id}),
    ]
    for use_case, args, params in use_cases:
        for plan in plans_of(database, database_url, use_case, *args, **params):
            assert not reads_a_whole_table(plan), (use_case, params, plan)


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, _BY_CREATION),
        ({"statuses": ["approved"]}, _BY_CREATION),
        ({"statuses": ["pending"]}, "leave_requests_undecided (organisation_id=?"),
        ({"sort": "start_date"}, _BY_DAYS),
        ({"updated_since": NOW, "sort": "updated_at"}, _BY_CHANGE),
        (_MONTH, _BY_DAYS),
        ({"user_id": ""}, _BY_PERSON),
        ({"user_id": "", "sort": "start_date"}, _BY_PERSON),
        ({"user_id": "", **_MONTH}, _BY_PERSON),
    ],
    ids=str,
)
def test_sqlite_finds_leave_by_person_by_days_or_in_the_order_of_a_list(
    sqlite_url: str, filters: dict[str, Any], index: str
) -> None:
    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        acme = an_organisation(database)
        ids = {"user_id": acme.owner.id, "department_id": a_department(database, acme).id}
        chosen = {name: ids.get(name, value) for name, value in filters.items()}

        plan = plans_of(
            database, sqlite_url, leave_lists.filtered, PageOf(), by=acme.caller, **chosen
        )[-1]

    assert index in plan


@pytest.mark.parametrize(("scope", "index"), [("org", _BY_DAYS), ("team", _BY_PERSON)])
def test_sqlite_finds_who_is_away_by_days_or_by_person(
    sqlite_url: str, scope: Any, index: str
) -> None:
    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        acme = an_organisation(database)
        args: tuple[Any, ...] = (PageOf(), acme.owner, acme.organisation, scope, {})

        plan, *_ = plans_of(database, sqlite_url, absences.away, *args, **_MONTH)

    assert index in plan


def test_every_table_has_the_assumed_size_of_organisations(postgres_url: str) -> None:
    assumed = outside.rows(
        postgres_url,
        """
        SELECT DISTINCT attoptions FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE attname = 'organisation_id' AND relkind = 'r'
        """,
    )

    assert assumed == [(["n_distinct=100"],)]
