"""Who belongs to the group of an absence limit, and who of it is away or at work."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from storage.admin import absence_limits, departments, people, people_status
from storage.base.errors import AbsenceLimitExceeded
from storage.base.leave_values import LeaveRequest
from storage.base.values import User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import decisions, interruptions, leave_requests, limit_checks, previews
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import employment_by_date, people_rows
from storage.rules import counted_days, employment_terms
from storage.rules.counted_days import AFTERNOON, MORNING, WHOLE_DAY, Span
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    approved_leave,
    caller_for,
    type_id,
)
from tests.storage.test_measurements import counted

pytestmark = pytest.mark.both_engines

STATEMENTS = "hiatus_database_statement_duration_seconds_count"
MONDAY, TUESDAY = date(2026, 8, 3), date(2026, 8, 4)


def limited(acme: Acme, **fields: Any) -> None:
    acme.write(absence_limits.create, {"name": "Support"} | fields)


def is_refused(database: Database, acme: Acme, user: User, day: date = MONDAY) -> bool:
    """Whether the person's request is refused; one that is not stays."""
    try:
        a_request(database, acme, user, start_date=day)
    except AbsenceLimitExceeded:
        return True
    return False


def test_people_count_in_the_department_of_the_day(database: Database, acme: Acme) -> None:
    support, sales = (a_department(database, acme, name=name) for name in ("Support", "Sales"))
    ada, bob = (a_person(database, acme, department_id=support.id) for _ in range(2))
    limited(acme, department_id=sales.id, max_away=1)
    for person in (ada, bob):
        moved = {"department_id": sales.id, "effective_from": TUESDAY}
        acme.write(people.update, person.id, moved)
    for day in (MONDAY, TUESDAY):
        a_request(database, acme, ada, start_date=day)

    assert not is_refused(database, acme, bob, MONDAY)
    assert is_refused(database, acme, bob, TUESDAY)


def test_home_office_is_no_absence(database: Database, acme: Acme) -> None:
    home = a_leave_type(database, acme, name="Home office", is_away=False)
    ada, bob = (a_person(database, acme) for _ in range(2))
    limited(acme, user_ids=[ada.id, bob.id], max_away=0)

    draft = Draft(leave_type_id=home.id, start_date=MONDAY, end_date=MONDAY)
    by = caller_for(acme, ada)
    at_home = database.write_now(leave_requests.submit, by=by, draft=draft, now=NOW)

    assert at_home.status == "pending"
    assert is_refused(database, acme, bob)


def test_people_of_other_public_holidays_are_not_at_work(database: Database, acme: Acme) -> None:
    ada, bob = (a_person(database, acme) for _ in range(2))
    in_paris = a_person(database, acme, public_holiday_country_code="FR")
    limited(acme, user_ids=[ada.id, bob.id, in_paris.id], min_present=2)

    # Bastille Day is a public holiday in France.
    assert is_refused(database, acme, ada, date(2026, 7, 14))
    assert not is_refused(database, acme, ada, date(2026, 7, 15))


def test_archived_people_do_not_count(database: Database, acme: Acme) -> None:
    ada, bob, former = (a_person(database, acme) for _ in range(3))
    limited(acme, user_ids=[ada.id, bob.id, former.id], min_present=2)
    acme.write(people_status.archive, former.id)

    assert is_refused(database, acme, ada)


def test_people_who_start_later_are_not_at_work_yet(database: Database, acme: Acme) -> None:
    ada, bob = (a_person(database, acme) for _ in range(2))
    new = a_person(database, acme, start_date=TUESDAY)
    limited(acme, user_ids=[ada.id, bob.id, new.id], min_present=2)

    assert is_refused(database, acme, ada, MONDAY)
    assert not is_refused(database, acme, ada, TUESDAY)


