"""What closures book, recount and take back, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import pytest

from storage.admin import (
    closures,
    holiday_overrides,
    people,
    people_status,
)
from storage.admin.holiday_overrides import NewOverride
from storage.base.errors import ClosureLeave, OverlappingLeave
from storage.base.leave_values import Closure, LeaveRequest
from storage.base.values import User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import (
    decisions,
    interruptions,
    leave_lists,
    leave_requests,
    leave_types,
    ledgers,
)
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import people_lists
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    approved_leave,
    as_it_is,
    audit_entries,
    caller_for,
    dry_run,
    type_id,
)
from tests.refusals import overlapping
from tests.storage.test_measurements import counted
from tests.storage.test_people_import import bring_in

pytestmark = pytest.mark.both_engines

THURSDAY, FRIDAY = date(2026, 12, 24), date(2027, 1, 1)
CHRISTMAS: dict[str, Any] = {
    "name": "Christmas closure",
    "start_date": THURSDAY,
    "end_date": FRIDAY,
}
WEEK_OF_ITS = datetime(2026, 12, 29, 9, tzinfo=UTC)


def closed(database: Database, acme: Acme, *, now: datetime = NOW, **fields: Any) -> Closure:
    """A closure from 24 December 2026 to 1 January 2027, for everyone."""
    settings = CHRISTMAS | {"leave_type_id": type_id(database, acme)} | fields
    return acme.write(closures.create, settings, now=now)


def leave_of(database: Database, acme: Acme, user: User) -> list[LeaveRequest]:
    """The person's approved leave of closures, by first day."""
    page = acme.read(leave_lists.filtered, PageOf(limit=100), user_id=user.id)
    booked = [each for each in page.items if each.closure_id and each.status == "approved"]
    return sorted(booked, key=lambda each: each.start_date)


def days_of(leave: list[LeaveRequest]) -> list[tuple[str, str, float]]:
    return [
        (each.start_date.isoformat(), each.end_date.isoformat(), each.total_half_days / 2)
        for each in leave
    ]


def remaining(database: Database, acme: Acme, user: User, on: date = THURSDAY) -> float:
    balance = acme.read(ledgers.balance, user.id, on=on, now=NOW)
    return float(balance.remaining_half_days) / 2


def test_24_december_to_1_january_is_four_days_in_england(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, public_holiday_country_code="GB-ENG")

    closure = closed(database, acme)

    (leave,) = leave_of(database, acme, ada)
    assert days_of([leave]) == [("2026-12-24", "2026-12-31", 4)]
    assert leave.closure_id == closure.id
    assert (leave.status, leave.decided_by, leave.recorded_by) == ("approved", None, None)
    assert leave.leave_type_id == type_id(database, acme)


def test_24_december_to_1_january_is_five_days_in_bavaria(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, public_holiday_country_code="DE-BY")

    closed(database, acme)

    assert days_of(leave_of(database, acme, ada)) == [("2026-12-24", "2026-12-31", 5)]


def test_24_december_to_1_january_is_two_days_for_monday_to_wednesday_in_britain(
    database: Database, acme: Acme
) -> None:
    week = ["monday", "tuesday", "wednesday"]
    ada = a_person(database, acme, working_days=week)

    closed(database, acme)

    assert days_of(leave_of(database, acme, ada)) == [("2026-12-29", "2026-12-30", 2)]


def test_with_three_days_left_overdraft_books_all_and_one_day_is_missing(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, leave_allowance_half_days=6)

    closure = closed(database, acme, when_short="overdraft")

    assert days_of(leave_of(database, acme, ada)) == [("2026-12-24", "2026-12-31", 4)]
    assert remaining(database, acme, ada) == -1
    assert closure.skipped_people == 0


