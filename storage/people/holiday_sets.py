"""Holiday sets: a country's public holidays with the overrides of the organisation."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from storage.base.calendar_values import HolidaySet
from storage.base.errors import AlreadyExists, NotFound
from storage.base.ids import new_id
from storage.base.values import Caller
from storage.db import locks, pages, rows
from storage.db.database import DuplicateRow, Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import HolidaySetRow
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import holiday_calendar, roles


def add(
    tx: Transaction,
    country_code: str,
    categories: Iterable[str] | None = None,
    *,
    by: Caller,
    now: datetime,
) -> HolidaySet:
    """Add a country or one of its regions; without ``categories``, with its default ones.

    Raises InsufficientRole, InvalidInput ``unknown_country`` or ``unknown_category``, or
    AlreadyExists.
    """
    roles.check_role(by.role, "admin")
    code = holiday_calendar.check_country(country_code)
    checked = holiday_calendar.default_categories(code)
    if categories is not None:
        checked = holiday_calendar.check_categories(code, categories, "categories")
    if _exists(tx, code, by=by):
        raise AlreadyExists("There is already a holiday set for {code}.", code=code)
    try:
        return _insert(tx, code, checked, by=by, now=now)
    except DuplicateRow as error:
        raise AlreadyExists("There is already a holiday set for {code}.", code=code) from error


def ensure(tx: Transaction, country_code: str, *, by: Caller, now: datetime) -> None:
    """Add a checked code if it is missing; needs the organisation's lock."""
    if not _exists(tx, country_code, by=by):
        categories = holiday_calendar.default_categories(country_code)
        _insert(tx, country_code, categories, by=by, now=now)


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[HolidaySet]:
    """One page of the sets, oldest first. Raises UnusableCursor."""
    return pages.by_id(
        tx, page, HolidaySetRow, rows.holiday_set, "holiday_sets", by.organisation_id
    )


def get(config: OrganisationConfig, set_id: str) -> HolidaySet:
    """One set of the organisation. Raises NotFound."""
    holiday_set = config.holiday_sets.get(set_id)
    if holiday_set is None:
        raise NotFound("public holiday set")
    return holiday_set


def to_change(tx: Transaction, set_id: str, *, by: Caller) -> tuple[OrganisationConfig, HolidaySet]:
    """The set and the configuration, for an admin who changes the set.

    Locks the organisation. Raises InsufficientRole or NotFound.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return config, get(config, set_id)


def _exists(tx: Transaction, code: str, *, by: Caller) -> bool:
    row = tx.find(HolidaySetRow, organisation_id=by.organisation_id, country_code=code)
    return row is not None


def _insert(
    tx: Transaction, code: str, categories: tuple[str, ...], *, by: Caller, now: datetime
) -> HolidaySet:
    holiday_set = HolidaySet(
        id=new_id(now), country_code=code, categories=categories, created_at=now
    )
    tx.insert(HolidaySetRow, organisation_id=by.organisation_id, **rows.columns(holiday_set))
    fields = ("country_code", "categories")
    audit.record_value(
        tx, "holiday_set.created", "holiday_set", None, holiday_set, fields, by=by, now=now
    )
    organisation_config.changed(tx, by.organisation_id)
    return holiday_set
