"""Future leave is recalculated when its days count differently; past leave keeps its count."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from threading import Barrier, Thread
from typing import Any

import orjson
import pytest

from storage.admin import holiday_overrides, organisation_settings, people
from storage.admin.holiday_overrides import NewOverride
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db import locks
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import EventRow
from storage.leave import decisions, leave_lists, leave_requests
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import holiday_sets
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    approved_leave,
    as_it_is,
    audit_entries,
    caller_for,
)
from tests.refusals import crossing, overlapping

pytestmark = pytest.mark.shared_database

# NOW is Monday, 1 June 2026.
MONDAY, WEDNESDAY, FRIDAY = date(2026, 8, 3), date(2026, 8, 5), date(2026, 8, 7)
LATER = NOW + timedelta(hours=1)


def own_set(database: Database, acme: Acme, code: str = "GB") -> str:
    config = database.read_now(organisation_config.of_organisation, acme.id)
    return next(
        holiday_set.id
        for holiday_set in config.holiday_sets.values()
        if holiday_set.country_code == code
    )


def a_holiday(
    database: Database,
    acme: Acme,
    day: date,
    *,
    now: datetime = LATER,
    code: str = "GB",
    **more: Any,
) -> str:
    """A public holiday made by an override; the override's id."""
    add = partial(holiday_overrides.add, set_id=own_set(database, acme, code))
    new = NewOverride(date=day, name="Market day", **more)
    return database.write_now(lambda tx: add(tx, new=new, by=acme.caller, now=now)).id


def test_a_new_holiday_gives_a_day_back(database: Database, acme: Acme, ada: User) -> None:
    week = approved_leave(database, acme, ada, MONDAY, FRIDAY)
    other = a_request(database, acme, ada, start_date=date(2026, 9, 7))

    a_holiday(database, acme, WEDNESDAY)

    expected = replace(
        week, counted_halves="33033", total_half_days=8, updated_at=LATER, version=week.version + 1
    )
    assert as_it_is(database, acme, week) == expected
    assert as_it_is(database, acme, other) == other


def test_a_day_whose_holiday_is_removed_counts_again(database: Database, acme: Acme) -> None:
    override_id = a_holiday(database, acme, WEDNESDAY, half="am")
    request = a_request(database, acme, a_person(database, acme), start_date=WEDNESDAY)
    assert request.counted_halves == "2"

    acme.write(holiday_overrides.remove, own_set(database, acme), override_id, now=LATER)

    assert as_it_is(database, acme, request).counted_halves == "3"


def test_only_people_of_the_holiday_set_are_affected(database: Database, acme: Acme) -> None:
    acme.write(holiday_sets.add, "FR")
    ada = a_person(database, acme)
    brigitte = a_person(database, acme, public_holiday_country_code="FR")
    requests = [a_request(database, acme, user, start_date=WEDNESDAY) for user in (ada, brigitte)]

    a_holiday(database, acme, WEDNESDAY, code="FR")

    counts = [as_it_is(database, acme, request).total_half_days for request in requests]
    assert counts == [2, 0]


