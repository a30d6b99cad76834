"""An organisation's configuration, cached in the process.

Every transaction that needs it reads the organisation's ``reference_version`` first. A change of
anything in here replaces that version by a random one in its own transaction (``changed``), so no
process uses an older copy, nor one that a fail-over has lost.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from peewee import Select

from storage.base.calendar_values import HolidaySet
from storage.base.errors import NotFound
from storage.base.event_values import Webhook
from storage.base.leave_values import HalfDay, LeaveType
from storage.base.values import Department, Organisation
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction, keep_configs
from storage.db.tables import (
    DepartmentRow,
    HolidayOverrideRow,
    HolidaySetRow,
    LeaveTypeRow,
    OrganisationRow,
    SlackInstallationRow,
    WebhookRow,
)

# Organisations whose configuration a process caches.
MAX_CODES_NAMED: Final = 20
_MAX_VERSION: Final = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Override:
    """A day on which a holiday set differs from its country, as in ``HolidayOverride``."""

    date: str
    name: str
    is_holiday: bool
    half: HalfDay | None
    id: str
    every_year: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class OrganisationConfig:
    """``holiday_categories`` and ``overrides`` are those of holiday sets, by country code.

    ``webhooks`` are all, active or not.

    ``is_in_slack``: a workspace is linked, and its installation has not ended.
    """

    organisation: Organisation
    departments: dict[str, Department]
    leave_types: dict[str, LeaveType]
    holiday_sets: dict[str, HolidaySet]
    holiday_categories: dict[str, tuple[str, ...]]
    overrides: dict[str, list[Override]]
    webhooks: list[Webhook]
    is_in_slack: bool

    @property
    def leave_type_codes(self) -> tuple[str, ...]:
        """The codes of types in use that an error names, at most 20."""
        codes = sorted(
            leave_type.code
            for leave_type in self.leave_types.values()
            if not leave_type.is_archived
        )
        return tuple(codes[:MAX_CODES_NAMED])


def of_organisation(
    tx: Transaction, organisation_id: str, version: int | None = None
) -> OrganisationConfig:
    """The organisation's configuration as this transaction sees it.

    ``version`` is its ``reference_version`` where the caller has just read it. Raises NotFound.
    """
    if version is None:
        row = tx.find(OrganisationRow, id=organisation_id)
        if row is None:
            raise NotFound("organisation")
        version = row.reference_version
    cached: OrganisationConfig | None = tx.config_cache.get(organisation_id)
    if cached is not None and cached.organisation.reference_version == version:
        return cached
    loaded = _load(tx, organisation_id)
    keep_configs(tx.config_cache, {organisation_id: loaded})
    return loaded


def changed(tx: Transaction, organisation_id: str) -> None:
    """Make every process read the configuration again; call in the transaction that changes it."""
    # Random and not incremented: after a fail-over that lost a change, the next change would get
    # the same number, and a process that has cached the lost one would use it.
    version = secrets.randbelow(_MAX_VERSION) + 1
    tx.update(OrganisationRow, {"reference_version": version}, id=organisation_id)
    # This transaction may read again before it commits or fails.
    tx.config_cache.pop(organisation_id, None)


def _load(tx: Transaction, organisation_id: str) -> OrganisationConfig:
    # The version is read with the organisation, before the rest: a later change is reloaded.
    row = tx.find(OrganisationRow, id=organisation_id)
    if row is None:
        raise NotFound("organisation")
    own = {"organisation_id": organisation_id}
    departments = map(rows.department, tx.select(DepartmentRow, **own))
    leave_types = map(rows.leave_type, tx.select(LeaveTypeRow, **own))
    holiday_sets = map(rows.holiday_set, tx.select(HolidaySetRow, **own))
    sets = {holiday_set.id: holiday_set for holiday_set in holiday_sets}
    overrides: dict[str, list[Override]] = {}
    for override in tx.select(HolidayOverrideRow, **own):
        code = sets[override.holiday_set_id].country_code
        overrides.setdefault(code, []).append(_override(override))
    organisation = rows.organisation(row)
    uninstalled = tx.first(
        _uninstalled, organisation_id=organisation_id, team_id=organisation.slack_team_id
    )
    return OrganisationConfig(
        organisation=organisation,
        departments={department.id: department for department in departments},
        leave_types={leave_type.id: leave_type for leave_type in leave_types},
        holiday_sets=sets,
        holiday_categories={each.country_code: each.categories for each in sets.values()},
        overrides=overrides,
        webhooks=[*map(rows.webhook, tx.select(WebhookRow, **own))],
        is_in_slack=organisation.slack_team_id is not None and uninstalled is None,
    )


_override: Final = rows.mapper(Override)


@compiled
def _uninstalled(organisation_id: Param[str], team_id: Param[str | None]) -> Select:
    """The end of the workspace's installation; a workspace by token has none that could end."""
    return SlackInstallationRow.select(SlackInstallationRow.id).where(
        SlackInstallationRow.organisation_id == organisation_id,
        SlackInstallationRow.team_id == team_id,
        SlackInstallationRow.uninstalled_at.is_null(False),
    )
