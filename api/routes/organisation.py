"""`/organisation` and its public holiday sets."""

from __future__ import annotations

from collections.abc import Callable

from api.http.context import RequestContext, Result, created
from api.http.fields import Paged
from api.http.operations import Tag, operation
from api.schemas import effects, organisation_records
from api.schemas.bodies import HolidaySetChanges, NewHolidaySet, OrganisationChanges
from api.schemas.holiday_records import HolidaySetRecord
from api.schemas.lists import Listing, listing
from api.schemas.organisation_records import OrganisationRecord
from storage.admin import holiday_set_changes, organisation_settings, organisations
from storage.base import errors
from storage.base.calendar_values import HolidaySet
from storage.db.database import Transaction
from storage.directory import holiday_sets, people_changes, public_holidays
from storage.events import organisation_config
from storage.rules import holiday_calendar

ORGANISATION = Tag(
    "Organisation", "The organisation that the API key belongs to, and its settings."
)
HOLIDAY_SETS = Tag(
    "Public holiday sets",
    "Public holidays of countries and regions. A person has those of their own country code, or "
    "else the organisation's.",
)


@operation("GET", "/organisation", tag=ORGANISATION, scope="organisation:read", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> OrganisationRecord:
    """Read the organisation.

    The organisation that the API key belongs to, with its settings.
    """
    return organisation_records.organisation(organisations.get(tx, by=context.caller))


@operation(
    "GET",
    "/organisation/public-holiday-sets/{id}",
    tag=HOLIDAY_SETS,
    scope="organisation:read",
    kind="public holiday set",
    is_resource=True,
)
def get_set(tx: Transaction, context: RequestContext) -> HolidaySetRecord:
    """Read a public holiday set.

    One country or region, with its number of public holidays this year.
    """
    return _set(tx, context)


@operation(
    "PATCH",
    "/organisation",
    tag=ORGANISATION,
    scope="organisation:write",
    role="admin",
    resource=get,
    # May recalculate thousands of requests.
    dry_run=effects.shown,
    refusals=(errors.AlreadyExists, people_changes.ChangedMeanwhile),
    rules=(
        "control_character",
        "duplicate_working_day",
        "impossible_date",
        "invalid_channel",
        "invalid_length",
        "no_visible_letter",
        "invalid_time",
        "no_working_days",
        "not_half_days",
        "out_of_range",
        "unknown_country",
        "unknown_timezone",
        "unknown_working_day",
        "working_hours_out_of_order",
    ),
    example={"leave_year_type": "fiscal", "leave_year_start_month": 4},
)
def update(
    tx: Transaction, context: RequestContext, body: OrganisationChanges
) -> OrganisationRecord:
    """Change the organisation's settings.

    If working days or the country change, pending and approved leave from today on is recalculated
    in the same step, for everyone without their own settings. `country_code` takes a code from `GET
    /countries`; a country with regions, on its own, has only its national holidays.
    """
    organisation = organisation_settings.update(
        tx, body.sent(), by=context.caller, now=context.now, recorder=context.recorder
    )
    return organisation_records.organisation(organisation)


@operation(
    "GET",
    "/organisation/public-holiday-sets",
    tag=HOLIDAY_SETS,
    scope="organisation:read",
    # Loading a country's holidays takes some 300 ms, once per process.
)
def page_of_sets(
    tx: Transaction, context: RequestContext, query: Paged
) -> Listing[HolidaySetRecord]:
    """List public holiday sets.

    The countries and regions whose public holidays the organisation observes.
    """
    page = holiday_sets.page(tx, query.page, by=context.caller)
    return listing(page, _shown(tx, context))


@operation(
    "POST",
    "/organisation/public-holiday-sets",
    tag=HOLIDAY_SETS,
    scope="organisation:write",
    role="admin",
    status=201,
    resource=get_set,
    # Loads the country's holidays, if this process has not used them yet.
    dry_run=effects.shown,
    refusals=(errors.AlreadyExists,),
    rules=("unknown_category", "unknown_country"),
    example={"country_code": "GB-SCT"},
    other_examples={"Three eves off": {"country_code": "SE", "categories": ["de_facto"]}},
)
def add_set(
    tx: Transaction, context: RequestContext, body: NewHolidaySet
) -> Result[HolidaySetRecord]:
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
        _shown(tx, context)(holiday_set),
    )


@operation(
    "PATCH",
    "/organisation/public-holiday-sets/{id}",
    tag=HOLIDAY_SETS,
    scope="organisation:write",
    role="admin",
    resource=get_set,
    # May recalculate thousands of requests.
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
    return _set(tx, context)


def _set(tx: Transaction, context: RequestContext) -> HolidaySetRecord:
    config = organisation_config.of_organisation(
        tx, context.caller.organisation_id, context.reference_version
    )
    return _shown(tx, context)(holiday_sets.get(config, context.id))


def _shown(tx: Transaction, context: RequestContext) -> Callable[[HolidaySet], HolidaySetRecord]:
    config = organisation_config.of_organisation(
        tx, context.caller.organisation_id, context.reference_version
    )
    year = context.now.year

    def show(holiday_set: HolidaySet) -> HolidaySetRecord:
        code = holiday_set.country_code
        return {
            "id": holiday_set.id,
            "country_code": code,
            "country_name": holiday_calendar.country_name(code),
            "has_regions": holiday_calendar.has_regions(code),
            "categories": list(holiday_set.categories),
            "available_categories": list(holiday_calendar.categories(code)),
            "holiday_count": public_holidays.holiday_count(config, code, year),
            "created_at": holiday_set.created_at,
        }

    return show


OPERATIONS = (get, update, page_of_sets, get_set, add_set, change_set)