def test_other_working_days_recalculate_a_persons_leave(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    week = approved_leave(database, acme, ada, MONDAY, FRIDAY)
    change = {"working_days": ["monday", "tuesday", "friday:am"]}

    acme.write(people.update, ada.id, change, now=LATER)
    fewer = as_it_is(database, acme, week)
    acme.write(people.update, ada.id, {"working_days": None}, now=LATER)

    assert (fewer.counted_halves, fewer.total_half_days) == ("33001", 5)
    assert as_it_is(database, acme, week).counted_halves == "33333"


def test_another_country_recalculates_a_persons_leave(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    bastille_day = a_request(database, acme, ada, start_date=date(2026, 7, 14))
    change = {"public_holiday_country_code": "FR"}

    acme.write(people.update, ada.id, change, now=LATER)

    assert as_it_is(database, acme, bastille_day).total_half_days == 0


@pytest.mark.parametrize(
    ("change", "own", "day", "counted"),
    [
        (
            {"working_days": ["monday", "tuesday", "wednesday:am"]},
            {"working_days": ["wednesday"]},
            WEDNESDAY,
            "1",
        ),
        ({"country_code": "FR"}, {"public_holiday_country_code": "GB"}, date(2026, 7, 14), "0"),
    ],
    ids=["working days", "country"],
)
def test_the_organisations_settings_count_for_those_without_their_own(
    database: Database, change: dict[str, Any], own: dict[str, Any], day: date, counted: str
) -> None:
    acme = an_organisation(database)
    ada, hedy = a_person(database, acme), a_person(database, acme, first_name="Hedy", **own)
    requests = [a_request(database, acme, user, start_date=day) for user in (ada, hedy)]

    acme.write(organisation_settings.update, change, now=LATER)

    counts = [as_it_is(database, acme, request).counted_halves for request in requests]
    assert counts == [counted, "3"]


def test_changes_of_other_fields_recalculate_nothing(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    week = approved_leave(database, acme, ada, MONDAY, FRIDAY)

    # The same working days, now set for the person.
    change = {"working_days": ["monday", "tuesday", "wednesday", "thursday", "friday"]}
    acme.write(people.update, ada.id, change, now=LATER)
    acme.write(organisation_settings.update, {"name": "Acme Ltd"}, now=LATER)
    a_holiday(database, acme, date(2026, 8, 8))

    assert as_it_is(database, acme, week) == week


@pytest.mark.parametrize("end", ["declined", "cancelled"])
def test_cancelled_and_declined_leave_keeps_its_count(database: Database, end: str) -> None:
    acme = an_organisation(database)
    request = a_request(database, acme, a_person(database, acme), start_date=WEDNESDAY)
    if end == "declined":
        ended = acme.write(decisions.decline, request.id, reason=None)
    else:
        ended = acme.write(leave_requests.cancel, request.id)

    a_holiday(database, acme, WEDNESDAY)

    assert as_it_is(database, acme, request) == ended


def test_past_days_of_running_leave_keep_their_count(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    week = approved_leave(database, acme, ada, MONDAY, FRIDAY)
    on_wednesday = datetime(2026, 8, 5, 12, tzinfo=UTC)
    change = {"working_days": ["tuesday", "thursday"]}

    acme.write(people.update, ada.id, change, now=on_wednesday)

    assert as_it_is(database, acme, week).counted_halves == "33030"


@pytest.mark.parametrize(
    ("timezone", "counted"),
    [("Pacific/Auckland", "3"), ("Europe/London", "0"), ("Pacific/Honolulu", "0")],
)
def test_today_is_the_organisations(database: Database, timezone: str, counted: str) -> None:
    acme = an_organisation(database, timezone=timezone)
    request = a_request(database, acme, a_person(database, acme), start_date=WEDNESDAY)

    # In Auckland Thursday has begun.
    a_holiday(database, acme, WEDNESDAY, now=datetime(2026, 8, 5, 13, tzinfo=UTC))

    assert as_it_is(database, acme, request).counted_halves == counted


@pytest.mark.parametrize(
    "day", [date(2028, 2, 29), date(2026, 12, 31), date(2027, 1, 1), date(2027, 3, 28)], ids=str
)
def test_odd_days_of_the_calendar_are_days_like_others(database: Database, day: date) -> None:
    week = [f"{name}" for name in ("monday", "tuesday", "wednesday", "thursday", "friday")]
    acme = an_organisation(database, working_days=[*week, "saturday", "sunday"])
    acme.write(holiday_sets.add, "JP")
    ada = a_person(database, acme, leave_allowance_half_days=200)
    start, end = day - timedelta(days=2), day + timedelta(days=2)
    request = approved_leave(database, acme, ada, start, end)

    a_holiday(database, acme, day, half="pm", is_holiday=True)

    holiday_before = request.counted_halves[2] == "0"
    expected = request.counted_halves[:2] + "1" + request.counted_halves[3:]
    assert as_it_is(database, acme, request).counted_halves == expected
    assert holiday_before == (day == date(2027, 1, 1))


def test_half_days_of_a_request_stay_halves(database: Database, acme: Acme, ada: User) -> None:
    request = a_request(
        database,
        acme,
        ada,
        start_date=MONDAY,
        end_date=WEDNESDAY,
        start_half_day="pm",
        end_half_day="am",
    )

    a_holiday(database, acme, WEDNESDAY, half="pm")
    assert as_it_is(database, acme, request) == request
    a_holiday(database, acme, MONDAY, half="pm")

    assert as_it_is(database, acme, request).counted_halves == "031"


def test_leave_without_counted_days_stays(database: Database, acme: Acme) -> None:
    request = approved_leave(database, acme, a_person(database, acme), WEDNESDAY, WEDNESDAY)

    a_holiday(database, acme, WEDNESDAY)

    stored = as_it_is(database, acme, request)
    assert (stored.status, stored.total_half_days) == ("approved", 0)


def test_leave_that_overdraws_the_allowance_stays(database: Database, acme: Acme) -> None:
    four_days = ["monday", "tuesday", "wednesday", "thursday"]
    ada = a_person(database, acme, leave_allowance_half_days=8, working_days=four_days)
    request = approved_leave(database, acme, ada, MONDAY, FRIDAY)

    acme.write(people.update, ada.id, {"working_days": None}, now=LATER)

    stored = as_it_is(database, acme, request)
    assert (stored.status, stored.total_half_days) == ("approved", 10)


def test_the_cause_is_in_the_audit_trail(database: Database, acme: Acme) -> None:
    request = a_request(database, acme, a_person(database, acme), start_date=WEDNESDAY)

    a_holiday(database, acme, WEDNESDAY, half="am")

    entries = audit_entries(database, acme.caller, action="leave_request.recounted")
    assert [(entry.subject_id, entry.actor_id) for entry in entries] == [
        (request.id, acme.owner.id)
    ]
    assert entries[0].changes == {
        "total_days": {"before": 1, "after": 0.5},
        "counted_halves": {"before": "3", "after": "2"},
        "why": {"before": None, "after": "public_holiday_added"},
        "holiday_date": {"before": None, "after": "2026-08-05"},
        "holiday_name": {"before": None, "after": "Market day"},
    }


@compiled
def _bodies(organisation_id: Param[str], event_type: Param[str]) -> Any:
    return EventRow.select(EventRow.body).where(
        EventRow.organisation_id == organisation_id, EventRow.type == event_type
    )


def test_webhooks_receive_an_event_for_recalculated_leave(database: Database, acme: Acme) -> None:
    a_webhook(database, acme, "leave_request.updated", url="https://203.0.114.9/hook")
    ada = a_person(database, acme)
    request = approved_leave(database, acme, ada, WEDNESDAY, WEDNESDAY)

    a_holiday(database, acme, WEDNESDAY)

    entries = database.read_now(
        lambda tx: tx.all(_bodies, organisation_id=acme.id, event_type="leave_request.updated")
    )
    bodies = [orjson.loads(body) for (body,) in entries]
    totals = [(body["data"]["id"], body["data"]["total_days"]) for body in bodies]
    assert totals == [(request.id, 0)]
    assert bodies[0]["data"]["sequence"] == request.version + 1
    assert bodies[0]["data"]["user"]["id"] == ada.id


def everything(database: Database, acme: Acme) -> dict[str, LeaveRequest]:
    page = acme.read(leave_lists.filtered, PageOf(limit=100))
    return {request.id: request for request in page.items}


def test_leave_requested_meanwhile_counts_by_the_new_rules(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    set_id = own_set(database, acme)
    # This process has cached the configuration from before the change.
    a_request(database, acme, ada, start_date=MONDAY)

    def make_holiday(tx: Transaction) -> None:
        new = NewOverride(date=WEDNESDAY, name="Market day")
        holiday_overrides.add(tx, set_id, new, by=acme.caller, now=LATER)

    codes = overlapping(
        database,
        make_holiday,
        lambda: a_request(database, acme, ada, start_date=WEDNESDAY, end_date=FRIDAY),
    )

    assert codes == []
    requests = everything(database, acme).values()
    counted = {request.start_date: request.counted_halves for request in requests}
    assert counted[WEDNESDAY] == "033"


def test_leave_requested_concurrently_is_recalculated(
    database: Database, acme: Acme, ada: User
) -> None:
    def ask(tx: Transaction) -> None:
        draft = Draft(leave_type_id=annual, start_date=WEDNESDAY, end_date=FRIDAY)
        leave_requests.submit(tx, by=by, draft=draft, now=NOW)

    by: Caller = caller_for(acme, ada)
    config = database.read_now(organisation_config.of_organisation, acme.id)
    annual = next(
        leave_type.id for leave_type in config.leave_types.values() if leave_type.code == "annual"
    )

    codes = overlapping(database, ask, lambda: a_holiday(database, acme, WEDNESDAY))

    assert codes == []
    (request,) = everything(database, acme).values()
    assert (request.counted_halves, request.version) == ("033", 2)


def test_leave_whose_decline_is_reversed_meanwhile_counts_by_the_new_rules(
    database: Database, acme: Acme, ada: User
) -> None:
    set_id = own_set(database, acme)
    request = a_request(database, acme, ada, start_date=WEDNESDAY, end_date=FRIDAY)
    acme.write(decisions.decline, request.id, reason=None)

    def make_holiday(tx: Transaction) -> None:
        new = NewOverride(date=WEDNESDAY, name="Market day")
        holiday_overrides.add(tx, set_id, new, by=acme.caller, now=NOW)

    codes = overlapping(
        database,
        make_holiday,
        lambda: acme.write(decisions.change_decision, request.id, "approved"),
    )

    assert codes == []
    stored = as_it_is(database, acme, request)
    assert (stored.status, stored.counted_halves) == ("approved", "033")


def test_a_conditional_change_and_a_recalculation_do_not_deadlock(
    database: Database, acme: Acme, ada: User
) -> None:
    set_id = own_set(database, acme)
    request = a_request(database, acme, ada, start_date=WEDNESDAY, end_date=FRIDAY)
    by = caller_for(acme, ada)

    def edit_if_it_still_is(tx: Transaction) -> None:
        leave_requests.lock(tx, request.id, by=by, now=NOW)
        leave_requests.edit(tx, request.id, {"note": "Lisbon"}, by=by, now=NOW)

    runs = crossing(
        database,
        lambda tx: locks.organisation(tx, acme.id),
        lambda tx: holiday_overrides.add(
            tx, set_id, NewOverride(date=WEDNESDAY, name="Market day"), by=acme.caller, now=NOW
        ),
        edit_if_it_still_is,
    )

    assert runs == 2
    stored = as_it_is(database, acme, request)
    assert (stored.note, stored.counted_halves) == ("Lisbon", "033")


def test_recalculation_during_requests_and_approvals_loses_nothing(database: Database) -> None:
    acme = an_organisation(database)
    cast = [a_person(database, acme) for _ in range(3)]
    submitted = [a_request(database, acme, user, start_date=MONDAY) for user in cast]
    days = [WEDNESDAY + timedelta(weeks=number) for number in range(5)]
    barrier = Barrier(3)

    def counting() -> None:
        barrier.wait(30)
        for day in days:
            a_holiday(database, acme, day)
        a_holiday(database, acme, MONDAY, half="pm")

    def asking() -> None:
        barrier.wait(30)
        for day in days:
            for user in cast:
                start, end = day - timedelta(days=1), day + timedelta(days=1)
                a_request(database, acme, user, start_date=start, end_date=end)

    def approving() -> None:
        barrier.wait(30)
        for request in submitted:
            acme.write(decisions.approve, request.id)

    threads = [Thread(target=work) for work in (counting, asking, approving)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    requests = everything(database, acme).values()
    by_start: dict[date, set[str]] = {}
    for stored in requests:
        by_start.setdefault(stored.start_date, set()).add(stored.counted_halves)
        assert stored.total_half_days == sum(
            {"0": 0, "3": 2}.get(c, 1) for c in stored.counted_halves
        )
    expected = {day - timedelta(days=1): {"303"} for day in days}
    assert by_start == expected | {MONDAY: {"1"}}
    assert len(requests) == len(submitted) + len(days) * len(cast)
    assert {request.status for request in requests if request.start_date == MONDAY} == {"approved"}


def test_a_holiday_of_every_year_recalculates_leave_of_each_year_ahead(
    database: Database, acme: Acme, ada: User
) -> None:
    # Wednesdays and a Thursday; the same day of May is past.
    eves = [date(2026, 12, 23), date(2027, 12, 23)]
    requests = [a_request(database, acme, ada, start_date=day) for day in eves]
    past = approved_leave(database, acme, ada, date(2026, 5, 27), date(2026, 5, 27))

    override_id = a_holiday(database, acme, eves[0], half="pm", every_year=True)
    a_holiday(database, acme, date(2025, 5, 27), every_year=True)

    assert [as_it_is(database, acme, each).counted_halves for each in requests] == ["1", "1"]
    assert as_it_is(database, acme, past) == past
    why = {
        entry.subject_id: entry.changes["holiday_date"]["after"]
        for entry in audit_entries(database, acme.caller)
        if entry.action == "leave_request.recounted"
    }
    assert why == {request.id: day.isoformat() for request, day in zip(requests, eves, strict=True)}
    own = own_set(database, acme)
    acme.write(holiday_overrides.remove, own, override_id, now=LATER)
    assert [as_it_is(database, acme, each).counted_halves for each in requests] == ["3", "3"]
