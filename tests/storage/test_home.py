"""The contents of the App Home, and the queries that read them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from storage.base.values import Caller, User
from storage.db.database import Database
from storage.leave import leave_requests
from storage.workspaces import home, slack_workspaces
from storage.workspaces.home import Home
from storage.workspaces.slack_workspaces import PageCursors
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    caller_for,
)

pytestmark = pytest.mark.shared_database


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


def load(database: Database, by: Caller, now: datetime = NOW) -> Home:
    return database.read_now(home.load, by=by, now=now)


def test_own_leave_is_pending_or_has_not_ended(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme)
    by = caller_for(acme, ada)
    current_requests = [
        a_request(database, acme, ada, start_date=date(2026, 5, 11)),
        a_request(database, acme, ada, start_date=date(2026, 6, 8)),
        a_request(database, acme, ada, start_date=date(2026, 7, 6), code="sick"),
    ]
    a_request(database, acme, ada, start_date=date(2026, 5, 12), code="sick")
    cancelled = a_request(database, acme, ada, start_date=date(2026, 8, 3))
    database.write_now(leave_requests.cancel, cancelled.id, by=by, now=NOW)

    items = load(database, by).own.items

    # Past leave is shown while it is pending, and not once it is approved.
    assert [item.request.id for item in items] == [request.id for request in current_requests]
    assert [item.request.status for item in items] == ["pending", "pending", "approved"]


@pytest.mark.parametrize(
    ("now", "today"),
    [
        (datetime(2026, 6, 1, 9, tzinfo=UTC), date(2026, 6, 1)),
        # Already Monday in London, in summer.
        (datetime(2026, 6, 7, 23, 30, tzinfo=UTC), date(2026, 6, 8)),
    ],
)
def test_absences_are_of_two_weeks_from_today(
    database: Database, acme: Acme, now: datetime, today: date
) -> None:
    for first_day in (today - timedelta(days=3), today + timedelta(days=14)):
        a_request(database, acme, a_person(database, acme), start_date=first_day, code="sick")
    last = a_person(database, acme, first_name="Lise")
    a_request(database, acme, last, start_date=today + timedelta(days=11), code="sick")

    home_data = load(database, acme.caller, now)

    assert (home_data.today, home_data.last_day) == (today, today + timedelta(days=13))
    assert [absence.person_name for absence in home_data.away.items] == ["Lise Lovelace"]
    assert home_data.chart.first_day == today
    (row,) = home_data.chart.people
    assert [day.date for day in row.days if day.morning] == [today + timedelta(days=11)]


def test_people_have_rows_in_the_order_in_which_they_are_off(
    database: Database, acme: Acme
) -> None:
    for number, day in enumerate((4, 2, 3)):
        person = a_person(database, acme, first_name=f"P{number}")
        a_request(database, acme, person, start_date=date(2026, 6, day), code="sick")

    home_data = load(database, acme.caller)

    assert [person.name.split()[0] for person in home_data.chart.people] == ["P1", "P2", "P0"]


def test_a_person_with_several_absences_has_one_row(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace")
    for day in (2, 4):
        a_request(database, acme, grace, start_date=date(2026, 6, day), code="sick")

    home_data = load(database, acme.caller)

    assert len(home_data.away.items) == 2
    (row,) = home_data.chart.people
    assert [day.date.day for day in row.days if day.morning] == [2, 4]


def test_absences_are_of_the_team_or_without_a_department_of_everyone(
    database: Database, acme: Acme
) -> None:
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    grace = a_person(database, acme, first_name="Grace", department_id=team.id)
    hedy = a_person(database, acme, first_name="Hedy")
    for person in (grace, hedy):
        a_request(database, acme, person, start_date=date(2026, 6, 2), code="sick")

    def away(by: Caller) -> list[tuple[str, str | None]]:
        absences = load(database, by).away.items
        return [(absence.person_name, absence.summary_type) for absence in absences]

    assert away(caller_for(acme, ada)) == [("Grace Lovelace", None)]
    assert away(caller_for(acme, hedy)) == [
        ("Grace Lovelace", None),
        ("Hedy Lovelace", "Sick leave"),
    ]
    database.write_now(
        slack_workspaces.save_opened_home,
        PageCursors(scope="org"),
        by=caller_for(acme, ada),
        now=NOW,
    )
    assert away(caller_for(acme, ada)) == [("Grace Lovelace", None), ("Hedy Lovelace", None)]


def test_pending_absences_are_shown_to_approvers_only(database: Database, acme: Acme) -> None:
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    alan = a_person(database, acme, first_name="Alan", department_id=team.id)
    grace = a_person(database, acme, first_name="Grace", role="approver", department_id=team.id)
    hedy = a_person(database, acme, first_name="Hedy", role="approver")
    a_request(database, acme, ada, start_date=date(2026, 6, 2))
    a_request(database, acme, hedy, start_date=date(2026, 6, 2), code="compassionate")

    def away(user: User) -> list[tuple[str, str, str | None]]:
        by = caller_for(acme, user)
        database.write_now(
            slack_workspaces.save_opened_home, PageCursors(scope="org"), by=by, now=NOW
        )
        return [
            (absence.person_name, absence.status, absence.summary_type)
            for absence in load(database, by).away.items
        ]

    assert away(grace) == [("Ada Lovelace", "pending", "Annual leave")]
    assert away(acme.owner) == [
        ("Ada Lovelace", "pending", "Annual leave"),
        ("Hedy Lovelace", "pending", None),
    ]
    for person in (alan, hedy):
        assert away(person) == []


def test_other_organisations_are_not_shown(database: Database, acme: Acme) -> None:
    other = an_organisation(database, name="Other")
    stranger = a_person(database, other)
    a_request(database, other, stranger, start_date=date(2026, 6, 2), code="sick")
    a_request(database, other, stranger, start_date=date(2026, 6, 8))

    home_data = load(database, acme.caller)

    assert (home_data.away.items, home_data.waiting.items, home_data.own.items) == ([], [], [])


def test_an_invalid_cursor_shows_the_first_page(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme)
    a_request(database, acme, ada, start_date=date(2026, 6, 8))
    by = caller_for(acme, ada)

    database.write_now(
        slack_workspaces.save_opened_home,
        PageCursors(own="AAAA", waiting="x", away="-"),
        by=by,
        now=NOW,
    )
    home_data = load(database, by)

    assert len(home_data.own.items) == 1
    assert home_data.cursors == PageCursors(scope="org")
