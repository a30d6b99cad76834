"""Display links: wallcharts for the screens and wikis of an organisation.

A link belongs to the organisation, and the token in its URL is the only credential: it shows what
every colleague may see. Tokens are stored like those of calendar feeds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final

from peewee import Delete, Select

from storage.base import fields, secrets, texts
from storage.base.errors import Conflict, InvalidInput, NotFound
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import Caller
from storage.db import locks, rows
from storage.db.compiled import Engine, Param, any_of, compiled, compiled_per_engine, server
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import DisplayLinkRow, OrganisationRow
from storage.directory import department_rows, people_changes
from storage.events import audit, feed_changes
from storage.rules import roles

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
    """The organisation has ``MAX_LINKS`` display links."""

    code = "too_many_display_links"
    title = "There are too many display links."

    def __init__(self) -> None:
        super().__init__(
            "An organisation can have at most {most} display links. Remove one first.",
            most=MAX_LINKS,
        )


_CHECKS: Final[Mapping[str, fields.Check]] = {
    "name": texts.name,
    "department_id": fields.unchecked,
}


def create(
    tx: Transaction, settings: Mapping[str, object], *, by: Caller, now: datetime
) -> DisplayLink:
    """Add a link: ``name``, and ``department_id`` unless it shows everyone.

    Raises InsufficientRole, InvalidInput or TooManyDisplayLinks.
    """
    roles.check_role(by.role, "admin")
    fields.require(settings, "name")
    values = fields.checked(settings, _CHECKS)
    locks.organisation(tx, by.organisation_id)
    if len(_all(tx, by.organisation_id)) >= MAX_LINKS:
        raise TooManyDisplayLinks
    link = DisplayLink(
        id=new_id(now),
        name=values["name"],
        department_id=values.get("department_id"),
        token=PREFIX + secrets.new_token(),
        created_at=now,
        updated_at=now,
        version=1,
    )
    _check_department(tx, link, by=by)
    tx.insert(
        DisplayLinkRow,
        organisation_id=by.organisation_id,
        id=link.id,
        name=link.name,
        department_id=link.department_id,
        token_sha256=secrets.fingerprint(link.token),
        token_encrypted=tx.secrets.encrypt(link.token),
        created_at=now,
        updated_at=now,
        version=1,
    )
    _record(tx, "display_link.created", None, link, by=by, now=now)
    return link


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[DisplayLink]:
    """The organisation's links, oldest first. Raises InsufficientRole or UnusableCursor."""
    roles.check_role(by.role, "admin")
    bound_to = ("display_links", by.organisation_id)
    after = position(tx, page, *bound_to)
    page_rows = tx.all(
        _links,
        organisation_id=by.organisation_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, page_rows, partial(_value, tx), lambda row: [row.id], *bound_to)


def get(tx: Transaction, link_id: str, *, by: Caller) -> DisplayLink:
    """Raises InsufficientRole or NotFound."""
    roles.check_role(by.role, "admin")
    if fields.is_id(link_id):
        row = tx.first(_link, organisation_id=by.organisation_id, link_id=link_id)
        if row is not None:
            return _value(tx, row)
    raise NotFound("display link")


