"""Organisations: the first moment of one, its settings, and finding it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, get_args

import orjson
from peewee import Select, fn

from storage.admin import effects, people, recalculation
from storage.admin.effects import EffectsRecorder
from storage.base import fields
from storage.base.amounts import check_half_days
from storage.base.clock import local_day
from storage.base.errors import AlreadyExists, InvalidInput, NotFound
from storage.base.event_values import AuditAction
from storage.base.fields import Checked
from storage.base.ids import new_id
from storage.base.values import Caller, LeaveYearType, Organisation, Source, User, as_dict
from storage.db import locks, rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import OrganisationRow
from storage.directory import holiday_sets, people_changes, people_rows
from storage.events import audit, digest_queue, feed_changes, organisation_config
from storage.leave import card_refreshes, leave_types
from storage.rules import holiday_calendar, request_rules, working_week
from storage.rules.leave_years import check_leave_year_start

MAX_SLUG_LENGTH: Final = 48
# How many organisations of one name get a readable slug.
_NUMBERED_SLUGS: Final = 50

_CHANNEL_ID: Final = re.compile(r"[CG][A-Z0-9]{2,31}")


def _check_channel(value: object, field: str) -> str:
    """A Slack channel's id. Raises InvalidInput ``invalid_channel``, also for a name."""
    if not isinstance(value, str) or not _CHANNEL_ID.fullmatch(value):
        raise InvalidInput.of(
            field, "invalid_channel", "Use the id of a Slack channel, such as C024BE91L."
        )
    return value


_CHECKS: Final[Mapping[str, fields.Check]] = {
    "name": fields.name,
    "country_code": holiday_calendar.check_country,
    "timezone": fields.timezone,
    "working_days": working_week.check_working_days,
    "leave_year_type": fields.one_of(*get_args(LeaveYearType)),
    "leave_year_start_month": fields.whole_number(1, 12),
    "leave_year_start_day": fields.whole_number(1, 31),
    "default_leave_allowance_half_days": check_half_days,
    "carry_over_half_days": check_half_days,
    "carry_over_expiry_month": fields.optional(fields.whole_number(1, 12)),
    "day_starts_at": fields.clock_time,
    "midday_at": fields.clock_time,
    "day_ends_at": fields.clock_time,
    "slack_members_join": fields.boolean,
    "digest_channel": fields.optional(_check_channel),
}


# Settings that decide what people are granted, and in which leave year.
_OF_ALLOWANCES: Final = (
    "leave_year_type",
    "leave_year_start_month",
    "leave_year_start_day",
    "default_leave_allowance_half_days",
    "carry_over_half_days",
    "carry_over_expiry_month",
)


# Settings that decide when the events of calendar feeds begin and end.
_IN_EVENTS: Final = ("timezone", "day_starts_at", "midday_at", "day_ends_at")
# More of these makes no balance negative.
_AMOUNTS: Final = ("default_leave_allowance_half_days", "carry_over_half_days")


@dataclass(frozen=True, kw_only=True, slots=True)
class NewOrganisation:
    """What it takes to begin. ``slug`` is made from the name when it is None.

    ``domain`` is the one of its e-mail addresses, by which a Slack workspace is recognised.
    """

    name: str
    country_code: str
    timezone: str
    owner_email: str
    owner_first_name: str
    owner_last_name: str
    slug: str | None = None
    domain: str | None = None


def create(
    tx: Transaction, new: NewOrganisation, *, source: Source, now: datetime
) -> tuple[Organisation, User]:
    """Begin an organisation with its settings, leave types, holiday set and a pending owner.

    Raises InvalidInput, or AlreadyExists when the slug that was asked for is taken.
    """
    settings = fields.checked(
        {"name": new.name, "country_code": new.country_code, "timezone": new.timezone}, _CHECKS
    )
    slug = _free_slug(tx, settings["name"]) if new.slug is None else _check_slug(tx, new.slug)
    organisation = Organisation(
        id=new_id(now),
        slug=slug,
        domain=new.domain,
        logo_url=None,
        working_days=working_week.WEEKDAYS[:5],
        leave_year_type="calendar",
        leave_year_start_month=1,
        leave_year_start_day=1,
        default_leave_allowance_half_days=50,
        carry_over_half_days=0,
        carry_over_expiry_month=None,
        day_starts_at="09:00",
        midday_at="13:00",
        day_ends_at="17:00",
        slack_team_id=None,
        slack_members_join=True,
        digest_channel=None,
        reference_version=1,
        created_at=now,
        updated_at=now,
        **settings,
    )
    _insert(tx, organisation)
    by = Caller(
        organisation_id=organisation.id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source=source,
    )
    _record(tx, "organisation.created", {}, _audited(organisation), by=by, now=now)
    holiday_sets.ensure(tx, organisation.country_code, by=by, now=now)
    leave_types.add_defaults(tx, by=by, now=now)
    owner = {
        "email": new.owner_email,
        "first_name": new.owner_first_name,
        "last_name": new.owner_last_name,
        "role": "owner",
    }
    user = people.create(tx, owner, by=by, now=now)
    return get(tx, by=by), user


