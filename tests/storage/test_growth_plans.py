"""Plans that stay fast in a large organisation, on SQLite with and without its statistics."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from typing import Any, Final

import pytest

from storage.access import absences
from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.leave import caller_leave, leave_lists
from tests.builders import NOW, Acme, a_department, an_organisation, type_id
from tests.plans import plans_of

# What ANALYZE finds in an organisation with 200,000 requests beside 1,000 with 200 each: rows, and
# then the average for each value of the first column, of the first two, and so on.
_STATISTICS: Final = {
    "leave_requests": {
        "leaverequestrow_organisation_id_end_date_start_date": "400000 134 1 1",
        "leaverequestrow_organisation_id_start_date_id": "400000 134 1 1",
        "leaverequestrow_organisation_id_leave_type_id_created_at_id": "400000 134 37 1 1",
        "leaverequestrow_organisation_id_status_created_at_id": "400000 134 58 1 1",
        "leaverequestrow_organisation_id_user_id_end_date": "400000 134 10 1",
        "leaverequestrow_organisation_id_user_id_created_at_id": "400000 134 10 1 1",
        "leaverequestrow_organisation_id_created_at_id": "400000 134 1 1",
        "sqlite_autoindex_leave_requests_1": "400000 134 1",
    },
    "audit_entries": {
        "auditrow_organisation_id_subject_id_occurred_at_id": "800000 401 2 1 1",
        "auditrow_organisation_id_actor_id_occurred_at_id": "800000 401 20 1 1",
        "auditrow_organisation_id_action_occurred_at_id": "800000 401 89 1 1",
        "auditrow_organisation_id_occurred_at_id": "800000 401 1 1",
        "sqlite_autoindex_audit_entries_1": "800000 401 1",
    },
    "users": {
        "users_emails": "22000 21 1",
        "userrow_organisation_id_manager_id": "22000 21 7",
        "userrow_organisation_id_department_id_role": "22000 21 11 7",
        "userrow_organisation_id_role": "22000 21 7",
        "userrow_organisation_id_created_at_id": "22000 21 1 1",
        "userrow_organisation_id_email_key": "22000 21 1",
        "sqlite_autoindex_users_1": "22000 21 1",
    },
}
_MONTH: Final = {"first_day": date(2026, 6, 1), "last_day": date(2026, 6, 30)}
_FROM: Final = {"first_day": date(2026, 6, 1)}
_OVERLAP: Final = "end_date>? AND end_date<?"
_TO: Final = {"last_day": date(2026, 6, 30)}


@pytest.fixture(params=["without statistics", "with statistics"])
def sqlite(request: pytest.FixtureRequest, sqlite_url: str) -> Iterator[Database]:
    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        if request.param == "with statistics":
            _write_statistics(sqlite_url)
        yield database


def _write_statistics(url: str) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
        file.execute("ANALYZE")
        file.execute("DELETE FROM sqlite_stat1")
        file.executemany(
            "INSERT INTO sqlite_stat1 VALUES (?, ?, ?)",
            [
                (table, index, numbers)
                for table, indexes in _STATISTICS.items()
                for index, numbers in indexes.items()
            ],
        )


@pytest.fixture
def acme(sqlite: Database) -> Acme:
    return an_organisation(sqlite)


@pytest.mark.parametrize("pending", ["none", "awaiting", "all"])
def test_everyones_absences_are_found_by_their_last_day(
    sqlite: Database, sqlite_url: str, acme: Acme, pending: Any
) -> None:
    (plan,) = plans_of(
        sqlite,
        sqlite_url,
        absences.away,
        PageOf(),
        acme.owner,
        acme.organisation,
        "org",
        first_day=date(2026, 6, 1),
        last_day=date(2026, 6, 7),
        pending=pending,
        today=date(2026, 6, 1),
    )

    index = "leaverequestrow_organisation_id_end_date_start_date"
    assert (
        f"SEARCH t1 USING INDEX {index} (organisation_id=? AND end_date>? AND end_date<?)" in plan
    )


def test_own_leave_is_found_by_the_person(sqlite: Database, sqlite_url: str, acme: Acme) -> None:
    (plan,) = plans_of(
        sqlite, sqlite_url, caller_leave.own, PageOf(), by=acme.caller, today=NOW.date()
    )

    assert "(organisation_id=? AND user_id=?" in plan


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "start_date", "-start_date"])
@pytest.mark.parametrize(
    ("names", "days", "searched"),
    [
        (("user_id", "status"), {}, {"created": "user_id=?", "start": "user_id=?"}),
        (("user_id", "status"), _TO, {"created": "user_id=?", "start": "user_id=?"}),
        (("user_id", "leave_type_id"), _FROM, {"created": "user_id=?", "start": "user_id=?"}),
        ((), _TO, {"created": "organisation_id_created", "start": "AND start_date<?"}),
        ((), _FROM, {"created": "organisation_id_created", "start": "AND start_date>?"}),
        (
            (),
            _MONTH,
            {"created": _OVERLAP, "start": _OVERLAP},
        ),
        (
            ("status", "leave_type_id", "department_id"),
            _MONTH,
            {"created": _OVERLAP, "start": _OVERLAP},
        ),
        (("status",), _TO, {"created": "status=?", "start": "status=?"}),
        (("status", "leave_type_id"), {}, {"created": "status=?", "start": "status=?"}),
    ],
    ids=str,
)
def test_a_list_is_read_by_the_index_that_bounds_it(
    sqlite: Database,
    sqlite_url: str,
    acme: Acme,
    sort: Any,
    names: tuple[str, ...],
    days: dict[str, date],
    searched: dict[str, str],
) -> None:
    values = {
        "status": "pending",
        "user_id": acme.owner.id,
        "leave_type_id": type_id(sqlite, acme),
        "department_id": a_department(sqlite, acme).id,
    }
    filters: Any = {name: values[name] for name in names} | days

    plan = plans_of(
        sqlite, sqlite_url, leave_lists.page, PageOf(), by=acme.caller, sort=sort, **filters
    )[-1]

    assert searched[sort.removeprefix("-").partition("_")[0]] in plan.splitlines()[0], plan
