"""A person's employment over time: dated changes, single records, the last day, and the job."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from storage.admin import (
    daily_changes,
    departments,
    employment_records,
    holiday_set_changes,
    organisation_settings,
    people,
    people_status,
)
from storage.admin.daily_changes import Due
from storage.base.allowance_values import Amount
from storage.base.errors import DomainError
from storage.base.leave_values import HalfDay, LeaveRequest
from storage.base.values import User
from storage.db.database import Database
from storage.leave import decisions, leave_requests, leave_rows, ledgers
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import allowance_terms, employment_by_date, holiday_sets, people_rows
from storage.rules import counted_days, employment_terms
from tests import outside
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
    as_it_is,
    audit_entries,
    caller_for,
    dry_run,
    type_id,
)
from tests.refusals import at_once, errors_of

pytestmark = pytest.mark.shared_database

# NOW is Monday, 1 June 2026.
TODAY = NOW.date()
LATER = NOW + timedelta(hours=1)
THREE = ["monday", "tuesday", "wednesday"]


def at(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 9, tzinfo=UTC)


def changed(database: Database, acme: Acme, user: User, **changes: Any) -> User:
    now = changes.pop("now", LATER)
    return database.write_now(people.update, user.id, changes, by=acme.caller, now=now)


def begins(user: User) -> list[date | None]:
    return [record.valid_from for record in employment_terms.records_of(user)]


def person(database: Database, acme: Acme, user: User) -> User:
    return database.read_now(people_rows.get, user.id, by=acme.caller)


def remaining(database: Database, acme: Acme, user: User, on: date = TODAY) -> Amount | float:
    balance = database.read_now(ledgers.balance, user.id, on=on, by=acme.caller, now=NOW)
    assert sum(line.half_days for line in balance.lines) == balance.remaining_half_days
    return balance.remaining_half_days / 2


def writing(database: Database, change: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """The change as a call with further arguments."""
    return partial(
        lambda *more, **others: database.write_now(change, *args, *more, **how, **others)
    )


def code_of(change: Callable[[], object]) -> str:
    with pytest.raises(DomainError) as refused:
        change()
    return refused.value.code


def test_without_a_date_a_change_counts_from_today(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    # Thursday before and after the change.
    across = approved_leave(database, acme, ada, date(2026, 5, 28), date(2026, 6, 4))

    after = changed(database, acme, ada, working_days=THREE)

    assert begins(after) == [None, TODAY]
    assert as_it_is(database, acme, across).counted_halves == "33003330"


def test_a_change_dated_back_recounts_past_days_from_then_on(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    april = approved_leave(database, acme, ada, date(2026, 4, 23), date(2026, 4, 30))

    after = changed(database, acme, ada, working_days=THREE, effective_from=date(2026, 4, 27))

    assert after.working_days == tuple(THREE)
    # Thursday and Friday before, Monday to Wednesday after.
    assert as_it_is(database, acme, april).counted_halves == "33003330"
    recounted = as_it_is(database, acme, april)
    assert (recounted.total_half_days, recounted.version) == (10, april.version + 1)


def test_holidays_that_changed_since_leave_past_days_outside_the_dated_change_alone(
    database: Database, acme: Acme, ada: User
) -> None:
    # Good Friday, a working day in France, to the Wednesday after Easter.
    easter = approved_leave(database, acme, ada, date(2026, 4, 2), date(2026, 4, 8))
    may = approved_leave(database, acme, ada, date(2026, 5, 4), date(2026, 5, 8))
    database.write_now(
        organisation_settings.update, {"country_code": "FR"}, by=acme.caller, now=NOW
    )

    changed(database, acme, ada, working_days=THREE, effective_from=date(2026, 4, 7))

    # Good Friday stays a holiday.
    assert as_it_is(database, acme, easter).counted_halves == easter.counted_halves == "3000333"
    # 4 May was a holiday when it was counted, and is among the days of the change.
    assert may.counted_halves == "03333"
    assert as_it_is(database, acme, may).counted_halves == "33300"


def test_a_change_in_the_future_is_shown_when_it_takes_effect(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    july = date(2026, 7, 1)
    across = approved_leave(database, acme, ada, date(2026, 6, 29), date(2026, 7, 3))

    planned = changed(database, acme, ada, working_days=THREE, effective_from=july)

    assert planned.working_days is None
    assert begins(planned) == [None, july]
    assert as_it_is(database, acme, across).counted_halves == "33300"
    before = datetime(2026, 6, 30, 22, 59, tzinfo=UTC)
    assert mine(database, acme, now=before) == []
    # Midnight in London.
    assert mine(database, acme, now=before + timedelta(minutes=1)) == [ada.id]
    take_effect(database, acme, ada, now=at(july))
    assert person(database, acme, ada).working_days == tuple(THREE)
    assert mine(database, acme, now=at(july)) == []
    assert as_it_is(database, acme, across).version == across.version + 1


def mine(database: Database, acme: Acme, *, now: datetime) -> list[str]:
    """Who of the organisation is due."""
    people_due = database.read_now(daily_changes.due_people, now=now)
    return [entry.id for entry in people_due if entry.organisation_id == acme.id]


def take_effect(database: Database, acme: Acme, user: User, *, now: datetime) -> None:
    entry = Due(organisation_id=acme.id, id=user.id)
    database.write_now(daily_changes.take_effect, entry, now=now)


def test_a_department_that_takes_effect_moves_pending_leave_to_its_manager(
    database: Database, acme: Acme
) -> None:
    grace = a_person(database, acme, first_name="Grace")
    sales = a_department(database, acme, name="Sales", manager_id=grace.id)
    ada = a_person(database, acme)
    request = a_request(database, acme, ada)
    tomorrow = TODAY + timedelta(days=1)
    changed(database, acme, ada, department_id=sales.id, effective_from=tomorrow)
    by_grace = writing(database, decisions.approve, request.id, by=caller_for(acme, grace))
    assert code_of(partial(by_grace, now=LATER)) == "not_found"

    take_effect(database, acme, ada, now=at(tomorrow))

    assert by_grace(now=at(tomorrow)).status == "approved"
    entries = audit_entries(database, acme.caller)
    moved = next(entry for entry in entries if entry.action == "user.updated")
    assert (moved.source, moved.actor_id) == ("scheduler", None)
    assert moved.changes == {"department_id": {"before": None, "after": sales.id}}


def test_an_allowance_alone_counts_from_the_start_of_the_leave_year(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50)
    ada = a_person(database, acme)

    after = changed(database, acme, ada, leave_allowance_half_days=40)

    assert begins(after) == [None, date(2026, 1, 1)]
    assert remaining(database, acme, ada) == 20
    assert remaining(database, acme, ada, date(2025, 6, 1)) == 25


def test_an_allowance_alone_counts_from_its_last_change_in_the_leave_year(
    database: Database, acme: Acme, ada: User
) -> None:
    march = date(2026, 3, 1)
    changed(database, acme, ada, leave_allowance_half_days=30, effective_from=march)
    changed(database, acme, ada, working_days=THREE, effective_from=date(2026, 4, 1))

    after = changed(database, acme, ada, leave_allowance_half_days=40)

    assert begins(after) == [None, march, date(2026, 4, 1)]
    assert after.leave_allowance_half_days == 40
    # 59 days of 25 and 306 of 20: 20.8 rounded up.
    assert remaining(database, acme, ada) == 21


@pytest.mark.parametrize(
    ("year_type", "start", "allowance"),
    [
        # 151 days of 25 and 214 of 15.
        pytest.param("calendar", None, 19.5, id="calendar"),
        # From 1 April: 61 days of 25 and 304 of 15.
        pytest.param("fiscal", None, 17, id="fiscal"),
        # From 1 March: 92 days of 25 and 273 of 15.
        pytest.param("anniversary", date(2019, 3, 1), 18, id="anniversary"),
    ],
)
def test_from_five_days_to_three_in_june_in_every_kind_of_leave_year(
    database: Database, year_type: str, start: date | None, allowance: float
) -> None:
    acme = an_organisation(
        database,
        leave_year_type=year_type,
        leave_year_start_month=4,
        default_leave_allowance_half_days=50,
    )
    ada = a_person(database, acme, start_date=start)
    # Tuesday afternoon to Friday of the next week; 25 May is a bank holiday.
    across = approved_leave(
        database, acme, ada, date(2026, 5, 26), date(2026, 6, 5), start_half_day="pm"
    )
    change = {"working_days": THREE, "leave_allowance_half_days": 30}

    changed(database, acme, ada, **change, effective_from=TODAY)

    counted = as_it_is(database, acme, across)
    assert (counted.counted_halves, counted.total_half_days) == ("23330033300", 13)
    assert remaining(database, acme, ada) == allowance - 6.5
    new = a_request(database, acme, ada, start_date=date(2026, 6, 8), end_date=date(2026, 6, 12))
    assert new.counted_halves == "33300"


def test_a_dry_run_of_a_dated_change_shows_leave_and_balance(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50)
    ada = a_person(database, acme)
    week = approved_leave(database, acme, ada, date(2026, 7, 6), date(2026, 7, 10))
    changes = {"working_days": THREE, "effective_from": date(2026, 7, 8)}

    effects = dry_run(database, people.update, ada.id, changes, by=acme.caller, now=LATER)

    assert [(effect.before.id, effect.after.counted_halves) for effect in effects.leave] == [
        (week.id, "33300")
    ]
    assert [(entry.before_half_days, entry.after_half_days) for entry in effects.balances] == [
        (40, 44)
    ]
    assert begins(person(database, acme, ada)) == [None]


def test_leave_is_not_refused_for_an_allowance_that_comes_later_in_the_year(
    database: Database,
) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=2)
    ada = a_person(database, acme)
    changed(database, acme, ada, leave_allowance_half_days=10, effective_from=date(2026, 10, 20))

    # 292 days of 1 and 73 of 5 days.
    assert remaining(database, acme, ada) == 2
    assert a_request(database, acme, ada, end_date=date(2026, 8, 4)).total_half_days == 4


def added(database: Database, acme: Acme, user: User, day: date, **fields: Any) -> Any:
    values = {"valid_from": day, **fields}
    return database.write_now(employment_records.add, user.id, values, by=acme.caller, now=LATER)[1]


def test_a_record_is_added_moved_and_removed_with_leave_recounted_each_time(
    database: Database, acme: Acme, ada: User
) -> None:
    week = approved_leave(database, acme, ada, date(2026, 5, 18), date(2026, 5, 22))
    counts = []

    record = added(database, acme, ada, date(2026, 5, 21), working_days=THREE)
    counts.append(as_it_is(database, acme, week).counted_halves)
    change = {"valid_from": date(2026, 5, 22)}
    database.write_now(
        employment_records.update, ada.id, record.id, change, by=acme.caller, now=LATER
    )
    counts.append(as_it_is(database, acme, week).counted_halves)
    database.write_now(employment_records.remove, ada.id, record.id, by=acme.caller, now=LATER)
    counts.append(as_it_is(database, acme, week).counted_halves)

    assert counts == ["33300", "33330", "33333"]
    assert person(database, acme, ada).employment is None
    entries = audit_entries(database, acme.caller)
    of_records = [entry for entry in entries if entry.action.startswith("employment_record.")]
    assert [entry.action for entry in of_records] == [
        "employment_record.deleted",
        "employment_record.updated",
        "employment_record.created",
    ]
    after = of_records[2].changes["employment"]["after"]
    assert isinstance(after, list)
    assert [record["valid_from"] for record in after] == [None, "2026-05-21"]


def test_the_first_record_begins_with_the_employment(database: Database, acme: Acme) -> None:
    start = date(2026, 2, 1)
    ada = a_person(database, acme, start_date=start)
    change = writing(database, employment_records.update, ada.id, ada.id)
    user, all_records = database.read_now(
        employment_records.of_person, ada.id, by=acme.caller, now=NOW
    )
    assert [employment_records.shown_from(user, record) for record in all_records] == [start]

    change({"valid_from": start, "working_days": THREE}, by=acme.caller, now=LATER)

    assert person(database, acme, ada).working_days == tuple(THREE)
    move = partial(change, {"valid_from": date(2026, 3, 1)}, by=acme.caller, now=LATER)
    assert code_of(move) == "first_record_start"
    remove = writing(database, employment_records.remove, ada.id, ada.id)
    assert code_of(partial(remove, by=acme.caller, now=LATER)) == "first_employment_record"


def test_refused_dates_change_nothing(database: Database, acme: Acme) -> None:
    start, end = date(2026, 2, 1), date(2026, 11, 30)
    ada = a_person(database, acme, start_date=start, end_date=end)
    record = added(database, acme, ada, date(2026, 8, 1), working_days=THREE)
    before = person(database, acme, ada)

    def patch(**changes: Any) -> str:
        return code_of(lambda: changed(database, acme, ada, **changes))

    def add(day: Any) -> str:
        return code_of(lambda: added(database, acme, ada, day))

    def move(record_id: str, day: Any) -> str:
        change = writing(database, employment_records.update, ada.id, record_id)
        return code_of(partial(change, {"valid_from": day}, by=acme.caller, now=LATER))

    assert patch(end_date=date(2026, 1, 31)) == "end_date_before_start_date"
    assert patch(start_date=date(2026, 12, 1)) == "end_date_before_start_date"
    assert patch(start_date=date(2026, 8, 1)) == "start_date_after_record"
    assert patch(working_days=THREE, effective_from=date(2026, 1, 31)) == "before_start_date"
    assert patch(working_days=THREE, effective_from=date(2026, 12, 1)) == "after_end_date"
    assert patch(working_days=THREE, effective_from=date(1066, 1, 1)) == "out_of_range"
    assert patch(first_name="Ida", effective_from=TODAY) == "nothing_effective"
    assert add(date(2026, 8, 1)) == "employment_record_exists"
    assert add(start) == "employment_record_exists"
    assert add(date(2026, 12, 1)) == "after_end_date"
    assert add(None) == "required"
    assert move(record.id, start) == "employment_record_exists"
    assert move(record.id, date(2026, 1, 1)) == "before_start_date"
    assert move(record.id, None) == "required"
    assert move("0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11", TODAY) == "not_found"
    assert person(database, acme, ada) == before


def test_a_person_has_at_most_a_hundred_records(database: Database, acme: Acme, ada: User) -> None:
    first = date(2026, 7, 1)
    for number in range(99):
        added(database, acme, ada, first + timedelta(days=number))

    refused = partial(added, database, acme, ada, first + timedelta(days=99))
    assert code_of(refused) == "too_many_employment_records"


def test_a_last_day_cancels_and_shortens_leave_and_reduces_the_allowance(
    database: Database,
) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50)
    ada = a_person(database, acme)
    before = approved_leave(database, acme, ada, date(2026, 7, 6), date(2026, 7, 7))
    crossing = approved_leave(database, acme, ada, date(2026, 9, 28), date(2026, 10, 2))
    pending = a_request(
        database, acme, ada, start_date=date(2026, 9, 21), end_date=date(2026, 9, 25)
    )
    later = approved_leave(database, acme, ada, date(2026, 12, 7), date(2026, 12, 11))
    end = date(2026, 9, 30)

    plan = dry_run(database, people.update, ada.id, {"end_date": end}, by=acme.caller, now=LATER)
    changed(database, acme, ada, end_date=end)

    assert [(effect.before.id, effect.after.status) for effect in plan.leave] == [
        (crossing.id, "approved"),
        (later.id, "cancelled"),
    ]
    assert as_it_is(database, acme, before) == before
    assert as_it_is(database, acme, pending) == pending
    shortened = as_it_is(database, acme, crossing)
    assert (shortened.end_date, shortened.counted_halves) == (end, "333")
    assert as_it_is(database, acme, later).status == "cancelled"
    # 273 of 365 days of 25: 18.7 rounded up to 19, less 2, 5 and 3 days.
    assert remaining(database, acme, ada) == 9
    assert remaining(database, acme, ada, date(2027, 6, 1)) == 0
    late = partial(a_request, database, acme, ada, start_date=end, end_date=date(2026, 10, 1))
    assert code_of(late) == "after_end_date"


def test_a_later_first_day_cancels_and_shortens_leave_before_it(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50)
    ada = a_person(database, acme, start_date=date(2026, 5, 1))
    earlier = approved_leave(database, acme, ada, date(2026, 7, 6), date(2026, 7, 7))
    crossing = approved_leave(
        database, acme, ada, date(2026, 7, 29), date(2026, 8, 4), start_half_day="pm"
    )
    last_half = a_request(
        database,
        acme,
        ada,
        code="unpaid",
        start_date=date(2026, 7, 27),
        end_date=date(2026, 7, 28),
        end_half_day="am",
    )
    later = approved_leave(database, acme, ada, date(2026, 12, 7), date(2026, 12, 11))
    start = date(2026, 8, 3)

    plan = dry_run(
        database, people.update, ada.id, {"start_date": start}, by=acme.caller, now=LATER
    )
    changed(database, acme, ada, start_date=start)

    assert [(effect.before.id, effect.after.status) for effect in plan.leave] == [
        (earlier.id, "cancelled"),
        (last_half.id, "cancelled"),
        (crossing.id, "approved"),
    ]
    shortened = as_it_is(database, acme, crossing)
    assert (shortened.start_date, shortened.start_half_day) == (start, None)
    assert (shortened.counted_halves, shortened.total_half_days) == ("33", 4)
    assert as_it_is(database, acme, later) == later
    entries = audit_entries(database, acme.caller, action="leave_request.cancelled")
    assert {(entry.subject_id, entry.changes["why"]["after"]) for entry in entries} == {
        (earlier.id, "employment_starts"),
        (last_half.id, "employment_starts"),
    }
    # 151 of 365 days of 25: 10.3 rounded up to 10.5, less 2 and 5 days.
    assert remaining(database, acme, ada) == 3.5


@pytest.mark.parametrize(
    ("end_half_day", "halves_left", "kept"),
    [(None, "3", None), ("pm", "3", None), ("am", "1", "am")],
)
def test_leave_whose_last_day_alone_is_left_keeps_the_halves_of_that_day(
    database: Database, end_half_day: HalfDay | None, halves_left: str, kept: HalfDay | None
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    request = approved_leave(
        database,
        acme,
        ada,
        date(2026, 7, 29),
        date(2026, 7, 30),
        start_half_day="pm",
        end_half_day=end_half_day,
    )

    changed(database, acme, ada, start_date=date(2026, 7, 30))

    stored = as_it_is(database, acme, request)
    assert (stored.start_date, stored.end_date) == (date(2026, 7, 30), date(2026, 7, 30))
    assert (stored.start_half_day, stored.end_half_day) == (None, kept)
    assert stored.counted_halves == halves_left


def test_leave_before_the_first_day_is_refused_wherever_it_is_asked_for(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, start_date=date(2026, 8, 3))
    annual = type_id(database, acme)
    own = caller_for(acme, ada)
    early = Draft(leave_type_id=annual, start_date=date(2026, 7, 31), end_date=date(2026, 8, 4))
    pending = a_request(database, acme, ada, start_date=date(2026, 8, 10))
    approved = approved_leave(database, acme, ada, date(2026, 8, 17), date(2026, 8, 18))

    def create() -> object:
        return database.write_now(leave_requests.submit, by=own, draft=early, now=LATER)

    def edit(request: LeaveRequest) -> Callable[[], object]:
        return lambda: database.write_now(
            leave_requests.edit, request.id, {"start_date": early.start_date}, by=own, now=LATER
        )

    def record() -> object:
        return database.write_now(
            leave_requests.create,
            by=acme.caller,
            draft=early,
            user_id=ada.id,
            override_reason="Agreed with the previous employer.",
            now=LATER,
        )

    for refused in (create, edit(pending), edit(approved), record):
        assert errors_of(refused) == [("/start_date", "before_start_date")]


def test_leave_from_before_this_rule_keeps_its_days_when_its_note_changes(
    database: Database, acme: Acme, ada: User, database_url: str
) -> None:
    request = a_request(database, acme, ada, start_date=date(2026, 8, 3))
    outside.run(database_url, f"UPDATE users SET start_date = '2026-08-04' WHERE id = '{ada.id}'")

    edited = database.write_now(
        leave_requests.edit, request.id, {"note": "Moving"}, by=caller_for(acme, ada), now=LATER
    )

    assert (edited.note, edited.start_date) == ("Moving", date(2026, 8, 3))


def test_a_declined_request_before_a_later_first_day_cannot_be_approved_after_all(
    database: Database, acme: Acme, ada: User
) -> None:
    request = a_request(database, acme, ada, start_date=date(2026, 8, 3))
    database.write_now(decisions.decline, request.id, reason=None, by=acme.caller, now=LATER)
    changed(database, acme, ada, start_date=date(2026, 8, 4))

    assert errors_of(
        lambda: database.write_now(
            decisions.change_decision, request.id, "approved", by=acme.caller, now=LATER
        )
    ) == [("/start_date", "before_start_date")]


def test_a_person_is_archived_on_the_day_after_the_last(database: Database) -> None:
    acme = an_organisation(database, timezone="America/New_York")
    ada = a_person(database, acme)
    end = date(2026, 6, 30)
    changed(database, acme, ada, end_date=end)
    # 1 July in UTC, still 30 June in New York.
    evening = datetime(2026, 7, 1, 3, 59, tzinfo=UTC)

    assert mine(database, acme, now=evening) == []
    take_effect(database, acme, ada, now=evening)
    assert person(database, acme, ada).status == "active"
    assert mine(database, acme, now=evening + timedelta(minutes=1)) == [ada.id]
    for _ in range(2):
        take_effect(database, acme, ada, now=evening + timedelta(minutes=1))

    archived = person(database, acme, ada)
    assert (archived.status, archived.end_date) == ("archived", end)
    assert mine(database, acme, now=evening + timedelta(days=2)) == []
    restored = database.write_now(people.restore, ada.id, by=acme.caller, now=at(date(2026, 8, 1)))
    assert (restored.status, restored.end_date) == ("pending", None)


def test_the_last_owner_cannot_have_a_last_day(database: Database, acme: Acme) -> None:
    end = date(2026, 12, 31)
    assert code_of(lambda: changed(database, acme, acme.owner, end_date=end)) == "last_owner"
    other = a_person(database, acme, first_name="Grace", role="owner")

    assert changed(database, acme, other, end_date=end).end_date == end

    # The other owner leaves, so this one is the last again.
    assert code_of(lambda: changed(database, acme, acme.owner, end_date=end)) == "last_owner"
    assert code_of(lambda: changed(database, acme, acme.owner, role="admin")) == "last_owner"


def test_members_cannot_date_or_end_their_own_employment(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    for changes in ({"end_date": TODAY}, {"first_name": "Ida", "effective_from": TODAY}):
        change = writing(database, people.update, ada.id, changes)
        assert code_of(partial(change, by=caller_for(acme, ada), now=NOW)) == "field_not_yours"


def test_a_department_of_a_later_record_cannot_be_deleted(database: Database, acme: Acme) -> None:
    sales = a_department(database, acme, name="Sales")
    ada = a_person(database, acme)
    changed(database, acme, ada, department_id=sales.id, effective_from=date(2026, 8, 1))
    delete = writing(database, departments.delete, sales.id, by=acme.caller, now=LATER)

    assert code_of(delete) == "in_use"

    database.write_now(people_status.archive, ada.id, by=acme.caller, now=LATER)
    delete()
    assert {
        record.department_id for record in employment_terms.records_of(person(database, acme, ada))
    } == {None}


def test_a_holiday_set_of_another_record_cannot_be_deleted(database: Database, acme: Acme) -> None:
    french = database.write_now(holiday_sets.add, "FR", by=acme.caller, now=NOW)
    ada = a_person(database, acme)
    changed(database, acme, ada, public_holiday_country_code="FR", effective_from=date(2026, 8, 1))

    remove = writing(database, holiday_set_changes.remove, french.id)
    assert code_of(partial(remove, by=acme.caller, now=LATER)) == "holiday_set_in_use"


def test_a_changed_department_allowance_counts_for_the_records_in_it(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50)
    sales = a_department(database, acme, name="Sales", default_leave_allowance_half_days=50)
    ada = a_person(database, acme, department_id=sales.id)
    changed(database, acme, ada, department_id=None, effective_from=date(2026, 10, 20))
    lower = {"default_leave_allowance_half_days": 0}

    effects = dry_run(database, departments.update, sales.id, lower, by=acme.caller, now=LATER)
    database.write_now(departments.update, sales.id, lower, by=acme.caller, now=LATER)

    assert not effects.overdrawn
    # 73 of 365 days of 25.
    assert remaining(database, acme, ada) == 5


@pytest.mark.both_engines
def test_two_records_of_one_day_at_once_are_one_and_a_conflict(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    day = date(2026, 8, 1)

    codes = at_once(*[lambda: added(database, acme, ada, day, working_days=THREE)] * 2)

    assert codes == ["employment_record_exists"]
    assert begins(person(database, acme, ada)) == [None, day]


days_of_2026 = st.dates(date(2026, 2, 1), date(2026, 12, 31))
weeks = st.sampled_from((None, THREE, ["friday:am", "monday"], ["saturday"]))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("leave"), days_of_2026, st.integers(0, 12)),
        st.tuples(st.just("change"), days_of_2026, weeks, st.sampled_from((None, 30, 61))),
        st.tuples(st.just("add"), days_of_2026, weeks),
        st.tuples(st.just("move"), st.integers(0, 3), days_of_2026),
        st.tuples(st.just("remove"), st.integers(0, 3)),
        st.tuples(st.just("end"), st.none() | days_of_2026),
        st.tuples(st.just("start"), st.none() | days_of_2026),
        st.tuples(st.just("day passes"), days_of_2026),
    ),
    max_size=12,
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps)
@example([("leave", date(2026, 12, 23), 12)])  # Its last day is in the next leave year.
def test_after_any_changes_leave_and_balance_follow_the_records(
    database: Database, sequence: list[tuple[Any, ...]]
) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=200)
    ada = a_person(database, acme)
    for step in sequence:
        with suppress(DomainError):
            carry_out(database, acme, person(database, acme, ada), step)
        check_leave_and_balance(database, acme, person(database, acme, ada))


def carry_out(database: Database, acme: Acme, ada: User, step: tuple[Any, ...]) -> None:
    by, all_records = acme.caller, employment_terms.records_of(ada)
    match step:
        case ("leave", start, length):
            a_request(database, acme, ada, start_date=start, end_date=start + timedelta(length))
        case ("change", day, week, allowance):
            fields = {"working_days": week, "leave_allowance_half_days": allowance}
            changed(database, acme, ada, **fields, effective_from=day)
        case ("add", day, week):
            added(database, acme, ada, day, working_days=week)
        case ("move", number, day):
            record = all_records[number % len(all_records)]
            change = {"valid_from": day}
            database.write_now(
                employment_records.update, ada.id, record.id, change, by=by, now=LATER
            )
        case ("remove", number):
            record = all_records[number % len(all_records)]
            database.write_now(employment_records.remove, ada.id, record.id, by=by, now=LATER)
        case ("end", day):
            changed(database, acme, ada, end_date=day)
        case ("start", day):
            changed(database, acme, ada, start_date=day)
        case ("day passes", day) if ada.end_date is None:
            take_effect(database, acme, ada, now=at(day))


def check_leave_and_balance(database: Database, acme: Acme, ada: User) -> None:
    config = database.read_now(organisation_config.of_organisation, acme.id)
    standing = database.read_now(leave_rows.current_of, acme.id, ada.id, date(2026, 1, 1))
    for request in standing:
        counts = employment_by_date.count(config, ada, counted_days.span_of(request))
        assert request.counted_halves == counted_days.counted_halves(counts)
        assert request.total_half_days == sum(count.half_days for count in counts)
        assert ada.end_date is None or request.end_date <= ada.end_date
        assert ada.start_date is None or request.start_date >= ada.start_date
    days_of_year = [date(2026, 1, 1) + timedelta(days=number) for number in range(365)]
    granted = sum(
        allowance_terms.figure_on(config, ada, config.default_allowance_id, day).half_days
        for day in days_of_year
        if (ada.start_date or day) <= day <= (ada.end_date or day)
    )
    taken = sum(
        counted_days.total_half_days(digit)
        for request in standing
        for number, digit in enumerate(request.counted_halves)
        if request.start_date + timedelta(days=number) <= days_of_year[-1]
    )
    assert remaining(database, acme, ada) * 2 == -(-granted // 365) - taken