def get(tx: Transaction, *, by: Caller) -> Organisation:
    """The caller's organisation. Raises NotFound."""
    return organisation_config.of_organisation(tx, by.organisation_id).organisation


def update(
    tx: Transaction,
    changes: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> Organisation:
    """Change settings; only ``carry_over_expiry_month`` and ``digest_channel`` may be null.

    A new country gets a holiday set where it has none; future leave is recalculated where the
    country or the working days change (recalculation.py). Raises InsufficientRole or InvalidInput;
    then nothing has changed.
    """
    request_rules.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    before, after = _checked_update(tx, changes, by=by)
    if "digest_channel" in changes:
        # Also the same channel: an admin may have put right what Slack refused it for.
        digest_queue.retry(tx, by.organisation_id, now=now)
    if after == before:
        return get(tx, by=by)
    known_before = organisation_config.of_organisation(tx, by.organisation_id)
    differing = {name for name in after if after[name] != before[name]}
    if "country_code" in differing:
        holiday_sets.ensure(tx, after["country_code"], by=by, now=now)
    columns = after | {"working_days": rows.json_text(after["working_days"]), "updated_at": now}
    if not tx.update(OrganisationRow, columns, id=by.organisation_id):
        raise people_changes.ChangedMeanwhile
    _record(tx, "organisation.updated", before, after, by=by, now=now)
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    affected = recalculation.AffectedPeople(
        default_country="country_code" in differing, default_week="working_days" in differing
    )
    users = recalculation.lock_people(tx, by.organisation_id, affected)
    leave = recalculation.plan(tx, reference, users, now=now)
    owners = effects.owners(leave)
    granted: list[User] = []
    if recorder is not None:
        today = local_day(now, reference.organisation.timezone)
        if _may_lower_balances(before, after):
            granted = people_rows.not_archived(tx, by.organisation_id, limit=effects.MAX_CHECKED)
        people_by_id = {user.id: user for user in (*owners, *granted)}
        recorder.read_balances_before(tx, known_before, people_by_id.values(), today=today)
    cause = recalculation.cause_of_settings(
        other_week=affected.default_week, other_country=affected.default_country
    )
    if cause is not None:
        recalculation.apply(tx, reference, leave, cause, by=by, now=now)
    if not differing.isdisjoint(_OF_ALLOWANCES):
        card_refreshes.enqueue(tx, reference=reference, now=now)
    if not differing.isdisjoint(_IN_EVENTS):
        feed_changes.raise_sequence(tx, by.organisation_id, now=now)
    if recorder is not None:
        overdrawn = effects.overdrawn(recorder.balance_changes(tx, reference, granted))
        balances = recorder.balance_changes(tx, reference, owners)
        # Negative balances first, as the list may be cut off.
        listed = tuple(dict.fromkeys((*overdrawn, *balances)))
        recorder.effects = replace(
            recorder.effects,
            leave=tuple(leave),
            chosen_country_code=after["country_code"] if affected.default_country else None,
            balances=listed[: effects.MAX_BALANCES] if overdrawn else balances,
            changes_allowances=not differing.isdisjoint(_OF_ALLOWANCES),
            overdrawn=overdrawn,
        )
    return reference.organisation


def _may_lower_balances(before: Checked, after: Checked) -> bool:
    """Whether changed settings may make a balance negative: not where they only grant more."""
    return any(
        after[name] != before[name] and not (name in _AMOUNTS and after[name] > before[name])
        for name in _OF_ALLOWANCES
    )


def _checked_update(
    tx: Transaction, changes: Mapping[str, object], *, by: Caller
) -> tuple[Checked, Checked]:
    """The settings before and after, once everything about the change is sound."""
    values = fields.checked(changes, _CHECKS)
    before = _settings(tx, by.organisation_id)
    after = before | values
    check_leave_year_start(after["leave_year_start_month"], after["leave_year_start_day"])
    _check_working_hours(after)
    return before, after


def by_slug(tx: Transaction, slug: str) -> Organisation:
    """The organisation of that slug. Raises NotFound."""
    row = tx.first(_organisation_of_slug, slug=slug)
    if row is None:
        raise NotFound("organisation")
    return rows.organisation(row)


def only_one(tx: Transaction) -> Organisation | None:
    """The deployment's single organisation; None where there is none, or more than one."""
    found = tx.all(_first_two)
    return rows.organisation(found[0]) if len(found) == 1 else None


def count(tx: Transaction) -> int:
    """How many organisations there are."""
    row = tx.first(_count)
    return 0 if row is None else int(row.total)


def _insert(tx: Transaction, organisation: Organisation) -> None:
    columns = as_dict(organisation) | {"working_days": rows.json_text(organisation.working_days)}
    try:
        tx.insert(OrganisationRow, **columns)
    except DuplicateRow as error:  # Two at once made the same slug of their names.
        raise AlreadyExists("The slug {slug} is taken.", slug=organisation.slug) from error


def _check_slug(tx: Transaction, slug: str) -> str:
    if slug != fields.slug_of(slug, MAX_SLUG_LENGTH) or not slug:
        raise InvalidInput.of(
            "slug",
            "invalid_slug",
            "A short name (slug) can only have lower-case letters, digits and single hyphens.",
        )
    if tx.first(_organisation_of_slug, slug=slug) is not None:
        raise AlreadyExists("The slug {slug} is taken.", slug=slug)
    return slug


def _free_slug(tx: Transaction, name: str) -> str:
    """``acme``, or the first of ``acme-2``, ``acme-3``, … that is free."""
    base = fields.slug_of(name, MAX_SLUG_LENGTH) or "organisation"
    numbered = [f"{base}-{number}" for number in range(2, _NUMBERED_SLUGS)]
    taken = {slug for (slug,) in tx.all(_slugs_among, slugs=[base, *numbered])}
    free = (slug for slug in (base, *numbered) if slug not in taken)
    return next(free, None) or f"{base}-{secrets.token_hex(4)}"


def _check_working_hours(settings: Checked) -> None:
    if not settings["day_starts_at"] < settings["midday_at"] < settings["day_ends_at"]:
        raise InvalidInput.of(
            "midday_at",
            "working_hours_out_of_order",
            "The day must start before midday and end after midday.",
        )


def _settings(tx: Transaction, organisation_id: str) -> Checked:
    """What ``update`` can change, by name."""
    row = tx.first(_settings_of, organisation_id=organisation_id)
    if row is None:
        raise NotFound("organisation")
    settings: Checked = dict(zip(_CHECKS, row, strict=True))
    settings["working_days"] = tuple(orjson.loads(settings["working_days"]))
    settings["slack_members_join"] = bool(settings["slack_members_join"])
    return settings


def _audited(organisation: Organisation) -> dict[str, object]:
    audited = {name: getattr(organisation, name, None) for name in _CHECKS}
    return audited | {"slug": organisation.slug, "domain": organisation.domain}


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
def _organisation_of_slug(slug: Param[str]) -> Select:
    return OrganisationRow.select(*rows.ORGANISATION).where(OrganisationRow.slug == slug)


@compiled
def _slugs_among(slugs: Param[list[str]]) -> Select:
    return OrganisationRow.select(OrganisationRow.slug).where(any_of(OrganisationRow.slug, slugs))


@compiled
def _settings_of(organisation_id: Param[str]) -> Select:
    columns = [getattr(OrganisationRow, name) for name in _CHECKS]
    return OrganisationRow.select(*columns).where(OrganisationRow.id == organisation_id)


@compiled
def _first_two() -> Select:
    return OrganisationRow.select(*rows.ORGANISATION).limit(2)


@compiled
def _count() -> Select:
    return OrganisationRow.select(fn.COUNT(OrganisationRow.id).alias("total"))
