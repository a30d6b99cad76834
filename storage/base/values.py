"""Immutable values of people and organisations, and how the fields of values are shown to clients.

A value is a frozen dataclass whose fields are those of its row, with the names of the public API
where it shows them. The metadata of their types say what REST and webhooks show (``record``), and
the OpenAPI document is made of the same. Amounts of leave are whole half-days; ``*_at`` are aware
UTC datetimes; dates are inclusive at both ends.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, fields
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args
from zoneinfo import ZoneInfo

from pydantic import ConfigDict, Field, PlainSerializer, TypeAdapter, computed_field
from typing_extensions import TypedDict

from storage.base.allowance_values import (
    AllowanceFigure,
    Amount,
    ProRata,
    ProRataMethod,
    ProRataRounding,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Role = Literal["member", "approver", "admin", "owner"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

UserStatus = Literal["pending", "active", "deactivated", "archived"]
USER_STATUSES: Final[tuple[UserStatus, ...]] = get_args(UserStatus)

LeaveYearType = Literal["calendar", "fiscal", "anniversary"]

Source = Literal["api", "slack", "cli", "scheduler"]

DigestFrequency = Literal["daily", "weekly"]
DIGEST_FREQUENCIES: Final[tuple[DigestFrequency, ...]] = get_args(DigestFrequency)

# The languages of channels: those that the catalogues of Slack's texts have.
ChannelLocale = Literal["de", "en", "es", "fr"]
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

# A field that clients do not see.
HIDDEN: Final = Field(exclude=True)


def days_of(half_days: Amount) -> float:
    """Half-days as days in JSON: an int where there is no half, and at most two decimals."""
    return half_days // 2 if half_days % 2 == 0 else round(float(half_days / 2), 2)


def days_or_none(half_days: Amount | None) -> float | None:
    """As ``days_of``; None for an amount that is not set."""
    return None if half_days is None else days_of(half_days)


# Half-days that are shown as days.
IN_DAYS: Final = PlainSerializer(days_of, return_type=float)
IN_DAYS_OR_NONE: Final = PlainSerializer(days_or_none, return_type=float | None)


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

    @classmethod
    def in_slack(cls, organisation_id: str, user_id: str, role: Role) -> Caller:
        """A person for whom Hiatus acts in Slack by itself, without an API key's scopes."""
        return cls(
            organisation_id=organisation_id,
            user_id=user_id,
            role=role,
            scopes=frozenset(),
            source="slack",
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
        Amount,
        Field(serialization_alias="default_leave_allowance"),
        IN_DAYS,
        About(description="Days, in half-day steps.", example=25),
    ]
    carry_over_half_days: Annotated[
        Amount,
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
    expiry_notices: Annotated[
        bool,
        About(
            description="Whether people are told in Slack what they have in a new leave year, and "
            "three months and one month before days of theirs lapse."
        ),
    ]
    retention_months: Annotated[
        int | None,
        About(
            description="Notes and reasons of leave and time in lieu are removed so many months "
            "after it ended; null keeps them."
        ),
    ] = None
    reference_version: Annotated[int, HIDDEN]
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    # By the day from which each counts; empty: `ProRata`'s defaults.
    pro_rata_rules: Annotated[tuple[ProRata, ...], HIDDEN] = ()

    # The rule that clients see: of a day where the organisation is read as of one, else the last.
    @computed_field(  # type: ignore[prop-decorator]
        description="How parts of a leave year are granted to people who join or leave, or whose "
        "figure changes: by `days`, by `months_started` of the leave year (people who leave in it: "
        "by days), or by `full_months` of employment.",
    )
    @property
    def pro_rata(self) -> ProRataMethod:
        return self._pro_rata_rule.method

    @computed_field(  # type: ignore[prop-decorator]
        description="How such a part is rounded: up or to the nearest, to half-days or days."
    )
    @property
    def pro_rata_rounding(self) -> ProRataRounding:
        return self._pro_rata_rule.rounding

    @computed_field(  # type: ignore[prop-decorator]
        description="Months of employment after which the whole year's allowance is due; null: a "
        "part of a year always grants a part."
    )
    @property
    def full_claim_after_months(self) -> int | None:
        return self._pro_rata_rule.full_claim_after_months

    @computed_field(  # type: ignore[prop-decorator]
        description="Whether people who leave in the second half of a leave year get the whole "
        "year's allowance."
    )
    @property
    def full_claim_for_leavers_after_june(self) -> bool:
        return self._pro_rata_rule.full_claim_for_leavers_after_june

    @property
    def _pro_rata_rule(self) -> ProRata:
        return self.pro_rata_rules[-1] if self.pro_rata_rules else ProRata()


@dataclass(frozen=True, kw_only=True, slots=True)
class EmploymentRecord:
    """What counts for a person from ``valid_from`` until their next record.

    ``valid_from`` is None in the first record: it counts from the person's first day.
    """

    id: str
    valid_from: date | None
    working_days: tuple[str, ...] | None
    leave_allowance_half_days: Amount | None
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
    """An employment, first and last day inclusive; null if it is unknown or has no end."""

    __pydantic_config__ = ConfigDict(title="EarlierEmployment")

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
    employee_number: str | None = None
    start_date: date | None
    end_date: date | None
    working_days: tuple[str, ...] | None
    public_holiday_country_code: str | None
    leave_allowance_half_days: Amount | None
    employment: Employment | None
    earlier_periods: tuple[EmploymentPeriod, ...] = ()
    avatar_url: str | None
    timezone: str | None
    slack_user_id: str | None
    # The person's own in other allowances than the default, by allowance and day.
    figures: tuple[AllowanceFigure, ...] = ()
    created_at: datetime
    updated_at: datetime
    version: int

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip()


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Department:
    """A department."""

    id: Id
    name: Annotated[str, About(example="Research")]
    manager_id: Id | None
    default_leave_allowance_half_days: Annotated[
        Amount | None,
        Field(serialization_alias="default_leave_allowance"),
        IN_DAYS_OR_NONE,
        About(description="Days per leave year; null for the organisation's allowance."),
    ]
    # Later ones, by day: ``default_leave_allowance`` counts until the first of them.
    figures: Annotated[tuple[AllowanceFigure, ...], HIDDEN] = ()
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


def user_summary(value: User) -> UserSummaryRecord:
    record: UserSummaryRecord = record_of(UserSummaryRecord, value)
    return record


def month_end(day: date) -> date:
    """The last day of its month."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def local_day(now: datetime, timezone: str) -> date:
    """The date at ``now`` in an IANA time zone."""
    return now.astimezone(ZoneInfo(timezone)).date()


_adapters: Final[dict[type, TypeAdapter[Any]]] = {}


def record(value: object) -> dict[str, Any]:
    """What clients see of a value, which is a dataclass; orjson writes it as it is."""
    kind: type[Any] = type(value)
    adapter = _adapters.get(kind) or _adapters.setdefault(kind, TypeAdapter(kind))
    shown: dict[str, Any] = adapter.dump_python(value, by_alias=True)
    return shown


def members(kind: Any) -> frozenset[str]:
    """The names of what clients see of a kind of value or record."""
    schema = TypeAdapter(kind).json_schema(mode="serialization")
    return frozenset(schema["properties"])


def record_of(kind: type, value: object, **others: object) -> Any:
    """Each field of ``kind`` from ``others``, or the value's field of its name."""
    return {
        name: others[name] if name in others else getattr(value, name)
        for name in kind.__annotations__
    }


@cache
def field_names(value: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(value))


def as_dict(value: DataclassInstance) -> dict[str, Any]:
    """A value's fields by name; unlike ``dataclasses.asdict``, without copies."""
    return {name: getattr(value, name) for name in field_names(type(value))}
