"""Leave of types that do not count as away, such as home office, makes no one absent."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import User
from storage.calendars import absences, wallchart
from storage.calendars.wallchart import AWAY, ELSEWHERE, Off
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.leave import covers, form_defaults, leave_types, previews
from storage.leave.drafts import Draft
from storage.leave.previews import Preview
from storage.notifications import digest_absences, reminder_schedule
from storage.outbox import organisation_config
from storage.people import approvers, colleagues
from storage.rules import counted_days
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
    caller_for,
    home_office,
    type_id,
)

pytestmark = pytest.mark.shared_database

MONDAY, TUESDAY = date(2026, 8, 3), date(2026, 8, 4)


def at_home(database: Database, acme: Acme, user: User, **fields: Any) -> LeaveRequest:
    return a_request(database, acme, user, code="home-office", **fields)


def preview(
    database: Database, acme: Acme, user: User, draft: Draft, *, now: datetime = NOW
) -> Preview:
    return database.read_now(previews.preview, by=caller_for(acme, user), draft=draft, now=now)


def grace_of(database: Database, acme: Acme, **fields: Any) -> User:
    return a_person(database, acme, first_name="Grace", last_name="Hopper", **fields)


def test_who_is_out_lists_people_at_work_elsewhere_apart(database: Database) -> None:
    acme = an_organisation(database)
    home_office(database, acme)
    ada, grace = a_person(database, acme), grace_of(database, acme)
    at_home(database, acme, ada)
    approved_leave(database, acme, grace)
    pending = home_office(database, acme, name="Training", code="training", requires_approval=True)
    hedy = a_person(database, acme, first_name="Hedy")
    a_request(database, acme, hedy, code=pending.code)

    def listed(tx: Transaction) -> tuple[list[str], list[str]]:
        config = organisation_config.of_organisation(tx, acme.id)
        how: dict[str, Any] = {"first_day": MONDAY, "last_day": MONDAY}
        office, types = config.organisation, config.leave_types
        page = PageOf(limit=10)
        away = absences.away(tx, page, grace, office, "org", types, **how, pending="all")
        elsewhere = absences.elsewhere(tx, grace, office, "org", types, **how)
        return (
            [each.person_name for each in away.items],
            [f"{each.person_name}: {each.summary_type}" for each in elsewhere],
        )

    assert database.read_now(listed) == (["Grace Hopper"], ["Ada Lovelace: Home office"])


def test_digests_leave_out_who_is_at_work_elsewhere(database: Database) -> None:
    acme = an_organisation(database)
    home_office(database, acme)
    ada, grace = a_person(database, acme), grace_of(database, acme)
    at_home(database, acme, ada)
    approved_leave(database, acme, grace)

    for read in (digest_absences.on_day, digest_absences.in_week):
        out = database.read_now(read, acme.id, None, MONDAY)
        assert ([each.name for each in out.out], out.total) == (["Grace Hopper"], 1)


def test_colleagues_at_work_elsewhere_are_not_off(database: Database) -> None:
    acme = an_organisation(database)
    team = a_department(database, acme)
    home_office(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    grace = grace_of(database, acme, department_id=team.id)
    hedy = a_person(database, acme, first_name="Hedy", department_id=team.id)
    asked = a_request(database, acme, ada)
    at_home(database, acme, grace)
    a_request(database, acme, hedy)
    span = counted_days.span_of(asked)

    def off(tx: Transaction) -> list[list[str]]:
        found = [
            colleagues.off_with(tx, acme.id, ada, span, includes_pending=True),
            colleagues.off_with_each(tx, acme.id, {asked.id: (ada, span)}, includes_pending=True)[
                asked.id
            ],
        ]
        return [[each.name for each in these.named] for these in found]

    assert database.read_now(off) == [["Hedy Lovelace"], ["Hedy Lovelace"]]


def test_a_person_at_work_elsewhere_can_cover(database: Database) -> None:
    acme = an_organisation(database)
    team = a_department(database, acme)
    home_office(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    grace = grace_of(database, acme, department_id=team.id)
    hedy = a_person(database, acme, first_name="Hedy", department_id=team.id)
    at_home(database, acme, grace)
    approved_leave(database, acme, hedy)

    def offered(tx: Transaction) -> covers.Candidates:
        by = caller_for(acme, ada)
        return covers.candidates(tx, "", ada.id, MONDAY, MONDAY, by=by)

    found = database.read_now(offered)
    assert ([each.name for each in found.there], [each.name for each in found.off]) == (
        ["Grace Hopper"],
        ["Hedy Lovelace"],
    )
    draft = Draft(
        leave_type_id=type_id(database, acme),
        start_date=MONDAY,
        end_date=MONDAY,
        cover_user_id=grace.id,
    )
    assert preview(database, acme, ada, draft).warnings == []


def test_working_elsewhere_leaves_nothing_uncovered(database: Database) -> None:
    acme = an_organisation(database)
    home_office(database, acme)
    ada, grace = a_person(database, acme), grace_of(database, acme)
    approved_leave(database, acme, ada, cover_user_id=grace.id)
    at_work = at_home(database, acme, grace)

    def uncovered(tx: Transaction, leave: LeaveRequest) -> list[LeaveRequest]:
        config = organisation_config.of_organisation(tx, acme.id)
        return covers.left_uncovered(tx, config, leave, NOW.date())

    assert database.read_now(uncovered, at_work) == []
    acme.write(leave_types.update, at_work.leave_type_id, {"is_away": True})
    assert len(database.read_now(uncovered, at_work)) == 1


def test_an_approver_at_work_elsewhere_decides_and_is_reminded(database: Database) -> None:
    acme = an_organisation(database)
    home_office(database, acme)
    grace = grace_of(database, acme)
    ada = a_person(database, acme, manager_id=grace.id)
    at_home(database, acme, grace)

    def at_work(tx: Transaction) -> tuple[list[str], bool]:
        config = organisation_config.of_organisation(tx, acme.id)
        deciding = approvers.of_people(tx, acme.id, {ada.id}, today=MONDAY)[ada.id]
        worktime = reminder_schedule.of_people(tx, config, [grace], MONDAY, MONDAY)[grace.id]
        noon = datetime(2026, 8, 3, 11, tzinfo=UTC)
        return [each.first_name for each in deciding], worktime.is_at_work(noon)

    assert database.read_now(at_work) == (["Grace"], True)
    acme.write(leave_types.update, type_id(database, acme, "home-office"), {"is_away": True})
    # The owner decides beside an approver who is away.
    deciding, is_at_work = database.read_now(at_work)
    assert (len(deciding), is_at_work) == (2, False)


def test_a_wallchart_marks_work_elsewhere_and_hides_private_types(database: Database) -> None:
    acme = an_organisation(database)
    home_office(database, acme)
    home_office(database, acme, name="Rehabilitation", code="rehab", is_private=True)
    ada, grace = a_person(database, acme), grace_of(database, acme)
    at_home(database, acme, ada)
    a_request(database, acme, ada, code="rehab", start_date=TUESDAY)
    a_request(database, acme, ada, code="sick", start_date=date(2026, 8, 5))

    chart = database.read_now(
        lambda tx: wallchart.load(
            tx,
            organisation_id=acme.id,
            viewer_id=grace.id,
            viewer_department_id=None,
            scope="org",
            first_day=MONDAY,
            day_count=3,
        )
    )

    (days,) = (each.days for each in chart.people if each.user_id == ada.id)
    shown = [day.morning.leave_type for day in days if isinstance(day.morning, Off)]
    assert [(each.name, each.letter, each.is_away) for each in shown] == [
        ("Home office", "h", False),
        (None, "◊", False),
        (None, "●", True),
    ]
    assert chart.leave_types == [shown[0], ELSEWHERE, AWAY]


def test_asking_for_home_office_does_not_change_the_usual_type(database: Database) -> None:
    acme = an_organisation(database)
    home_office(database, acme, requires_approval=True)
    ada = a_person(database, acme)
    at_home(database, acme, ada)

    def usual(tx: Transaction) -> LeaveType | None:
        config = organisation_config.of_organisation(tx, acme.id)
        return form_defaults.usual_type(tx, config, ada)

    shown = database.read_now(usual)
    assert shown is not None
    assert shown.code == "annual"


@pytest.mark.parametrize(
    ("at_home_on", "bridge"),
    [
        (None, date(2026, 5, 15)),
        # The bridge itself is a day at home: it cannot be taken as well.
        (date(2026, 5, 15), None),
        # A day at home beside the leave is no day off: it is a bridge no more than other leave.
        (date(2026, 5, 12), date(2026, 5, 15)),
    ],
)
def test_a_day_at_home_is_neither_a_day_off_nor_a_bridge(
    database: Database, at_home_on: date | None, bridge: date | None
) -> None:
    january = datetime(2026, 1, 5, 9, tzinfo=UTC)
    acme = an_organisation(database, country_code="DE")
    home_office(database, acme)
    ada = a_person(database, acme)
    if at_home_on is not None:
        at_home(database, acme, ada, start_date=at_home_on, now=january)
    # Ascension Day 2026 is Thursday 14 May.
    draft = Draft(
        leave_type_id=type_id(database, acme),
        start_date=date(2026, 5, 13),
        end_date=date(2026, 5, 14),
    )

    shown = preview(database, acme, ada, draft, now=january)

    assert (shown.bridge and (shown.bridge.day, shown.bridge.days_off)) == (bridge and (bridge, 5))
