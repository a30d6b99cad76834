"""Lists by creation that are filtered by days: periods without such leave are skipped."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from storage.base.ids import new_id
from storage.base.values import LeaveStatus, User
from storage.db.compiled import milliseconds
from storage.db.database import Database
from storage.db.pages import Page, PageOf
from storage.db.tables import LeaveRequestRow
from storage.leave.lists import filtered_leave, filters, periods, sorting, visible_leave
from tests.builders import NOW, Acme, a_department, a_person, an_organisation, caller_for, type_id

pytestmark = pytest.mark.shared_database

TODAY = NOW.date()


def leave(
    acme: Acme,
    user: User,
    leave_type_id: str,
    *,
    created_at: datetime,
    first_day: date,
    length_days: int = 1,
    status: LeaveStatus = "approved",
) -> dict[str, Any]:
    return {
        "organisation_id": acme.organisation.id,
        "id": new_id(created_at),
        "user_id": user.id,
        "leave_type_id": leave_type_id,
        "status": status,
        "start_date": first_day.isoformat(),
        "end_date": (first_day + timedelta(days=length_days - 1)).isoformat(),
        "total_half_days": 2 * length_days,
        "counted_halves": "3" * length_days,
        "created_at": milliseconds(created_at),
        "updated_at": milliseconds(created_at),
        "version": 1,
    }


def in_order(rows: list[dict[str, Any]], sort: str) -> list[str]:
    rows = sorted(rows, key=lambda row: (row["created_at"], row["id"]))
    ids = [row["id"] for row in rows]
    return ids[::-1] if sort.startswith("-") else ids


def pages(list_page: Callable[[PageOf], Page[Any]], limit: int) -> Iterator[list[str]]:
    cursor = None
    while True:
        page = list_page(PageOf(limit=limit, cursor=cursor))
        yield [request.id for request in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return


def test_pages_have_every_request_of_the_days_once(database: Database) -> None:
    acme = an_organisation(database)
    team = a_department(database, acme)
    people = [a_person(database, acme, department_id=team.id), a_person(database, acme)]
    annual = type_id(database, acme)
    numbers = random.Random(7)
    # More for each of the spans below than are found by their days.
    rows = [
        leave(
            acme,
            people[number % 2],
            annual,
            created_at=NOW - timedelta(hours=numbers.randrange(24 * 700)),
            first_day=TODAY + timedelta(days=numbers.randrange(-800, 800)),
            length_days=numbers.choice([1, 5, 40, 366]),
        )
        for number in range(4 * filters.FEW_ROWS)
    ]
    database.write_now(lambda tx: tx.insert_all(LeaveRequestRow, rows))
    spans = [(30, None), (-400, None), (None, -30), (None, 500), (-300, 300)]
    sorts: tuple[sorting.Sort, ...] = ("created_at", "-created_at")

    for (from_days, to_days), sort, user in product(spans, sorts, (None, people[0])):
        first_day = None if from_days is None else TODAY + timedelta(days=from_days)
        last_day = None if to_days is None else TODAY + timedelta(days=to_days)
        chosen: Any = {
            "sort": sort,
            "first_day": first_day,
            "last_day": last_day,
            "department_id": user and team.id,
        }
        matching = [
            row
            for row in rows
            if row["end_date"] >= str(first_day or date.min)
            and row["start_date"] <= str(last_day or date.max)
            and (user is None or row["user_id"] == user.id)
        ]
        listed = [id for page in listing(database, acme, chosen, limit=2_000) for id in page]
        assert listed == in_order(matching, sort), chosen


def listing(
    database: Database, acme: Acme, chosen: dict[str, Any], limit: int
) -> Iterator[list[str]]:
    return pages(
        lambda page: database.read_now(filtered_leave.page, page, by=acme.caller, **chosen), limit
    )


@pytest.mark.parametrize("sort", ["created_at", "-created_at"])
def test_a_page_begins_in_periods_with_few_and_ends_in_one_with_many(
    database: Database, sort: sorting.Sort
) -> None:
    acme = an_organisation(database)
    person, annual = a_person(database, acme), type_id(database, acme)
    steps_away = 1 if sort == "created_at" else -1
    # The page's first requests: one of the days in each of three periods, among others.
    rows = [
        leave(
            acme,
            person,
            annual,
            created_at=NOW + timedelta(days=28 * steps_away * period, minutes=number),
            first_day=TODAY + timedelta(days=100 * steps_away * (1 if number == 1 else -1)),
            status="declined" if number == 2 else "approved",
        )
        for period in range(3)
        for number in range(4)
    ]
    rows += [
        leave(
            acme,
            person,
            annual,
            created_at=NOW + timedelta(days=28 * 4 * steps_away, milliseconds=number),
            first_day=TODAY + timedelta(days=100 * steps_away),
        )
        for number in range(periods.MANY_ROWS + 1)
    ]
    database.write_now(lambda tx: tx.insert_all(LeaveRequestRow, rows))
    is_of_days = "first_day" if sort == "created_at" else "last_day"
    days: dict[str, Any] = {is_of_days: TODAY + timedelta(days=50 * steps_away)}
    expected = in_order([row for row in rows if row["start_date"] not in _OTHER_DAYS[sort]], sort)

    chosen: dict[str, Any] = {"sort": sort, "status": "approved", **days}
    found = listing(database, acme, chosen, limit=2)
    listed = [next(found) for _ in range(5)]

    assert listed == [expected[at : at + 2] for at in range(0, 10, 2)]


_OTHER_DAYS = {
    "created_at": [(TODAY - timedelta(days=100)).isoformat()],
    "-created_at": [(TODAY + timedelta(days=100)).isoformat()],
}


@pytest.mark.parametrize("is_paged_by_approver", [False, True], ids=["owner", "approver"])
def test_visible_leave_before_a_day_skips_periods_of_later_leave(
    database: Database, is_paged_by_approver: bool
) -> None:
    acme = an_organisation(database)
    manager = a_person(database, acme)
    person, annual = a_person(database, acme, manager_id=manager.id), type_id(database, acme)
    rows = [
        leave(
            acme,
            person,
            annual,
            created_at=NOW - timedelta(hours=number),
            first_day=TODAY + timedelta(days=number % 400 - 200),
        )
        for number in range(2 * filters.FEW_ROWS + 2_000)
    ]
    database.write_now(lambda tx: tx.insert_all(LeaveRequestRow, rows))
    before = TODAY + timedelta(days=-20)
    by = caller_for(acme, manager) if is_paged_by_approver else acme.caller
    expected = in_order([row for row in rows if row["start_date"] < before.isoformat()], "-")

    found = pages(
        lambda page: database.read_now(
            visible_leave.page, page, by=by, now=NOW, starts_before=before
        ),
        limit=100,
    )
    listed = [next(found) for _ in range(3)]

    assert listed == [expected[at : at + 100] for at in range(0, 300, 100)]
