"""Leave requests: submitted, recorded for others, edited and cancelled.

REST and Slack call these functions. Admins and owners record any leave for anyone. Approvers record
leave of types that allow it, for the people whose leave they would decide on.

Each step is one conditional UPDATE with its audit entry, event and notifications in the same
transaction (request_steps.py). Decisions are in decisions.py, reads in leave_rows.py, and the
checks of a new request in drafts.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.errors import (
    AlreadyObjected,
    ClosureLeave,
    FieldError,
    InsufficientRole,
    InvalidInput,
    InvalidTransition,
    LeaveTypeNotRecordable,
    NotFound,
    RecordingNotAllowed,
    Unauthenticated,
)
from storage.base.ids import is_id, new_id
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import Caller, User, field_names, local_day
from storage.db import rows
from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.leave import closure_leave, drafts, leave_changes, leave_rows, request_steps
from storage.leave.drafts import Assessment, Draft
from storage.leave.request_steps import Requester
from storage.outbox import audit, notification_outbox, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers, employment_by_date, people_lists, slack_syncs
from storage.people.people_lists import MAX_OPTIONS
from storage.rules import counted_days, request_rules, roles, second_approvals
from storage.rules.counted_days import NOTHING, Span


def submit(
    tx: Transaction,
    *,
    by: Caller,
    draft: Draft,
    warnings: list[FieldError] | None = None,
    now: datetime,
) -> LeaveRequest:
    """Request leave for the caller: pending, or approved if no approver has to or can decide.

    To ``warnings`` it adds the absence limits that are exceeded and do not refuse the leave.
    Raises InvalidInput, OverlappingLeave or InsufficientAllowance, or Unauthenticated for a person
    who was deactivated since they were authenticated; then nothing has changed.
    """
    if by.user_id is None:
        raise InsufficientRole("member")
    requester, has_admin = request_steps.lock_person(tx, by.organisation_id, by.user_id, now)
    if requester.user.status in ("deactivated", "archived"):
        raise Unauthenticated
    assessment = drafts.check(
        tx, requester.config, requester.user, draft, today=requester.today, warnings=warnings
    )
    leave_type = assessment.leave_type
    deciders: list[User] = []
    unreachable: list[User] = []
    if leave_type.requires_approval:
        deciders, unreachable = approvers.with_unreachable(
            tx, by.organisation_id, by.user_id, today=requester.today
        )
    request = new_request(draft, assessment, by.user_id, now=now)
    request_steps.add(tx, request, requester, by=by, now=now)
    if not deciders and not (leave_type.requires_approval and has_admin):
        approved = request_steps.approve_at_once(tx, request, requester, leave_type, by=by, now=now)
        request_steps.tell_of_absence(tx, approved, requester, by=by, now=now)
        return approved
    if requester.config.is_in_slack and unreachable:
        # The approval chain skipped people whose Slack account is not known yet.
        slack_syncs.request_soon(tx, by.organisation_id, now=now)
    notification_outbox.notify(
        tx,
        "leave_request.created",
        request,
        by=by,
        approvers=deciders,
        config=requester.config,
        now=now,
    )
    request_steps.refresh_cards(tx, None, request, requester, now)
    return request


def new_request(
    draft: Draft, assessment: Assessment, user_id: str, *, now: datetime
) -> LeaveRequest:
    return LeaveRequest(
        id=new_id(now),
        user_id=user_id,
        leave_type_id=assessment.leave_type.id,
        status="pending",
        start_date=draft.start_date,
        end_date=draft.end_date,
        start_half_day=draft.start_half_day,
        end_half_day=draft.end_half_day,
        total_half_days=counted_days.total_half_days(assessment.counted_halves),
        counted_halves=assessment.counted_halves,
        note=assessment.note,
        created_at=now,
        updated_at=now,
        version=1,
        cover_user_id=draft.cover_user_id,
    )


def editable(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """The request, if the caller could edit it, or change it as approved leave, now.

    Raises NotFound, InsufficientRole, InvalidTransition or ClosureLeave.
    """
    request = leave_rows.get(tx, request_id, by=by, now=now)
    request_steps.check_own_or_managed(request, by)
    if request.status != "approved":
        request_steps.check_transition(tx, "edit", request, by)
    elif request.closure_id is not None:
        raise ClosureLeave
    return request


def edit(
    tx: Transaction,
    request_id: str,
    changes: Mapping[str, object],
    *,
    override_reason: str | None = None,
    warnings: list[FieldError] | None = None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Change a request's dates, halves, note or cover; what it adds is checked again.

    Approved leave is changed at once or gets an amendment (``leave_changes``); its leave type can
    be changed, too. ``changes`` has only the fields that were sent; without a difference nothing
    is written. By its requester, admins and owners. ``override_reason`` as in ``create``,
    ``warnings`` as in ``submit``. Raises NotFound, InvalidTransition, ClosureLeave and the errors
    of ``submit``; then nothing has changed.
    """
    unknown = changes.keys() - set(field_names(Draft))
    if unknown:
        raise InvalidInput.of(min(unknown), "unknown_field", "This cannot be changed.")
    requester, before = request_steps.lock_request(tx, request_id, by=by, now=now, is_counting=True)
    request_steps.check_own_or_managed(before, by)
    if before.status != "approved":
        request_steps.check_transition(tx, "edit", before, by)
    elif before.closure_id is not None:
        raise ClosureLeave
    if override_reason == before.override_reason and not _may_override(before, by):
        override_reason = None  # Sent back as it was read.
    override_reason = request_rules.checked_override(override_reason, user_id=before.user_id, by=by)
    draft = Draft(**{name: getattr(before, name) for name in field_names(Draft)} | dict(changes))
    for field in ("leave_type_id", "start_date", "end_date"):
        if getattr(draft, field) is None:
            raise InvalidInput.of(field, "required", "{field} cannot be null.", field=field)
    if before.status == "approved":
        return leave_changes.change(
            tx,
            requester,
            before,
            draft,
            override_reason=override_reason,
            warnings=warnings,
            by=by,
            now=now,
        )
    drafts.check_same_type(before, draft)
    assessment = drafts.check(
        tx,
        requester.config,
        requester.user,
        draft,
        today=requester.today,
        replaces=before,
        is_override=override_reason is not None,
        warnings=warnings,
    )
    after = drafts.changed_request(before, draft, assessment.counted_halves, assessment.note)
    if override_reason is not None:
        after = replace(after, override_reason=override_reason)
    if after == before:
        return before
    after = second_approvals.after_edit(before, after)
    is_void = after.first_approver_id != before.first_approver_id
    return request_steps.apply(
        tx,
        "edit",
        before,
        after,
        requester,
        by=by,
        now=now,
        notification="leave_request.approval_taken_back" if is_void else None,
    )


