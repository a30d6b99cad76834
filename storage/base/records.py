"""Public records that REST shares with webhooks and commands, each defined once.

Webhooks carry leave requests, leave types and user summaries; ``hiatus keys`` prints API keys.
Records of REST alone are in ``api.schemas``. Every function returns a dict that orjson writes as it
is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

from typing_extensions import TypedDict

from storage.base.values import (
    SCOPES,
    ApiKey,
    CountedAmendment,
    HalfDay,
    LeaveRequest,
    LeaveStatus,
    LeaveType,
    Role,
    User,
    UserStatus,
    days_of,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """What the OpenAPI document says of a field, as metadata of its type."""

    description: str | None = None
    format: str | None = None
    example: object = None
    # The values that the text, or each text of the list, can have.
    enum: tuple[str, ...] = ()

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, object]:
        schema: dict[str, Any] = handler(core_schema)
        if self.enum:
            words = schema.get("items", schema)
            words["enum"] = [*self.enum]
        examples = None if self.example is None else [self.example]
        about = {"description": self.description, "format": self.format, "examples": examples}
        return schema | {name: value for name, value in about.items() if value is not None}


Id = Annotated[str, About(format="uuid")]
Days = Annotated[float, About(description="Days, in half-day steps.")]


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


class LeaveTypeRecord(TypedDict):
    """A leave type and its rules."""

    id: Id
    name: Annotated[str, About(example="Annual leave")]
    code: Annotated[str, About(example="annual")]
    colour: Annotated[str, About(description="`#rrggbb`.", example="#2e86de")]
    emoji: Annotated[str | None, About(description="A Slack short name, without colons.")]
    requires_approval: bool
    deducts_allowance: bool
    allow_overdraft: bool
    is_paid: bool
    is_private: Annotated[bool, About(description='Colleagues see only "Away".')]
    requires_note: bool
    approvers_may_record: Annotated[
        bool, About(description="Approvers can record it for the people whose leave they decide.")
    ]
    requires_cover: Annotated[
        bool, About(description="Requests need a colleague who covers (`cover_user_id`).")
    ]
    may_interrupt: Annotated[
        bool, About(description="People can book it for days of leave on which they fell ill.")
    ]
    tells_approvers: Annotated[
        bool,
        About(
            description="Leave that is approved at once is told in Slack: to approvers, and to "
            "people whom the absent person was to cover."
        ),
    ]
    min_notice_days: int
    max_consecutive_days: int | None
    is_archived: bool
    changes_need_approval: Annotated[
        bool,
        About(
            description="Changes of approved leave need approval, except of the note and the cover."
        ),
    ]
    created_at: datetime


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


class ApiKeyRecord(TypedDict):
    """An API key, without its secret."""

    id: Id
    user_id: Id
    name: Annotated[str, About(example="payroll")]
    prefix: Annotated[
        str,
        About(
            description="The first characters of the key, to recognise it by.",
            example="hiatus_sk_live_7Qm2",
        ),
    ]
    scopes: Annotated[list[str], About(enum=SCOPES)]
    variant: Annotated[
        int, About(description="The shape of the response of `GET /users`: 1 or 2.", example=1)
    ]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


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


def leave_type(value: LeaveType) -> LeaveTypeRecord:
    return {
        "id": value.id,
        "name": value.name,
        "code": value.code,
        "colour": value.colour,
        "emoji": value.emoji,
        "requires_approval": value.requires_approval,
        "deducts_allowance": value.deducts_allowance,
        "allow_overdraft": value.allow_overdraft,
        "is_paid": value.is_paid,
        "is_private": value.is_private,
        "requires_note": value.requires_note,
        "approvers_may_record": value.approvers_may_record,
        "requires_cover": value.requires_cover,
        "may_interrupt": value.may_interrupt,
        "tells_approvers": value.tells_approvers,
        "min_notice_days": value.min_notice_days,
        "max_consecutive_days": value.max_consecutive_days,
        "is_archived": value.is_archived,
        "changes_need_approval": value.changes_need_approval,
        "created_at": value.created_at,
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


def api_key(value: ApiKey) -> ApiKeyRecord:
    return {
        "id": value.id,
        "user_id": value.user_id,
        "name": value.name,
        "prefix": value.prefix,
        "scopes": list(value.scopes),
        "variant": value.variant,
        "created_at": value.created_at,
        "expires_at": value.expires_at,
        "last_used_at": value.last_used_at,
        "revoked_at": value.revoked_at,
    }
