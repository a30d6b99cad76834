"""Public records that REST shares with webhooks and commands, each defined once.

Webhooks carry leave requests and user summaries.
Records of REST alone are in ``api.routes``. Every function returns a dict that orjson writes as it
is.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from typing_extensions import TypedDict

from storage.base.shapes import About, Days, Id, days_of
from storage.base.values import (
    CountedAmendment,
    HalfDay,
    LeaveRequest,
    LeaveStatus,
    Role,
    User,
    UserStatus,
)


class UserSummaryRecord(TypedDict):
    """A person in the short shape."""

    id: Id
    email: Annotated[str, About(format="email")]
    first_name: Annotated[str, About(example="Ada")]
    last_name: Annotated[str, About(example="Lovelace")]
    role: Role
    department_id: Id | None
    start_date: date | None
    status: UserStatus


class AmendmentRecord(TypedDict):
    """A change of approved leave that awaits a decision."""

    id: Id
    leave_type_id: Id
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    note: str | None
    total_days: Days
    cancels: Annotated[
        bool, About(description="Whether it would cancel the leave; it then has the leave's dates.")
    ]
    requested_at: datetime
    requested_by: Id


class LeaveRequestRecord(TypedDict):
    """A leave request."""

    id: Id
    user_id: Id
    leave_type_id: Id
    status: LeaveStatus
    start_date: date
    end_date: date
    start_half_day: Annotated[
        HalfDay | None, About(description="The half of the first day in which leave starts.")
    ]
    end_half_day: Annotated[
        HalfDay | None, About(description="The half of the last day in which leave ends.")
    ]
    total_days: Days
    note: str | None
    decided_by: Id | None
    decided_at: datetime | None
    decision_reason: str | None
    cancelled_at: datetime | None
    created_at: datetime
    updated_at: datetime
    version: Annotated[int, About(description="Increases with every change.")]
    recorded_by: Annotated[
        Id | None, About(description="Who recorded it, if that was not the person themselves.")
    ]
    override_reason: Annotated[
        str | None,
        About(description="Why an admin recorded it past the allowance or a rule of its type."),
    ]
    split_from: Annotated[
        Id | None, About(description="The leave request that this one was a part of.")
    ]
    interrupts: Annotated[
        Id | None, About(description="The leave request whose days this one replaced.")
    ]
    amendment: Annotated[
        AmendmentRecord | None,
        About(description="The change that awaits a decision. Null if there is none."),
    ]
    cover_user_id: Annotated[
        Id | None, About(description="The colleague who covers for the person.")
    ]


def user_summary(value: User) -> UserSummaryRecord:
    return {
        "id": value.id,
        "email": value.email,
        "first_name": value.first_name,
        "last_name": value.last_name,
        "role": value.role,
        "department_id": value.department_id,
        "start_date": value.start_date,
        "status": value.status,
    }


def leave_request(
    value: LeaveRequest, amendment: CountedAmendment | None = None
) -> LeaveRequestRecord:
    """``amendment`` is the request's open one. Raises ValueError for a missing or other one."""
    open_id = value.amendment_id if value.status == "approved" else None
    if open_id != (amendment and amendment.amendment.id):
        raise ValueError(f"Leave request {value.id} has the amendment {open_id}.")
    return {
        "id": value.id,
        "user_id": value.user_id,
        "leave_type_id": value.leave_type_id,
        "status": value.status,
        "start_date": value.start_date,
        "end_date": value.end_date,
        "start_half_day": value.start_half_day,
        "end_half_day": value.end_half_day,
        "total_days": days_of(value.total_half_days),
        "note": value.note,
        "decided_by": value.decided_by,
        "decided_at": value.decided_at,
        "decision_reason": value.decision_reason,
        "cancelled_at": value.cancelled_at,
        "created_at": value.created_at,
        "updated_at": value.updated_at,
        "version": value.version,
        "recorded_by": value.recorded_by,
        "override_reason": value.override_reason,
        "split_from": value.split_from,
        "interrupts": value.interrupts,
        "amendment": None if amendment is None else open_amendment(amendment),
        "cover_user_id": value.cover_user_id,
    }


def open_amendment(counted: CountedAmendment) -> AmendmentRecord:
    value = counted.amendment
    return {
        "id": value.id,
        "leave_type_id": value.leave_type_id,
        "start_date": value.start_date,
        "end_date": value.end_date,
        "start_half_day": value.start_half_day,
        "end_half_day": value.end_half_day,
        "note": value.note,
        "total_days": days_of(counted.total_half_days),
        "cancels": value.cancels,
        "requested_at": value.requested_at,
        "requested_by": value.requested_by,
    }