def _may_override(request: LeaveRequest, by: Caller) -> bool:
    return by.is_admin and by.user_id != request.user_id


def lock(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> None:
    """Lock the request until this transaction ends. Raises NotFound if it is not visible."""
    request_steps.lock_request(tx, request_id, by=by, now=now, is_counting=True)


def cancel(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """Cancel a pending or approved request: its requester, its recorder, admins and owners.

    Approved leave of a type with ``changes_need_approval`` gets an amendment that cancels it, if
    its requester cancels it. The days of an interruption go back to the leave that it interrupted.
    Leave of a closure is cancelled by admins and owners, and is not booked again for this person.
    Raises NotFound, InsufficientRole, InvalidTransition or ClosureLeave, InvalidInput ``past_days``
    for leave of which the requester took days, and OverlappingLeave or DaysNoLongerFit if days
    cannot go back; then nothing has changed.
    """
    requester, before = request_steps.lock_request(tx, request_id, by=by, now=now)
    if before.recorded_by is None or before.recorded_by != by.user_id:
        request_steps.check_own_or_managed(before, by)
    request_steps.check_transition(tx, "cancel", before, by)
    if before.closure_id is not None:
        return _cancel_closure_leave(tx, requester, before, by=by, now=now)
    return leave_changes.cancel(tx, requester, before, by=by, now=now)


def _cancel_closure_leave(
    tx: Transaction, requester: Requester, before: LeaveRequest, *, by: Caller, now: datetime
) -> LeaveRequest:
    """Cancel it with the rest of the person's leave of the closure from today on."""
    if not by.is_admin:
        raise ClosureLeave
    after = replace(before, status="cancelled", cancelled_at=now)
    after = request_steps.apply(tx, "cancel", before, after, requester, by=by, now=now)
    closure_leave.exclude(tx, str(before.closure_id), requester.user, by=by, now=now)
    return after


def create(
    tx: Transaction,
    *,
    by: Caller,
    draft: Draft,
    user_id: str | None = None,
    override_reason: str | None = None,
    warnings: list[FieldError] | None = None,
    now: datetime,
) -> LeaveRequest:
    """Request leave for the caller, or record it for the person ``user_id``.

    Recorded leave is approved at once, by the caller. With ``override_reason`` it may exceed the
    allowance and break the type's notice, length and note rules; it never overlaps. ``warnings`` as
    in ``submit``. Raises the errors of ``submit``, ``check_recordable_person`` and
    ``check_recordable_type``; then nothing has changed.
    """
    override_reason = request_rules.checked_override(override_reason, user_id=user_id, by=by)
    if user_id is None or user_id == by.user_id:
        return submit(tx, by=by, draft=draft, warnings=warnings, now=now)
    if by.user_id is None:
        raise InsufficientRole("member")
    requester = _locked_subject(tx, user_id, by=by, now=now)
    check_recordable_person(tx, requester.user, by=by, today=requester.today)
    leave_type = requester.config.leave_types.get(draft.leave_type_id)
    if leave_type is not None:
        check_recordable_type(leave_type, by=by)
    assessment = drafts.check(
        tx,
        requester.config,
        requester.user,
        draft,
        today=requester.today,
        is_override=override_reason is not None,
        warnings=warnings,
    )
    check_recordable_days(assessment, by=by)
    request = new_request(draft, assessment, user_id, now=now)
    request = replace(request, recorded_by=by.user_id, override_reason=override_reason)
    request_steps.add(tx, request, requester, by=by, now=now)
    approved = replace(request, status="approved", decided_by=by.user_id, decided_at=now)
    recorded = request_steps.apply(
        tx, "approve", request, approved, requester, by=by, now=now, why="recorded", is_new=True
    )
    request_steps.tell_of_absence(tx, recorded, requester, by=by, now=now)
    return recorded


def _locked_subject(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> Requester:
    if not is_id(user_id):
        raise unknown_user()
    try:
        requester, _ = request_steps.lock_person(tx, by.organisation_id, user_id, now)
    except NotFound as error:
        raise unknown_user() from error
    return requester


# Later, people book new leave.
_CONTINUED_FOR: Final = timedelta(days=7)
# The next working day is looked for in so many days.
_LOOKED_AHEAD: Final = timedelta(days=31)


@dataclass(frozen=True, kw_only=True, slots=True)
class Continued:
    """The leave as it is now; ``is_extended``: this call has extended it."""

    request: LeaveRequest
    is_extended: bool


def next_end(
    config: OrganisationConfig, user: User, request: LeaveRequest, today: date
) -> date | None:
    """The last day of sick leave that goes on: the person's next working day, at least until today.

    None for other leave, before it begins, and a week after it ended.
    """
    leave_type = config.leave_types[request.leave_type_id]
    if (
        request.status != "approved"
        or request.interrupts is not None
        or request.amendment_id is not None
        or request.closure_id is not None
        or not leave_type.may_interrupt
        or leave_type.requires_approval
        or not request.start_date <= today <= request.end_date + _CONTINUED_FOR
    ):
        return None
    first_day = request.end_date + timedelta(days=1)
    span = Span(start_date=first_day, end_date=max(first_day, today) + _LOOKED_AHEAD)
    worked = [
        day.date for day in employment_by_date.count(config, user, span) if day.counted != NOTHING
    ]
    passed = [day for day in worked if day <= today]
    return passed[-1] if passed else next(iter(worked), None)


def extend(
    tx: Transaction, request_id: str, known_end: str, *, by: Caller, now: datetime
) -> Continued:
    """Extend the caller's own sick leave to ``next_end``, if it still ends on ``known_end``.

    A repeated or late call changes nothing. Raises NotFound and the errors of an edit.
    """
    requester, before = request_steps.lock_request(tx, request_id, by=by, now=now, is_counting=True)
    if before.user_id != by.user_id:
        raise NotFound("leave request")
    config = organisation_config.of_organisation(tx, by.organisation_id)
    end_date = next_end(config, requester.user, before, requester.today)
    if end_date is None or before.end_date.isoformat() != known_end:
        return Continued(request=before, is_extended=False)
    changes: dict[str, object] = {"end_date": end_date, "end_half_day": None}
    if before.start_half_day == "am":
        # A morning becomes the whole first day.
        changes["start_half_day"] = None
    after = edit(tx, request_id, changes, by=by, now=now)
    return Continued(request=after, is_extended=True)


def unknown_user() -> InvalidInput:
    """The error for an id that is no person of the organisation."""
    return InvalidInput.of("user_id", "unknown_user", "There is no such user.")


def check_recordable_person(tx: Transaction, user: User, *, by: Caller, today: date) -> None:
    """Raises InvalidInput ``person_archived`` or RecordingNotAllowed."""
    if not by.is_admin and not approvers.is_approver_of(
        tx, by.organisation_id, user.id, approver_id=str(by.user_id), today=today
    ):
        raise RecordingNotAllowed
    if user.status == "archived":
        raise InvalidInput.of("user_id", "person_archived", "This person is archived.")


def check_recordable_type(leave_type: LeaveType, *, by: Caller) -> None:
    """Raises LeaveTypeNotRecordable."""
    if not roles.may_record_type(leave_type, by=by):
        raise LeaveTypeNotRecordable(leave_type.type_name)


def check_recordable_days(assessment: Assessment, *, by: Caller) -> None:
    """Raises LeaveTypeNotRecordable for leave that needs a second approval, unless of admins."""
    leave_type = assessment.leave_type
    total_half_days = counted_days.total_half_days(assessment.counted_halves)
    if not by.is_admin and second_approvals.is_needed(leave_type, total_half_days):
        raise LeaveTypeNotRecordable(leave_type.type_name)


def may_record_any(leave_types: Iterable[LeaveType], *, by: Caller) -> bool:
    """Whether there is a type in use that the caller may record."""
    return any(
        roles.may_record_type(leave_type, by=by)
        for leave_type in leave_types
        if not leave_type.is_archived
    )


def are_any_recordable(tx: Transaction, *, by: Caller, now: datetime) -> bool:
    """Whether the caller may record leave for anyone at all."""
    if by.user_id is None or by.is_admin:
        return by.user_id is not None
    config = organisation_config.of_organisation(tx, by.organisation_id)
    if not may_record_any(config.leave_types.values(), by=by):
        return False
    today = local_day(now, config.organisation.timezone)
    row = tx.first(
        _any_assigned,
        organisation_id=by.organisation_id,
        viewer_id=by.user_id,
        today=today.isoformat(),
    )
    return row is not None


def find_recordable(tx: Transaction, words: str, *, by: Caller, now: datetime) -> list[User]:
    """Those of them whom ``people_search`` finds by the text, at most 99, without the caller."""
    if by.is_admin:
        return [user for user in people_lists.find(tx, words, by=by) if user.id != by.user_id]
    config = organisation_config.of_organisation(tx, by.organisation_id)
    typed = people_lists.normalised(words)
    users = tx.all(
        _matching,
        organisation_id=by.organisation_id,
        viewer_id=str(by.user_id),
        today=local_day(now, config.organisation.timezone).isoformat(),
        typed=typed,
        lowered=typed.lower(),
        limit=MAX_OPTIONS,
    )
    return [rows.user(row) for row in users]


@compiled_per_engine
def _matching(
    engine: Engine,
    organisation_id: Param[str],
    viewer_id: Param[str],
    today: Param[str],
    typed: Param[str],
    lowered: Param[str],
    limit: Param[int],
) -> Select:
    query = people_lists.matching(engine, organisation_id, typed, lowered)
    assigned = approval_rule.requesters_of(organisation_id, viewer_id, today)
    return query.where(UserRow.id.in_(assigned)).limit(limit)


@compiled
def _any_assigned(organisation_id: Param[str], viewer_id: Param[str], today: Param[str]) -> Select:
    assigned = approval_rule.requesters_of(organisation_id, viewer_id, today)
    return (
        UserRow.select(UserRow.id)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.id.in_(assigned),
            UserRow.status != "archived",
        )
        .limit(1)
    )


def object_to(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> None:
    """Tell the recorder and the admins in Slack that the caller objects, once for each request.

    Raises NotFound unless it was recorded for the caller, InvalidTransition unless it is approved,
    or AlreadyObjected.
    """
    # The lock makes the second of two concurrent objections see the first.
    subject, request = request_steps.lock_request(tx, request_id, by=by, now=now)
    if request.user_id != by.user_id or request.recorded_by is None:
        raise NotFound("leave request")
    if request.status != "approved":
        name = request_steps.decider_name(tx, request, by)
        raise InvalidTransition("objected to", request.status, name)
    if has_objected(tx, by.organisation_id, request):
        raise AlreadyObjected
    audit.record(tx, "leave_request.objected", "leave_request", request.id, by=by, now=now)
    if not subject.config.is_in_slack:
        return
    recipients = {request.recorded_by, *notification_outbox.admin_ids(tx, by.organisation_id)}
    notification_outbox.notify_approvers(
        tx,
        "leave_request.objected",
        {request.id: recipients - {by.user_id}},
        organisation_id=by.organisation_id,
        now=now,
    )


def has_objected(tx: Transaction, organisation_id: str, request: LeaveRequest) -> bool:
    if request.recorded_by is None:
        return False
    actor_id = audit.last_actor(tx, organisation_id, "leave_request.objected", request.id)
    return actor_id is not None