def test_a_limit_counts_between_its_dates_and_while_it_is_active(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    limited(acme, max_away=0, first_day=TUESDAY, last_day=TUESDAY)
    limited(acme, max_away=0, is_active=False)

    assert not is_refused(database, acme, ada, MONDAY)
    assert is_refused(database, acme, ada, TUESDAY)


def test_declined_and_cancelled_leave_takes_no_place(database: Database, acme: Acme) -> None:
    ada, bob = (a_person(database, acme) for _ in range(2))
    limited(acme, max_away=1)
    request = a_request(database, acme, ada, start_date=MONDAY)
    first = is_refused(database, acme, bob)

    database.write_now(leave_requests.cancel, request.id, by=caller_for(acme, ada), now=NOW)

    assert first
    assert not is_refused(database, acme, bob)


def test_an_approver_who_records_leave_is_refused_like_a_request(
    database: Database, acme: Acme
) -> None:
    grace = a_person(database, acme, role="approver")
    ada = a_person(database, acme, manager_id=grace.id)
    study = a_leave_type(database, acme, name="Study", approvers_may_record=True)
    limited(acme, max_away=0)
    draft = Draft(leave_type_id=study.id, start_date=MONDAY, end_date=MONDAY)

    with pytest.raises(AbsenceLimitExceeded):
        database.write_now(
            leave_requests.create,
            by=caller_for(acme, grace),
            draft=draft,
            user_id=ada.id,
            now=NOW,
        )


def lengthened(database: Database, acme: Acme, leave: LeaveRequest, user: User) -> LeaveRequest:
    return database.write_now(
        leave_requests.edit,
        leave.id,
        {"end_date": TUESDAY},
        by=caller_for(acme, user),
        now=NOW,
    )


def test_approved_leave_that_is_lengthened_is_checked_for_the_new_days(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    leave = approved_leave(database, acme, ada, start_date=MONDAY, end_date=MONDAY)
    limited(acme, max_away=0, last_day=MONDAY)

    amended = lengthened(database, acme, leave, ada)
    limited(acme, max_away=0, first_day=TUESDAY)
    with pytest.raises(AbsenceLimitExceeded) as refused:
        database.write_now(
            leave_requests.edit,
            leave.id,
            {"end_date": date(2026, 8, 5)},
            by=caller_for(acme, ada),
            now=NOW,
        )

    assert amended.amendment_id is not None
    assert refused.value.day == "2026-08-04"


def test_an_approver_may_approve_an_amendment_that_exceeds_a_limit(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    leave = approved_leave(database, acme, ada, start_date=MONDAY, end_date=MONDAY)
    amended = lengthened(database, acme, leave, ada)
    limited(acme, max_away=0)

    approved = acme.write(decisions.approve, amended.id)

    assert approved.end_date == TUESDAY


def test_days_of_an_absence_that_other_leave_replaces_are_not_added(
    database: Database, acme: Acme
) -> None:
    care = a_leave_type(database, acme, name="Care", may_interrupt=True)
    home = a_leave_type(database, acme, name="Home office", is_away=False)
    ada = a_person(database, acme)
    away = approved_leave(database, acme, ada, start_date=MONDAY, end_date=MONDAY)
    draft = Draft(leave_type_id=home.id, start_date=TUESDAY, end_date=TUESDAY)
    by = caller_for(acme, ada)
    at_home = database.write_now(leave_requests.submit, by=by, draft=draft, now=NOW)
    acme.write(decisions.approve, at_home.id)
    limited(acme, max_away=0)

    def interrupted(leave: LeaveRequest) -> None:
        part = Draft(leave_type_id=care.id, start_date=leave.start_date, end_date=leave.end_date)
        acme.write(interruptions.interrupt, leave.id, part)

    with pytest.raises(AbsenceLimitExceeded):
        interrupted(at_home)
    interrupted(away)


def test_deleting_a_department_deletes_its_limits(database: Database, acme: Acme) -> None:
    sales = a_department(database, acme, name="Sales")
    limited(acme, department_id=sales.id, max_away=1)

    acme.write(departments.delete, sales.id)

    assert acme.read(absence_limits.page, PageOf()).items == []


def test_a_limit_for_everyone_counts_as_one_that_names_them_all(
    database: Database, acme: Acme
) -> None:
    support = a_department(database, acme, name="Support")
    some = [
        a_person(database, acme),
        a_person(database, acme, department_id=support.id),
        a_person(database, acme, working_days=["monday", "tuesday:am"]),
        a_person(database, acme, public_holiday_country_code="FR"),
        a_person(database, acme, start_date=date(2026, 7, 15)),
        a_person(database, acme, end_date=date(2026, 7, 14)),
        a_person(database, acme, status="deactivated"),
    ]
    part_time, back_then = (a_person(database, acme) for _ in range(2))
    # One record is for later, seen from now; the other was for a time before.
    for person, now in ((part_time, NOW), (back_then, NOW + timedelta(days=90))):
        fewer = {"working_days": ["wednesday"], "effective_from": date(2026, 7, 14)}
        acme.write(people.update, person.id, fewer, now=now)
    people_of_acme = [acme.owner, *some, part_time, back_then]
    for person in some[:3]:
        a_request(database, acme, person, start_date=date(2026, 7, 13), end_date=date(2026, 7, 17))
    names = [person.id for person in people_of_acme]
    for fields in ({"max_away": 0}, {"min_present": len(names)}):
        limited(acme, **fields, enforcement="warn")
        limited(acme, **fields, enforcement="warn", user_ids=names)
    config = database.read_now(organisation_config.of_organisation, acme.id)

    # From a Monday to the next; the 14th is a public holiday in France.
    for day in (13, 14, 15, 16, 17, 20):
        on = date(2026, 7, day)
        exceeded = database.read_now(limit_checks.exceeded, config, acme.owner, {on: WHOLE_DAY})
        away, at_work = model(database, acme, people_of_acme, some[:3] if day < 18 else [], on)
        counts = [each.excess.count for each in exceeded]
        assert counts == [away, away, at_work, at_work], on


def model(
    database: Database, acme: Acme, everyone: list[User], others: list[User], day: date
) -> tuple[int, int]:
    """How many are away and at work in the worse half, if the owner is off with these others."""
    by_half = []
    for half in (MORNING, AFTERNOON):
        at_work = set()
        for each in everyone:
            user = acme.read(people_rows.get, each.id)
            is_employed = employment_terms.includes(employment_terms.periods_of(user), day)
            record = employment_terms.on(employment_terms.records_of(user), day)
            span = Span(start_date=day, end_date=day)
            config = database.read_now(organisation_config.of_organisation, acme.id)
            count = counted_days.count_days(
                span,
                counted_days.working_week(employment_by_date.working_days(config, record)),
                employment_by_date.holidays_between(
                    config, employment_by_date.country_code_of(config, record), day, day
                ),
            )
            if user.status == "active" and is_employed and count[0].counted & half:
                at_work.add(user.id)
        away = at_work & {each.id for each in (acme.owner, *others)}
        by_half.append((len(away), len(at_work - away)))
    return max(away for away, _ in by_half), min(present for _, present in by_half)


def test_the_number_of_statements_does_not_grow_with_limits_and_people(
    database: Database, acme: Acme
) -> None:
    support = a_department(database, acme, name="Support")
    ada, _ = (a_person(database, acme, department_id=support.id) for _ in range(2))
    draft = Draft(leave_type_id=type_id(database, acme), start_date=MONDAY, end_date=TUESDAY)

    used = []
    for number in (1, 9):
        for _ in range(number):
            colleague = a_person(database, acme, department_id=support.id)
            a_request(database, acme, colleague, start_date=MONDAY)
            limited(acme, department_id=support.id, min_present=1)
            limited(acme, user_ids=[ada.id, colleague.id], max_away=2)
            limited(acme, max_away=100)
        before = counted(STATEMENTS)
        preview = database.read_now(
            previews.preview, by=caller_for(acme, ada), draft=draft, now=NOW
        )
        used.append(counted(STATEMENTS) - before)

    assert preview.refusals == []
    assert used[0] == used[1]
