"""Bodies of requests. Rules that Slack shares are checked in storage."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.http.fields import ABSENT, NO_NUL, Body, Day, Days, Instant, Name, Uuid, Word
from storage.base.amounts import half_days_of
from storage.base.event_values import EVENT_TYPES
from storage.base.records import About
from storage.base.values import (
    SCOPES,
    ChannelLocale,
    DigestFrequency,
    HalfDay,
    LeaveYearType,
    Role,
)

# Every weekday in two halves; storage refuses repetitions with their index.
WorkingDays = Annotated[
    list[Word],
    Field(
        max_length=14,
        description="`monday` to `sunday`, or `friday:am` if only that half is worked.",
    ),
]
CountryCode = Annotated[
    str,
    Field(max_length=10, description="ISO 3166-1 alpha-2, with a region if needed: `GB-SCT`."),
    NO_NUL,
]
Email = Annotated[str, Field(max_length=254, json_schema_extra={"format": "email"}), NO_NUL]
Url = Annotated[str, Field(max_length=2_000, json_schema_extra={"format": "uri"}), NO_NUL]
ClockTime = Annotated[
    str, Field(max_length=5, description="`HH:MM`; used for half-days in calendars."), NO_NUL
]
KeyName = Annotated[str, Field(max_length=100), NO_NUL]
Events = Annotated[
    list[Word],
    Field(max_length=20, description="Event types, or `*` for all of them."),
    About(enum=("*", *EVENT_TYPES)),
]


def in_half_days(changes: dict[str, Any], field: str) -> dict[str, Any]:
    """The same changes with the days in ``field`` as storage takes them. Raises InvalidInput."""
    if field in changes:
        days = changes.pop(field)
        changes[f"{field}_half_days"] = None if days is None else half_days_of(days, field)
    return changes


class DatedFields(Body):
    """What employment records date; a user has the fields of today's record."""

    working_days: Annotated[
        WorkingDays | None, Field(description="Null for the organisation's working days.")
    ] = ABSENT
    leave_allowance: Annotated[
        Days | None,
        Field(description="Days a year; null for the department's or organisation's allowance."),
    ] = ABSENT
    public_holiday_country_code: CountryCode | None = ABSENT
    department_id: Uuid | None = ABSENT

    def sent(self) -> dict[str, Any]:
        return in_half_days(super().sent(), "leave_allowance")


class UserFields(DatedFields):
    first_name: Name = ABSENT
    last_name: Name = ABSENT
    role: Role = ABSENT
    manager_id: Uuid | None = ABSENT
    job_title: Name | None = ABSENT
    start_date: Annotated[
        Day | None,
        Field(
            description="The first day of employment. Leave before it is cancelled or shortened."
        ),
    ] = ABSENT
    end_date: Annotated[
        Day | None,
        Field(
            description="The last day of employment. Leave after it is cancelled or shortened, "
            "and the person is archived on the day after."
        ),
    ] = ABSENT


class UserChanges(UserFields):
    effective_from: Annotated[
        Day,
        Field(
            description="The day from which `working_days`, `leave_allowance`, "
            "`public_holiday_country_code` and `department_id` change, past or future; today if "
            "omitted, and for `leave_allowance` alone the start of the current leave year."
        ),
    ] = ABSENT


class NewUser(UserFields):
    email: Email
    first_name: Name
    last_name: Name


class EmploymentRecordChanges(DatedFields):
    valid_from: Annotated[Day | None, Field(description="The first day of the record.")] = ABSENT


class NewEmploymentRecord(DatedFields):
    valid_from: Annotated[Day, Field(description="The first day of the record.")]


class RestoredUser(Body):
    start_date: Annotated[
        Day | None,
        Field(description="The first day of a new employment, after the end of the one before it."),
    ] = None


class DepartmentChanges(Body):
    name: Name = ABSENT
    manager_id: Uuid | None = ABSENT
    default_leave_allowance: Annotated[
        Days | None, Field(description="Days a year; null for the organisation's allowance.")
    ] = ABSENT

    def sent(self) -> dict[str, Any]:
        return in_half_days(super().sent(), "default_leave_allowance")


class NewDepartment(DepartmentChanges):
    name: Name


class NewCalendarFeed(Body):
    name: Annotated[Name | None, Field(description="Your name for this subscription.")] = None


