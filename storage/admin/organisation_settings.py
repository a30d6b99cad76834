"""The settings of an organisation: checked, changed, and what a change does to leave."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Final, get_args

import orjson
from peewee import Select

from storage.admin import allowances, channel_digests, dated_terms, effects, recalculation
from storage.admin.effects import EffectsRecorder
from storage.base import fields, texts
from storage.base.allowance_values import Allowance, ProRata, ProRataMethod, ProRataRounding
from storage.base.amounts import check_amount
from storage.base.errors import InvalidInput, NotFound
from storage.base.event_values import AuditAction
from storage.base.fields import Checked
from storage.base.values import Caller, LeaveYearType, Organisation, User, local_day
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import OrganisationRow
from storage.leave import card_refreshes, closure_leave
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, holiday_sets, people_changes, people_rows
from storage.rules import counted_days, dated, holiday_calendar, roles
from storage.rules.leave_years import check_leave_year_start

_CHECKS: Final[Mapping[str, fields.Check]] = {
    "name": texts.name,
    "country_code": holiday_calendar.check_country,
    "timezone": fields.timezone,
    "working_days": counted_days.check_working_days,
    "leave_year_type": fields.one_of(*get_args(LeaveYearType), code="unknown_leave_year_type"),
    "leave_year_start_month": fields.whole_number(1, 12),
    "leave_year_start_day": fields.whole_number(1, 31),
    "default_leave_allowance_half_days": check_amount,
    "carry_over_half_days": check_amount,
    "carry_over_expiry_month": fields.optional(fields.whole_number(1, 12)),
    "day_starts_at": fields.clock_time,
    "midday_at": fields.clock_time,
    "day_ends_at": fields.clock_time,
    "slack_members_join": fields.boolean,
    "digest_channel": fields.optional(channel_digests.check_channel),
    "expiry_notices": fields.boolean,
    "retention_months": fields.optional(fields.whole_number(1, 240)),
}
_CHECKS_OF_PRO_RATA: Final[Mapping[str, fields.Check]] = {
    "pro_rata": fields.one_of(*get_args(ProRataMethod), code="unknown_pro_rata"),
    "pro_rata_rounding": fields.one_of(*get_args(ProRataRounding), code="unknown_rounding"),
    "full_claim_after_months": fields.optional(fields.whole_number(1, 12)),
    "full_claim_for_leavers_after_june": fields.boolean,
}


# Settings that are terms of the default allowance, which count from a day on.
OF_TERMS: Final = (
    "default_leave_allowance_half_days",
    "carry_over_half_days",
    "carry_over_expiry_month",
)
# Settings of the pro rata rule, which count from a day on, and their fields in `ProRata`.
OF_PRO_RATA: Final[Mapping[str, str]] = {
    "pro_rata": "method",
    "pro_rata_rounding": "rounding",
    "full_claim_after_months": "full_claim_after_months",
    "full_claim_for_leavers_after_june": "full_claim_for_leavers_after_june",
}
# What is usual in a country; elsewhere nothing is set.
PRO_RATA_OF_COUNTRY: Final[Mapping[str, ProRata]] = {
    # The calculator of gov.uk.
    "GB": ProRata(method="months_started", rounding="half_day_up"),
    # BUrlG §§ 4 and 5.
    "DE": ProRata(
        method="full_months",
        rounding="day_nearest",
        full_claim_after_months=6,
        full_claim_for_leavers_after_june=True,
    ),
}
_OF_LEAVE_YEARS: Final = ("leave_year_type", "leave_year_start_month", "leave_year_start_day")
# Settings that decide what people are granted, and in which leave year.
_OF_ALLOWANCES: Final = (
    *_OF_LEAVE_YEARS,
    *OF_TERMS,
    "pro_rata_rules",
)


# Settings that decide when the events of calendar feeds begin and end.
_IN_EVENTS: Final = ("timezone", "day_starts_at", "midday_at", "day_ends_at")
# Terms that may be null, and the settings that show a figure for it.
_SHOWN_FOR_NONE: Final = {
    "half_days_per_year": "default_leave_allowance_half_days",
    "carry_over_half_days": "carry_over_half_days",
}
# A higher amount makes no balance negative.
_AMOUNTS: Final = ("default_leave_allowance_half_days", "carry_over_half_days")


def checked(settings: Mapping[str, object]) -> Checked:
    """The settings as they are stored. Raises InvalidInput."""
    return fields.checked(settings, _CHECKS)


def record_created(
    tx: Transaction, organisation: Organisation, *, by: Caller, now: datetime
) -> None:
    """Audit a new organisation with its settings."""
    after = {name: getattr(organisation, name, None) for name in _CHECKS}
    after |= {"slug": organisation.slug, "domain": organisation.domain}
    _record(tx, "organisation.created", {}, after, by=by, now=now)


def update(
    tx: Transaction,
    changes: Mapping[str, object],
    *,
    effective_from: date | None = None,
    is_set_up: bool = False,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> Organisation:
    """Change settings; ``carry_over_expiry_month``, ``full_claim_after_months`` and
    ``digest_channel`` may be null.

    Terms of the default allowance (``OF_TERMS``) and the pro rata rule (``OF_PRO_RATA``) count from
    ``effective_from`` on (None: as ``allowance_terms.effective_from``). The organisation is
    returned with those of today. ``is_set_up``: a new organisation gets the pro rata rule of its
    country at any time, unless an admin has set another.

    A new country gets a holiday set where it has none; future leave is recalculated where the
    country or the working days change (recalculation.py). Raises InsufficientRole, InvalidInput
    or, for a channel that gets this digest already, AlreadyExists; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    config_before = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config_before.organisation.timezone)
    values = fields.checked(changes, {**_CHECKS, **_CHECKS_OF_PRO_RATA})
    before, after = _before_and_after(tx, values, config_before, today)
    allowance_before = config_before.allowances[config_before.default_allowance_id]
    allowance = _with_terms(
        config_before, allowance_before, before, after, changes.keys(), effective_from, now=now
    )
    before["pro_rata_rules"] = config_before.organisation.pro_rata_rules
    after["pro_rata_rules"] = _with_pro_rata(config_before, values, effective_from, today)
    is_of_country = before["pro_rata_rules"] in ((), of_country(before["country_code"]))
    if is_set_up and is_of_country and after["pro_rata_rules"] == before["pro_rata_rules"]:
        after["pro_rata_rules"] = of_country(after["country_code"])
    if "digest_channel" in changes:
        # Also for the same channel: an admin may have fixed why Slack rejected it.
        channel_digests.retry_own(tx, by.organisation_id, now=now)
    if (after, allowance) == (before, allowance_before):
        return allowance_terms.organisation_as_of(config_before, today)
    differing = {name for name in after if after[name] != before[name]}
    if "digest_channel" in differing and after["digest_channel"] is not None:
        channel_digests.check_is_free(tx, after["digest_channel"], by=by)
    if "country_code" in differing:
        holiday_sets.ensure(tx, after["country_code"], by=by, now=now)
    columns = after | {
        "working_days": rows.json_text(after["working_days"]),
        "pro_rata_rules": rows.json_text(after["pro_rata_rules"]),
        "updated_at": now,
    }
    for name in OF_TERMS:
        del columns[name]
    if not tx.update(OrganisationRow, columns, id=by.organisation_id):
        raise people_changes.ChangedMeanwhile
    allowances.save(tx, config_before, allowance_before, allowance, by=by, now=now, recorder=None)
    _record(tx, "organisation.updated", _audited(before), _audited(after), by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    affected = recalculation.AffectedPeople(
        default_country="country_code" in differing, default_week="working_days" in differing
    )
    users = recalculation.lock_people(tx, by.organisation_id, affected)
    leave = recalculation.plan(tx, config, users, now=now)
    owners = effects.owners(leave)
    granted: list[User] = []
    if recorder is not None:
        until = max(effective_from or today, today)
        if _may_lower_balances(before, after) or until > today:
            granted = people_rows.not_archived(tx, by.organisation_id, limit=effects.MAX_CHECKED)
        people_by_id = {user.id: user for user in (*owners, *granted)}
        recorder.read_balances_before(
            tx, config_before, people_by_id.values(), today=today, until=until
        )
    cause = recalculation.cause_of(
        other_week=affected.default_week, other_country=affected.default_country
    )
    if cause is not None:
        recalculation.apply(tx, config, leave, cause, by=by, now=now)
    closed = closure_leave.fill(tx, config, users, by=by, now=now)
    if not differing.isdisjoint(_OF_ALLOWANCES):
        card_refreshes.enqueue(tx, config=config, now=now)
    if not differing.isdisjoint(_IN_EVENTS):
        organisation_config.raise_feed_sequence(tx, by.organisation_id, now=now)
    if recorder is not None:
        changed = recorder.balance_changes(tx, config, granted)
        overdrawn = effects.overdrawn(changed)
        if not differing.isdisjoint(_OF_LEAVE_YEARS):
            # Balances of other years cannot be compared: every one is new.
            changed = overdrawn
        balances = recorder.balance_changes(tx, config, owners)
        recorder.effects = replace(
            recorder.effects,
            leave=tuple(leave),
            chosen_country_code=after["country_code"] if affected.default_country else None,
            balances=effects.worst_first((*changed, *balances)) if changed else balances,
            changes_allowances=not differing.isdisjoint(_OF_ALLOWANCES),
            overdrawn=overdrawn,
            rebalanced=len({each.user_id for each in changed}),
            closed=tuple(closed),
        )
    return allowance_terms.organisation_as_of(config, today)


def _with_terms(
    config: OrganisationConfig,
    allowance: Allowance,
    before: Checked,
    after: Checked,
    changed: Collection[str],
    effective_from: date | None,
    *,
    now: datetime,
) -> Allowance:
    """The default allowance with the settings that are its terms. Raises InvalidInput."""
    terms: Checked = {}
    if "default_leave_allowance_half_days" in changed:
        terms["half_days_per_year"] = after["default_leave_allowance_half_days"]
    if "carry_over_half_days" in changed:
        terms["carry_over_half_days"] = after["carry_over_half_days"]
    today = local_day(now, config.organisation.timezone)
    of_today = allowance_terms.terms_on(config, allowance.id, today)
    for name, setting in _SHOWN_FOR_NONE.items():
        # These settings are never null: sending back what they show leaves it so.
        if getattr(of_today, name) is None and after[setting] == before[setting]:
            terms.pop(name, None)
    month = after["carry_over_expiry_month"]
    if "carry_over_expiry_month" in changed and month != before["carry_over_expiry_month"]:
        if month is not None and after["leave_year_type"] == "anniversary":
            raise InvalidInput.of(
                "carry_over_expiry_month",
                "not_with_anniversaries",
                "Leave years begin on different days. Set carry_over_expires_after_months of the "
                "default allowance instead.",
            )
        organisation = replace(
            config.organisation, **{name: after[name] for name in _OF_LEAVE_YEARS}
        )
        terms |= allowance_terms.expiry_of_month(organisation, month)
    return dated_terms.with_terms(config, allowance, terms, effective_from, now=now)


def _with_pro_rata(
    config: OrganisationConfig,
    values: Checked,
    effective_from: date | None,
    today: date,
) -> tuple[ProRata, ...]:
    """The organisation's rules with a changed one from a day on. Raises InvalidInput or
    TooManyTerms.
    """
    stored = config.organisation.pro_rata_rules
    changes = {OF_PRO_RATA[name]: value for name, value in values.items() if name in OF_PRO_RATA}
    if not changes:
        return stored
    before = stored or (ProRata(),)
    day, is_by_leave_year = allowance_terms.effective_from(config, effective_from, today, before)
    at = dated.on_or_first(before, allowance_terms.organisation_rule(config), day)
    new = replace(at, **changes, valid_from=day, is_by_leave_year=is_by_leave_year)
    after = dated.without_repeated(dated.changed_from(before, at, new, changes))
    if len(after) > dated_terms.MAX_TERMS:
        raise dated_terms.TooManyTerms
    return stored if after == before else after


def of_country(country_code: str) -> tuple[ProRata, ...]:
    """The pro rata rules that a new organisation of the country gets; none for most."""
    rule = PRO_RATA_OF_COUNTRY.get(country_code.partition("-")[0])
    return () if rule is None else (rule,)


def _audited(settings: Checked) -> Checked:
    """The settings with the pro rata rule of each day as clients see it."""
    shown = [
        {"valid_from": rule.valid_from, "by_leave_year": rule.is_by_leave_year}
        | {name: getattr(rule, field) for name, field in OF_PRO_RATA.items()}
        for rule in settings["pro_rata_rules"]
    ]
    return settings | {"pro_rata_rules": shown}


def _may_lower_balances(before: Checked, after: Checked) -> bool:
    """Whether changed settings may make a balance negative: not where they only grant more."""
    return any(
        after[name] != before[name] and not (name in _AMOUNTS and after[name] > before[name])
        for name in _OF_ALLOWANCES
    )


def _before_and_after(
    tx: Transaction, values: Checked, config: OrganisationConfig, today: date
) -> tuple[Checked, Checked]:
    """The settings before and after the change, without the pro rata rule. Raises InvalidInput."""
    before = _settings(tx, config.organisation.id)
    of_today = allowance_terms.organisation_as_of(config, today)
    before |= {name: getattr(of_today, name) for name in OF_TERMS}
    after = before | {name: value for name, value in values.items() if name in _CHECKS}
    check_leave_year_start(after["leave_year_start_month"], after["leave_year_start_day"])
    _check_working_hours(after)
    return before, after


def _check_working_hours(settings: Checked) -> None:
    if not settings["day_starts_at"] < settings["midday_at"] < settings["day_ends_at"]:
        raise InvalidInput.of(
            "midday_at",
            "working_hours_out_of_order",
            "The day must start before midday and end after midday.",
        )


def _settings(tx: Transaction, organisation_id: str) -> Checked:
    row = tx.first(_settings_of, organisation_id=organisation_id)
    if row is None:
        raise NotFound("organisation")
    settings: Checked = dict(zip(_CHECKS, row, strict=True))
    settings["working_days"] = tuple(orjson.loads(settings["working_days"]))
    settings["slack_members_join"] = bool(settings["slack_members_join"])
    return settings


def _record(
    tx: Transaction,
    action: AuditAction,
    before: Mapping[str, object],
    after: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
) -> None:
    audit.record(
        tx,
        action,
        "organisation",
        by.organisation_id,
        by=by,
        now=now,
        before=before,
        after=after,
    )
    organisation_config.changed(tx, by.organisation_id)


@compiled
def _settings_of(organisation_id: Param[str]) -> Select:
    columns = [getattr(OrganisationRow, name) for name in _CHECKS]
    return OrganisationRow.select(*columns).where(OrganisationRow.id == organisation_id)
