"""Every list is served by an index, with each filter and sort order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from storage.access import api_keys, feeds
from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.directory import department_rows, holiday_sets, people_lists
from storage.events import audit
from storage.leave import leave_types
from storage.leave.lists import caller_leave, filtered_leave, visible_leave
from storage.notifications import reminder_checks, reminders
from storage.webhooks import webhooks
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
from tests.plans import plans_of, reads_a_whole_table

pytestmark = pytest.mark.shared_database

DAYS = {"first_day": date(2026, 1, 1), "last_day": date(2026, 1, 31)}


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


def plan(database: Database, url: str, use_case: Callable[..., Any], **arguments: Any) -> str:
    """The plan of the use case's last query."""
    return plans_of(database, url, use_case, PageOf(), **arguments)[-1]


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "start_date", "-start_date"])
@pytest.mark.parametrize(
    "names",
    [(), ("status",), ("user_id",), ("leave_type_id",), ("department_id",), ("status", "user_id")],
    ids=lambda names: "+".join(names) or "nothing",
)
def test_leave_requests_are_found_by_an_index(
    database: Database, database_url: str, acme: Acme, sort: Any, names: tuple[str, ...]
) -> None:
    values = {
        "status": "pending",
        "user_id": acme.owner.id,
        "leave_type_id": type_id(database, acme),
        "department_id": a_department(database, acme).id,
    }
    filters: Any = {name: values[name] for name in names}

    query_plan = plan(
        database, database_url, filtered_leave.page, by=acme.caller, sort=sort, **filters
    )

    assert not reads_a_whole_table(query_plan), query_plan


@pytest.mark.parametrize(
    ("sort", "filters", "index"),
    [
        ("-created_at", {}, "organisation_id_created_at_id"),
        ("-created_at", {"status": "pending"}, "organisation_id_status_created_at_id"),
        ("start_date", {}, "organisation_id_start_date_id"),
        ("start_date", {"status": "pending"}, "organisation_id_status_start_date_id"),
        ("-created_at", DAYS, "organisation_id_end_date_start_date"),
    ],
    ids=str,
)
def test_sqlite_uses_the_most_selective_index(
    sqlite_url: str, sort: Any, filters: Any, index: str
) -> None:
    database = open_database(sqlite_url, Secrets.generate())
    acme = an_organisation(database)
    by_type = {"leave_type_id": type_id(database, acme)}

    query_plan = plan(
        database, sqlite_url, filtered_leave.page, by=acme.caller, sort=sort, **filters
    )
    of_type = plan(database, sqlite_url, filtered_leave.page, by=acme.caller, **by_type)
    of_person = plan(
        database,
        sqlite_url,
        filtered_leave.page,
        by=acme.caller,
        sort="start_date",
        user_id=acme.owner.id,
    )
    database.close()

    assert index in query_plan
    assert "organisation_id_leave_type_id_created_at_id" in of_type
    assert "user_id=?" in of_person


def test_requests_are_found_by_their_requester_or_approver(
    database: Database, database_url: str, acme: Acme
) -> None:
    by = caller_for(acme, a_person(database, acme))

    for use_case in (visible_leave.page, caller_leave.assigned):
        query_plan = plan(database, database_url, use_case, by=by, now=NOW)
        assert not reads_a_whole_table(query_plan), query_plan


@pytest.mark.parametrize("sort", ["created_at", "-created_at"])
@pytest.mark.parametrize(
    "name", ["", "status", "role", "department_id", "manager_id", "email"], ids=str
)
def test_people_are_found_by_an_index(
    database: Database, database_url: str, acme: Acme, sort: Any, name: str
) -> None:
    values: dict[str, Any] = {
        "status": "active",
        "role": "owner",
        "department_id": a_department(database, acme).id,
        "manager_id": acme.owner.id,
        "email": "ada@example.com",
    }
    filters = {name: values[name]} if name else {}

    query_plan = plan(
        database, database_url, people_lists.page, by=acme.caller, sort=sort, **filters
    )

    assert not reads_a_whole_table(query_plan), query_plan


def test_the_small_lists_are_found_by_an_index(
    database: Database, database_url: str, acme: Acme
) -> None:
    by, owner = acme.caller, acme.owner.id
    lists: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (department_rows.page, {}),
        (department_rows.page, {"manager_id": owner}),
        (leave_types.page, {"is_archived": False}),
        (holiday_sets.page, {}),
        (webhooks.page, {"is_active": True}),
        (feeds.page, {}),
        (api_keys.page, {}),
        (api_keys.page, {"user_id": owner, "is_revoked": False}),
        (audit.entries, {}),
        (audit.entries, {"subject_id": owner}),
    ]
    for use_case, filters in lists:
        query_plan = plan(database, database_url, use_case, by=by, **filters)
        assert not reads_a_whole_table(query_plan), (use_case, query_plan)


def test_reminders_are_rescheduled_by_their_keys(
    database: Database, database_url: str, acme: Acme
) -> None:
    request = a_request(database, acme, a_person(database, acme))
    database.write_now(reminders.start, acme.id, request.id, acme.owner.id, now=NOW)

    due, rescheduled = plans_of(
        database, database_url, reminder_checks.run, acme.id, now=NOW + timedelta(days=8)
    )

    assert "due_at" in due
    if database.engine == "sqlite":
        found = "SEARCH reminders USING INDEX sqlite_autoindex_reminders_1"
        assert f"{found} (organisation_id=? AND leave_request_id=?" in rescheduled