def update(
    tx: Transaction, link_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> DisplayLink:
    """Change the name or the department; the URL stays.

    Raises InsufficientRole, NotFound or InvalidInput; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    before = get(tx, link_id, by=by)
    after = replace(before, **fields.checked(changes, _CHECKS))
    if after == before:
        return before
    _check_department(tx, after, by=by)
    after = replace(after, updated_at=now, version=before.version + 1)
    columns = {name: getattr(after, name) for name in (*_CHECKS, "updated_at", "version")}
    if not tx.update(DisplayLinkRow, columns, organisation_id=by.organisation_id, id=before.id):
        raise people_changes.ChangedMeanwhile
    _record(tx, "display_link.updated", before, after, by=by, now=now)
    return after


def revoke(tx: Transaction, link_id: str, *, by: Caller, now: datetime) -> None:
    """Remove a link: its URL no longer works. Raises InsufficientRole or NotFound."""
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    _revoke_all(tx, [get(tx, link_id, by=by)], by=by, now=now)


def revoke_of_department(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    """Remove the links of a department that is about to be deleted: they never show more."""
    links = _all(tx, by.organisation_id)
    _revoke_all(tx, [link for link in links if link.department_id == department_id], by=by, now=now)


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


def _check_department(tx: Transaction, link: DisplayLink, *, by: Caller) -> None:
    """Raises InvalidInput for an unknown department."""
    if link.department_id is not None and not department_rows.exists(
        tx, by.organisation_id, link.department_id, for_update=True
    ):
        raise InvalidInput.of("department_id", "not_found", "There is no such department.")


def _all(tx: Transaction, organisation_id: str) -> list[DisplayLink]:
    links = tx.all(_links, organisation_id=organisation_id, after_id=None, limit=MAX_LINKS)
    return [_value(tx, row) for row in links]


def _value(tx: Transaction, row: Row) -> DisplayLink:
    try:
        token = tx.secrets.decrypt(row.token_encrypted)
    except secrets.InvalidToken:
        token = ""
    return DisplayLink(
        id=row.id,
        name=row.name,
        department_id=row.department_id,
        token=token,
        created_at=rows.instant(row.created_at),
        updated_at=rows.instant(row.updated_at),
        version=row.version,
    )


def _revoke_all(
    tx: Transaction, links: Collection[DisplayLink], *, by: Caller, now: datetime
) -> None:
    if not links:
        return
    tx.change(_delete, organisation_id=by.organisation_id, link_ids=[link.id for link in links])
    for link in links:
        _record(tx, "display_link.revoked", link, None, by=by, now=now)


def _record(
    tx: Transaction,
    action: AuditAction,
    before: DisplayLink | None,
    after: DisplayLink | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    audit.record_value(tx, action, "display_link", before, after, _CHECKS, by=by, now=now)


_LINK: Final = (
    DisplayLinkRow.id,
    DisplayLinkRow.name,
    DisplayLinkRow.department_id,
    DisplayLinkRow.token_encrypted,
    DisplayLinkRow.created_at,
    DisplayLinkRow.updated_at,
    DisplayLinkRow.version,
)


@compiled
def _link(organisation_id: Param[str], link_id: Param[str]) -> Select:
    return DisplayLinkRow.select(*_LINK).where(
        DisplayLinkRow.organisation_id == organisation_id, DisplayLinkRow.id == link_id
    )


@compiled
def _links(organisation_id: Param[str], after_id: Param[str] | None, limit: Param[int]) -> Select:
    query = DisplayLinkRow.select(*_LINK).where(DisplayLinkRow.organisation_id == organisation_id)
    if after_id is not None:
        query = query.where(DisplayLinkRow.id > after_id)
    return query.order_by(DisplayLinkRow.id).limit(limit)


@compiled_per_engine
def _display(engine: Engine, token_sha256: Param[str]) -> Select:
    return (
        DisplayLinkRow.select(
            DisplayLinkRow.organisation_id,
            DisplayLinkRow.department_id,
            OrganisationRow.timezone,
            server(engine).alias("server"),
            OrganisationRow.reference_version,
            feed_changes.total(DisplayLinkRow.organisation_id).alias("changes"),
        )
        .join(OrganisationRow, on=(OrganisationRow.id == DisplayLinkRow.organisation_id))
        .where(DisplayLinkRow.token_sha256 == token_sha256)
    )


@compiled
def _delete(organisation_id: Param[str], link_ids: Param[list[str]]) -> Delete:
    return DisplayLinkRow.delete().where(
        DisplayLinkRow.organisation_id == organisation_id, any_of(DisplayLinkRow.id, link_ids)
    )
