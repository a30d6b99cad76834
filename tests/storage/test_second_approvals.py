"""Leave that needs a second approval: who gives it, what is void, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.admin import people, people_status
from storage.base.errors import DomainError, InvalidTransition, LeaveTypeNotRecordable
from storage.base.leave_values import Approval, LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import NotificationRow, ReminderRow
from storage.leave import (
    decisions,
    leave_amendments,
    leave_lists,
    leave_requests,
    leave_rows,
    leave_types,
    previews,
)
from storage.leave.decisions import NotYourApproval, SecondApprovalAwaited
from storage.leave.drafts import Draft
from storage.notifications import approval_cards, reminder_checks, reminders
from storage.people import approvers, people_lists
from storage.rules.lifecycle import REVERSAL_WINDOW
from storage.webhooks import delivery_log
from storage.workspaces import slack_workspaces
from tests.builders import (
    NOW,
    Acme,
    a_leave_type,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    as_it_is,
    audit_entries,
    caller_for,
)
from tests.refusals import at_once, errors_of

pytestmark = pytest.mark.shared_database

TODAY = NOW.date()
MONDAY, TUESDAY, FRIDAY = date(2026, 8, 3), date(2026, 8, 4), date(2026, 8, 7)
BY_ADMINS: dict[str, Any] = {"always": True, "by": "admins"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Office:
    """Ada, her manager Grace, and Olu of People Operations; Olive is the owner."""

    acme: Acme
    ada: User
    grace: User
    olu: User
    type_id: str

    @property
    def database(self) -> Database:
        return self.acme.database

    def by(self, user: User) -> Caller:
        return caller_for(self.acme, user)

    def ask(self, last_day: date = MONDAY, user: User | None = None) -> LeaveRequest:
        return a_request(
            self.database, self.acme, user or self.ada, end_date=last_day, code="sabbatical"
        )

    def approve(self, request: LeaveRequest, user: User, now: Any = NOW) -> LeaveRequest:
        return self.database.write_now(decisions.approve, request.id, by=self.by(user), now=now)

    def decline(self, request: LeaveRequest, user: User) -> LeaveRequest:
        return self.database.write_now(
            decisions.decline, request.id, reason=None, by=self.by(user), now=NOW
        )

    def edit(self, request: LeaveRequest, **changes: Any) -> LeaveRequest:
        return self.database.write_now(
            leave_requests.edit, request.id, changes, by=self.by(self.ada), now=NOW
        )

    def archive(self, user: User) -> None:
        self.acme.write(people_status.archive, user.id)

    def deciders(self, request: LeaveRequest) -> set[str]:
        """The first names of those whose list has the request."""
        people = [self.ada, self.grace, self.olu, self.acme.owner]
        return {user.first_name for user in people if self.is_listed(request, user)}

    def is_listed(self, request: LeaveRequest, user: User) -> bool:
        page = self.database.read_now(leave_lists.assigned, PageOf(), by=self.by(user), now=NOW)
        return request.id in {each.id for each in page.items}


def an_office(
    database: Database, second: dict[str, Any] | str | None = "olu", **fields: Any
) -> Office:
    """The leave type has this second approval; ``olu``: always, by Olu."""
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    olu = a_person(database, acme, first_name="Olu")
    ada = a_person(database, acme, manager_id=grace.id)
    leave_type = a_leave_type(
        database,
        acme,
        name="Sabbatical",
        deducts_allowance=False,
        second_approval={"always": True, "by": olu.id} if second == "olu" else second,
        **fields,
    )
    return Office(acme=acme, ada=ada, grace=grace, olu=olu, type_id=leave_type.id)


def users_of(approvals: tuple[Approval, ...]) -> list[str]:
    return [approval.user_id for approval in approvals]


def test_leave_is_approved_after_two_people_approved_it(database: Database) -> None:
    office = an_office(database)
    request = office.ask()
    before = office.deciders(request)

    first = office.approve(request, office.grace)
    between = office.deciders(request)
    second = office.approve(request, office.olu)

    assert (before, between, office.deciders(request)) == ({"Grace"}, {"Olu"}, set())
    assert (first.status, first.decided_by) == ("pending", None)
    assert users_of(first.approvals) == [office.grace.id]
    assert (second.status, second.decided_by) == ("approved", office.olu.id)
    assert users_of(second.approvals) == [office.grace.id, office.olu.id]
    entries = audit_entries(database, office.acme.caller, subject_id=request.id)
    assert [(entry.action, entry.actor_id) for entry in entries] == [
        ("leave_request.approved", office.olu.id),
        ("leave_request.approval_given", office.grace.id),
        ("leave_request.created", office.ada.id),
    ]


@pytest.mark.parametrize(("last_day", "status"), [(TUESDAY, "approved"), (FRIDAY, "pending")])
def test_only_leave_over_the_limit_needs_a_second_approval(
    database: Database, last_day: date, status: str
) -> None:
    office = an_office(database, {"over_days": 2, "by": "admins"})
    request = office.ask(last_day)

    first = office.approve(request, office.grace)

    assert first.status == status
    assert len(first.approvals) == (1 if status == "pending" else 0)


def test_other_leave_keeps_no_approvals(database: Database) -> None:
    office = an_office(database)
    request = a_request(database, office.acme, office.ada)

    assert office.approve(request, office.grace).approvals == ()


def test_the_first_approver_cannot_give_the_second_approval(database: Database) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.grace)

    with pytest.raises(SecondApprovalAwaited):
        office.approve(request, office.grace)


def test_an_admin_who_approved_first_leaves_the_second_approval_to_another(
    database: Database,
) -> None:
    office = an_office(database, BY_ADMINS)
    second_admin = a_person(database, office.acme, first_name="Ida", role="admin")
    request = office.ask()
    office.approve(request, office.acme.owner)

    with pytest.raises(SecondApprovalAwaited):
        office.approve(request, office.acme.owner)
    assert office.is_listed(request, second_admin)
    assert office.deciders(request) == set()
    assert office.approve(request, second_admin).status == "approved"


def test_the_first_approval_decides_if_no_one_else_could_give_the_second(
    database: Database,
) -> None:
    office = an_office(database, BY_ADMINS)
    request = office.ask()

    approved = office.approve(request, office.acme.owner)

    assert approved.status == "approved"
    assert users_of(approved.approvals) == [office.acme.owner.id]


def test_admins_stand_in_for_a_second_approver_who_is_the_requester(database: Database) -> None:
    office = an_office(database)
    office.acme.write(people.update, office.olu.id, {"manager_id": office.grace.id})
    request = office.ask(user=office.olu)

    office.approve(request, office.grace)

    assert office.deciders(request) == {"Olive"}


def test_admins_stand_in_for_a_second_approver_who_approved_first(database: Database) -> None:
    office = an_office(database)
    office.acme.write(people.update, office.ada.id, {"manager_id": office.olu.id})
    request = office.ask()

    office.approve(request, office.olu)

    assert office.deciders(request) == {"Olive"}


def test_admins_join_a_second_approver_who_is_away(database: Database) -> None:
    office = an_office(database)
    a_request(database, office.acme, office.olu, start_date=TODAY, code="sick")
    request = office.ask()

    office.approve(request, office.grace)

    assert office.deciders(request) == {"Olu", "Olive"}


def test_admins_get_the_request_when_the_second_approver_is_archived(database: Database) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.grace)

    office.archive(office.olu)

    assert office.deciders(request) == {"Olive"}
    entry = audit_entries(database, office.acme.caller, subject_id=request.id)[0]
    assert (entry.action, entry.changes["approvers"]) == (
        "leave_request.rerouted",
        {"before": [office.olu.id], "after": [office.acme.owner.id]},
    )


def test_the_first_approver_decides_when_every_second_approver_has_left(
    database: Database,
) -> None:
    office = an_office(database)
    request = office.ask(user=office.acme.owner)
    assert request.status == "approved"  # No one approves the leave of the only admin.
    office.acme.write(people.update, office.acme.owner.id, {"manager_id": office.grace.id})
    later = a_request(
        database, office.acme, office.acme.owner, start_date=FRIDAY, code="sabbatical"
    )
    office.approve(later, office.grace)
    between = office.deciders(later)

    office.archive(office.olu)

    assert (between, office.deciders(later)) == ({"Olu"}, {"Grace"})
    assert office.approve(later, office.grace).status == "approved"


def test_the_manager_no_longer_decides_after_another_persons_first_approval(
    database: Database,
) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.acme.owner)

    with pytest.raises(NotYourApproval):
        office.approve(request, office.grace)
    with pytest.raises(NotYourApproval):
        office.decline(request, office.grace)


@pytest.mark.parametrize("name", ["grace", "olu"])
def test_either_approver_may_decline(database: Database, name: str) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.grace)
    decliner: User = getattr(office, name)

    declined = office.decline(request, decliner)

    assert (declined.status, declined.decided_by) == ("declined", decliner.id)
    others = [office.grace.id] if decliner is office.olu else []
    assert users_of(declined.approvals) == others


def test_an_edit_that_adds_leave_voids_the_first_approval(database: Database) -> None:
    office = an_office(database)
    request = office.ask(TUESDAY)
    office.approve(request, office.grace)

    edited = office.edit(request, end_date=FRIDAY)

    assert (edited.status, edited.approvals) == ("pending", ())
    assert office.deciders(request) == {"Grace"}


def test_an_edit_that_shortens_leave_keeps_the_first_approval(database: Database) -> None:
    office = an_office(database, {"over_days": 2, "by": "admins"})
    request = office.ask(FRIDAY)
    office.approve(request, office.grace)

    edited = office.edit(request, end_date=MONDAY)

    assert users_of(edited.approvals) == [office.grace.id]
    assert office.deciders(request) == {"Olive"}


def test_a_changed_leave_type_does_not_change_what_is_awaited(database: Database) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.grace)

    office.acme.write(leave_types.update, office.type_id, {"second_approval": None})

    assert office.deciders(request) == {"Olu"}
    assert office.approve(request, office.olu).status == "approved"


def take_back(office: Office, request: LeaveRequest, user: User, after: timedelta) -> LeaveRequest:
    return office.database.write_now(
        decisions.take_back_approval, request.id, by=office.by(user), now=NOW + after
    )


def test_a_first_approval_can_be_taken_back_for_ten_minutes(database: Database) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.grace)
    last_moment = REVERSAL_WINDOW - timedelta(seconds=1)

    with pytest.raises(NotYourApproval):
        take_back(office, request, office.olu, last_moment)
    with pytest.raises(InvalidTransition):
        take_back(office, request, office.grace, REVERSAL_WINDOW)
    taken_back = take_back(office, request, office.grace, last_moment)

    assert (taken_back.status, taken_back.approvals) == ("pending", ())
    assert office.deciders(request) == {"Grace"}


def test_a_first_approval_is_not_taken_back_after_the_second(database: Database) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.grace)
    office.approve(request, office.olu)

    with pytest.raises(InvalidTransition):
        take_back(office, request, office.grace, timedelta(minutes=1))


def reverse(office: Office, request: LeaveRequest, user: User, to: Any) -> LeaveRequest:
    return office.database.write_now(
        decisions.change_decision, request.id, to, by=office.by(user), now=NOW
    )


def test_a_decline_before_the_first_approval_is_reversed_to_a_first_approval(
    database: Database,
) -> None:
    office = an_office(database)
    request = office.ask()
    office.decline(request, office.grace)

    reversed_ = reverse(office, request, office.grace, "approved")

    assert (reversed_.status, reversed_.decided_by) == ("pending", None)
    assert users_of(reversed_.approvals) == [office.grace.id]
    assert office.deciders(request) == {"Olu"}


def test_a_second_approver_reverses_their_decision(database: Database) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.grace)
    office.decline(request, office.olu)

    approved = reverse(office, request, office.olu, "approved")
    declined = reverse(office, request, office.olu, "declined")

    assert (approved.status, users_of(approved.approvals)) == (
        "approved",
        [office.grace.id, office.olu.id],
    )
    assert (declined.status, users_of(declined.approvals)) == ("declined", [office.grace.id])


def an_amendment(office: Office, last_day: date) -> LeaveRequest:
    """Approved leave of Monday with an amendment that it ends on that day."""
    request = office.ask()
    office.approve(request, office.grace)
    if office.deciders(request):
        office.approve(request, office.olu)
    return office.edit(request, end_date=last_day)


def test_a_change_of_approved_leave_needs_two_approvals(database: Database) -> None:
    office = an_office(database)
    amended = an_amendment(office, FRIDAY)
    before = office.deciders(amended)

    first = office.approve(amended, office.grace)
    open_one = database.read_now(leave_amendments.of_request, office.acme.id, first)
    between = office.deciders(amended)
    second = office.approve(amended, office.olu)

    assert (before, between, office.deciders(amended)) == ({"Grace"}, {"Olu"}, set())
    assert (first.status, first.end_date) == ("approved", MONDAY)
    assert open_one is not None
    assert users_of(open_one.amendment.approvals) == [office.grace.id]
    assert (second.end_date, second.amendment_id) == (FRIDAY, None)


def test_another_amendment_needs_its_first_approval_again(database: Database) -> None:
    office = an_office(database)
    amended = an_amendment(office, TUESDAY)
    office.approve(amended, office.grace)

    replaced = office.edit(amended, end_date=FRIDAY)

    assert office.deciders(replaced) == {"Grace"}


def test_an_amendment_over_the_limit_needs_a_second_approval(database: Database) -> None:
    office = an_office(database, {"over_days": 2, "by": "admins"})
    amended = an_amendment(office, FRIDAY)

    first = office.approve(amended, office.grace)

    assert (first.end_date, office.deciders(amended)) == (MONDAY, {"Olive"})


def test_the_first_approval_of_an_amendment_overrides_for_the_second_one(
    database: Database,
) -> None:
    office = an_office(database)
    amended = an_amendment(office, FRIDAY)
    office.acme.write(leave_types.update, office.type_id, {"max_consecutive_days": 2})
    with pytest.raises(DomainError):
        office.approve(amended, office.grace)
    reason = "Agreed before the rule."

    office.acme.write(decisions.approve, amended.id, override_reason=reason)
    changed = office.approve(amended, office.olu)

    assert (changed.end_date, changed.override_reason) == (FRIDAY, reason)
    given = audit_entries(database, office.acme.caller, action="leave_request.approval_given")[0]
    assert reason in repr(given.changes["approvals"]["after"])


def test_cancelling_approved_leave_needs_one_approval(database: Database) -> None:
    office = an_office(database, changes_need_approval=True)
    request = office.ask()
    office.approve(request, office.grace)
    office.approve(request, office.olu)
    office.database.write_now(leave_requests.cancel, request.id, by=office.by(office.ada), now=NOW)

    assert office.approve(request, office.grace).status == "cancelled"


def test_webhooks_receive_a_first_approval_as_an_update(database: Database) -> None:
    office = an_office(database)
    webhook = a_webhook(database, office.acme)
    request = office.ask()

    office.approve(request, office.grace)
    office.approve(request, office.olu)

    page = office.acme.read(delivery_log.page, webhook.id, PageOf(limit=10))
    assert [(event.event_type, event.sequence) for event in page.items] == [
        ("leave_request.approved", 3),
        ("leave_request.updated", 2),
        ("leave_request.created", 1),
    ]


@pytest.mark.parametrize("second_name", ["olu", "owner"])
def test_of_two_second_approvals_at_once_one_counts(database: Database, second_name: str) -> None:
    office = an_office(database)
    request = office.ask()
    office.approve(request, office.grace)
    other = office.olu if second_name == "olu" else office.acme.owner

    codes = at_once(
        lambda: office.approve(request, office.olu), lambda: office.approve(request, other)
    )

    assert codes == ["invalid_transition"]
    assert as_it_is(database, office.acme, request).version == 3


def test_a_repeated_first_approval_at_once_never_counts_as_the_second(database: Database) -> None:
    office = an_office(database, BY_ADMINS)
    a_person(database, office.acme, role="admin")
    request = office.ask()

    codes = at_once(*[lambda: office.approve(request, office.acme.owner)] * 4)

    stored = as_it_is(database, office.acme, request)
    assert codes == ["second_approval_awaited"] * 3
    assert (stored.status, stored.version) == ("pending", 2)


def test_first_and_second_approval_at_once_are_never_one(database: Database) -> None:
    office = an_office(database)
    request = office.ask()

    codes = at_once(
        lambda: office.approve(request, office.grace), lambda: office.approve(request, office.olu)
    )

    stored = as_it_is(database, office.acme, request)
    if codes:
        assert codes == ["not_found"]  # Olu came first, before it was theirs to see.
        assert (stored.status, users_of(stored.approvals)) == ("pending", [office.grace.id])
    else:
        assert (stored.status, len(stored.approvals)) == ("approved", 2)


def test_an_approver_does_not_record_leave_that_needs_a_second_approval(
    database: Database,
) -> None:
    office = an_office(database, {"over_days": 2, "by": "admins"}, approvers_may_record=True)

    def record(last_day: date, by: Caller) -> LeaveRequest:
        draft = Draft(leave_type_id=office.type_id, start_date=MONDAY, end_date=last_day)
        return database.write_now(
            leave_requests.create, by=by, draft=draft, user_id=office.ada.id, now=NOW
        )

    with pytest.raises(LeaveTypeNotRecordable):
        record(FRIDAY, office.by(office.grace))
    preview = database.read_now(
        previews.preview,
        by=office.by(office.grace),
        draft=Draft(leave_type_id=office.type_id, start_date=MONDAY, end_date=FRIDAY),
        user_id=office.ada.id,
        now=NOW,
    )
    recorded = record(TUESDAY, office.by(office.grace))

    assert [refusal.code for refusal in preview.refusals] == ["leave_type_not_recordable"]
    assert recorded.status == "approved"


def test_an_admin_records_it_at_once(database: Database) -> None:
    office = an_office(database)
    draft = Draft(leave_type_id=office.type_id, start_date=MONDAY, end_date=FRIDAY)

    recorded = office.acme.write(leave_requests.create, draft=draft, user_id=office.ada.id)

    assert recorded.status == "approved"


def test_second_approvers_are_reminded_and_admins_follow(database: Database) -> None:
    office = an_office(database)
    in_slack(office)
    request = office.ask()
    database.write_now(reminders.start, office.acme.id, request.id, office.grace.id, now=NOW)
    office.approve(request, office.grace)
    reminded = database.read_now(reminded_of, office.acme.id)
    database.write_now(reminders.start, office.acme.id, request.id, office.olu.id, now=NOW)

    while database.write_now(reminder_checks.run, office.acme.id, now=NOW + timedelta(days=8)):
        pass

    assert reminded == set()
    assert database.read_now(reminded_of, office.acme.id) == {
        office.olu.id,
        office.acme.owner.id,
    }
    assert office.deciders(request) == {"Olu", "Olive"}


def in_slack(office: Office) -> None:
    office.database.write_now(
        slack_workspaces.link,
        office.acme.organisation,
        f"T{office.acme.id[-12:]}",
        source="cli",
        now=NOW,
    )


def reminded_of(tx: Transaction, organisation_id: str) -> set[str]:
    return {row.user_id for row in tx.select(ReminderRow, organisation_id=organisation_id)}


def test_the_second_approver_and_the_requester_are_told(database: Database) -> None:
    office = an_office(database)
    in_slack(office)
    request = office.ask()

    office.approve(request, office.grace)

    def told(tx: Transaction) -> set[tuple[str, str]]:
        queued = tx.select(NotificationRow, organisation_id=office.acme.id)
        return {
            (row.kind, row.user_id)
            for row in queued
            if row.event_type == "leave_request.approval_given"
        }

    assert database.read_now(told) == {
        ("requester_notice", office.ada.id),
        ("approval_card", office.grace.id),
        ("approval_card", office.olu.id),
    }


SECONDS = st.fixed_dictionaries(
    {
        "named": st.sampled_from(["no one", "member", "admin", "grace", "ada"]),
        "named_state": st.sampled_from(["present", "away", "deactivated"]),
        "has_second_admin": st.booleans(),
        "first": st.sampled_from(["grace", "owner"]),
    }
)


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(SECONDS)
def test_lists_cards_and_decisions_agree_on_the_second_approval(
    database: Database, case: dict[str, Any]
) -> None:
    office = an_office(database, None)
    acme = office.acme
    other = a_person(
        database, acme, first_name="Nia", role="admin" if case["named"] == "admin" else "member"
    )
    if case["has_second_admin"]:
        a_person(database, acme, first_name="Ida", role="admin")
    named = {"grace": office.grace, "ada": office.ada}.get(case["named"], other)
    by = "admins" if case["named"] == "no one" else named.id
    second = {"always": True, "by": by}
    acme.write(leave_types.update, office.type_id, {"second_approval": second})
    request = office.ask()
    if case["named_state"] == "away":
        a_request(database, acme, other, start_date=TODAY, code="sick")
    elif case["named_state"] == "deactivated":
        acme.write(people_status.deactivate, other.id)
    first = office.grace if case["first"] == "grace" else acme.owner
    approved = office.approve(request, first)

    everyone = acme.read(people_lists.list_all)
    expected = expected_seconds(case, first, named, other, everyone)
    if approved.status == "approved":
        assert expected == set()
        return
    assert approved.status == "pending"
    found = database.read_now(approvers.of_request, acme.id, approved, today=TODAY)
    assert {user.id for user in found} == expected
    for user in everyone:
        if user.status != "active":
            continue
        is_admin = user.role in ("admin", "owner")
        may = user.id in expected or (is_admin and user.id != first.id)
        card = database.read_now(
            approval_cards.card, acme.id, request.id, viewer_id=user.id, now=NOW
        )
        assert card is not None
        assert card.may_decide == may
        assert office.is_listed(request, user) == (user.id in expected)
        could = database.read_now(approvers.could_decide, acme.id, user.id)
        assert could or is_admin or user.id not in expected
        assert may_approve(office, request, user) == may
        is_chain = user in (office.grace, office.ada)
        is_visible = may or is_chain or is_admin or user.id == first.id or user.id == by
        page = database.read_now(leave_lists.visible, PageOf(), by=office.by(user), now=NOW)
        assert (request.id in {each.id for each in page.items}) == is_visible
        assert is_readable(office, request, user) == is_visible


def expected_seconds(
    case: dict[str, Any], first: User, named: User, other: User, everyone: list[User]
) -> set[str]:
    """Who gives the second approval, worked out person by person."""
    active = {user.id: user for user in everyone if user.status == "active"}
    admins = {
        user.id
        for user in active.values()
        if user.role in ("admin", "owner") and user.id != first.id
    }
    is_usable = case["named"] not in ("no one", "ada") and named.id in active
    if not is_usable or named.id == first.id:
        return admins
    is_away = named.id == other.id and case["named_state"] == "away"
    return admins | {named.id} if is_away else {named.id}


class RolledBack(Exception):
    pass


def may_approve(office: Office, request: LeaveRequest, user: User) -> bool:
    def attempt(tx: Transaction) -> None:
        decisions.approve(tx, request.id, by=office.by(user), now=NOW)
        raise RolledBack

    try:
        office.database.write_now(attempt)
    except RolledBack:
        return True
    except DomainError:
        return False
    return False


def is_readable(office: Office, request: LeaveRequest, user: User) -> bool:
    try:
        office.database.read_now(leave_rows.get, request.id, by=office.by(user), now=NOW)
    except DomainError:
        return False
    return True


REFUSED: list[tuple[Callable[[User], dict[str, Any]], tuple[str, str]]] = [
    (lambda _: {"by": "admins"}, ("/second_approval", "invalid_second_approval")),
    (
        lambda _: {"always": True, "over_days": 2, "by": "admins"},
        ("/second_approval", "invalid_second_approval"),
    ),
    (
        lambda _: {"over_days": 0.3, "by": "admins"},
        ("/second_approval/over_days", "not_half_days"),
    ),
    (lambda _: {"always": True, "by": "Olu"}, ("/second_approval/by", "unknown_user")),
    (lambda gone: {"always": True, "by": gone.id}, ("/second_approval/by", "person_archived")),
]


@pytest.mark.parametrize(("second", "error"), REFUSED)
def test_a_second_approval_that_cannot_be_is_refused(
    database: Database,
    second: Callable[[User], dict[str, Any]],
    error: tuple[str, str],
) -> None:
    office = an_office(database)
    gone = a_person(database, office.acme, status="archived")
    change = {"second_approval": second(gone)}

    refused = errors_of(lambda: office.acme.write(leave_types.update, office.type_id, change))

    assert refused == [error]


def test_the_audit_trail_shows_a_second_approval_in_days(database: Database) -> None:
    office = an_office(database, BY_ADMINS)

    office.acme.write(
        leave_types.update, office.type_id, {"second_approval": {"over_days": 2.5, "by": "admins"}}
    )

    entry = audit_entries(database, office.acme.caller, subject_id=office.type_id)[0]
    assert entry.changes["second_approval"] == {
        "before": {"always": True, "over_days": None, "by": "admins"},
        "after": {"always": False, "over_days": 2.5, "by": "admins"},
    }
