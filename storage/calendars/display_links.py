"""Display links: wallcharts for the screens and wikis of an organisation.

A link belongs to the organisation, and the token in its URL is the only credential: it shows what
every colleague may see. Tokens are stored like those of calendar feeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from peewee import Select

from storage.base import fields, secrets, texts
from storage.base.errors import Conflict, Sentence
from storage.base.ids import new_id
from storage.base.values import Caller
from storage.calendars.feed_owners import server
from storage.db import rows
from storage.db.compiled import Engine, Param, compiled_per_engine
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import DisplayLinkRow, OrganisationRow
from storage.outbox import organisation_config, resources
from storage.outbox.resources import Resource
from storage.people import department_rows

MAX_LINKS: Final = 50
# Tells these tokens from those of feeds, so each kind is found with one query.
PREFIX: Final = "display-"


@dataclass(frozen=True, kw_only=True, slots=True)
class DisplayLink:
    """``token`` is the secret part of the URL, "" if no key decrypts it.

    ``department_id`` is None for everyone.
    """

    id: str
    name: str
    department_id: str | None
    token: str
    created_at: datetime
    updated_at: datetime
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Display:
    """What a token opens, with the versions of everything that it may show.

    Equal values mean an equal chart on the same day, as for ``FeedOwner``. ``timezone`` is the
    organisation's.
    """

    organisation_id: str
    department_id: str | None
    timezone: str
    server: str
    reference_version: int
    changes: int


class TooManyDisplayLinks(Conflict):
    """The organisation has reached the limit for display links."""

    code = "too_many_display_links"
    title = "There are too many display links."
    cure = "Remove one that no screen shows."
    sentence = Sentence(
        "An organisation can have at most {most} display links. Remove one first.",
        most=MAX_LINKS,
    )


def _link(tx: Transaction, row: Row) -> DisplayLink:
    return DisplayLink(
        id=row.id,
        name=row.name,
        department_id=row.department_id,
        token=tx.secrets.decrypt_or_empty(row.token_encrypted),
        created_at=rows.instant(row.created_at),
        updated_at=rows.instant(row.updated_at),
        version=row.version,
    )


_LINKS: Final = Resource(
    name="display link",
    table=DisplayLinkRow,
    value=_link,
    checks={"name": texts.name, "department_id": fields.unchecked},
    actions=("display_link.created", "display_link.updated", "display_link.revoked"),
)


def create(
    tx: Transaction, settings: Mapping[str, object], *, by: Caller, now: datetime
) -> DisplayLink:
    """Add a link: ``name``, and ``department_id`` unless it shows everyone.

    Raises InsufficientRole, InvalidInput or TooManyDisplayLinks.
    """
    resources.lock(tx, by=by)
    fields.require(settings, "name")
    values = fields.checked(settings, _LINKS.checks)
    if len(resources.all_of(tx, _LINKS, by.organisation_id, MAX_LINKS)) >= MAX_LINKS:
        raise TooManyDisplayLinks
    department_rows.check(tx, values.get("department_id"), by=by)
    link = DisplayLink(
        id=new_id(now),
        name=values["name"],
        department_id=values.get("department_id"),
        token=PREFIX + secrets.new_token(),
        created_at=now,
        updated_at=now,
        version=1,
    )
    columns = rows.columns(link)
    token = columns.pop("token")
    columns["token_sha256"] = secrets.fingerprint(token)
    columns["token_encrypted"] = tx.secrets.encrypt(token)
    resources.add(tx, _LINKS, link, columns, by=by, now=now)
    return link


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[DisplayLink]:
    """The organisation's links, oldest first. Raises InsufficientRole or UnusableCursor."""
    return resources.page(tx, _LINKS, page, by=by)


def get(tx: Transaction, link_id: str, *, by: Caller) -> DisplayLink:
    """Raises InsufficientRole or NotFound."""
    return resources.get(tx, _LINKS, link_id, by=by)


def update(
    tx: Transaction, link_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> DisplayLink:
    """Change the name or the department; the URL stays.

    Raises InsufficientRole, NotFound or InvalidInput; then nothing has changed.
    """
    resources.lock(tx, by=by)
    before = get(tx, link_id, by=by)
    after = replace(before, **fields.checked(changes, _LINKS.checks))
    if after == before:
        return before
    department_rows.check(tx, after.department_id, by=by)
    return resources.change(tx, _LINKS, before, after, by=by, now=now)


def revoke(tx: Transaction, link_id: str, *, by: Caller, now: datetime) -> None:
    """Remove a link: its URL no longer works. Raises InsufficientRole or NotFound."""
    resources.lock(tx, by=by)
    resources.remove(tx, _LINKS, [get(tx, link_id, by=by)], by=by, now=now)


def revoke_of_department(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    """Remove the links of a department that is about to be deleted: they never show more."""
    resources.remove_of_department(tx, _LINKS, department_id, by=by, now=now)


def find_by_token(tx: Transaction, token: str) -> Display | None:
    """What the token opens; None if it is unknown or revoked."""
    row = tx.first(_display, token_sha256=secrets.fingerprint(token))
    if row is None:
        return None
    return Display(
        organisation_id=row.organisation_id,
        department_id=row.department_id,
        timezone=row.timezone,
        server=row.server,
        reference_version=row.reference_version,
        changes=int(row.changes or 0),
    )


@compiled_per_engine
def _display(engine: Engine, token_sha256: Param[str]) -> Select:
    return (
        DisplayLinkRow.select(
            DisplayLinkRow.organisation_id,
            DisplayLinkRow.department_id,
            OrganisationRow.timezone,
            server(engine).alias("server"),
            OrganisationRow.reference_version,
            organisation_config.feed_change_count(DisplayLinkRow.organisation_id).alias("changes"),
        )
        .join(OrganisationRow, on=(OrganisationRow.id == DisplayLinkRow.organisation_id))
        .where(DisplayLinkRow.token_sha256 == token_sha256)
    )