class OrganisationChanges(Body):
    name: Name = ABSENT
    country_code: CountryCode = ABSENT
    timezone: Annotated[Word, Field(description="An IANA name such as `Europe/London`.")] = ABSENT
    working_days: WorkingDays = ABSENT
    leave_year_type: LeaveYearType = ABSENT
    leave_year_start_month: int = ABSENT
    leave_year_start_day: int = ABSENT
    default_leave_allowance: Annotated[Days, Field(description="Days a year.")] = ABSENT
    carry_over: Annotated[
        Days | None,
        Field(
            description="The most days carried over into the next leave year; null or 0 for none."
        ),
    ] = ABSENT
    carry_over_expiry_month: Annotated[
        int | None,
        Field(
            description=(
                "Days carried over expire at the end of this month, 1 to 12; null if they never "
                "expire within the leave year."
            ),
            json_schema_extra={"minimum": 1, "maximum": 12},
        ),
    ] = ABSENT
    day_starts_at: ClockTime = ABSENT
    midday_at: ClockTime = ABSENT
    day_ends_at: ClockTime = ABSENT
    slack_members_join: Annotated[
        bool,
        Field(
            description="Whether new full members of the Slack workspace are added "
            "automatically, with the "
            "role `member`."
        ),
    ] = ABSENT
    digest_channel: Annotated[
        Word | None,
        Field(description="Id of the Slack channel for the who's-out message; null for none."),
    ] = ABSENT

    def sent(self) -> dict[str, Any]:
        changes = in_half_days(super().sent(), "default_leave_allowance")
        if "carry_over" in changes:
            changes["carry_over"] = changes["carry_over"] or 0
        return in_half_days(changes, "carry_over")


class DigestChanges(Body):
    channel: Annotated[Word, Field(description="The id of a Slack channel.")] = ABSENT
    department_id: Annotated[
        Uuid | None, Field(description="Only people of this department; null for everyone.")
    ] = ABSENT
    frequency: Annotated[DigestFrequency, Field(description="By default `daily`.")] = ABSENT
    locale: Annotated[
        ChannelLocale, Field(description="The language of the message, by default `en`.")
    ] = ABSENT


class NewDigest(DigestChanges):
    channel: Annotated[Word, Field(description="The id of a Slack channel.")]


class DisplayLinkChanges(Body):
    name: Annotated[Name, Field(description="Where the link is used.")] = ABSENT
    department_id: Annotated[
        Uuid | None, Field(description="Only people of this department; null for everyone.")
    ] = ABSENT


class NewDisplayLink(DisplayLinkChanges):
    name: Annotated[Name, Field(description="Where the link is used.")]


Categories = Annotated[
    list[Word],
    Field(
        max_length=20,
        description="Which days of the country's calendar are days off: some of "
        "`available_categories`. `public` is always among them.",
    ),
]


class NewHolidaySet(Body):
    country_code: CountryCode
    categories: Annotated[
        Categories,
        Field(
            description="Which days of the country's calendar are days off: some of "
            "`available_categories`. `public` is always among them. By default those that most "
            "employers there give: `DE-BY` has `catholic` (15 August), `SE` has `de_facto` (three "
            "eves), `IS` and `TR` have `half_day`, others have `public` alone.",
        ),
    ] = ABSENT


class HolidaySetChanges(Body):
    categories: Categories = ABSENT


class NewHolidayOverride(Body):
    date: Annotated[Day, Field(description="From 1900 to 2100.")]
    name: Annotated[
        Name | None,
        Field(description="The name that people see; only required if `is_holiday` is true."),
    ] = None
    is_holiday: Annotated[
        bool, Field(description="False turns a public holiday into an ordinary day.")
    ] = True
    half: Annotated[
        HalfDay | None, Field(description="Only this half of the day; null for the whole day.")
    ] = None
    every_year: Annotated[
        bool,
        Field(
            description="Also on this day of every later year; 29 February in leap years only. An "
            "override of a single date replaces it on that date."
        ),
    ] = False


class WebhookChanges(Body):
    url: Url = ABSENT
    events: Events = ABSENT
    is_active: bool = ABSENT


class RedeliverFailed(Body):
    since: Annotated[
        Instant, Field(description="Send deliveries that failed at this time or later.")
    ]


class NewWebhook(Body):
    url: Url
    events: Events


class NewApiKey(Body):
    name: KeyName
    scopes: Annotated[
        list[Word],
        Field(max_length=40, description="Only scopes that the key in use has."),
        About(enum=SCOPES),
    ]
    variant: Annotated[
        int, Field(description="The shape of the response of `GET /users`: 1 or 2.")
    ] = 1
    expires_at: Instant | None = None
