"""Public records that REST shares with webhooks and commands, each defined once.

Webhooks carry leave requests and user summaries.
Records of REST alone are in ``api.routes``. Every function returns a dict that orjson writes as it
is.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any

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


def _record(kind: type, value: object, **others: object) -> Any:
    """Each field of ``kind`` from ``others``, or the value's field of its name."""
    return {
        name: others[name] if name in others else getattr(value, name)
        for name in kind.__annotations__
    }


def user_summary(value: User) -> UserSummaryRecord:
    record: UserSummaryRecord = _record(UserSummaryRecord, value)
    return record


def leave_request(
    value: LeaveRequest, amendment: CountedAmendment | None = None
) -> LeaveRequestRecord:
    """``amendment`` is the request's open one. Raises ValueError for a missing or other one."""
    open_id = value.amendment_id if value.status == "approved" else None
    if open_id != (amendment and amendment.amendment.id):
        raise ValueError(f"Leave request {value.id} has the amendment {open_id}.")
    record: LeaveRequestRecord = _record(
        LeaveRequestRecord,
        value,
        total_days=days_of(value.total_half_days),
        amendment=None if amendment is None else open_amendment(amendment),
    )
    return record


def open_amendment(counted: CountedAmendment) -> AmendmentRecord:
    total_days = days_of(counted.total_half_days)
    record: AmendmentRecord = _record(AmendmentRecord, counted.amendment, total_days=total_days)
    return record
