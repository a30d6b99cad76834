"""Labels for people: a name and a colour each, which admins manage and everyone sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Final

from storage.base import fields, texts
from storage.base.errors import Conflict
from storage.base.ids import new_id
from storage.base.shapes import HIDDEN, About, Id
from storage.base.values import Caller
from storage.db import rows
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import LabelRow
from storage.events import resources
from storage.events.resources import Resource

MAX_LABELS: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """A label for people."""

    id: Id
    name: Annotated[str, About(example="First aider")]
    colour: Annotated[str, About(description="`#rrggbb`.", example="#2e86de")]
    created_at: datetime
    updated_at: Annotated[datetime, HIDDEN]
    version: Annotated[int, HIDDEN]


class TooManyLabels(Conflict):
    """The organisation has reached the limit for labels."""

    code = "too_many_labels"
    title = "There are too many labels."
    cure = "Delete one that is not needed."

    def __init__(self) -> None:
        super().__init__(
            "An organisation can have at most {most} labels. Delete one first.", most=MAX_LABELS
        )


def _label(_: Transaction, row: Row) -> Label:
    return Label(
        id=row.id,
        name=row.name,
        colour=row.colour,
        created_at=rows.instant(row.created_at),
        updated_at=rows.instant(row.updated_at),
        version=row.version,
    )


_LABELS: Final = Resource(
    name="label",
    table=LabelRow,
    columns=(
        LabelRow.id,
        LabelRow.name,
        LabelRow.colour,
        LabelRow.created_at,
        LabelRow.updated_at,
        LabelRow.version,
    ),
    value=_label,
    checks={"name": texts.name, "colour": fields.colour},
    actions=("label.created", "label.updated", "label.deleted"),
    read_by="member",
)


def create(tx: Transaction, settings: Mapping[str, object], *, by: Caller, now: datetime) -> Label:
    """Add a label: ``name`` and ``colour``.

    Raises InsufficientRole, InvalidInput, NameTaken or TooManyLabels.
    """
    resources.lock(tx, by=by)
    fields.require(settings, "name", "colour")
    values = fields.checked(settings, _LABELS.checks)
    others = resources.all_of(tx, _LABELS, by.organisation_id, MAX_LABELS)
    texts.check_is_free(values["name"], ((other.id, other.name) for other in others))
    if len(others) >= MAX_LABELS:
        raise TooManyLabels
    label = Label(id=new_id(now), **values, created_at=now, updated_at=now, version=1)
    resources.add(tx, _LABELS, label, {}, by=by, now=now)
    return label


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[Label]:
    """The organisation's labels, oldest first. Raises UnusableCursor."""
    return resources.page(tx, _LABELS, page, by=by)


def get(tx: Transaction, label_id: str, *, by: Caller) -> Label:
    """Raises NotFound."""
    return resources.get(tx, _LABELS, label_id, by=by)


def update(
    tx: Transaction, label_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> Label:
    """Change the name or the colour.

    Raises InsufficientRole, NotFound, InvalidInput or NameTaken; then nothing has changed.
    """
    resources.lock(tx, by=by)
    before = get(tx, label_id, by=by)
    after = replace(before, **fields.checked(changes, _LABELS.checks))
    if after == before:
        return before
    others = resources.all_of(tx, _LABELS, by.organisation_id, MAX_LABELS)
    texts.check_is_free(after.name, ((other.id, other.name) for other in others), before.id)
    return resources.change(tx, _LABELS, before, after, by=by, now=now)


def delete(tx: Transaction, label_id: str, *, by: Caller, now: datetime) -> None:
    """Raises InsufficientRole or NotFound."""
    resources.lock(tx, by=by)
    resources.remove(tx, _LABELS, [get(tx, label_id, by=by)], by=by, now=now)