def test_with_three_days_left_skip_lists_the_person_and_books_nothing(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, leave_allowance_half_days=6)
    grace = a_person(database, acme, first_name="Grace", leave_allowance_half_days=8)

    closure = closed(database, acme, when_short="skip")

    assert (closure.skipped_people, closure.skipped_user_ids) == (1, (ada.id,))
    assert leave_of(database, acme, ada) == []
    assert remaining(database, acme, ada) == 3
    assert days_of(leave_of(database, acme, grace)) == [("2026-12-24", "2026-12-31", 4)]


def test_own_leave_inside_is_left_out_and_filled_once_it_is_cancelled(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    own = approved_leave(database, acme, ada, date(2026, 12, 28), date(2026, 12, 31))
    closed(database, acme)
    before = days_of(leave_of(database, acme, ada))

    by = caller_for(acme, ada)
    database.write_now(leave_requests.cancel, own.id, by=by, now=NOW)

    assert before == [("2026-12-24", "2026-12-24", 1)]
    assert days_of(leave_of(database, acme, ada)) == [
        ("2026-12-24", "2026-12-24", 1),
        ("2026-12-29", "2026-12-31", 3),
    ]


def test_pending_leave_inside_is_left_out_and_filled_once_it_is_declined(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    own = a_request(database, acme, ada, start_date=THURSDAY, end_date=date(2026, 12, 29))
    closed(database, acme)
    before = days_of(leave_of(database, acme, ada))

    acme.write(decisions.decline, own.id, reason=None)

    assert before == [("2026-12-30", "2026-12-31", 2)]
    assert days_of(leave_of(database, acme, ada)) == [
        ("2026-12-24", "2026-12-29", 2),
        ("2026-12-30", "2026-12-31", 2),
    ]


def at_home(
    database: Database, acme: Acme, user: User, start_date: date, end_date: date
) -> LeaveRequest:
    """A pending request for home office."""
    home = a_leave_type(database, acme, name="Home office", is_away=False)
    draft = Draft(leave_type_id=home.id, start_date=start_date, end_date=end_date)
    by = caller_for(acme, user)
    return database.write_now(leave_requests.submit, by=by, draft=draft, now=NOW)


def home_office_of(database: Database, acme: Acme, user: User) -> list[tuple[str, str, float]]:
    page = acme.read(
        leave_lists.filtered, PageOf(limit=100), user_id=user.id, statuses=["approved"]
    )
    own = [each for each in page.items if each.closure_id is None]
    return days_of(sorted(own, key=lambda each: each.start_date))


@pytest.mark.parametrize("is_decided_later", [False, True])
def test_a_closure_takes_days_of_approved_home_office(
    database: Database, acme: Acme, is_decided_later: bool
) -> None:
    ada = a_person(database, acme)
    home = at_home(database, acme, ada, date(2026, 12, 21), date(2027, 1, 5))
    decide = partial(acme.write, decisions.approve, home.id)
    if not is_decided_later:
        decide()
    closed(database, acme)
    if is_decided_later:
        assert days_of(leave_of(database, acme, ada)) == []
        assert decide() == as_it_is(database, acme, home)

    assert days_of(leave_of(database, acme, ada)) == [("2026-12-24", "2026-12-31", 4)]
    assert home_office_of(database, acme, ada) == [
        ("2026-12-21", "2026-12-23", 3),
        ("2027-01-04", "2027-01-05", 2),
    ]
    assert as_it_is(database, acme, home).end_date == date(2026, 12, 23)


def test_home_office_of_which_nothing_is_left_is_cancelled_and_does_not_come_back(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    home = at_home(database, acme, ada, THURSDAY, date(2026, 12, 29))
    acme.write(decisions.approve, home.id)
    closure = closed(database, acme)
    cancelled = as_it_is(database, acme, home)

    acme.write(closures.delete, closure.id)

    assert cancelled.status == "cancelled"
    assert (leave_of(database, acme, ada), home_office_of(database, acme, ada)) == ([], [])


def test_home_office_of_people_who_are_skipped_stays(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, leave_allowance_half_days=2)
    home = at_home(database, acme, ada, THURSDAY, THURSDAY)
    approved = acme.write(decisions.approve, home.id)

    closed(database, acme, when_short="skip")

    assert as_it_is(database, acme, home) == approved


@pytest.mark.parametrize(
    "changes",
    [
        {"end_date": date(2026, 12, 29)},
        {"start_date": date(2026, 12, 14), "end_date": date(2026, 12, 15)},
    ],
    ids=["shortened", "moved"],
)
def test_own_leave_that_is_shortened_or_moved_is_filled(
    database: Database, acme: Acme, changes: dict[str, date]
) -> None:
    ada = a_person(database, acme)
    own = approved_leave(database, acme, ada, date(2026, 12, 29), date(2026, 12, 31))
    closed(database, acme)
    before = days_of(leave_of(database, acme, ada))

    acme.write(leave_requests.edit, own.id, changes)

    booked = leave_of(database, acme, ada)
    left = as_it_is(database, acme, own)
    assert before == [("2026-12-24", "2026-12-24", 1)]
    assert sum(each.total_half_days for each in booked) == 8 - (
        2 if left.start_date.month == 12 and left.end_date == date(2026, 12, 29) else 0
    )
    assert booked[-1].end_date == date(2026, 12, 31)


def test_half_days_of_the_closure_and_of_own_leave_share_a_day(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    approved_leave(database, acme, ada, date(2026, 12, 30), start_half_day="pm")

    closed(database, acme, start_half_day="pm")

    first, second = leave_of(database, acme, ada)
    assert (first.start_half_day, first.end_half_day) == ("pm", "am")
    assert days_of([first, second]) == [
        ("2026-12-24", "2026-12-30", 2),
        ("2026-12-31", "2026-12-31", 1),
    ]


def test_only_people_of_the_department_who_are_employed_then_get_it(
    database: Database, acme: Acme
) -> None:
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    hedy = a_person(database, acme, first_name="Hedy")
    eve = a_person(
        database, acme, first_name="Eve", department_id=team.id, end_date=date(2026, 12, 29)
    )
    gone = a_person(database, acme, first_name="Gone", department_id=team.id, status="archived")

    closed(database, acme, department_id=team.id)

    assert days_of(leave_of(database, acme, ada)) == [("2026-12-24", "2026-12-31", 4)]
    assert leave_of(database, acme, hedy) == leave_of(database, acme, gone) == []
    assert days_of(leave_of(database, acme, eve)) == [("2026-12-24", "2026-12-29", 2)]


def test_a_change_recounts_and_days_that_have_passed_stay(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme)
    closure = closed(database, acme)

    acme.write(
        closures.update,
        closure.id,
        {"start_date": date(2026, 12, 30), "end_date": date(2027, 1, 5)},
        now=WEEK_OF_ITS,
    )

    # The 29th is given back; the 24th has passed.
    assert days_of(leave_of(database, acme, ada)) == [
        ("2026-12-24", "2026-12-28", 1),
        ("2026-12-30", "2027-01-05", 4),
    ]


def test_another_type_counts_from_today_on(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme)
    closure = closed(database, acme)
    special = acme.write(leave_types.create, {"name": "Shutdown", "deducts_allowance": False})

    acme.write(closures.update, closure.id, {"leave_type_id": special.id}, now=WEEK_OF_ITS)

    leave = leave_of(database, acme, ada)
    assert [each.leave_type_id for each in leave] == [type_id(database, acme), special.id]
    assert days_of(leave) == [("2026-12-24", "2026-12-28", 1), ("2026-12-29", "2026-12-31", 3)]


def test_a_change_to_skip_takes_back_what_no_one_can_afford(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, leave_allowance_half_days=6)
    closure = closed(database, acme, when_short="overdraft")

    after = acme.write(closures.update, closure.id, {"when_short": "skip"})

    assert leave_of(database, acme, ada) == []
    assert after.skipped_user_ids == (ada.id,)


def test_a_deleted_closure_gives_the_days_from_today_on_back(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    closure = closed(database, acme)

    acme.write(closures.delete, closure.id, now=WEEK_OF_ITS)

    assert days_of(leave_of(database, acme, ada)) == [("2026-12-24", "2026-12-28", 1)]


def test_people_who_join_get_it(database: Database, acme: Acme) -> None:
    team = a_department(database, acme)
    closed(database, acme, department_id=team.id)

    ada = a_person(database, acme, department_id=team.id)
    late = a_person(
        database, acme, first_name="Late", department_id=team.id, start_date=date(2026, 12, 30)
    )
    hedy = a_person(database, acme, first_name="Hedy")
    acme.write(people.update, hedy.id, {"department_id": team.id})
    eve = a_person(database, acme, first_name="Eve", department_id=team.id)
    acme.write(people_status.archive, eve.id)
    archived = leave_of(database, acme, eve)
    acme.write(people.restore, eve.id)

    whole = [("2026-12-24", "2026-12-31", 4)]
    assert days_of(leave_of(database, acme, ada)) == whole
    assert days_of(leave_of(database, acme, late)) == [("2026-12-30", "2026-12-31", 2)]
    assert days_of(leave_of(database, acme, hedy)) == whole
    assert (archived, days_of(leave_of(database, acme, eve))) == ([], whole)


def test_imported_people_get_it(database: Database, acme: Acme) -> None:
    closed(database, acme)
    known = a_person(database, acme, email="ada@x.example", end_date=date(2026, 12, 24))

    lines = "ada@x.example,Ada,Lovelace\ngrace@x.example,Grace,Hopper\n"
    bring_in(database, acme, "email,first_name,last_name\n" + lines, is_update=True)

    (grace,) = [
        user for user in acme.read(people_lists.list_all) if user.email == "grace@x.example"
    ]
    assert days_of(leave_of(database, acme, known)) == [("2026-12-24", "2026-12-24", 1)]
    assert days_of(leave_of(database, acme, grace)) == [("2026-12-24", "2026-12-31", 4)]


def test_people_who_leave_the_department_lose_it(database: Database, acme: Acme) -> None:
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    closed(database, acme, department_id=team.id)

    acme.write(people.update, ada.id, {"department_id": None, "effective_from": date(2026, 12, 30)})

    assert days_of(leave_of(database, acme, ada)) == [("2026-12-24", "2026-12-29", 2)]


def test_changed_working_days_and_holidays_are_recounted_at_its_edges(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    closed(database, acme)
    config = database.read_now(organisation_config.of_organisation, acme.id)
    (set_id,) = config.holiday_sets
    new_years_day = NewOverride(date=FRIDAY, name=None, is_holiday=False, half=None)

    acme.write(holiday_overrides.add, set_id, new_years_day)
    with_friday = days_of(leave_of(database, acme, ada))
    acme.write(people.update, ada.id, {"working_days": ["tuesday", "wednesday"]})

    assert with_friday == [("2026-12-24", "2027-01-01", 5)]
    assert days_of(leave_of(database, acme, ada)) == [("2026-12-29", "2026-12-30", 2)]


def test_a_later_first_day_of_work_shortens_it_and_an_earlier_one_extends_it(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    closed(database, acme)

    acme.write(people.update, ada.id, {"start_date": date(2026, 12, 30)})
    later = days_of(leave_of(database, acme, ada))
    acme.write(people.update, ada.id, {"start_date": date(2026, 12, 1)})

    assert later == [("2026-12-30", "2026-12-31", 2)]
    assert days_of(leave_of(database, acme, ada)) == [("2026-12-24", "2026-12-31", 4)]


def test_members_can_neither_change_nor_cancel_it(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme)
    closed(database, acme)
    (leave,) = leave_of(database, acme, ada)
    by = caller_for(acme, ada)

    with pytest.raises(ClosureLeave):
        database.write_now(leave_requests.cancel, leave.id, by=by, now=NOW)
    with pytest.raises(ClosureLeave):
        database.write_now(leave_requests.edit, leave.id, {"note": "Mine"}, by=by, now=NOW)
    with pytest.raises(ClosureLeave):
        acme.write(leave_requests.edit, leave.id, {"end_date": date(2026, 12, 30)})

    assert leave_of(database, acme, ada) == [leave]


def test_an_admin_cancels_it_for_one_person_who_works_then(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme)
    own = approved_leave(database, acme, ada, date(2026, 12, 29))
    closure = closed(database, acme)
    first, _ = leave_of(database, acme, ada)

    acme.write(leave_requests.cancel, first.id)
    cancelled = leave_of(database, acme, ada)
    excluded = acme.read(closures.get, closure.id).excluded_user_ids
    acme.write(leave_requests.cancel, own.id)
    acme.write(closures.update, closure.id, {"end_date": date(2027, 1, 8)})
    still = leave_of(database, acme, ada)
    acme.write(closures.update, closure.id, {"excluded_user_ids": []})

    assert (cancelled, excluded, still) == ([], (ada.id,), [])
    assert days_of(leave_of(database, acme, ada)) == [("2026-12-24", "2027-01-08", 9)]


def test_sick_days_replace_days_of_the_closure_and_give_them_back(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    closed(database, acme)
    (leave,) = leave_of(database, acme, ada)
    sick = Draft(
        leave_type_id=type_id(database, acme, "sick"),
        start_date=date(2026, 12, 29),
        end_date=date(2026, 12, 30),
    )

    done = acme.write(interruptions.interrupt, leave.id, sick, now=WEEK_OF_ITS)
    ill = days_of(leave_of(database, acme, ada))
    acme.write(leave_requests.cancel, done.interruption.id, now=WEEK_OF_ITS)
    after = leave_of(database, acme, ada)

    assert ill == [("2026-12-24", "2026-12-28", 1), ("2026-12-31", "2026-12-31", 1)]
    assert sum(each.total_half_days for each in after) == 8
    assert {each.closure_id for each in after} == {leave.closure_id}


def test_colleagues_cannot_see_who_was_skipped_or_works(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, leave_allowance_half_days=0)
    grace = caller_for(acme, a_person(database, acme, first_name="Grace"))
    closure = closed(database, acme, when_short="skip")
    acme.write(closures.update, closure.id, {"excluded_user_ids": [acme.owner.id]})

    seen = database.read_now(closures.get, closure.id, by=grace)

    assert acme.read(closures.get, closure.id).skipped_user_ids == (ada.id,)
    assert (seen.skipped_user_ids, seen.skipped_people, seen.excluded_user_ids) == ((), 0, ())


def test_a_dry_run_lists_each_person_and_changes_nothing(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, leave_allowance_half_days=6)
    grace = a_person(database, acme, first_name="Grace")
    settings = CHRISTMAS | {"leave_type_id": type_id(database, acme)}

    overdrawn = dry_run(database, closures.create, settings, by=acme.caller, now=NOW)
    skipped = dry_run(
        database, closures.create, settings | {"when_short": "skip"}, by=acme.caller, now=NOW
    )

    people_of = {effect.user.id: effect.half_days_after for effect in overdrawn.closed}
    assert people_of == {acme.owner.id: 8, ada.id: 8, grace.id: 8}
    assert [(each.user_id, each.after_half_days) for each in overdrawn.overdrawn] == [(ada.id, -2)]
    assert [each.user.id for each in skipped.closed if each.is_skipped] == [ada.id]
    assert leave_of(database, acme, ada) == []
    assert acme.read(closures.page, PageOf()).items == []


def test_each_leave_is_audited_and_sent_to_webhooks_as_created_and_approved(
    database: Database, acme: Acme
) -> None:
    a_webhook(database, acme)
    ada = a_person(database, acme)
    closure = closed(database, acme)
    (leave,) = leave_of(database, acme, ada)

    entries = audit_entries(database, acme.caller, subject_id=leave.id)

    assert [entry.action for entry in entries] == [
        "leave_request.approved",
        "leave_request.created",
    ]
    assert entries[1].changes["closure_id"] == {"before": None, "after": closure.id}
    assert entries[0].changes["why"] == {"before": None, "after": "closure"}
    assert entries[0].changes["status"] == {"before": "pending", "after": "approved"}


WHOLE = [("2026-12-24", "2026-12-31", 4)]
AROUND = [("2026-12-24", "2026-12-24", 1), ("2026-12-31", "2026-12-31", 1)]


def both_ways(database: Database, acme: Acme, own: Callable[..., Any], is_first: bool) -> list[str]:
    """A closure and a step of own leave, of which the second begins before the first commits."""
    settings = CHRISTMAS | {"leave_type_id": type_id(database, acme)}
    close = partial(closures.create, settings=settings, by=acme.caller, now=NOW)
    first, second = (own, close) if is_first else (close, own)
    return overlapping(database, first, lambda: database.write_now(second))


@pytest.mark.parametrize(
    ("is_first", "codes", "booked"),
    [(True, [], AROUND), (False, ["overlapping_leave"], WHOLE)],
    ids=["request first", "closure first"],
)
def test_of_a_closure_and_a_request_at_once_the_later_one_sees_the_other(
    database: Database,
    acme: Acme,
    is_first: bool,
    codes: list[str],
    booked: list[tuple[str, str, float]],
) -> None:
    ada = a_person(database, acme)
    draft = Draft(
        leave_type_id=type_id(database, acme),
        start_date=date(2026, 12, 29),
        end_date=date(2026, 12, 30),
    )
    own = partial(leave_requests.submit, draft=draft, by=caller_for(acme, ada), now=NOW)

    assert both_ways(database, acme, own, is_first) == codes
    assert days_of(leave_of(database, acme, ada)) == booked


@pytest.mark.parametrize("is_first", [True, False], ids=["cancellation first", "closure first"])
def test_of_a_closure_and_a_cancellation_at_once_every_day_is_booked(
    database: Database, acme: Acme, is_first: bool
) -> None:
    ada = a_person(database, acme)
    leave = approved_leave(database, acme, ada, date(2026, 12, 29), date(2026, 12, 30))
    by = caller_for(acme, ada)
    own = partial(leave_requests.cancel, request_id=leave.id, by=by, now=NOW)

    assert both_ways(database, acme, own, is_first) == []
    assert sum(each.total_half_days for each in leave_of(database, acme, ada)) == 8


def test_own_leave_that_would_overlap_it_is_refused(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme)
    closed(database, acme)

    with pytest.raises(OverlappingLeave):
        a_request(database, acme, ada, start_date=date(2026, 12, 30))


def test_the_number_of_statements_does_not_grow_with_the_people(database: Database) -> None:
    statements = "hiatus_database_statement_duration_seconds_count"
    used = []
    for size in (4, 16):
        acme = an_organisation(database)
        a_webhook(database, acme)
        for number in range(size - 1):
            a_person(database, acme, first_name=f"P{number}")
        acme.read(closures.page, PageOf())
        before = counted(statements)
        closed(database, acme, when_short="skip")
        used.append(counted(statements) - before)

    # Of the 16 counters of feed changes, each is raised at most once.
    assert used[1] - used[0] <= 12


def test_a_deleted_closure_leaves_its_days_to_another_one(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme)
    first = closed(database, acme)
    second = closed(database, acme, name="New Year", start_date=date(2026, 12, 30))
    before = [each.closure_id for each in leave_of(database, acme, ada)]

    acme.write(closures.delete, first.id)

    (leave,) = leave_of(database, acme, ada)
    assert before == [first.id]
    assert leave.closure_id == second.id
    assert days_of([leave]) == [("2026-12-30", "2026-12-31", 2)]
