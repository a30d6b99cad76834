"""Leave that interrupts other leave: who may, what it stores, and that no half is lost."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, Final

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.admin import people
from storage.base.errors import DaysNoLongerFit, InvalidInput
from storage.base.leave_values import LeaveRequest
from storage.db.database import Database
from storage.leave import decisions, leave_types
from tests.builders import (
    NOW,
    a_leave_type,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    approved_leave,
    audit_entries,
    caller_for,
    type_id,
)
from tests.refusals import at_once, codes_of, errors_of
from tests.storage.approved_leave import MONDAY, Case, a_case
from tests.storage.test_submit import everything

TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY = (MONDAY + timedelta(days=n) for n in range(1, 6))
# The last day of Ada's leave.
SUNDAY: Final = date(2026, 8, 9)


@pytest.fixture
def case(database: Database) -> Case:
    return a_case(database, SUNDAY)


def test_an_interruption_in_the_middle_splits_the_leave(database: Database, case: Case) -> None:
    a_webhook(database, case.acme)

    interrupted = case.interrupt(WEDNESDAY, note="Flu")

    request, interruption, remainder = (
        interrupted.request,
        interrupted.interruption,
        interrupted.remainder,
    )
    assert remainder is not None
    assert case.shown() == ["annual 03 04 33", "sick 05 05 3", "annual 06 09 3300"]
    assert case.approved() == [request, interruption, remainder]
    assert (request.id, request.version) == (case.leave.id, case.leave.version + 1)
    assert (interruption.interrupts, interruption.split_from, interruption.note) == (
        case.leave.id,
        None,
        "Flu",
    )
    assert (interruption.decided_by, interruption.recorded_by) == (None, None)
    assert (remainder.split_from, remainder.interrupts) == (case.leave.id, None)
    assert (remainder.decided_by, remainder.decided_at) == (case.grace.user_id, NOW)
    assert case.remaining_half_days() == 50 - 8
    events, _, _ = database.read_now(everything)
    assert {
        (event.type, orjson.loads(event.body)["data"]["id"], event.sequence) for event in events
    } == {
        ("leave_request.updated", request.id, 3),
        ("leave_request.created", remainder.id, 1),
        ("leave_request.approved", remainder.id, 2),
        ("leave_request.created", interruption.id, 1),
        ("leave_request.approved", interruption.id, 2),
    }


@pytest.mark.parametrize(
    ("first_day", "last_day", "halves", "shown"),
    [
        pytest.param(
            MONDAY,
            TUESDAY,
            {},
            ["sick 03 04 33", "annual 05 09 33300"],
            id="at the beginning",
        ),
        pytest.param(THURSDAY, FRIDAY, {}, ["annual 03 05 333", "sick 06 07 33"], id="at the end"),
        pytest.param(
            MONDAY,
            MONDAY,
            {"end_half_day": "am"},
            ["sick 03 03 1", "annual 03 09 2333300"],
            id="a morning",
        ),
        pytest.param(
            TUESDAY,
            WEDNESDAY,
            {"start_half_day": "pm"},
            ["annual 03 04 31", "sick 04 05 23", "annual 06 09 3300"],
            id="from midday",
        ),
        pytest.param(MONDAY, SUNDAY, {}, ["sick 03 09 3333300"], id="the whole"),
        pytest.param(MONDAY, FRIDAY, {}, ["sick 03 07 33333"], id="all days that count"),
    ],
)
def test_an_interruption_takes_exactly_its_halves_and_gives_them_back(
    case: Case, first_day: date, last_day: date, halves: dict[str, Any], shown: list[str]
) -> None:
    interrupted = case.interrupt(first_day, last_day, **halves)

    assert interrupted.remainder is None or len(shown) == 3
    assert case.shown() == shown
    sick = interrupted.interruption.total_half_days
    assert case.remaining_half_days() == 40 + sick
    is_whole = sick == 10
    assert interrupted.request.status == ("cancelled" if is_whole else "approved")

    case.cancel(interrupted.interruption)

    assert case.remaining_half_days() == 40
    annual = [request for request in case.approved() if request.interrupts is None]
    assert sum(request.total_half_days for request in annual) == 10
    assert [request.id == case.leave.id for request in annual][0] is not is_whole
    if is_whole:
        (new,) = annual
        assert (new.split_from, new.decided_by) == (case.leave.id, case.grace.user_id)
        assert case.current(case.leave).status == "cancelled"


def test_a_cancelled_interruption_joins_the_leave_and_the_remainder_stays_separate(
    case: Case,
) -> None:
    interrupted = case.interrupt(WEDNESDAY)

    case.cancel(interrupted.interruption)

    assert case.shown() == ["annual 03 05 333", "annual 06 09 3300"]
    assert case.approved()[0].id == case.leave.id
    trail = audit_entries(case.database, case.acme.caller, subject_id=case.leave.id)
    assert [(entry.action, entry.changes["why"]["after"]) for entry in trail[:2]] == [
        ("leave_request.updated", "interruption_cancelled"),
        ("leave_request.updated", "interrupted"),
    ]


def test_days_go_back_to_the_leave_itself_before_other_parts(case: Case) -> None:
    first = case.interrupt(WEDNESDAY)
    assert first.remainder is not None
    second = case.interrupt(THURSDAY, of=first.remainder)
    assert second.interruption.interrupts == first.remainder.id

    case.cancel(second.interruption)
    case.cancel(first.interruption)

    assert case.shown() == ["annual 03 05 333", "annual 06 09 3300"]


def test_days_without_an_adjoining_part_become_a_new_request(case: Case) -> None:
    interrupted = case.interrupt(WEDNESDAY)
    assert interrupted.remainder is not None
    case.cancel(case.current(case.leave))
    case.change(interrupted.remainder, start_date=FRIDAY)

    case.cancel(interrupted.interruption)

    (back, _) = case.approved()
    assert case.shown() == ["annual 05 05 3", "annual 07 09 300"]
    assert (back.split_from, back.interrupts) == (case.leave.id, None)


def test_days_never_join_other_leave_that_adjoins(case: Case) -> None:
    before = a_request(
        case.database, case.acme, case.ada, start_date=date(2026, 7, 31), end_date=date(2026, 8, 2)
    )
    case.write(decisions.approve, before.id, by=case.grace)
    interruption = case.interrupt(MONDAY, FRIDAY).interruption

    case.cancel(interruption)

    assert case.shown() == ["annual 31 02 300", "annual 03 07 33333"]


def test_a_shortened_interruption_gives_back_what_it_gives_up(case: Case) -> None:
    interruption = case.interrupt(TUESDAY, FRIDAY).interruption

    shorter = case.change(interruption, start_date=WEDNESDAY, end_date=THURSDAY, end_half_day="am")

    assert shorter.total_half_days == 3
    assert case.shown() == [
        "annual 03 04 33",
        "sick 05 06 31",
        "annual 06 07 23",
    ]
    assert case.remaining_half_days() == 43
    assert errors_of(lambda: case.change(shorter, end_date=FRIDAY)) == [
        ("/end_date", "interruption_extended")
    ]
    assert errors_of(lambda: case.change(shorter, start_date=TUESDAY)) == [
        ("/start_date", "interruption_extended")
    ]
    annual = type_id(case.database, case.acme)
    assert errors_of(lambda: case.change(shorter, leave_type_id=annual)) == [
        ("/leave_type_id", "interruption_extended")
    ]
    assert case.change(shorter, note="Flu").note == "Flu"


def test_refusals_name_the_field_and_change_nothing(case: Case) -> None:
    case.write(
        leave_types.update, type_id(case.database, case.acme, "sick"), {"requires_note": True}
    )
    before = MONDAY - timedelta(days=1)
    never = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"
    cases: list[tuple[tuple[Any, ...], dict[str, Any], tuple[str, str]]] = [
        ((before, MONDAY), {}, ("/start_date", "outside_leave")),
        ((MONDAY, SUNDAY + timedelta(days=1)), {}, ("/end_date", "outside_leave")),
        ((date(2026, 9, 7),), {}, ("/start_date", "outside_leave")),
        ((TUESDAY, MONDAY), {}, ("/end_date", "end_before_start")),
        ((SATURDAY, SUNDAY), {}, ("/start_date", "no_working_time")),
        ((MONDAY,), {}, ("/note", "note_required")),
        (
            (MONDAY,),
            {"code": "unpaid"},
            ("/leave_type_id", "leave_type_cannot_interrupt"),
        ),
        ((MONDAY,), {"leave_type_id": never}, ("/leave_type_id", "unknown_leave_type")),
        ((MONDAY,), {"note": "Flu\x00"}, ("/note", "control_character")),
    ]

    for days, how, refusal in cases:
        assert errors_of(lambda days=days, how=how: case.interrupt(*days, **how)) == [refusal]  # type: ignore[misc]

    assert case.approved() == [case.leave]


def test_a_half_outside_the_leave_is_refused_at_the_half(case: Case) -> None:
    afternoon = a_request(
        case.database,
        case.acme,
        case.ada,
        code="unpaid",
        start_date=date(2026, 9, 7),
        start_half_day="pm",
    )
    case.write(decisions.approve, afternoon.id, by=case.grace)

    assert errors_of(lambda: case.interrupt(date(2026, 9, 7), of=afternoon)) == [
        ("/start_half_day", "outside_leave")
    ]


def test_leave_of_the_same_type_is_not_interrupted(case: Case) -> None:
    interruption = case.interrupt(MONDAY, TUESDAY).interruption

    assert errors_of(lambda: case.interrupt(MONDAY, of=interruption)) == [
        ("/leave_type_id", "same_leave_type")
    ]


def test_only_approved_leave_is_interrupted(case: Case) -> None:
    pending = a_request(case.database, case.acme, case.ada, start_date=date(2026, 9, 7))
    day = pending.start_date
    assert codes_of(lambda: case.interrupt(day, of=pending)) == ["invalid_transition"]
    case.cancel(pending)
    assert codes_of(lambda: case.interrupt(day, of=pending)) == ["invalid_transition"]


def test_approvers_interrupt_with_types_that_they_may_record(
    database: Database, case: Case
) -> None:
    a_leave_type(database, case.acme, name="Care", may_interrupt=True)
    hedy = a_person(database, case.acme, first_name="Hedy", role="approver")
    stranger = an_organisation(database)
    by_hedy = caller_for(case.acme, hedy)

    assert codes_of(
        lambda: case.interrupt(MONDAY, by=by_hedy),
        lambda: case.interrupt(MONDAY, by=stranger.caller),
        lambda: case.interrupt(MONDAY, code="care", by=case.grace),
    ) == ["not_found", "not_found", "leave_type_not_recordable"]
    # A former approver still sees the leave.
    case.write(people.update, case.ada.id, {"manager_id": hedy.id})
    assert codes_of(lambda: case.interrupt(MONDAY, by=case.grace)) == ["insufficient_role"]

    interruption = case.interrupt(MONDAY, by=by_hedy).interruption

    assert (interruption.user_id, interruption.recorded_by, interruption.decided_by) == (
        case.ada.id,
        hedy.id,
        hedy.id,
    )
    assert case.cancel(interruption, by=by_hedy).status == "cancelled"
    assert case.remaining_half_days() == 40


def test_an_interruption_is_cancelled_not_reversed(case: Case) -> None:
    interruption = case.interrupt(MONDAY, by=case.grace).interruption

    assert codes_of(
        lambda: case.write(decisions.change_decision, interruption.id, "declined", by=case.grace)
    ) == ["invalid_transition"]


def test_leave_declined_since_gets_nothing_back(case: Case) -> None:
    interruption = case.interrupt(MONDAY).interruption
    case.write(decisions.change_decision, case.leave.id, "declined", by=case.grace)

    case.cancel(interruption)

    assert case.approved() == []
    assert case.remaining_half_days() == 50


def test_leave_that_was_cancelled_since_gets_nothing_back(case: Case) -> None:
    middle = case.interrupt(WEDNESDAY)
    case.cancel(middle.request)
    assert middle.remainder is not None
    case.cancel(middle.remainder)

    case.cancel(middle.interruption)

    assert case.shown() == []
    assert case.remaining_half_days() == 50


def test_leave_that_was_moved_since_stays_as_it_is(case: Case) -> None:
    interruption = case.interrupt(MONDAY).interruption
    september: dict[str, Any] = {"start_date": date(2026, 9, 7), "end_date": date(2026, 9, 10)}
    case.change(by=case.acme.caller, **september)
    moved = case.current()

    case.cancel(interruption)

    assert case.current() == moved
    assert [request.id for request in case.approved()] == [moved.id]
    assert case.remaining_half_days() == 50 - 8


def test_leave_that_was_moved_before_gets_its_day_back(case: Case) -> None:
    september: dict[str, Any] = {"start_date": date(2026, 9, 7), "end_date": date(2026, 9, 11)}
    case.change(by=case.acme.caller, **september)
    middle = case.interrupt(date(2026, 9, 9))
    case.cancel(middle.request)

    case.cancel(middle.interruption)

    assert [(request.start_date.day, request.end_date.day) for request in case.approved()] == [
        (9, 11)
    ]


def test_days_that_were_used_otherwise_are_not_given_back(case: Case) -> None:
    interruption = case.interrupt(MONDAY, TUESDAY).interruption
    far = date(2026, 9, 7)
    # 44 half-days are left, and 43 used.
    a_request(
        case.database,
        case.acme,
        case.ada,
        start_date=far,
        end_date=far + timedelta(days=29),
        end_half_day="am",
    )
    assert case.remaining_half_days() == 1

    with pytest.raises(DaysNoLongerFit) as refusal:
        case.cancel(interruption)

    assert (refusal.value.remaining_half_days, refusal.value.needed_half_days) == (1, 4)
    assert case.current(interruption) == interruption
    with pytest.raises(DaysNoLongerFit):
        case.change(interruption, start_date=TUESDAY)
    case.change(interruption, start_half_day="pm")
    assert case.remaining_half_days() == 0


def test_a_type_that_deducts_needs_allowance_only_in_place_of_one_that_does_not(
    database: Database, case: Case
) -> None:
    care = a_leave_type(database, case.acme, name="Care", may_interrupt=True)
    unpaid = a_request(
        database,
        case.acme,
        case.ada,
        code="unpaid",
        start_date=date(2026, 9, 7),
        end_date=date(2026, 11, 6),
    )
    case.write(decisions.approve, unpaid.id, by=case.grace)

    assert codes_of(
        lambda: case.interrupt(unpaid.start_date, unpaid.end_date, leave_type_id=care.id, of=unpaid)
    ) == ["insufficient_allowance"]
    case.interrupt(MONDAY, SUNDAY, leave_type_id=care.id)
    assert case.remaining_half_days() == 40


def test_an_open_amendment_ends_with_an_interruption(case: Case) -> None:
    amended = case.change(case.leave, end_date=SUNDAY + timedelta(days=1))
    assert amended.amendment_id is not None

    interrupted = case.interrupt(WEDNESDAY)

    assert interrupted.request.amendment_id is None
    assert interrupted.remainder is not None
    assert interrupted.remainder.amendment_id is None
    assert codes_of(
        lambda: case.write(decisions.approve_amendment, str(amended.amendment_id), by=case.grace)
    ) == ["amendment_ended"]


def test_of_two_interruptions_of_a_day_at_once_one_is_booked(case: Case) -> None:
    refused = at_once(
        lambda: case.interrupt(WEDNESDAY), lambda: case.interrupt(WEDNESDAY, by=case.grace)
    )

    assert refused == ["outside_leave"]
    assert case.shown() == ["annual 03 04 33", "sick 05 05 3", "annual 06 09 3300"]


def test_an_interruption_and_a_cancellation_at_once_have_one_outcome(case: Case) -> None:
    refused = at_once(lambda: case.interrupt(WEDNESDAY), lambda: case.cancel(case.leave))

    assert (refused, case.shown()) in (
        (["invalid_transition"], []),
        ([], ["sick 05 05 3", "annual 06 09 3300"]),
    )


def test_of_two_cancellations_of_an_interruption_at_once_one_gives_back(case: Case) -> None:
    interruption = case.interrupt(WEDNESDAY).interruption

    assert at_once(lambda: case.cancel(interruption), lambda: case.cancel(interruption)) == [
        "invalid_transition"
    ]
    assert case.remaining_half_days() == 40


def test_no_sequence_of_steps_loses_or_doubles_a_half(case: Case) -> None:
    half = st.integers(0, 13)
    step = st.tuples(st.sampled_from(["interrupt", "cancel", "shorten"]), half, half, half)
    annual = type_id(case.database, case.acme)

    @settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
    @given(steps=st.lists(step, min_size=3, max_size=6))
    def every_half_is_booked_once(steps: list[tuple[str, int, int, int]]) -> None:
        bob = a_person(case.database, case.acme)
        leave = approved_leave(
            case.database, case.acme, bob, code="annual", start_date=MONDAY, end_date=SUNDAY
        )
        bobs = replace(case, ada=bob, by=caller_for(case.acme, bob), leave=leave)
        for action, which, first, last in steps:
            approved = bobs.approved()
            kind = [
                request
                for request in approved
                if (request.leave_type_id == annual) == (action == "interrupt")
            ]
            if not kind:
                continue
            request = kind[which % len(kind)]
            time = time_between(min(first, last), max(first, last))
            with suppress(InvalidInput):
                if action == "interrupt":
                    bobs.interrupt(of=request, **time)
                elif action == "shorten":
                    time["start_date"], time["end_date"] = (
                        time.pop("first_day"),
                        time.pop("last_day"),
                    )
                    bobs.change(request, **time)
                else:
                    bobs.cancel(request)
            after = bobs.approved()
            assert sorted(slot for each in after for slot in slots(each)) == slots(leave)
            taken = sum(each.total_half_days for each in after if each.leave_type_id == annual)
            assert bobs.remaining_half_days() == 50 - taken

    every_half_is_booked_once()


def time_between(first_half: int, last_half: int) -> dict[str, Any]:
    """The dates and halves between two halves of the week, counted from Monday morning."""
    return {
        "first_day": MONDAY + timedelta(days=first_half // 2),
        "last_day": MONDAY + timedelta(days=last_half // 2),
        "start_half_day": "pm" if first_half % 2 else None,
        "end_half_day": None if last_half % 2 else "am",
    }


def slots(request: LeaveRequest) -> list[int]:
    """The numbers of the counted halves."""
    first = 2 * request.start_date.toordinal()
    return [
        first + 2 * day + half
        for day, mask in enumerate(request.counted_halves)
        for half in (0, 1)
        if int(mask) & (1 << half)
    ]
