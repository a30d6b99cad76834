"""Immutable values of leave, and the public records of leave requests.

Fields have the names of the public API where it shows them. Amounts of leave are whole half-days;
``*_at`` are aware UTC datetimes; dates are inclusive at both ends. REST, webhooks and commands
share the records; each is a dict that orjson writes as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Final, Literal, get_args

from pydantic import Field
from typing_extensions import TypedDict

from storage.base.allowance_values import AllowanceUse
from storage.base.values import (
    HIDDEN,
    IN_DAYS,
    IN_DAYS_OR_NONE,
    About,
    Days,
    Id,
    User,
    days_of,
    record_of,
)

LeaveStatus = Literal["pending", "approved", "declined", "cancelled"]
LEAVE_STATUSES: Final[tuple[LeaveStatus, ...]] = get_args(LeaveStatus)

# "ended": the leave was changed at once or cancelled meanwhile.
AmendmentStatus = Literal["open", "approved", "declined", "withdrawn", "replaced", "ended"]
AMENDMENT_STATUSES: Final[tuple[AmendmentStatus, ...]] = get_args(AmendmentStatus)

SuggestionStatus = Literal["open", "accepted", "declined", "replaced"]
SUGGESTION_STATUSES: Final[tuple[SuggestionStatus, ...]] = get_args(SuggestionStatus)

HalfDay = Literal["am", "pm"]

# Who gives a second approval, where no person is named: any other admin or owner.
ADMINS: Final = "admins"


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondApproval:
    """Which leave of a type needs the approval of a second person, and who gives it."""

    always: Annotated[bool, About(description="Whether all its leave needs it.")]
    over_half_days: Annotated[
        int | None,
        Field(serialization_alias="over_days"),
        IN_DAYS_OR_NONE,
        About(description="Leave of more days than this needs it; null with `always`.", example=10),
    ]
    by: Annotated[
        str,
        About(description="`admins`, for any other admin or owner, or a person's id."),
    ]

    @property
    def user_id(self) -> str | None:
        """The person who gives it; None for admins and owners."""
        return None if self.by == ADMINS else self.by


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """An approval of leave that needs two.

    ``override_reason``: of an amendment's first approval, until the second one applies it.
    """

    user_id: str
    approved_at: datetime
    override_reason: str | None = None


# Those that people can read Slack in: English and the catalogues of bot/catalogues.
LANGUAGES: Final = ("de", "en", "es", "fr")


class TypeName(str):
    """A leave type's name, and its second names by language for the text that a person reads."""

    names: Mapping[str, str]

    def __new__(cls, name: str, names: Mapping[str, str] | None = None) -> TypeName:
        named = super().__new__(cls, name)
        named.names = names or {}
        return named


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveType:
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
    is_away: Annotated[
        bool,
        About(
            description="False for work elsewhere, such as home office or training: no one counts "
            "as out, and calendars show the time as free."
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
    allowance_id: Annotated[
        Id | None,
        About(
            description="The allowance that its leave draws on; null if `deducts_allowance` is "
            "false."
        ),
    ] = None
    # All that its leave has drawn on, by day; empty where that never changed.
    allowance_uses: Annotated[tuple[AllowanceUse, ...], HIDDEN] = ()
    second_approval: Annotated[
        SecondApproval | None,
        About(description="Which of its leave needs a second approval; null for none."),
    ] = None
    names: Annotated[
        dict[str, str],
        About(
            description="Second names by language (ISO 639-1), for people who read Slack in it.",
            example={"de": "Bildungsurlaub"},
        ),
    ] = field(default_factory=dict)
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    version: Annotated[int, HIDDEN]

    @property
    def type_name(self) -> TypeName:
        return TypeName(self.name, self.names)


Enforcement = Literal["warn", "block"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AbsenceLimit:
    """How many people of a group may be away at the same time, or have to be at work."""

    id: Id
    name: Annotated[str, About(example="Support team")]
    department_id: Annotated[
        Id | None, About(description="The group: the people of this department.")
    ]
    user_ids: Annotated[
        tuple[Id, ...] | None,
        About(
            description="The group: these people. Without it and `department_id`, it is everyone."
        ),
    ]
    first_day: Annotated[
        date | None,
        Field(serialization_alias="from"),
        About(description="The first day for which it counts; null if it always has."),
    ]
    last_day: Annotated[
        date | None,
        Field(serialization_alias="to"),
        About(description="The last day for which it counts; null if it has no end."),
    ]
    max_away: Annotated[
        int | None,
        About(description="At most so many are away in any half of a day; 0: no one may be."),
    ]
    min_present: Annotated[
        int | None,
        About(description="At least so many are at work in every half of a day."),
    ]
    enforcement: Annotated[
        Enforcement,
        About(description="`block` refuses requests that exceed it, `warn` only says so."),
    ]
    is_active: bool
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    version: Annotated[int, HIDDEN]


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveRequest:
    """``counted_halves`` has one digit per date, in order.

    0: nothing counted, 1: the morning, 2: the afternoon, 3: both. ``recorded_by`` is the person who
    recorded it for another one; ``override_reason`` is why they went past rules of the leave type.
    ``split_from`` is the request that this one was a part of, ``interrupts`` the one whose halves
    it took (storage/leave/interruptions).
    ``amendment_id`` is the open amendment of approved leave.
    ``cover_user_id`` is the colleague who covers for the person.
    ``approvals`` are those of leave that needs two. ``first_approver_id`` gave the first approval
    of what is, or was, undecided; ``second_approver_id`` is the person who gives the second, None
    for admins and owners (storage/rules/second_approvals).
    ``closure_id`` is the closure that booked it, which may be deleted meanwhile.
    """

    id: str
    user_id: str
    leave_type_id: str
    status: LeaveStatus
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    total_half_days: int
    counted_halves: str
    note: str | None
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision_reason: str | None = None
    cancelled_at: datetime | None = None
    created_at: datetime
    updated_at: datetime
    version: int
    recorded_by: str | None = None
    override_reason: str | None = None
    split_from: str | None = None
    interrupts: str | None = None
    amendment_id: str | None = None
    cover_user_id: str | None = None
    approvals: tuple[Approval, ...] = ()
    first_approver_id: str | None = None
    second_approver_id: str | None = None
    closure_id: str | None = None


WhenShort = Literal["overdraft", "skip"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Closure:
    """Days on which the company, or a department, is closed."""

    id: Id
    name: Annotated[str, About(example="Christmas closure")]
    leave_type_id: Id
    start_date: date
    end_date: date
    start_half_day: Annotated[
        HalfDay | None, About(description="The half of the first day in which it starts.")
    ]
    end_half_day: Annotated[
        HalfDay | None, About(description="The half of the last day in which it ends.")
    ]
    department_id: Annotated[
        Id | None, About(description="Only people of this department; null for everyone.")
    ]
    when_short: Annotated[
        WhenShort,
        About(
            description="What happens for people who have too little left of the allowance: "
            "`overdraft` goes below zero, `skip` books nothing."
        ),
    ]
    excluded_user_ids: Annotated[
        tuple[str, ...],
        About(
            description="People who work then: nothing is booked for them. An admin who cancels a "
            "person's leave of the closure adds them. Shown to admins and owners; empty for others."
        ),
    ] = ()
    skipped_people: Annotated[
        int,
        About(
            description="How many people had too little left when the closure was last created or "
            "changed, so that `skip` booked nothing for them. Shown to admins and owners; 0 for "
            "others."
        ),
    ] = 0
    skipped_user_ids: Annotated[
        tuple[str, ...],
        About(
            description="The first 100 of the people who were skipped. Shown to admins and owners; "
            "empty for others."
        ),
    ] = ()
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    version: Annotated[int, HIDDEN]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosureEffect:
    """What a closure does for a person: their leave of it before and after, cancelled ones too.

    ``is_skipped``: nothing is booked, because they have too little left. ``replaced`` is work
    elsewhere of which the closure takes days, and ``replaced_after`` the same and what is split
    from it.
    """

    user: User
    before: tuple[LeaveRequest, ...]
    after: tuple[LeaveRequest, ...]
    is_skipped: bool = False
    replaced: tuple[LeaveRequest, ...] = ()
    replaced_after: tuple[LeaveRequest, ...] = ()

    @property
    def half_days_before(self) -> int:
        return _half_days(self.before)

    @property
    def half_days_after(self) -> int:
        return _half_days(self.after)

    @property
    def half_days_replaced(self) -> int:
        """Of work elsewhere, which the closure takes."""
        return _half_days(self.replaced) - _half_days(self.replaced_after)


def _half_days(requests: tuple[LeaveRequest, ...]) -> int:
    return sum(each.total_half_days for each in requests if each.status == "approved")


@dataclass(frozen=True, kw_only=True, slots=True)
class Amendment:
    """A proposed change of approved leave. The decision is that of the one who ended it.

    ``assigns_cover``: the leave got its cover with the proposal; they are told when it ends.
    ``cancels``: it would cancel the leave, and has its dates.
    """

    id: str
    leave_request_id: str
    leave_type_id: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    note: str | None
    status: AmendmentStatus
    requested_by: str
    requested_at: datetime
    decided_by: str | None = None
    decided_at: datetime | None = None
    decision_reason: str | None = None
    assigns_cover: bool = False
    cancels: bool = False
    approvals: tuple[Approval, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CountedAmendment:
    """An amendment with its days, counted by the current working days and holidays."""

    amendment: Amendment
    counted_halves: str
    total_half_days: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Adjustment:
    """A correction of a person's balance in a leave year."""

    id: Id
    user_id: Id
    leave_year: Annotated[
        int, About(description="The calendar year in which the leave year begins.", example=2026)
    ]
    half_days: Annotated[
        int,
        Field(serialization_alias="days"),
        IN_DAYS,
        About(description="In half-day steps; negative if deducted.", example=1.5),
    ]
    reason: Annotated[str, About(example="Worked on Saturday 6 June.")]
    created_by: Id | None
    created_at: datetime
    allowance_id: Annotated[
        Id | None, About(description="The allowance; null for the default one.")
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeCredit:
    """Time in lieu: half-days of an allowance for work outside of working time."""

    id: str
    user_id: str
    allowance_id: str
    worked_on: date
    half_days: int
    reason: str
    status: LeaveStatus
    decided_by: str | None
    decided_at: datetime | None
    decision_reason: str | None
    created_at: datetime
    updated_at: datetime
    version: int


class TimeCreditRecord(TypedDict):
    """Time in lieu: days of an allowance for work outside of working time."""

    id: Id
    user_id: Id
    allowance_id: Id
    worked_on: Annotated[date, About(description="The day of the work.")]
    days: Days
    reason: Annotated[str, About(example="Release on Saturday.")]
    status: LeaveStatus
    decided_by: Id | None
    decided_at: datetime | None
    decision_reason: str | None
    created_at: datetime
    updated_at: datetime
    version: int


def time_credit_record(value: TimeCredit) -> TimeCreditRecord:
    record: TimeCreditRecord = record_of(TimeCreditRecord, value, days=days_of(value.half_days))
    return record


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveEffect:
    """A leave request that a change of something else affects; ``after`` is its next version."""

    user: User
    before: LeaveRequest
    after: LeaveRequest


@dataclass(frozen=True, kw_only=True, slots=True)
class Reassignment:
    """A pending request whose approvers changed."""

    request: LeaveRequest
    before: tuple[User, ...]
    after: tuple[User, ...]


class ApprovalRecord(TypedDict):
    """An approval of leave that needs two."""

    user_id: Id
    approved_at: datetime


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
    approvals: Annotated[
        list[ApprovalRecord],
        About(description="The first approval, while it awaits a second one."),
    ]


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
    approvals: Annotated[
        list[ApprovalRecord],
        About(
            description="The approvals of leave whose type needs two, in order; empty for other "
            "leave. A pending request with one awaits the second."
        ),
    ]
    closure_id: Annotated[
        Id | None,
        About(description="The closure that booked it. Only admins can cancel such leave."),
    ]


def leave_request_record(
    value: LeaveRequest, amendment: CountedAmendment | None = None
) -> LeaveRequestRecord:
    """``amendment`` is the request's open one. Raises ValueError for a missing or other one."""
    open_id = value.amendment_id if value.status == "approved" else None
    if open_id != (amendment and amendment.amendment.id):
        raise ValueError(f"Leave request {value.id} has the amendment {open_id}.")
    record: LeaveRequestRecord = record_of(
        LeaveRequestRecord,
        value,
        total_days=days_of(value.total_half_days),
        amendment=None if amendment is None else amendment_record(amendment),
        approvals=_approval_records(value.approvals),
    )
    return record


def amendment_record(counted: CountedAmendment) -> AmendmentRecord:
    record: AmendmentRecord = record_of(
        AmendmentRecord,
        counted.amendment,
        total_days=days_of(counted.total_half_days),
        approvals=_approval_records(counted.amendment.approvals),
    )
    return record


def _approval_records(approvals: tuple[Approval, ...]) -> list[ApprovalRecord]:
    return [
        {"user_id": approval.user_id, "approved_at": approval.approved_at} for approval in approvals
    ]
