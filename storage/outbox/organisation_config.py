"""What processes cache of an organisation, and the counters that say whether it is still current.

Every transaction that needs the configuration reads the organisation's ``reference_version`` first.
A change of anything in it replaces that version by a random one in its own transaction
(``changed``), so no process uses an older copy, nor one that a fail-over has lost.

Calendar feeds and wallcharts have a number of changes, which grows whenever one of them might show
something else. It is the sum of 16 counters, so that concurrent leave requests seldom wait for the
same row. A change that replaces ``reference_version`` is not counted.

The feed sequence is added to the ``SEQUENCE`` of every event. It grows with what events show beside
their own request: names of people and leave types, working hours, time zones.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from peewee import Case, Insert, Select, fn

from storage.base.allowance_values import Allowance, AllowanceTerms
from storage.base.calendar_values import HolidaySet
from storage.base.errors import NotFound
from storage.base.event_values import Webhook
from storage.base.leave_values import HalfDay, LeaveType
from storage.base.values import Department, Organisation, local_day
from storage.db import rows
from storage.db.compiled import NOT_NULL, Param, compiled
from storage.db.database import Transaction, keep_configs
from storage.db.tables import (
    AllowanceRow,
    DepartmentRow,
    FeedChangesRow,
    FeedSequenceRow,
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
    allowances: dict[str, Allowance]
    holiday_sets: dict[str, HolidaySet]
    holiday_categories: dict[str, tuple[str, ...]]
    overrides: dict[str, list[Override]]
    webhooks: list[Webhook]
    is_in_slack: bool

    @property
    def default_allowance_id(self) -> str:
        return self.organisation.id

    def allowance_of(self, leave_type_id: str, first_day: date) -> str | None:
        """The allowance that leave of a type draws on which begins that day; None for none."""
        return self.allowance_of_type(self.leave_types[leave_type_id], first_day)

    def allowance_of_type(self, leave_type: LeaveType, first_day: date) -> str | None:
        for use in reversed(leave_type.allowance_uses):
            if use.valid_from is None or use.valid_from <= first_day:
                return use.allowance_id
        if not leave_type.deducts_allowance:
            return None
        return leave_type.allowance_id or self.default_allowance_id

    def leave_type_as_of(self, leave_type: LeaveType, day: date) -> LeaveType:
        """The type with the allowance that leave draws on which begins on the day."""
        drawn_on = self.allowance_of_type(leave_type, day)
        return replace(leave_type, allowance_id=drawn_on, deducts_allowance=drawn_on is not None)

    @property
    def leave_type_codes(self) -> tuple[str, ...]:
        """The codes of types in use that an error names, at most 20."""
        codes = sorted(
            leave_type.code
            for leave_type in self.leave_types.values()
            if not leave_type.is_archived
        )
        return tuple(codes[:MAX_CODES_NAMED])


def today(tx: Transaction, organisation_id: str, now: datetime) -> date:
    """The date in the organisation's time zone. Raises NotFound."""
    return local_day(now, of_organisation(tx, organisation_id).organisation.timezone)


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
    # A workspace by token has no installation that could end.
    uninstalled = tx.find(
        SlackInstallationRow, **own, team_id=organisation.slack_team_id, uninstalled_at=NOT_NULL
    )
    return OrganisationConfig(
        organisation=organisation,
        departments={department.id: department for department in departments},
        leave_types={leave_type.id: leave_type for leave_type in leave_types},
        allowances=allowances_of(
            organisation,
            map(rows.allowance, tx.select(AllowanceRow, organisation_id=organisation_id)),
        ),
        holiday_sets=sets,
        holiday_categories={each.country_code: each.categories for each in sets.values()},
        overrides=overrides,
        webhooks=[*map(rows.webhook, tx.select(WebhookRow, **own))],
        is_in_slack=organisation.slack_team_id is not None and uninstalled is None,
    )


def allowances_of(organisation: Organisation, stored: Iterable[Allowance]) -> dict[str, Allowance]:
    """The allowances by id, the default one first."""
    default = Allowance(
        id=organisation.id,
        name="Annual leave",
        code="annual",
        is_default=True,
        is_archived=False,
        earnable=False,
        terms=(),
        created_at=organisation.created_at,
        updated_at=organisation.created_at,
        version=0,
    )
    found = {default.id: default} | {allowance.id: allowance for allowance in stored}
    first = AllowanceTerms(
        id=organisation.id,
        valid_from=None,
        half_days_per_year=organisation.default_leave_allowance_half_days,
        carry_over_half_days=organisation.carry_over_half_days,
        carry_over_expiry_month=organisation.carry_over_expiry_month,
    )
    default = found[default.id]
    return found | {default.id: replace(default, terms=(first, *default.terms))}


_override: Final = rows.mapper(Override)


FEED_SHARDS: Final = 16


def count_feed_change(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Count a change of a person's leave, or of what feeds and wallcharts show of the person.

    Call it last: other changes of the same counter wait until the transaction ends.
    """
    # The last digit of a version 7 UUID is random.
    tx.change(
        _count_feed_change, organisation_id=organisation_id, shard=int(user_id[-1], FEED_SHARDS)
    )


def feed_change_count(organisation_id: object) -> Select:
    """A subquery for the organisation's number; null before its first change."""
    return FeedChangesRow.select(fn.SUM(FeedChangesRow.changes)).where(
        FeedChangesRow.organisation_id == organisation_id
    )


def raise_feed_sequence(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Give every event of the organisation's feeds a higher ``SEQUENCE`` in this transaction.

    Call it last: it locks one row of the organisation until the transaction ends.
    """
    tx.change(_raise_feed_sequence, organisation_id=organisation_id, now=now)


@compiled
def _raise_feed_sequence(organisation_id: Param[str], now: Param[datetime]) -> Insert:
    stored = FeedSequenceRow.changed_at
    return FeedSequenceRow.insert(
        {
            FeedSequenceRow.organisation_id: organisation_id,
            FeedSequenceRow.sequence: 1,
            FeedSequenceRow.changed_at: now,
        }
    ).on_conflict(
        conflict_target=(FeedSequenceRow.organisation_id,),
        update={
            FeedSequenceRow.sequence: FeedSequenceRow.sequence + 1,
            # Another process's clock may be ahead of this one's.
            FeedSequenceRow.changed_at: Case(None, ((stored < now, now),), stored),
        },
    )


@compiled
def _count_feed_change(organisation_id: Param[str], shard: Param[int]) -> Insert:
    return FeedChangesRow.insert(
        {
            FeedChangesRow.organisation_id: organisation_id,
            FeedChangesRow.shard: shard,
            FeedChangesRow.changes: 1,
        }
    ).on_conflict(
        conflict_target=(FeedChangesRow.organisation_id, FeedChangesRow.shard),
        update={FeedChangesRow.changes: FeedChangesRow.changes + 1},
    )
