"""Leave that one person records for another: who may, what it stores, and what it never breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.errors import DomainError
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import (
    decisions,
    leave_lists,
    leave_requests,
    leave_rows,
    leave_types,
    ledgers,
    previews,
)
from storage.leave.drafts import Draft
from tests.builders import (
    NOW,
    Acme,
    a_leave_type,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    audit_entries,
    caller_for,
    type_id,
)
from tests.refusals import at_once, codes_of, errors_of
from tests.storage.test_submit import everything

MONDAY = date(2026, 8, 3)


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """Ada reports to Grace, an approver. Hedy is an approver of others."""

    acme: Acme
    ada: User
    grace: Caller
    hedy: Caller
    database: Database

    @property
    def owner(self) -> Caller:
        return self.acme.caller

    def record(self, by: Caller, *, code: str = "sick", **more: Any) -> LeaveRequest:
        """Record leave for Ada, a Monday by default."""
        how = {name: more.pop(name) for name in ("user_id", "override_reason") if name in more}
        draft = self.draft(code, **more)
        how = {"user_id": self.ada.id, **how}
        return self.database.write_now(leave_requests.create, by=by, draft=draft, now=NOW, **how)

    def draft(self, code: str, **fields: Any) -> Draft:
        leave_type_id = type_id(self.database, self.acme, code)
        return Draft(
            **{
                "leave_type_id": leave_type_id,
                "start_date": MONDAY,
                "end_date": fields.get("start_date", MONDAY),
                **fields,
            }
        )

    def stored(self) -> list[LeaveRequest]:
        """All leave of the organisation."""
        page = self.database.read_now(leave_lists.visible, PageOf(), by=self.owner, now=NOW)
        return page.items


@pytest.fixture
def team(database: Database) -> Team:
    return a_team(database)


def a_team(database: Database) -> Team:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    hedy = a_person(database, acme, first_name="Hedy", role="approver")
    return Team(
        acme=acme,
        ada=a_person(database, acme, manager_id=grace.id),
        grace=caller_for(acme, grace),
        hedy=caller_for(acme, hedy),
        database=database,
    )


def test_an_approver_records_sick_leave_that_is_approved_at_once(
    database: Database, team: Team
) -> None:
    a_webhook(database, team.acme)

    request = team.record(team.grace, start_date=date(2026, 5, 27), end_date=date(2026, 5, 29))

    assert (request.user_id, request.status, request.total_half_days) == (
        team.ada.id,
        "approved",
        6,
    )
    assert (request.recorded_by, request.decided_by, request.decided_at) == (
        team.grace.user_id,
        team.grace.user_id,
        NOW,
    )
    by_ada = caller_for(team.acme, team.ada)
    assert database.read_now(leave_rows.get, request.id, by=by_ada, now=NOW) == request
    events, _, _ = database.read_now(everything)
    assert [(event.type, event.sequence) for event in events] == [
        ("leave_request.created", 1),
        ("leave_request.approved", 2),
    ]
    assert orjson.loads(events[1].body)["data"]["recorded_by"] == team.grace.user_id


def test_recorded_leave_is_audited_with_the_recorder_and_the_reason(
    database: Database, team: Team
) -> None:
    request = team.record(team.owner, code="annual", override_reason="  Their house burnt.  ")

    entries = audit_entries(database, team.owner, subject_id=request.id)
    assert {(entry.action, entry.actor_id) for entry in entries} == {
        ("leave_request.approved", team.owner.user_id),
        ("leave_request.created", team.owner.user_id),
    }
    changes = {entry.action: entry.changes for entry in entries}
    created = changes["leave_request.created"]
    assert created["override_reason"]["after"] == "Their house burnt."
    assert created["recorded_by"]["after"] == team.owner.user_id
    assert changes["leave_request.approved"]["why"]["after"] == "recorded"


def test_ones_own_id_is_as_none(team: Team) -> None:
    request = team.record(caller_for(team.acme, team.ada), code="annual", user_id=team.ada.id)

    assert (request.status, request.recorded_by) == ("pending", None)


def test_a_new_organisation_lets_approvers_record_only_sick_leave(team: Team) -> None:
    assert codes_of(lambda: team.record(team.grace, code="annual")) == ["leave_type_not_recordable"]
    assert team.stored() == []

    leave_type_id = type_id(team.database, team.acme, "annual")
    changes = {"approvers_may_record": True}
    team.database.write_now(leave_types.update, leave_type_id, changes, by=team.owner, now=NOW)

    assert team.record(team.grace, code="annual").status == "approved"


def test_only_approvers_of_the_person_and_admins_record_their_leave(team: Team) -> None:
    admin = caller_for(team.acme, a_person(team.database, team.acme, role="admin"))
    member = caller_for(team.acme, a_person(team.database, team.acme))

    assert codes_of(lambda: team.record(team.hedy), lambda: team.record(member)) == [
        "recording_not_allowed",
        "recording_not_allowed",
    ]
    assert team.record(admin, code="annual").status == "approved"


def test_unknown_foreign_and_archived_people_are_refused_at_the_field(
    database: Database, team: Team
) -> None:
    stranger = an_organisation(database).owner
    archived = a_person(database, team.acme, manager_id=team.grace.user_id, status="archived")

    for user_id, code in (
        ("0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11", "unknown_user"),
        ("nobody", "unknown_user"),
        (stranger.id, "unknown_user"),
        (archived.id, "person_archived"),
    ):
        for by in (team.grace, team.owner):

            def record(by: Caller = by, user_id: str = user_id) -> LeaveRequest:
                return team.record(by, user_id=user_id)

            assert errors_of(record) == [("/user_id", code)]
    assert team.stored() == []


def test_an_override_needs_an_admin_another_person_and_a_reason(team: Team) -> None:
    assert codes_of(
        lambda: team.record(team.grace, override_reason="Because."),
        lambda: team.record(team.owner, override_reason="Why", user_id=team.owner.user_id),
        lambda: team.record(team.owner, override_reason="Why", user_id=None),
        lambda: team.record(team.owner, override_reason=" "),
    ) == [
        "override_not_allowed",
        "override_of_own_leave",
        "override_of_own_leave",
        "override_without_reason",
    ]
    assert team.stored() == []


def test_an_override_goes_past_rules_of_the_type_and_the_allowance(
    database: Database, team: Team
) -> None:
    a_leave_type(
        database,
        team.acme,
        name="Strict",
        min_notice_days=30,
        max_consecutive_days=2,
        requires_note=True,
        approvers_may_record=True,
    )
    far: dict[str, Any] = {
        "code": "strict",
        "start_date": date(2026, 6, 8),
        "end_date": date(2026, 7, 31),
    }
    assert codes_of(
        lambda: team.record(team.grace, **far), lambda: team.record(team.owner, **far)
    ) == ["invalid_input", "invalid_input"]

    request = team.record(team.owner, **far, override_reason="A birth.")

    assert (request.override_reason, request.total_half_days) == ("A birth.", 80)
    balance = database.read_now(ledgers.balance, team.ada.id, on=None, by=team.owner, now=NOW)
    assert balance.remaining_half_days == 50 - 80


def test_overridden_leave_stays_possible_when_its_decision_is_reversed_twice(
    database: Database, team: Team
) -> None:
    long = {"start_date": date(2026, 8, 3), "end_date": date(2026, 10, 2)}
    request = team.record(team.owner, code="annual", override_reason="A birth.", **long)
    admin = caller_for(team.acme, a_person(database, team.acme, role="admin"))
    for status in ("declined", "approved"):
        reversed_request = database.write_now(
            decisions.change_decision, request.id, status, by=admin, now=NOW
        )

    assert reversed_request.status == "approved"


def test_the_recorder_cancels_but_does_not_edit(database: Database, team: Team) -> None:
    request = team.record(team.grace)

    assert codes_of(
        lambda: database.write_now(
            leave_requests.edit, request.id, {"note": "Flu"}, by=team.grace, now=NOW
        ),
        lambda: database.write_now(leave_requests.cancel, request.id, by=team.hedy, now=NOW),
    ) == ["insufficient_role", "not_found"]
    cancelled = database.write_now(leave_requests.cancel, request.id, by=team.grace, now=NOW)

    assert cancelled.status == "cancelled"


@pytest.mark.parametrize("is_recorded_twice", [False, True])
def test_of_a_request_and_a_record_at_once_one_gets_the_day(
    team: Team, is_recorded_twice: bool
) -> None:
    def record_or_request() -> LeaveRequest:
        by = team.owner if is_recorded_twice else caller_for(team.acme, team.ada)
        return team.record(by)

    assert at_once(record_or_request, lambda: team.record(team.grace)) == ["overlapping_leave"]
    assert [request.status for request in team.stored()] == ["approved"]


def test_a_manager_recording_and_a_person_requesting_at_once_never_overdraw(team: Team) -> None:
    bob = a_person(
        team.database,
        team.acme,
        first_name="Bob",
        manager_id=team.grace.user_id,
        leave_allowance_half_days=10,
    )
    week = timedelta(days=4)
    first, second = MONDAY, MONDAY + timedelta(days=7)

    refused = at_once(
        lambda: team.record(
            team.owner, code="annual", user_id=bob.id, start_date=first, end_date=first + week
        ),
        lambda: a_request(team.database, team.acme, bob, start_date=second, end_date=second + week),
    )

    assert refused == ["insufficient_allowance"]
    assert [request.total_half_days for request in team.stored()] == [10]


def test_an_objection_is_audited_once_and_changes_nothing(database: Database, team: Team) -> None:
    request = team.record(team.grace)
    by_ada = caller_for(team.acme, team.ada)

    def send() -> None:
        database.write_now(leave_requests.object_to, request.id, by=by_ada, now=NOW)

    assert at_once(send, send) == ["already_objected"]
    (entry,) = audit_entries(database, team.owner, action="leave_request.objected")
    assert (entry.actor_id, entry.subject_id, entry.changes) == (team.ada.id, request.id, {})
    assert team.stored() == [request]


def test_only_the_person_objects_to_approved_leave_recorded_for_them(
    database: Database, team: Team
) -> None:
    by_ada = caller_for(team.acme, team.ada)
    recorded, own = (
        team.record(team.grace),
        a_request(database, team.acme, team.ada, code="sick", start_date=date(2026, 8, 10)),
    )

    def send(by: Caller, request: LeaveRequest) -> None:
        database.write_now(leave_requests.object_to, request.id, by=by, now=NOW)

    assert (
        codes_of(
            lambda: send(team.grace, recorded),
            lambda: send(team.owner, recorded),
            lambda: send(by_ada, own),
        )
        == ["not_found"] * 3
    )
    database.write_now(leave_requests.cancel, recorded.id, by=team.grace, now=NOW)
    assert codes_of(lambda: send(by_ada, recorded)) == ["invalid_transition"]


def test_a_preview_says_what_recording_does(team: Team) -> None:
    a_leave_type(
        team.database,
        team.acme,
        name="Strict",
        min_notice_days=3,
        max_consecutive_days=4,
        requires_note=True,
        approvers_may_record=True,
    )
    team.record(team.owner, code="annual", start_date=date(2026, 6, 10))

    @given(
        code=st.sampled_from(["annual", "sick", "strict"]),
        starts_in=st.integers(-5, 15),
        length=st.integers(1, 40),
        note=st.sampled_from([None, "Because."]),
        by=st.sampled_from([team.owner, team.grace]),
        override_reason=st.sampled_from([None, "A birth."]),
    )
    def agree(
        code: str,
        starts_in: int,
        length: int,
        note: str | None,
        by: Caller,
        override_reason: str | None,
    ) -> None:
        start = NOW.date() + timedelta(days=starts_in)
        how: dict[str, Any] = {
            "by": by,
            "draft": team.draft(
                code, start_date=start, end_date=start + timedelta(days=length - 1), note=note
            ),
            "user_id": team.ada.id,
            "override_reason": override_reason,
            "now": NOW,
        }
        foreseen, preview = outcome(lambda: team.database.read_now(previews.preview, **how))
        raised, recorded = outcome(lambda: team.database.dry_run_now(leave_requests.create, **how))

        refusals = foreseen or [refusal.code for refusal in preview.refusals]
        assert refusals[:1] == raised
        if override_reason is not None and by == team.owner:
            assert set(raised) <= {"overlapping_leave", "no_working_time"}
        if recorded is not None:
            assert preview.total_half_days == recorded.total_half_days
            assert preview.approved_because == "recorded"

    agree()


def outcome(call: Callable[[], Any]) -> tuple[list[str], Any]:
    """The code of the error with which the call is refused, and its result."""
    try:
        return [], call()
    except DomainError as error:
        return [error.code], None
