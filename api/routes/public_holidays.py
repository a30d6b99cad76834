"""Public holidays of a set, its overrides, and the countries to choose from."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.fields import Body, Day, Listing, Name, Paged, Query, listing, whole
from api.http.operations import Created, RequestContext, created, operation
from api.routes import effects, organisation
from api.routes.organisation import HOLIDAY_SETS
from storage.admin import holiday_overrides, holiday_set_changes
from storage.admin.holiday_overrides import NewOverride
from storage.base import errors
from storage.base.calendar_values import Country, HolidayOnDate, HolidayOverride
from storage.base.leave_values import HalfDay
from storage.base.values import local_day
from storage.db.database import Transaction
from storage.people import employment_by_date, holiday_sets
from storage.rules import holiday_calendar

_SET = "/organisation/public-holiday-sets/{id}"


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


class HolidaysOfYear(Query):
    year: Annotated[
        int | None,
        Field(
            ge=employment_by_date.EARLIEST_YEAR,
            le=employment_by_date.LATEST_YEAR,
            description="A calendar year; by default the current one.",
        ),
    ] = None


@operation(
    "GET",
    f"{_SET}/holidays",
    tag=HOLIDAY_SETS,
    kind="public holiday set",
    # Loading a country's holidays takes some 300 ms, once per process.
)
def holidays(
    tx: Transaction, context: RequestContext, query: HolidaysOfYear
) -> Listing[HolidayOnDate]:
    """List a year's public holidays.

    Every date of the calendar year that is a public holiday in this set, and every date that an
    override has turned back into an ordinary day (`is_holiday` is false). The list is not paged;
    without `year` it is for the current year.
    """
    config = context.config(tx)
    holiday_set = holiday_sets.get(config, context.id)
    year = query.year or local_day(context.now, config.organisation.timezone).year
    holidays = employment_by_date.holidays_of_year(config, holiday_set.country_code, year)
    return whole(holidays)


@operation("GET", f"{_SET}/overrides", tag=HOLIDAY_SETS, kind="public holiday set")
def page_of_overrides(
    tx: Transaction, context: RequestContext, query: Paged
) -> Listing[HolidayOverride]:
    """List overrides.

    The differences between the set and its country's calendar, earliest date first.
    """
    page = holiday_overrides.page(tx, context.id, query.page, by=context.caller)
    return listing(page)


@operation(
    "POST",
    f"{_SET}/overrides",
    tag=HOLIDAY_SETS,
    role="admin",
    kind="public holiday set",
    dry_run=effects.shown,
    refusals=(errors.AlreadyExists, holiday_overrides.TooManyOverrides),
    rules=("out_of_range",),
    example={"date": "2026-12-24", "name": "Christmas Eve", "half": "pm", "every_year": True},
)
def add_override(
    tx: Transaction, context: RequestContext, body: NewHolidayOverride
) -> Created[HolidayOverride]:
    """Add an override.

    Makes a date a public holiday or, with `is_holiday` false, an ordinary day; with `half`, only
    its morning or afternoon. It replaces the country's own rule for that date. With `every_year` it
    also holds on that day of every later year, except where a single date has an override of its
    own; a date can have one of either kind. Pending and approved leave from today on is
    recalculated in the same step: a changed request sends `leave_request.updated`.
    """
    override = holiday_overrides.add(
        tx,
        context.id,
        NewOverride(**body.sent()),
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )
    return created(
        f"/api/v1/organisation/public-holiday-sets/{context.id}/overrides",
        override,
    )


@operation(
    "DELETE",
    _SET + "/overrides/{override_id}",
    tag=HOLIDAY_SETS,
    role="admin",
    kind="public holiday set",
    dry_run=effects.shown,
)
def remove_override(tx: Transaction, context: RequestContext) -> None:
    """Delete an override.

    The date follows the country's calendar again. Pending and approved leave from today on is
    recalculated in the same step.
    """
    override_id = context.ids["override_id"]
    holiday_overrides.remove(
        tx, context.id, override_id, by=context.caller, now=context.now, recorder=context.recorder
    )


@operation(
    "DELETE",
    _SET,
    role="admin",
    resource=organisation.get_set,
    # Also deletes up to 500 overrides.
    dry_run=effects.shown,
    refusals=(holiday_set_changes.HolidaySetInUse,),
)
def remove_set(tx: Transaction, context: RequestContext) -> None:
    """Delete a public holiday set.

    Also deletes its overrides. Not possible while the organisation, or a person who is not
    archived, uses it.
    """
    holiday_set_changes.remove(tx, context.id, by=context.caller, now=context.now)


@operation(
    "GET",
    "/countries",
    tag=HOLIDAY_SETS,
    # Loading all countries takes a second, once per process.
)
def countries(tx: Transaction, context: RequestContext) -> Listing[Country]:
    """List countries and their regions.

    Every code that `country_code` and `public_holiday_country_code` accept. A country with regions
    can be used on its own, and then has only its national holidays: `GB` lacks the August bank
    holiday that `GB-ENG` has. The list is not paged.
    """
    return whole(list(holiday_calendar.all_countries()))


OPERATIONS = (countries, holidays, page_of_overrides, add_override, remove_override, remove_set)
