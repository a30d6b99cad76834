"""What admins manage: read, listed, added, changed and removed, each change with its audit entry.

A module of use cases declares its ``Resource`` and calls these functions after its own checks, as
``storage/calendars/display_links.py`` does. Changes need the organisation's lock, so that limits
and uniqueness hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from peewee import Model

from storage.base import fields
from storage.base.errors import NotFound
from storage.base.event_values import AuditAction
from storage.base.ids import is_id
from storage.base.values import Caller, Role
from storage.db import locks, pages
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf
from storage.outbox import audit
from storage.rules import roles

# A frozen dataclass with ``id``, ``updated_at`` and ``version``.
T = TypeVar("T", bound=Any)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Resource(Generic[T]):
    """A table with one row for each thing that admins manage.

    ``name`` is the thing's in errors and, with underscores, in the audit trail. ``value`` makes it
    of a row. ``checks`` are those of the fields that admins set. ``actions`` are the
    audit actions of a new one, of a change and of a removal. ``read_by`` is the lowest role that
    sees them; admins change them. ``audited_as`` has the names of fields in the audit trail that
    differ, as the API has them.
    """

    name: str
    table: type[Model]
    value: Callable[[Transaction, Row], T]
    checks: Mapping[str, fields.Check]
    actions: tuple[AuditAction, AuditAction, AuditAction]
    read_by: Role = "admin"
    audited_as: Mapping[str, str] = field(default_factory=dict)

    @property
    def subject_type(self) -> str:
        return self.name.replace(" ", "_")


def lock(tx: Transaction, *, by: Caller) -> None:
    """The first step of a change. Raises InsufficientRole."""
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)


def get(tx: Transaction, resource: Resource[T], resource_id: str, *, by: Caller) -> T:
    """Raises InsufficientRole or NotFound."""
    roles.check_role(by.role, resource.read_by)
    if is_id(resource_id):
        row = tx.find(resource.table, organisation_id=by.organisation_id, id=resource_id)
        if row is not None:
            return resource.value(tx, row)
    raise NotFound(resource.name)


def page(tx: Transaction, resource: Resource[T], page: PageOf, *, by: Caller) -> Page[T]:
    """Those of the organisation, oldest first. Raises InsufficientRole or UnusableCursor."""
    roles.check_role(by.role, resource.read_by)
    name = f"{resource.subject_type}s"
    value = partial(resource.value, tx)
    return pages.by_id(tx, page, resource.table, value, name, by.organisation_id)


def all_of(tx: Transaction, resource: Resource[T], organisation_id: str, most: int) -> list[T]:
    """The first ``most`` of them, oldest first."""
    rows = tx.select_page(
        resource.table, after_id=None, limit=most, organisation_id=organisation_id
    )
    return [resource.value(tx, row) for row in rows]


def add(
    tx: Transaction,
    resource: Resource[T],
    value: T,
    columns: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Insert a value, whose row has these columns."""
    tx.insert(resource.table, organisation_id=by.organisation_id, **columns)
    _record(tx, resource, 0, None, value, by=by, now=now)


def change(
    tx: Transaction,
    resource: Resource[T],
    before: T,
    after: T,
    columns: Mapping[str, object] | None = None,
    *,
    by: Caller,
    now: datetime,
) -> T:
    """Save the fields that admins set, and ``columns``. Returns the value with its new version."""
    after = replace(after, updated_at=now, version=before.version + 1)
    names = (*resource.checks, "updated_at", "version")
    changes = {name: getattr(after, name) for name in names} | dict(columns or {})
    tx.update(resource.table, changes, organisation_id=by.organisation_id, id=before.id)
    _record(tx, resource, 1, before, after, by=by, now=now)
    return after


def remove(
    tx: Transaction, resource: Resource[T], values: Sequence[T], *, by: Caller, now: datetime
) -> None:
    if not values:
        return
    ids = [value.id for value in values]
    tx.delete(resource.table, organisation_id=by.organisation_id, id=ids)
    for value in values:
        _record(tx, resource, 2, value, None, by=by, now=now)


def remove_of_department(
    tx: Transaction, resource: Resource[T], department_id: str, *, by: Caller, now: datetime
) -> None:
    """Remove those with this ``department_id``, because the department is deleted."""
    where = {"organisation_id": by.organisation_id, "department_id": department_id}
    found = [resource.value(tx, row) for row in tx.select(resource.table, **where)]
    remove(tx, resource, sorted(found, key=lambda value: value.id), by=by, now=now)


def _record(
    tx: Transaction,
    resource: Resource[T],
    action: int,
    before: T | None,
    after: T | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    if before is None or after is None or _audited(resource, before) != _audited(resource, after):
        audit.record_shown(
            tx,
            resource.actions[action],
            resource.subject_type,
            before,
            after,
            partial(_audited, resource),
            by=by,
            now=now,
        )


def _audited(resource: Resource[T], value: T) -> dict[str, object]:
    names = resource.audited_as
    return {names.get(name, name): getattr(value, name) for name in resource.checks}
