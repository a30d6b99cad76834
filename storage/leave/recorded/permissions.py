"""Who may record leave for whom.

Admins and owners record any leave for anyone. Approvers record leave of types that allow it, for
the people whose leave they would decide on.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from storage.base.errors import (
    InvalidInput,
    LeaveTypeNotRecordable,
    RecordingNotAllowed,
)
from storage.base.values import Caller, LeaveType, User
from storage.db.database import Transaction
from storage.directory import approvers
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
