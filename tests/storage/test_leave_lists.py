"""Lists of leave requests: visibility, filters, order and pages."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any, get_args

import pytest

from storage.admin import people
from storage.base.errors import InsufficientRole, NotFound, UnusableCursor
from storage.base.ids import new_id
from storage.base.leave_values import LeaveRequest
from storage.base.values import User
from storage.db.compiled import milliseconds
from storage.db.database import Database
from storage.db.pages import Page, PageOf
from storage.db.tables import LeaveRequestRow
from storage.leave import decisions, leave_lists, leave_rows
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

pytestmark = [pytest.mark.shared_database, pytest.mark.both_engines]


def days(page: Page[LeaveRequest]) -> list[date]:
    return [request.start_date for request in page.items]


def test_members_list_their_own_requests_and_admins_all(database: Database) -> None:
    acme, other = an_organisation(database), an_organisation(database, name="Other")
    ada, hedy = a_person(database, acme), a_person(database, acme, first_name="Hedy")
    mine = a_request(database, acme, ada)
    theirs = a_request(database, acme, hedy)
    a_request(database, other, a_person(database, other))

    own = database.read_now(leave_lists.filtered, PageOf(), by=caller_for(acme, ada))
    all_ = acme.read(leave_lists.filtered, PageOf())

    assert [request.id for request in own.items] == [mine.id]
    assert {request.id for request in all_.items} == {mine.id, theirs.id}


def test_members_cannot_list_other_peoples_requests(database: Database, acme: Acme) -> None:
    ada, hedy = a_person(database, acme), a_person(database, acme, first_name="Hedy")

    with pytest.raises(InsufficientRole):
        database.read_now(leave_lists.filtered, PageOf(), by=caller_for(acme, ada), user_id=hedy.id)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        pytest.param({"statuses": ["approved"]}, [date(2026, 8, 4)], id="status"),
        pytest.param(
            {"statuses": ["approved", "pending"]},
            [date(2026, 8, 3), date(2026, 8, 4), date(2026, 8, 5)],
            id="two statuses",
        ),
        pytest.param({"statuses": ["cancelled", "declined"]}, [], id="statuses of none"),
        pytest.param(
            {"first_day": date(2026, 8, 4), "last_day": date(2026, 8, 5)},
            [date(2026, 8, 4), date(2026, 8, 5)],
            id="a time, both days included",
        ),
        pytest.param({"first_day": date(2026, 8, 5)}, [date(2026, 8, 5)], id="from"),
        pytest.param({"last_day": date(2026, 8, 3)}, [date(2026, 8, 3)], id="to"),
    ],
)
def test_filters_select_requests(
    database: Database, acme: Acme, ada: User, filters: dict[str, Any], expected: list[date]
) -> None:
    a_request(database, acme, ada, start_date=date(2026, 8, 3))
    a_request(database, acme, ada, start_date=date(2026, 8, 4), code="sick")
    a_request(database, acme, ada, start_date=date(2026, 8, 5))

    page = database.read_now(
        leave_lists.filtered, PageOf(), by=acme.caller, sort="start_date", **filters
    )

    assert days(page) == expected


def test_a_departments_leave_is_listed(database: Database, acme: Acme) -> None:
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    mine = a_request(database, acme, ada)
    a_request(database, acme, a_person(database, acme))

    page = acme.read(leave_lists.filtered, PageOf(), department_id=team.id)

    assert [request.id for request in page.items] == [mine.id]


@pytest.mark.parametrize("sort", get_args(leave_lists.Sort))
def test_pages_show_every_request_once_while_rows_are_added(
    database: Database, acme: Acme, sort: leave_lists.Sort
) -> None:
    team = [a_person(database, acme) for _ in range(3)]
    for number in range(9):
        a_request(
            database,
            acme,
            team[number % 3],
            start_date=date(2026, 8, 3) + timedelta(days=number // 3),
            now=NOW + timedelta(minutes=number // 2),
        )
    before = acme.read(leave_lists.filtered, PageOf(limit=100), sort=sort)

    met: list[str] = []
    cursor = None
    for number in range(5):
        page = acme.read(leave_lists.filtered, PageOf(limit=2, cursor=cursor), sort=sort)
        met += [request.id for request in page.items]
        cursor = page.next_cursor
        a_request(
            database,
            acme,
            team[0],
            start_date=date(2026, 10, 5) + timedelta(days=number),
            now=NOW + timedelta(hours=1),
        )

    ids_before = [request.id for request in before.items]
    assert [id for id in met if id in ids_before] == ids_before[: len(met)]
    assert len(set(met)) == len(met)


@pytest.mark.parametrize("sort", get_args(leave_lists.Sort))
@pytest.mark.parametrize(
    ("from_days", "to_days"), [(30, None), (-400, None), (None, -30), (-300, 300)]
)
def test_pages_have_every_request_of_the_days_once(
    database: Database, sort: leave_lists.Sort, from_days: int | None, to_days: int | None
) -> None:
    acme = an_organisation(database)
    team = a_department(database, acme)
    users = [a_person(database, acme, department_id=team.id), a_person(database, acme)]
    requests = random_leave(acme, users, type_id(database, acme), 300)
    database.write_now(lambda tx: tx.insert_all(LeaveRequestRow, requests))
    first_day = None if from_days is None else NOW.date() + timedelta(days=from_days)
    last_day = None if to_days is None else NOW.date() + timedelta(days=to_days)

    for department_id in (None, team.id):
        page, listed = PageOf(limit=50), list[str]()
        while True:
            found = acme.read(
                leave_lists.filtered,
                page,
                sort=sort,
                first_day=first_day,
                last_day=last_day,
                department_id=department_id,
            )
            listed += [request.id for request in found.items]
            if found.next_cursor is None:
                break
            page = PageOf(limit=50, cursor=found.next_cursor)
        expected = [
            row
            for row in requests
            if row["end_date"] >= str(first_day or date.min)
            and row["start_date"] <= str(last_day or date.max)
            and department_id in (None, team.id if row["user_id"] == users[0].id else "")
        ]
        key = sort.removeprefix("-")
        expected.sort(key=lambda row: (row[key], row["id"]), reverse=sort.startswith("-"))
        assert listed == [row["id"] for row in expected]


def random_leave(
    acme: Acme, users: list[User], leave_type_id: str, count: int
) -> list[dict[str, Any]]:
    numbers = random.Random(7)
    rows = []
    for number in range(count):
        created_at = NOW - timedelta(hours=numbers.randrange(24 * 700))
        first_day = NOW.date() + timedelta(days=numbers.randrange(-800, 800))
        length_days = numbers.choice([1, 5, 40, 366])
        rows.append(
            {
                "organisation_id": acme.id,
                "id": new_id(created_at),
                "user_id": users[number % len(users)].id,
                "leave_type_id": leave_type_id,
                "status": "approved",
                "start_date": first_day.isoformat(),
                "end_date": (first_day + timedelta(days=length_days - 1)).isoformat(),
                "total_half_days": 2 * length_days,
                "counted_halves": "3" * length_days,
                "created_at": milliseconds(created_at),
                "updated_at": milliseconds(created_at),
                "version": 1,
            }
        )
    return rows


def test_a_filter_by_an_unknown_id_is_not_found(database: Database) -> None:
    acme, other = an_organisation(database), an_organisation(database, name="Other")
    ada, stranger = a_person(database, acme), a_person(database, other)
    ours, theirs = a_department(database, acme), a_department(database, other)

    foreign: list[dict[str, Any]] = [
        {"user_id": stranger.id},
        {"leave_type_id": type_id(database, other)},
        {"department_id": theirs.id},
    ]
    for filters in foreign:
        with pytest.raises(NotFound):
            database.read_now(leave_lists.filtered, PageOf(), by=acme.caller, **filters)
    for by in (acme.caller, caller_for(acme, ada)):
        with pytest.raises(NotFound):
            database.read_now(leave_lists.visible, PageOf(), by=by, now=NOW, user_id=stranger.id)

    unused_ids: dict[str, Any] = {
        "user_id": ada.id,
        "leave_type_id": type_id(database, acme),
        "department_id": ours.id,
    }
    empty_page = database.read_now(leave_lists.filtered, PageOf(), by=acme.caller, **unused_ids)
    assert empty_page.items == []


def test_a_changed_cursor_is_unusable(database: Database, acme: Acme, ada: User) -> None:
    for day in (3, 4):
        a_request(database, acme, ada, start_date=date(2026, 8, day))
    cursor = acme.read(leave_lists.filtered, PageOf(limit=1)).next_cursor
    assert cursor is not None

    for altered in (f"{cursor}=", f"{cursor}!", f" {cursor}", f"{cursor[:5]}\n{cursor[5:]}"):
        with pytest.raises(UnusableCursor):
            acme.read(leave_lists.filtered, PageOf(limit=1, cursor=altered))


def test_a_cursor_is_bound_to_its_filters_and_organisation(database: Database) -> None:
    acme, other = an_organisation(database), an_organisation(database, name="Other")
    ada = a_person(database, acme)
    for day in (3, 4):
        a_request(database, acme, ada, start_date=date(2026, 8, day))
    cursor = acme.read(leave_lists.filtered, PageOf(limit=1)).next_cursor
    assert cursor is not None
    altered = ("A" if cursor[0] != "A" else "B") + cursor[1:]

    for by, page, filters in (
        (acme.caller, PageOf(limit=1, cursor=cursor), {"statuses": ["pending"]}),
        (acme.caller, PageOf(limit=1, cursor=cursor), {"sort": "start_date"}),
        (other.caller, PageOf(limit=1, cursor=cursor), {}),
        (acme.caller, PageOf(limit=1, cursor=altered), {}),
        (acme.caller, PageOf(limit=1, cursor="é"), {}),
    ):
        with pytest.raises(UnusableCursor):
            database.read_now(leave_lists.filtered, page, by=by, **filters)


def test_the_visible_list_shows_what_the_caller_may_see(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    hedy = a_person(database, acme, first_name="Hedy")
    assigned = a_request(database, acme, ada)
    hidden = a_request(database, acme, hedy)
    own = a_request(database, acme, grace)

    def seen_by(user: Any, **filters: Any) -> set[str]:
        page = database.read_now(
            leave_lists.visible, PageOf(), by=caller_for(acme, user), now=NOW, **filters
        )
        return {request.id for request in page.items}

    assert seen_by(grace) == {assigned.id, own.id}
    assert seen_by(grace, user_id=hedy.id) == set()
    assert seen_by(acme.owner) == {assigned.id, own.id, hidden.id}


def test_the_visible_lists_date_filters_exclude_the_day_itself(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    for day in (3, 4, 5):
        a_request(database, acme, ada, start_date=date(2026, 8, day))

    page = acme.read(
        leave_lists.visible,
        PageOf(),
        now=NOW,
        starts_after=date(2026, 8, 3),
        starts_before=date(2026, 8, 5),
    )

    assert days(page) == [date(2026, 8, 4)]


def test_a_malformed_id_is_not_found(database: Database, acme: Acme) -> None:
    for request_id in ("", "x", "019e8269-4e80-7e8f-9eff-078e9174496d", "'; DROP TABLE users"):
        with pytest.raises(NotFound):
            acme.read(leave_rows.get, request_id, now=NOW)


def test_the_decider_still_sees_the_request_of_a_person_with_another_manager(
    database: Database, acme: Acme
) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    request, undecided = (
        a_request(database, acme, ada),
        a_request(database, acme, ada, start_date=date(2026, 8, 4)),
    )
    by = caller_for(acme, grace)
    database.write_now(decisions.approve, request.id, by=by, now=NOW)
    acme.write(people.update, ada.id, {"manager_id": None})

    listed = database.read_now(leave_lists.visible, PageOf(), by=by, now=NOW)

    assert [shown.id for shown in listed.items] == [request.id]
    assert database.read_now(leave_rows.get, request.id, by=by, now=NOW).status == "approved"
    with pytest.raises(NotFound):
        database.read_now(leave_rows.get, undecided.id, by=by, now=NOW)
