"""Submitting leave requests: stored values, refusals, and that an error stores nothing."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import orjson
import pytest

from storage.admin import people_status
from storage.base.errors import (
    DomainError,
    InvalidInput,
    OverlappingLeave,
    Unauthenticated,
)
from storage.base.values import User
from storage.db.compiled import compiled
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import DeliveryRow, EventRow, NotificationRow
from storage.leave import decisions, leave_lists, leave_requests, leave_rows
from storage.leave.drafts import MAX_NOTE_LENGTH, Draft
from storage.webhooks import webhooks
from tests.builders import (
    NOW,
    Acme,
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
from tests.refusals import in_threads, overlapping

pytestmark = pytest.mark.both_engines


@compiled
def _events() -> Any:
    return EventRow.select(EventRow.type, EventRow.sequence, EventRow.body).order_by(
        EventRow.sequence
    )


@compiled
def _deliveries() -> Any:
    return DeliveryRow.select(DeliveryRow.event_type, DeliveryRow.status)


@compiled
def _notifications() -> Any:
    return NotificationRow.select(NotificationRow.kind, NotificationRow.user_id)


def everything(tx: Transaction) -> list[Any]:
    return [tx.all(_events), tx.all(_deliveries), tx.all(_notifications)]


def test_a_request_is_counted_and_assigned_to_the_manager(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)

    request = a_request(
        database, acme, ada, start_date=date(2026, 8, 3), end_date=date(2026, 8, 7), note="  Sea  "
    )

    assert (request.status, request.total_half_days, request.note) == ("pending", 10, "Sea")
    awaiting = database.read_now(
        leave_lists.assigned, PageOf(), by=caller_for(acme, grace), now=NOW
    )
    assert [item.id for item in awaiting.items] == [request.id]
    stored = database.read_now(leave_rows.get, request.id, by=caller_for(acme, ada), now=NOW)
    assert stored == request


def test_weekends_holidays_and_unworked_halves_are_not_counted(database: Database) -> None:
    acme = an_organisation(database, country_code="GB-ENG")
    ada = a_person(
        database, acme, working_days=["monday", "tuesday", "wednesday", "thursday", "friday:am"]
    )

    # Friday to Tuesday over the weekend and the English bank holiday of 31 August.
    request = a_request(
        database, acme, ada, start_date=date(2026, 8, 28), end_date=date(2026, 9, 1)
    )

    assert (request.counted_halves, request.total_half_days) == ("10003", 3)


def test_a_type_that_needs_no_approval_is_approved_at_once(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    a_webhook(database, acme)

    request = a_request(database, acme, ada, code="sick")

    assert (request.status, request.decided_by, request.version) == ("approved", None, 2)
    events, deliveries, _ = database.read_now(everything)
    assert [(event[0], event[1]) for event in events] == [
        ("leave_request.created", 1),
        ("leave_request.approved", 2),
    ]
    assert len(deliveries) == 2


def test_a_sole_owners_request_is_approved_at_once_with_the_reason_audited(
    database: Database, acme: Acme
) -> None:
    request = a_request(database, acme, acme.owner)

    assert request.status == "approved"
    entries = audit_entries(database, acme.caller, subject_id=request.id)
    assert [entry.action for entry in entries] == [
        "leave_request.approved",
        "leave_request.created",
    ]
    assert entries[0].changes["why"]["after"] == "nobody_could_approve"


def test_an_event_has_the_request_its_requester_and_its_type(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    a_webhook(database, acme, "leave_request.created")

    request = a_request(database, acme, ada)

    ((_, _, body),) = database.read_now(everything)[0]
    event = orjson.loads(bytes(body))
    assert event["type"] == "leave_request.created"
    assert event["timestamp"] == "2026-06-01T09:00:00Z"
    data = event["data"]
    assert (data["id"], data["status"], data["total_days"]) == (request.id, "pending", 1)
    assert (data["organisation_id"], data["sequence"]) == (acme.id, 1)
    assert (data["user"]["email"], data["leave_type"]["code"]) == (ada.email, "annual")


def test_without_subscriptions_no_event_is_written(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    a_webhook(database, acme, "leave_request.cancelled")

    a_request(database, acme, ada)

    assert database.read_now(everything) == [[], [], []]


def test_the_longest_texts_stay_under_the_event_limit(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, first_name="𐌀" * 200, last_name="𐌀" * 200, email="a@x.org")
    a_webhook(database, acme)
    request = a_request(database, acme, ada, note="😀" * MAX_NOTE_LENGTH)

    acme.write(decisions.decline, request.id, reason="😀" * decisions.MAX_REASON_LENGTH)

    sizes = [len(bytes(body)) for _, _, body in database.read_now(everything)[0]]
    assert len(sizes) == 2
    assert max(sizes) < 20_000


def test_an_amendment_with_the_longest_note_stays_under_the_event_limit(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, first_name="𐌀" * 200, last_name="𐌀" * 200, email="a@x.org")
    request = approved_leave(database, acme, ada, note="😀" * MAX_NOTE_LENGTH)
    a_webhook(database, acme)

    changes = {"end_date": date(2026, 8, 4), "note": "🙂" * MAX_NOTE_LENGTH}
    database.write_now(leave_requests.edit, request.id, changes, by=caller_for(acme, ada), now=NOW)

    (body,) = [bytes(body) for _, _, body in database.read_now(everything)[0]]
    assert len(body) < 20_000


def draft(database: Database, acme: Acme, **changes: Any) -> Draft:
    plain = Draft(
        leave_type_id=type_id(database, acme),
        start_date=date(2026, 8, 3),
        end_date=date(2026, 8, 7),
    )
    return replace(plain, **changes)


@pytest.mark.shared_database
@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        pytest.param(
            {"end_date": date(2026, 8, 2)}, "/end_date", "end_before_start", id="backwards"
        ),
        pytest.param(
            {"start_date": date(2026, 8, 8), "end_date": date(2026, 8, 9)},
            "/start_date",
            "no_working_time",
            id="a weekend",
        ),
        pytest.param(
            {"leave_type_id": "019e8269-4e80-7e8f-9eff-078e9174496d"},
            "/leave_type_id",
            "unknown_leave_type",
            id="no such type",
        ),
        pytest.param({"note": "x" * 2_001}, "/note", "invalid_length", id="long note"),
    ],
)
def test_an_error_names_the_field_and_changes_nothing(
    database: Database, acme: Acme, ada: User, changes: dict[str, Any], field: str, code: str
) -> None:
    before = audit_entries(database, acme.caller)

    with pytest.raises(InvalidInput) as refused:
        database.write_now(
            leave_requests.submit,
            by=caller_for(acme, ada),
            draft=draft(database, acme, **changes),
            now=NOW,
        )

    assert [(error.pointer, error.code) for error in refused.value.errors] == [(field, code)]
    assert audit_entries(database, acme.caller) == before
    assert acme.read(leave_lists.filtered, PageOf()).items == []


def test_rules_of_the_type_are_applied(database: Database, acme: Acme, ada: User) -> None:
    study = a_leave_type(
        database, acme, requires_note=True, min_notice_days=90, max_consecutive_days=3
    )

    with pytest.raises(InvalidInput) as refused:
        database.write_now(
            leave_requests.submit,
            by=caller_for(acme, ada),
            draft=draft(database, acme, leave_type_id=study.id),
            now=NOW,
        )

    assert {error.code for error in refused.value.errors} == {
        "too_little_notice",
        "too_many_days",
        "note_required",
    }


def test_overlap_is_counted_in_halves_and_names_the_other_request(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    morning = a_request(database, acme, ada, start_half_day="am", end_half_day="am")

    afternoon = a_request(database, acme, ada, start_half_day="pm")
    with pytest.raises(OverlappingLeave) as refused:
        a_request(database, acme, ada)

    assert afternoon.total_half_days == 1
    assert refused.value.leave_request_id in (morning.id, afternoon.id)


@pytest.mark.shared_database
@pytest.mark.parametrize(
    ("halves", "dates"),
    [
        ({}, "2026-08-03 to 2026-08-05"),
        ({"start_half_day": "pm"}, "2026-08-03 (afternoon) to 2026-08-05"),
        (
            {"start_half_day": "pm", "end_half_day": "am"},
            "2026-08-03 (afternoon) to 2026-08-05 (morning)",
        ),
        ({"end_date": None, "end_half_day": "pm"}, "2026-08-03 (afternoon)"),
        ({"end_date": None, "start_half_day": "am"}, "2026-08-03 (morning)"),
        ({"end_date": None, "start_half_day": "am", "end_half_day": "pm"}, "2026-08-03"),
    ],
)
def test_an_overlap_names_the_halves_of_the_other_leave(
    database: Database, acme: Acme, ada: User, halves: dict[str, Any], dates: str
) -> None:
    other = a_request(database, acme, ada, **{"end_date": date(2026, 8, 5), **halves})

    with pytest.raises(OverlappingLeave) as refused:
        a_request(database, acme, ada, end_date=date(2026, 8, 7))

    assert refused.value.detail == f"This overlaps with leave request {other.id} ({dates})."


def test_a_type_that_allows_overdraft_makes_the_balance_negative(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=0)
    ada = a_person(database, acme)
    flexible = a_leave_type(database, acme, name="Flexible", allow_overdraft=True)

    assert a_request(database, acme, ada, code=flexible.code).status == "pending"


def test_concurrent_requests_neither_overlap_nor_overdraw(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=10)
    ada = a_person(database, acme)
    begin = threading.Barrier(30)
    outcomes: list[object] = []

    def ask(number: int) -> None:
        begin.wait()
        # Fifteen days, each requested twice.
        day = date(2026, 8, 3) + timedelta(days=(number % 15) // 5 * 7 + number % 5)
        try:
            outcomes.append(a_request(database, acme, ada, start_date=day))
        except DomainError as refusal:
            outcomes.append(refusal.code)

    in_threads(30, ask)

    stored = acme.read(leave_lists.filtered, PageOf(limit=100)).items
    assert len({request.start_date for request in stored}) == len(stored) == 5
    assert len(outcomes) == 30
    assert {outcome for outcome in outcomes if isinstance(outcome, str)} <= {
        "overlapping_leave",
        "insufficient_allowance",
    }


def test_a_webhook_deleted_meanwhile_does_not_refuse_a_request(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    webhook = a_webhook(database, acme)

    def delete(tx: Transaction) -> None:
        webhooks.delete(tx, webhook.id, by=acme.caller, now=NOW)

    refused = overlapping(database, delete, lambda: a_request(database, acme, ada))

    assert refused == []
    assert len(acme.read(leave_lists.filtered, PageOf()).items) == 1


@pytest.mark.parametrize("switch_off", [people_status.archive, people_status.deactivate])
def test_a_user_deactivated_after_authentication_cannot_request_leave(
    database: Database, acme: Acme, ada: User, switch_off: Any
) -> None:
    acme.write(switch_off, ada.id)

    with pytest.raises(Unauthenticated):
        a_request(database, acme, ada)

    assert database.read_now(everything) == [[], [], []]
    assert acme.read(leave_lists.filtered, PageOf()).items == []
