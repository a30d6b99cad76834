"""Organisations: created and looked up."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from peewee import Select, fn

from storage.admin import organisation_settings, people
from storage.base import texts
from storage.base.allowance_values import NEW_ALLOWANCE_HALF_DAYS
from storage.base.errors import AlreadyExists, InvalidInput, NotFound
from storage.base.ids import new_id
from storage.base.values import Caller, Organisation, Source, User, local_day
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import OrganisationRow, UserRow
from storage.leave import leave_types
from storage.outbox import organisation_config
from storage.people import allowance_terms, holiday_sets
from storage.rules import counted_days

MAX_SLUG_LENGTH: Final = 48
# Of all organisations of a deployment, for its operator.
MAX_LISTED: Final = 10_000
# How many organisations with the same name get a readable slug.
_NUMBERED_SLUGS: Final = 50
# The newest ones are compared with a new name.
_MAX_NAMES: Final = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class NewOrganisation:
    """``slug`` None: made from the name. ``domain``: of its e-mail addresses, to find the
    organisation of a Slack workspace.
    """

    name: str
    country_code: str
    timezone: str
    owner_email: str
    owner_first_name: str
    owner_last_name: str
    slug: str | None = None
    domain: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """An organisation in the operator's list. ``people`` counts those who are not archived."""

    id: str
    slug: str
    name: str
    people: int
    created_at: datetime


def create(
    tx: Transaction, new: NewOrganisation, *, source: Source, now: datetime
) -> tuple[Organisation, User]:
    """Create an organisation with its settings, leave types, holiday set and a pending owner.

    Raises InvalidInput, or AlreadyExists when ``new.slug`` is taken.
    """
    settings = organisation_settings.checked(
        {"name": new.name, "country_code": new.country_code, "timezone": new.timezone}
    )
    slug = _free_slug(tx, settings["name"]) if new.slug is None else _check_slug(tx, new.slug)
    organisation = Organisation(
        id=new_id(now),
        slug=slug,
        domain=new.domain,
        logo_url=None,
        working_days=counted_days.WEEKDAYS[:5],
        leave_year_type="calendar",
        leave_year_start_month=1,
        leave_year_start_day=1,
        default_leave_allowance_half_days=NEW_ALLOWANCE_HALF_DAYS,
        carry_over_half_days=0,
        carry_over_expiry_month=None,
        day_starts_at="09:00",
        midday_at="13:00",
        day_ends_at="17:00",
        slack_team_id=None,
        slack_members_join=True,
        digest_channel=None,
        expiry_notices=True,
        reference_version=1,
        created_at=now,
        updated_at=now,
        **settings,
    )
    _insert(tx, organisation)
    by = Caller.system(organisation.id, source)
    organisation_settings.record_created(tx, organisation, by=by, now=now)
    holiday_sets.ensure(tx, organisation.country_code, by=by, now=now)
    leave_types.add_defaults(tx, by=by, now=now)
    owner = {
        "email": new.owner_email,
        "first_name": new.owner_first_name,
        "last_name": new.owner_last_name,
        "role": "owner",
    }
    user = people.create(tx, owner, by=by, now=now)
    return get(tx, by=by, now=now), user


def get(tx: Transaction, *, by: Caller, now: datetime) -> Organisation:
    """The caller's organisation, with today's terms of the default allowance. Raises NotFound."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    return allowance_terms.organisation_as_of(config, today)


def by_slug(tx: Transaction, slug: str) -> Organisation:
    """The organisation of that slug. Raises NotFound."""
    row = tx.find(OrganisationRow, slug=slug)
    if row is None:
        raise NotFound("organisation")
    return rows.organisation(row)


def only_one(tx: Transaction) -> Organisation | None:
    """The deployment's single organisation; None if there are none or several."""
    first_two = tx.select_page(OrganisationRow, after_id=None, limit=2)
    return rows.organisation(first_two[0]) if len(first_two) == 1 else None


def listed(tx: Transaction) -> list[Listed]:
    """All organisations, the oldest first; at most one more than ``MAX_LISTED``."""
    return [*map(_listed_organisation, tx.all(_listed, limit=MAX_LISTED + 1))]


_listed_organisation: Final = rows.mapper(Listed)


def slug_of_name(tx: Transaction, name: str) -> str | None:
    """The slug of an organisation of that name, apart from case and spacing; None without one."""
    key = texts.name_key(name)
    # In Python: SQLite compares letters outside ASCII with case.
    newest = tx.select_page(OrganisationRow, after_id=None, limit=_MAX_NAMES, descends=True)
    return next((row.slug for row in newest if texts.name_key(row.name) == key), None)


def count(tx: Transaction) -> int:
    row = tx.first(_count)
    return 0 if row is None else int(row.total)


def _insert(tx: Transaction, organisation: Organisation) -> None:
    try:
        tx.insert(OrganisationRow, **rows.columns(organisation))
    except DuplicateRow as error:  # Two concurrent calls made the same slug.
        raise AlreadyExists("The slug {slug} is taken.", slug=organisation.slug) from error


def _check_slug(tx: Transaction, slug: str) -> str:
    if slug != texts.slug_of(slug, MAX_SLUG_LENGTH) or not slug:
        raise InvalidInput.of(
            "slug",
            "invalid_slug",
            "A short name (slug) can only have lower-case letters, digits and single hyphens.",
        )
    if tx.find(OrganisationRow, slug=slug) is not None:
        raise AlreadyExists("The slug {slug} is taken.", slug=slug)
    return slug


def _free_slug(tx: Transaction, name: str) -> str:
    """``acme``, or the first of ``acme-2``, ``acme-3``, … that is free."""
    base = texts.slug_of(name, MAX_SLUG_LENGTH) or "organisation"
    numbered = [f"{base}-{number}" for number in range(2, _NUMBERED_SLUGS)]
    used_slugs = {row.slug for row in tx.select(OrganisationRow, slug=[base, *numbered])}
    free = (slug for slug in (base, *numbered) if slug not in used_slugs)
    return next(free, None) or f"{base}-{secrets.token_hex(4)}"


@compiled
def _listed(limit: Param[int]) -> Select:
    people = UserRow.select(fn.COUNT(UserRow.id)).where(
        (UserRow.organisation_id == OrganisationRow.id) & (UserRow.status != "archived")
    )
    return (
        OrganisationRow.select(
            OrganisationRow.id,
            OrganisationRow.slug,
            OrganisationRow.name,
            OrganisationRow.created_at,
            people.alias("people"),
        )
        .order_by(OrganisationRow.created_at, OrganisationRow.id)
        .limit(limit)
    )


@compiled
def _count() -> Select:
    return OrganisationRow.select(fn.COUNT(OrganisationRow.id).alias("total"))
