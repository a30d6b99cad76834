"""Immutable values of people, organisations and leave, and the words that their fields use.

Fields have the names of the public API where it shows them. Amounts of leave are whole half-days;
``*_at`` are aware UTC datetimes; dates are inclusive at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from pydantic import ConfigDict, Field

from storage.base.shapes import HIDDEN, IN_DAYS, IN_DAYS_OR_NONE, About, Id

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Role = Literal["member", "approver", "admin", "owner"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

UserStatus = Literal["pending", "active", "deactivated", "archived"]
USER_STATUSES: Final[tuple[UserStatus, ...]] = get_args(UserStatus)

LeaveStatus = Literal["pending", "approved", "declined", "cancelled"]
LEAVE_STATUSES: Final[tuple[LeaveStatus, ...]] = get_args(LeaveStatus)

# "ended": the leave was changed at once or cancelled meanwhile.
AmendmentStatus = Literal["open", "approved", "declined", "withdrawn", "replaced", "ended"]
AMENDMENT_STATUSES: Final[tuple[AmendmentStatus, ...]] = get_args(AmendmentStatus)

HalfDay = Literal["am", "pm"]
LeaveYearType = Literal["calendar", "fiscal", "anniversary"]
Source = Literal["api", "slack", "cli", "scheduler"]
DigestFrequency = Literal["daily", "weekly"]
DIGEST_FREQUENCIES: Final[tuple[DigestFrequency, ...]] = get_args(DigestFrequency)
# The languages of channels: those that the catalogues of Slack's texts have.
ChannelLocale = Literal["de", "en"]
CHANNEL_LOCALES: Final[tuple[ChannelLocale, ...]] = get_args(ChannelLocale)


Scope = Literal[
    "users:read",
    "users:write",
    "departments:read",
    "departments:write",
    "leave:read",
    "leave:write",
    "approvals:read",
    "approvals:write",
    "calendar:read",
    "calendar:write",
    "organisation:read",
    "organisation:write",
    "webhooks:read",
    "webhooks:write",
    "audit:read",
    "keys:read",
    "keys:write",
]
SCOPES: Final[tuple[str, ...]] = get_args(Scope)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Who acts. ``user_id`` is None for the system; ``scopes`` limit an API key."""

    organisation_id: str
    user_id: str | None
    role: Role
    scopes: frozenset[str]
    source: Source
    request_id: str | None = None
    variant: int = 1
    key_id: str | None = None

    @classmethod
    def system(cls, organisation_id: str, source: Source) -> Caller:
        """The system itself, with an owner's rights and no API key's scopes."""
        return cls(
            organisation_id=organisation_id,
            user_id=None,
            role="owner",
            scopes=frozenset(),
            source=source,
        )

    @property
    def is_admin(self) -> bool:
        return self.role in ("admin", "owner")


@dataclass(frozen=True, kw_only=True, slots=True)
class Organisation:
    """The organisation that owns the API key."""

    id: Id
    name: Annotated[str, About(example="Acme")]
    slug: Annotated[str, About(example="acme")]
    domain: str | None
    logo_url: str | None
    country_code: Annotated[str, About(example="GB")]
    timezone: Annotated[str, About(example="Europe/London")]
    working_days: Annotated[
        tuple[str, ...],
        About(example=["monday", "tuesday", "wednesday", "thursday", "friday"]),
    ]
    leave_year_type: LeaveYearType
    leave_year_start_month: int
    leave_year_start_day: int
    default_leave_allowance_half_days: Annotated[
        int,
        Field(serialization_alias="default_leave_allowance"),
        IN_DAYS,
        About(description="Days, in half-day steps.", example=25),
    ]
    carry_over_half_days: Annotated[
        int,
        Field(serialization_alias="carry_over"),
        IN_DAYS,
        About(
            description="The most days carried over into the next leave year; 0 for none.",
            example=5,
        ),
    ]
    carry_over_expiry_month: Annotated[
        int | None,
        About(
            description="Days carried over expire at the end of this month, 1 to 12; null if they "
            "never expire within the leave year."
        ),
    ]
    day_starts_at: Annotated[str, About(example="09:00")]
    midday_at: Annotated[str, About(example="13:00")]
    day_ends_at: Annotated[str, About(example="17:00")]
    slack_team_id: Annotated[str | None, HIDDEN]
    slack_members_join: Annotated[
        bool,
        About(
            description="Whether new full members of the Slack workspace are added automatically, "
            "with the role `member`."
        ),
    ]
    digest_channel: Annotated[
        str | None,
        About(description="Id of the Slack channel for the who's-out message; null for none."),
    ]
    reference_version: Annotated[int, HIDDEN]
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]


