"""Approved leave is changed at once or by an amendment: what is stored, sent and refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from storage.admin import holiday_overrides, people, people_status
from storage.admin.holiday_overrides import NewOverride
from storage.base.errors import (
    AmendmentEnded,
    InsufficientAllowance,
    InsufficientRole,
    InvalidInput,
    InvalidTransition,
    NotFound,
    OverlappingLeave,
    OwnRequest,
)
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import LeaveRequestRow
from storage.leave import (
    decisions,
    leave_amendments,
    leave_changes,
    leave_lists,
    leave_requests,
    leave_types,
    previews,
)
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.webhooks import delivery_log
from tests.builders import (
    NOW,
    a_leave_type,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    caller_for,
    type_id,
)
from tests.refusals import at_once
from tests.storage.approved_leave import MONDAY, Case, a_case

pytestmark = pytest.mark.shared_database

THURSDAY, FRIDAY = date(2026, 8, 6), date(2026, 8, 7)
NEXT_MONDAY = date(2026, 8, 10)
LONGER: dict[str, Any] = {"end_date": NEXT_MONDAY}
MOVED: dict[str, Any] = {"start_date": NEXT_MONDAY, "end_date": date(2026, 8, 14)}


def test_leave_is_not_lengthened_over_days_off_of_other_leave(database: Database) -> None:
    case = a_case(database, FRIDAY)
    saturday = FRIDAY + timedelta(days=1)
    a_request(database, case.acme, case.ada, start_date=saturday, end_date=NEXT_MONDAY)

    with pytest.raises(OverlappingLeave):
        case.change(end_date=saturday)

    assert case.current() == case.leave


def test_a_change_that_gives_days_back_applies_at_once(database: Database) -> None:
    case = a_case(database, FRIDAY)

    shorter = case.change(end_date=THURSDAY)

    assert (shorter.status, shorter.end_date, shorter.total_half_days) == ("approved", THURSDAY, 8)
    assert (shorter.version, shorter.decided_by) == (3, case.leave.decided_by)
    assert shorter.decided_at == case.leave.decided_at
    assert case.current() == shorter
    assert case.trail()[0].action == "leave_request.updated"


def test_other_days_become_an_amendment_that_reserves_nothing(database: Database) -> None:
    case = a_case(database, FRIDAY)
    remaining = case.remaining_half_days()

    amended = case.change(**MOVED, note="Later")

    amendment = case.amendment(amended)
    assert (amended.start_date, amended.end_date, amended.note) == (MONDAY, FRIDAY, None)
    assert (amended.status, amended.version) == ("approved", 3)
    assert (amendment.start_date, amendment.end_date, amendment.note) == (
        NEXT_MONDAY,
        date(2026, 8, 14),
        "Later",
    )
    assert (amendment.status, amendment.requested_by) == ("open", case.ada.id)
    counted = database.read_now(leave_amendments.of_request, case.acme.id, amended)
    assert counted is not None
    assert counted.total_half_days == 10
    assert case.remaining_half_days() == remaining
    # Neither its days nor its allowance are reserved.
    a_request(database, case.acme, case.ada, start_date=NEXT_MONDAY)


def test_an_approved_amendment_is_applied(database: Database) -> None:
    case = a_case(database, FRIDAY)
    amendment = case.amendment(case.change(**LONGER))

    longer = case.approve(now=NOW + timedelta(hours=1))

    assert (longer.end_date, longer.total_half_days, longer.status) == (NEXT_MONDAY, 12, "approved")
    assert (longer.amendment_id, longer.version) == (None, 4)
    assert (longer.decided_by, longer.decided_at) == (
        case.leave.decided_by,
        case.leave.decided_at,
    )
    ended = database.read_now(leave_amendments.find, case.acme.id, amendment.id)
    assert ended is not None
    assert (ended.status, ended.decided_by) == ("approved", case.grace.user_id)
    changes = case.trail()[0].changes
    assert changes["end_date"] == {"before": "2026-08-07", "after": "2026-08-10"}
    assert changes["amendment_id"]["before"] == amendment.id


def test_a_declined_amendment_leaves_the_leave_as_it_is(database: Database) -> None:
    case = a_case(database, FRIDAY)
    amendment = case.amendment(case.change(**LONGER))

    kept = case.decline("Too many are away.")

    assert (kept.end_date, kept.status, kept.amendment_id) == (FRIDAY, "approved", None)
    assert kept.decision_reason is None
    ended = database.read_now(leave_amendments.find, case.acme.id, amendment.id)
    assert ended is not None
    assert (ended.status, ended.decision_reason) == ("declined", "Too many are away.")
    entry = case.trail()[0]
    assert entry.action == "leave_request.amendment_declined"
    assert entry.changes["decision_reason"] == {"before": None, "after": "Too many are away."}
    with pytest.raises(InvalidTransition):
        case.approve()


@pytest.mark.parametrize("decision", ["approve", "decline"])
def test_after_a_decision_on_an_amendment_no_decision_can_be_reversed(
    database: Database, decision: str
) -> None:
    case = a_case(database, FRIDAY)
    case.change(**LONGER)
    case.approve() if decision == "approve" else case.decline()

    with pytest.raises(InvalidTransition):
        case.write(decisions.change_decision, case.leave.id, "declined", by=case.grace)

    case.change(end_date=case.leave.end_date + timedelta(days=7))
    case.write(leave_changes.withdraw, case.leave.id, by=case.by)
    with pytest.raises(InvalidTransition):
        case.write(decisions.change_decision, case.leave.id, "declined", by=case.grace)


def test_its_owner_withdraws_an_amendment(database: Database) -> None:
    case = a_case(database, FRIDAY)
    case.change(**LONGER)

    with pytest.raises(InsufficientRole):
        case.write(leave_changes.withdraw, case.leave.id, by=case.grace)
    kept = case.write(leave_changes.withdraw, case.leave.id, by=case.by)

    assert (kept.end_date, kept.amendment_id, kept.version) == (FRIDAY, None, 4)
    with pytest.raises(NotFound):
        case.write(leave_changes.withdraw, case.leave.id, by=case.by)


def test_a_second_amendment_replaces_the_first_which_is_then_stale(database: Database) -> None:
    case = a_case(database, FRIDAY)
    first = case.amendment(case.change(**LONGER))
    second = case.amendment(case.change(**MOVED))

    with pytest.raises(AmendmentEnded, match="replaced"):
        case.write(decisions.approve_amendment, first.id, by=case.grace)
    moved = case.write(decisions.approve_amendment, second.id, by=case.grace)

    assert (moved.start_date, moved.total_half_days) == (NEXT_MONDAY, 10)


def test_a_change_of_nothing_and_a_repeated_amendment_change_nothing(database: Database) -> None:
    case = a_case(database, FRIDAY)
    amended = case.change(**LONGER)
    trail = case.trail()

    assert case.change() == amended
    assert case.change(end_date=FRIDAY, note=" ") == amended
    assert case.change(**LONGER) == amended
    assert case.trail() == trail


@pytest.mark.parametrize("step", ["note", "cancel", "admin", "reverse", "archive", "interrupt"])
def test_every_other_step_ends_an_open_amendment(database: Database, step: str) -> None:
    case = a_case(database, FRIDAY)
    amendment = case.amendment(case.change(**LONGER))
    steps: dict[str, Callable[[], object]] = {
        "note": lambda: case.change(note="By train"),
        "cancel": case.cancel,
        "admin": lambda: case.change(by=case.acme.caller, start_date=date(2026, 8, 4)),
        "reverse": lambda: case.write(
            decisions.change_decision, case.leave.id, "declined", by=case.grace
        ),
        "interrupt": lambda: case.interrupt(FRIDAY),
        "archive": lambda: case.write(people_status.archive, case.ada.id),
    }

    steps[step]()

    assert case.current().amendment_id is None
    ended = database.read_now(leave_amendments.find, case.acme.id, amendment.id)
    assert ended is not None
    assert ended.status == "ended"
    assert "amendment_id" in case.trail()[0].changes
    page = database.read_now(leave_lists.assigned, PageOf(), by=case.grace, now=NOW)
    assert page.items == []


def test_archiving_ends_an_amendment_of_leave_that_ends_that_day(database: Database) -> None:
    case = a_case(database, FRIDAY)
    case.change(**LONGER)
    on_friday = datetime(2026, 8, 7, 12, tzinfo=UTC)

    case.write(people_status.archive, case.ada.id, now=on_friday)

    left = case.current()
    assert (left.status, left.end_date, left.amendment_id) == ("approved", FRIDAY, None)


def test_approving_checks_overlap_allowance_and_notice_again(database: Database) -> None:
    case = a_case(database, FRIDAY)
    amended = case.change(**LONGER)
    other = a_request(database, case.acme, case.ada, start_date=NEXT_MONDAY)

    with pytest.raises(OverlappingLeave):
        case.approve()
    case.write(leave_requests.cancel, other.id, by=case.by)
    lower = {"leave_allowance_half_days": 10}
    case.write(people.update, case.ada.id, lower)
    with pytest.raises(InsufficientAllowance):
        case.approve()
    case.write(people.update, case.ada.id, {"leave_allowance_half_days": 12})
    annual = type_id(database, case.acme)
    case.write(leave_types.update, annual, {"min_notice_days": 90})
    with pytest.raises(InvalidInput) as refusal:
        case.approve()
    assert refusal.value.code == "too_little_notice"
    assert case.current() == amended


def test_an_amendment_of_days_that_have_passed_is_refused(database: Database) -> None:
    case = a_case(database, FRIDAY)
    amended = case.change(**MOVED)

    with pytest.raises(InvalidInput) as refusal:
        case.approve(now=datetime(2026, 8, 5, 9, tzinfo=UTC))

    assert refusal.value.code == "past_days"
    assert case.current() == amended
    assert case.decline().amendment_id is None


def test_shortening_is_possible_although_the_rules_have_become_stricter(
    database: Database,
) -> None:
    case = a_case(database, FRIDAY)
    annual = type_id(database, case.acme)
    stricter = {
        "min_notice_days": 365,
        "max_consecutive_days": 1,
        "requires_note": True,
        "is_archived": True,
    }
    case.write(leave_types.update, annual, stricter)
    none_left = {"leave_allowance_half_days": 0}
    case.write(people.update, case.ada.id, none_left)

    assert case.change(end_date=THURSDAY).total_half_days == 8
    with pytest.raises(InvalidInput) as refusal:
        case.change(**LONGER)
    assert {error.code for error in refusal.value.errors} == {
        "too_little_notice",
        "too_many_days",
    }


def test_an_owner_of_the_organisation_amends_their_own_leave(database: Database) -> None:
    acme = an_organisation(database)
    hedy = a_person(database, acme, first_name="Hedy", role="admin")
    request = a_request(database, acme, acme.owner)
    database.write_now(decisions.approve, request.id, by=caller_for(acme, hedy), now=NOW)

    amended = acme.write(leave_requests.edit, request.id, {"end_date": date(2026, 8, 4)})

    assert amended.amendment_id is not None
    with pytest.raises(OwnRequest):
        acme.write(decisions.approve, request.id)


def test_another_type_needs_approval_and_the_allowance_of_its_own(database: Database) -> None:
    case = a_case(database, FRIDAY)
    unpaid = type_id(database, case.acme, "unpaid")
    remaining = case.remaining_half_days()

    amendment = case.amendment(case.change(leave_type_id=unpaid))
    changed = case.approve()

    assert (amendment.leave_type_id, changed.leave_type_id) == (unpaid, unpaid)
    assert case.remaining_half_days() == remaining + 10


def test_a_type_whose_changes_need_approval(database: Database) -> None:
    case = a_case(database, FRIDAY)
    annual = type_id(database, case.acme)
    case.write(leave_types.update, annual, {"changes_need_approval": True})

    assert case.change(note="By train").amendment_id is None
    assert case.change(end_date=THURSDAY).amendment_id is not None


def test_a_proposed_type_is_archived_not_deleted(database: Database) -> None:
    case = a_case(database, FRIDAY)
    study = a_leave_type(database, case.acme)
    case.change(leave_type_id=study.id)

    archived = case.write(leave_types.delete, study.id)

    assert archived is not None
    with pytest.raises(InvalidInput) as refusal:
        case.approve()
    assert refusal.value.code == "leave_type_archived"


def test_an_amendment_follows_changes_of_holidays_and_keeps_past_counts(
    database: Database,
) -> None:
    case = a_case(database, FRIDAY)
    amended = case.change(**LONGER)
    config = database.read_now(organisation_config.of_organisation, case.acme.id)
    (set_id,) = [holiday_set.id for holiday_set in config.holiday_sets.values()]
    for day in (FRIDAY, NEXT_MONDAY):
        case.write(
            holiday_overrides.add,
            set_id,
            NewOverride(date=day, name="Founders' day", is_holiday=True, half=None),
        )

    recounted = case.current()
    counted = database.read_now(leave_amendments.of_request, case.acme.id, recounted)

    assert (recounted.total_half_days, recounted.amendment_id) == (8, amended.amendment_id)
    assert counted is not None
    assert counted.total_half_days == 8
    assert case.approve().total_half_days == 8


def test_approvers_list_amendments_among_their_requests(database: Database) -> None:
    case = a_case(database, FRIDAY)
    pending = a_request(database, case.acme, case.ada, start_date=date(2026, 9, 7))
    case.change(**LONGER)

    pages = [
        database.read_now(leave_lists.assigned, PageOf(limit=1), by=by, now=NOW)
        for by in (case.grace, case.acme.caller)
    ]
    rest = database.read_now(
        leave_lists.assigned,
        PageOf(limit=1, cursor=pages[0].next_cursor),
        by=case.grace,
        now=NOW,
    )

    assert [[request.id for request in page.items] for page in (*pages, rest)] == [
        [case.leave.id],
        [],
        [pending.id],
    ]


@pytest.mark.parametrize("status", ["cancelled", "declined"])
def test_leave_that_an_earlier_release_ended_awaits_no_decision(
    database: Database, status: str
) -> None:
    case = a_case(database, FRIDAY)
    case.change(**LONGER)

    database.write_now(_end_with_an_earlier_release, case.acme.id, case.leave.id, status)

    page = database.read_now(leave_lists.assigned, PageOf(), by=case.grace, now=NOW)
    assert page.items == []
    ended = case.current()
    assert (ended.status, ended.amendment_id is None) == (status, False)
    assert database.read_now(leave_amendments.record, case.acme.id, ended)["amendment"] is None


def _end_with_an_earlier_release(
    tx: Transaction, organisation_id: str, request_id: str, status: str
) -> None:
    tx.update(LeaveRequestRow, {"status": status}, organisation_id=organisation_id, id=request_id)


def test_webhooks_get_every_step_in_order(database: Database) -> None:
    case = a_case(database, FRIDAY)
    webhook = a_webhook(database, case.acme, url="https://example.com/hook")
    case.change(**LONGER)
    case.decline()
    case.change(**LONGER)
    case.write(leave_changes.withdraw, case.leave.id, by=case.by)
    case.change(**LONGER)
    case.approve()
    case.change(end_date=THURSDAY)

    sent = database.read_now(
        delivery_log.page, webhook.id, PageOf(limit=10), by=case.acme.caller
    ).items
    assert [(event.event_type, event.sequence) for event in reversed(sent)] == [
        ("leave_request.amendment_requested", 3),
        ("leave_request.amendment_declined", 4),
        ("leave_request.amendment_requested", 5),
        ("leave_request.amendment_withdrawn", 6),
        ("leave_request.amendment_requested", 7),
        ("leave_request.updated", 8),
        ("leave_request.updated", 9),
    ]


def test_a_preview_says_the_effect_that_the_change_then_has(database: Database) -> None:
    case = a_case(database, FRIDAY)

    def preview(**to: Any) -> previews.Preview:
        fields: dict[str, Any] = {
            "leave_type_id": case.leave.leave_type_id,
            "start_date": MONDAY,
            "end_date": FRIDAY,
        } | to
        return database.read_now(
            previews.preview, by=case.by, draft=Draft(**fields), now=NOW, replaces=case.leave.id
        )

    shorter, longer, same = preview(end_date=THURSDAY), preview(**LONGER), preview()

    assert [p.effect for p in (shorter, longer, same)] == ["at_once", "amendment", None]
    assert [p.total_half_days for p in (shorter, longer)] == [8, 12]
    assert [[user.id for user in p.approvers] for p in (shorter, longer)] == [
        [],
        [case.grace.user_id],
    ]
    past = preview(start_date=date(2026, 5, 29))
    assert (past.effect, past.refusals[0].code) == (None, "past_days")


Step = Callable[[Case], object]
STEPS: dict[str, Step] = {
    "longer": lambda case: case.change(**LONGER),
    "moved": lambda case: case.change(**MOVED),
    "cancel": lambda case: case.cancel(),
    "withdraw": lambda case: case.write(leave_changes.withdraw, case.leave.id, by=case.by),
    "approve": lambda case: case.approve(),
    "decline": lambda case: case.decline(),
}


@pytest.mark.parametrize(
    ("begins_with", "steps"),
    [
        ("", ("longer", "moved")),
        ("", ("longer", "cancel")),
        ("longer", ("approve", "withdraw")),
        ("longer", ("approve", "moved")),
        ("longer", ("approve", "decline")),
    ],
)
def test_of_two_steps_at_once_each_sees_the_other(
    database: Database, begins_with: str, steps: tuple[str, str]
) -> None:
    case = a_case(database, FRIDAY)
    if begins_with:
        STEPS[begins_with](case)

    refused = at_once(*(partial(STEPS[name], case) for name in steps))

    trail = [entry.action.removeprefix("leave_request.") for entry in reversed(case.trail())]
    done = trail[3 if begins_with else 2 :]
    assert len(done) == 2 - len(refused)
    current = case.current()
    assert current.version == 2 + bool(begins_with) + len(done)
    amendment = None if current.amendment_id is None else case.amendment(current)
    assert amendment is None or (amendment.status, current.status) == ("open", "approved")
    expected: dict[tuple[str, str], set[tuple[str, ...]]] = {
        ("longer", "moved"): {("amendment_requested", "amendment_requested")},
        ("longer", "cancel"): {("amendment_requested", "cancelled"), ("cancelled",)},
        ("approve", "withdraw"): {("updated",), ("amendment_withdrawn",)},
        ("approve", "moved"): {
            ("updated", "amendment_requested"),
            ("amendment_requested", "updated"),
        },
        ("approve", "decline"): {("updated",), ("amendment_declined",)},
    }
    assert tuple(done) in expected[steps]


def test_leave_with_an_open_amendment_loses_a_cover_who_is_archived(database: Database) -> None:
    case = a_case(database, FRIDAY)
    hedy = a_person(database, case.acme, first_name="Hedy")
    webhook = a_webhook(database, case.acme, url="https://example.com/hook")
    case.change(cover_user_id=hedy.id)
    amended = case.change(**LONGER)

    case.write(people_status.archive, hedy.id)

    current = case.current()
    assert (current.cover_user_id, current.amendment_id) == (None, amended.amendment_id)
    sent = database.read_now(
        delivery_log.page, webhook.id, PageOf(limit=1), by=case.acme.caller
    ).items
    assert sent[0].event_type == "leave_request.updated"


def test_another_cover_is_not_part_of_an_amendment(database: Database) -> None:
    case = a_case(database, FRIDAY)
    hedy = a_person(database, case.acme, first_name="Hedy")

    amended = case.change(**LONGER, cover_user_id=hedy.id)
    decided = case.decline()

    assert (amended.cover_user_id, decided.cover_user_id) == (hedy.id, hedy.id)
