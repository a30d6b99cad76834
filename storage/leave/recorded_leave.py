"""Leave that is recorded for others: who may, for whom, and the person's objection.

Admins and owners record any leave for anyone. Approvers record leave of types that allow it, for
the people whose leave they would decide on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from peewee import Select

from storage.base.errors import (
    AlreadyObjected,
    InvalidInput,
    InvalidTransition,
    LeaveTypeNotRecordable,
    NotFound,
    RecordingNotAllowed,
)
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import Caller, User, local_day
from storage.db import rows
from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.leave import request_steps
from storage.outbox import audit, notification_outbox, organisation_config
from storage.people import approval_rule, approvers, people_lists
from storage.people.people_lists import MAX_OPTIONS
from storage.rules import roles


def unknown_user() -> InvalidInput:
    """The error for an id that is no person of the organisation."""
    return InvalidInput.of("user_id", "unknown_user", "There is no such user.")


def check_person(tx: Transaction, user: User, *, by: Caller, today: date) -> None:
    """Raises InvalidInput ``person_archived`` or RecordingNotAllowed."""
    if not by.is_admin and not approvers.is_approver_of(
        tx, by.organisation_id, user.id, approver_id=str(by.user_id), today=today
    ):
        raise RecordingNotAllowed
    if user.status == "archived":
        raise InvalidInput.of("user_id", "person_archived", "This person is archived.")


def check_type(leave_type: LeaveType, *, by: Caller) -> None:
    """Raises LeaveTypeNotRecordable."""
    if not may_record_type(leave_type, by=by):
        raise LeaveTypeNotRecordable(leave_type.name)


may_record_type = roles.may_record_type


def may_record_any(leave_types: Iterable[LeaveType], *, by: Caller) -> bool:
    """Whether there is a type in use that the caller may record."""
    return any(
        may_record_type(leave_type, by=by)
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
