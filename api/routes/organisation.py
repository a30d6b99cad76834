"""`/organisation` and its public holiday sets."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import (
    ABSENT,
    NO_NUL,
    Body,
    CountryCode,
    Day,
    Days,
    Listing,
    Name,
    Paged,
    Word,
    WorkingDays,
    in_half_days,
    listing_of,
)
from api.http.operations import Created, RequestContext, Tag, created, operation
from api.routes import effects
from storage.admin import dated_terms, holiday_set_changes, organisation_settings
from storage.base import errors
from storage.base.allowance_values import ProRataMethod, ProRataRounding
from storage.base.calendar_values import HolidaySet
from storage.base.values import About, Id, LeaveYearType, Organisation
from storage.db.database import Transaction
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, employment_by_date, holiday_sets, people_changes
from storage.rules import holiday_calendar

ORGANISATION = Tag(
    "Organisation",
    "The organisation that the API key belongs to, and its settings.",
    "organisation",
)
HOLIDAY_SETS = Tag(
    "Public holiday sets",
    "Public holidays of countries and regions. A person has those of their own country code, or "
    "else the organisation's.",
    "organisation",
)


ClockTime = Annotated[
    str, Field(max_length=5, description="`HH:MM`; used for half-days in calendars."), NO_NUL
]


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
    pro_rata: Annotated[
        ProRataMethod,
        Field(
            description="How parts of a leave year are granted: by `days`, by `months_started` of "
            "the leave year (gov.uk; people who leave in it: by days), or by `full_months` of "
            "employment (BUrlG § 5)."
        ),
    ] = ABSENT
    pro_rata_rounding: Annotated[
        ProRataRounding,
        Field(description="How such a part is rounded, to half-days or to days."),
    ] = ABSENT
    full_claim_after_months: Annotated[
        int | None,
        Field(
            description="Months of employment after which the whole year's allowance is due, such "
            "as 6 (BUrlG § 4); null: a part of a year always grants a part.",
            json_schema_extra={"minimum": 1, "maximum": 12},
        ),
    ] = ABSENT
    full_claim_for_leavers_after_june: Annotated[
        bool,
        Field(
            description="People who leave in the second half of a leave year get the whole year's "
            "allowance (BUrlG § 5); with `full_claim_after_months`, only after so many months."
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
    expiry_notices: Annotated[
        bool,
        Field(
            description="Whether people are told in Slack what they have in a new leave year, and "
            "three months and one month before days of theirs lapse."
        ),
    ] = ABSENT
    retention_months: Annotated[
        int | None,
        Field(
            description="Notes and reasons of leave and time in lieu are removed so many months "
            "after it ended, also from the audit trail; null keeps them.",
            json_schema_extra={"minimum": 1, "maximum": 240},
        ),
    ] = ABSENT

    effective_from: Annotated[
        Day,
        Field(
            description="The day from which `default_leave_allowance`, `carry_over`, "
            "`carry_over_expiry_month` and the four fields of pro rata change, past or future; by "
            "default the first day of each person's present leave year, or of the value of today "
            "if that began later in it. Leave years that end before it stay as they are. For pro "
            "rata, the rule at the beginning of a leave year, or of employment in it, counts for "
            "all of it."
        ),
    ] = ABSENT

    def sent(self) -> dict[str, Any]:
        changes = super().sent()
        changes.pop("effective_from", None)
        changes = in_half_days(changes, "default_leave_allowance")
        if "carry_over" in changes:
            changes["carry_over"] = changes["carry_over"] or 0
        return in_half_days(changes, "carry_over")


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


class HolidaySetRecord(TypedDict):
    """The public holidays of one country or region."""

    id: Id
    country_code: Annotated[str, About(example="GB-SCT")]
    country_name: Annotated[str, About(example="United Kingdom (Scotland)")]
    has_regions: Annotated[
        bool,
        Field(
            description="True for a country with regions, of which only the national "
            "holidays count "
            "here. `GET /countries` lists the regions."
        ),
    ]
    categories: Annotated[
        list[str],
        Field(
            description="The categories of the country's calendar that are days off, such as "
            "`public` and `de_facto`. Days of `half_day`, and others that begin in the afternoon, "
            "are afternoons off.",
            examples=[["public"]],
        ),
    ]
    available_categories: Annotated[
        list[str],
        Field(description="All categories that this country or region has.", examples=[["public"]]),
    ]
    holiday_count: Annotated[
        int, Field(description="In this calendar year, including overrides.", examples=[9])
    ]
    created_at: datetime


@operation("GET", "/organisation", tag=ORGANISATION, is_resource=True)
def get(tx: Transaction, context: RequestContext) -> Organisation:
    """Read the organisation.

    The organisation that the API key belongs to, with its settings.
    """
    return allowance_terms.organisation_as_of(context.config(tx), context.today(tx))


@operation(
    "GET",
    "/organisation/public-holiday-sets/{id}",
    tag=HOLIDAY_SETS,
    kind="public holiday set",
    is_resource=True,
)
def get_set(tx: Transaction, context: RequestContext) -> HolidaySetRecord:
    """Read a public holiday set.

    One country or region, with its number of public holidays this year.
    """
    config = context.config(tx)
    return _shown(config, holiday_sets.get(config, context.id), context.now)


@operation(
    "PATCH",
    "/organisation",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    refusals=(errors.AlreadyExists, people_changes.ChangedMeanwhile, dated_terms.TooManyTerms),
    rules=(
        "impossible_date",
        "not_with_anniversaries",
        "invalid_channel",
        "invalid_time",
        "out_of_range",
        "unknown_timezone",
        "working_hours_out_of_order",
    ),
    example={"leave_year_type": "fiscal", "leave_year_start_month": 4},
    other_examples={
        "Parts of a year as in Germany": {
            "pro_rata": "full_months",
            "pro_rata_rounding": "day_nearest",
            "full_claim_after_months": 6,
            "full_claim_for_leavers_after_june": True,
        },
    },
)
def update(tx: Transaction, context: RequestContext, body: OrganisationChanges) -> Organisation:
    """Change the organisation's settings.

    If working days or the country change, pending and approved leave from today on is recalculated
    in the same step, for everyone without their own settings. `country_code` takes a code from `GET
    /countries`; a country with regions, on its own, has only its national holidays.
    """
    return organisation_settings.update(
        tx,
        body.sent(),
        effective_from=body.effective_from,
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )


@operation(
    "GET",
    "/organisation/public-holiday-sets",
    tag=HOLIDAY_SETS,
    # Loading a country's holidays takes some 300 ms, once per process.
)
def page_of_sets(
    tx: Transaction, context: RequestContext, query: Paged
) -> Listing[HolidaySetRecord]:
    """List public holiday sets.

    The countries and regions whose public holidays the organisation observes.
    """
    page = holiday_sets.page(tx, query.page, by=context.caller)
    config = context.config(tx)
    return listing_of(page, lambda holiday_set: _shown(config, holiday_set, context.now))


@operation(
    "POST",
    "/organisation/public-holiday-sets",
    role="admin",
    resource=get_set,
    # Loads the country's holidays, if this process has not used them yet.
    dry_run=effects.shown,
    refusals=(errors.AlreadyExists,),
    rules=("unknown_category",),
    example={"country_code": "GB-SCT"},
    other_examples={"Three eves off": {"country_code": "SE", "categories": ["de_facto"]}},
)
def add_set(
    tx: Transaction, context: RequestContext, body: NewHolidaySet
) -> Created[HolidaySetRecord]:
    """Add a country's public holidays.

    A country without a region has only its national holidays. `categories` chooses which days of
    its calendar are days off; by default those that most employers there give. If people have the
    country already and other days count from now on, their pending and approved leave from today on
    is recalculated in the same step.
    """
    holiday_set = holiday_set_changes.add(
        tx, **body.sent(), by=context.caller, now=context.now, recorder=context.recorder
    )
    return created(
        f"/api/v1/organisation/public-holiday-sets/{holiday_set.id}",
        _shown(context.config(tx), holiday_set, context.now),
    )


@operation(
    "PATCH",
    "/organisation/public-holiday-sets/{id}",
    role="admin",
    resource=get_set,
    dry_run=effects.shown,
    rules=("unknown_category",),
    example={"categories": ["public", "catholic"]},
)
def change_set(
    tx: Transaction, context: RequestContext, body: HolidaySetChanges
) -> HolidaySetRecord:
    """Change the categories of a public holiday set.

    Chooses which days of the country's calendar are days off. Pending and approved leave from today
    on is recalculated in the same step: a changed request sends `leave_request.updated`.
    """
    changes = body.sent()
    if "categories" in changes:
        holiday_set_changes.change_categories(
            tx,
            context.id,
            changes["categories"],
            by=context.caller,
            now=context.now,
            recorder=context.recorder,
        )
    config = context.config(tx)
    return _shown(config, holiday_sets.get(config, context.id), context.now)


def _shown(config: OrganisationConfig, holiday_set: HolidaySet, now: datetime) -> HolidaySetRecord:
    code = holiday_set.country_code
    return {
        "id": holiday_set.id,
        "country_code": code,
        "country_name": holiday_calendar.country_name(code),
        "has_regions": holiday_calendar.has_regions(code),
        "categories": list(holiday_set.categories),
        "available_categories": list(holiday_calendar.categories(code)),
        "holiday_count": employment_by_date.holiday_count(config, code, now.year),
        "created_at": holiday_set.created_at,
    }


OPERATIONS = (get, update, page_of_sets, get_set, add_set, change_set)