@dataclass(frozen=True, kw_only=True, slots=True)
class EmploymentRecord:
    """What counts for a person from ``valid_from`` until their next record.

    ``valid_from`` is None in the first record: it counts from the person's first day.
    """

    id: str
    valid_from: date | None
    working_days: tuple[str, ...] | None
    leave_allowance_half_days: int | None
    public_holiday_country_code: str | None
    department_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Employment:
    """The records of a person who has more than one, except the fields of the one in force.

    ``id`` and ``valid_from`` are those of the record in force; ``others`` are by ``valid_from``.
    """

    id: str
    valid_from: date | None
    others: tuple[EmploymentRecord, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EmploymentPeriod:
    """The first and last day of employment, None if unknown or without an end."""

    start_date: date | None
    end_date: date | None


@dataclass(frozen=True, kw_only=True, slots=True)
class User:
    """A person. ``working_days`` is None where the organisation's apply.

    The fields of `EmploymentRecord` are those of the record in force today; ``employment`` is None
    if it is the only one. ``start_date`` and ``end_date`` are the first and last day of the present
    employment; ``earlier_periods`` are those before it, oldest first, each with an end.
    """

    id: str
    email: str
    first_name: str
    last_name: str
    role: Role
    status: UserStatus
    department_id: str | None
    manager_id: str | None
    job_title: str | None
    start_date: date | None
    end_date: date | None
    working_days: tuple[str, ...] | None
    public_holiday_country_code: str | None
    leave_allowance_half_days: int | None
    employment: Employment | None
    earlier_periods: tuple[EmploymentPeriod, ...] = ()
    avatar_url: str | None
    timezone: str | None
    slack_user_id: str | None
    created_at: datetime
    updated_at: datetime
    version: int

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Department:
    """A department."""

    id: Id
    name: Annotated[str, About(example="Research")]
    manager_id: Id | None
    default_leave_allowance_half_days: Annotated[
        int | None,
        Field(serialization_alias="default_leave_allowance"),
        IN_DAYS_OR_NONE,
        About(description="Days per leave year; null for the organisation's allowance."),
    ]
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    version: Annotated[int, HIDDEN]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelDigest:
    """A who's-out message of a Slack channel."""

    __pydantic_config__ = ConfigDict(title="Digest")

    id: Id
    channel: Annotated[str, About(example="C024BE91L")]
    department_id: Annotated[
        Id | None, About(description="Only people of this department; null for everyone.")
    ]
    frequency: DigestFrequency
    locale: ChannelLocale
    refused_because: Annotated[
        str | None,
        About(
            description="Slack's error code if it refuses messages for the channel, or "
            "`externally_shared` if the channel is shared with another organisation; null "
            "otherwise."
        ),
    ]
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    version: Annotated[int, HIDDEN]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
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
    scopes: Annotated[tuple[str, ...], About(enum=SCOPES)]
    variant: Annotated[
        int, About(description="The shape of the response of `GET /users`: 1 or 2.", example=1)
    ]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


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


@cache
def field_names(value: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(value))


def as_dict(value: DataclassInstance) -> dict[str, Any]:
    """A value's fields by name; unlike ``dataclasses.asdict``, without copies."""
    return {name: getattr(value, name) for name in field_names(type(value))}
