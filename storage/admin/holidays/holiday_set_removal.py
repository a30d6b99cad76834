"""A holiday set deleted, with the overrides that belong to it."""

from __future__ import annotations

from datetime import datetime

from peewee import Delete, Select, fn

from storage.admin.holidays.holiday_overrides import AUDITED
from storage.base.calendar_values import HolidaySet
from storage.base.errors import InUse
from storage.base.values import Caller
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import HolidayOverrideRow, HolidaySetRow, UserRow
from storage.directory import holiday_sets, people_rows
from storage.events import audit, organisation_config
from storage.events.organisation_config import OrganisationConfig


class HolidaySetInUse(InUse):
    """The organisation or a person who is not archived uses these public holidays."""

    code = "holiday_set_in_use"
    title = "The holiday set is still in use."


def remove(tx: Transaction, set_id: str, *, by: Caller, now: datetime) -> HolidaySet:
    """Delete an unused set with its overrides; archived people do not count.

    No leave is recalculated, since the set is not in use. Raises NotFound, InsufficientRole or
    HolidaySetInUse; then nothing has changed.
    """
    config, holiday_set = holiday_sets.to_change(tx, set_id, by=by)
    _check_unused(tx, config, holiday_set)
    overrides = config.overrides.get(holiday_set.country_code, [])
    tx.change(_delete_overrides, organisation_id=by.organisation_id, holiday_set_id=holiday_set.id)
    tx.change(_delete_set, organisation_id=by.organisation_id, holiday_set_id=holiday_set.id)
    audit.record(
        tx,
        "holiday_set.deleted",
        "holiday_set",
        holiday_set.id,
        by=by,
        now=now,
        before={
            "country_code": holiday_set.country_code,
            "categories": holiday_set.categories,
            "overrides": [
                {name: getattr(override, name) for name in AUDITED} for override in overrides
            ],
        },
    )
    organisation_config.changed(tx, by.organisation_id)
    return holiday_set


def _check_unused(tx: Transaction, config: OrganisationConfig, holiday_set: HolidaySet) -> None:
    """Raises HolidaySetInUse."""
    code = holiday_set.country_code
    if code == config.organisation.country_code:
        raise HolidaySetInUse(
            "The organisation uses the public holidays of {code}. Choose another country for "
            "the organisation first.",
            code=code,
        )
    row = tx.first(
        _users_of,
        organisation_id=config.organisation.id,
        country_code=code,
        records_like=people_rows.pattern_of_records(code),
    )
    if row is not None and row.total:
        raise HolidaySetInUse(
            "The public holidays of {code} still apply to people ({count}). Choose other public "
            "holidays for them first.",
            code=code,
            count=row.total,
        )


@compiled
def _delete_overrides(organisation_id: Param[str], holiday_set_id: Param[str]) -> Delete:
    return HolidayOverrideRow.delete().where(
        HolidayOverrideRow.organisation_id == organisation_id,
        HolidayOverrideRow.holiday_set_id == holiday_set_id,
    )


@compiled
def _delete_set(organisation_id: Param[str], holiday_set_id: Param[str]) -> Delete:
    return HolidaySetRow.delete().where(
        HolidaySetRow.organisation_id == organisation_id, HolidaySetRow.id == holiday_set_id
    )


@compiled
def _users_of(
    organisation_id: Param[str], country_code: Param[str], records_like: Param[str]
) -> Select:
    return UserRow.select(fn.COUNT(UserRow.id).alias("total")).where(
        UserRow.organisation_id == organisation_id,
        (UserRow.public_holiday_country_code == country_code) | (UserRow.employment**records_like),
        UserRow.status != "archived",
    )
