"""Everything that is kept about a person, as values for JSON.

Other people are in it as ids only, and what they wrote about their own leave is not. Of what the
person did for others, it says when they did what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import orjson
from peewee import Field

from storage.admin import personal_data
from storage.admin.personal_data import SECTIONS, Section
from storage.base.errors import InsufficientRole
from storage.base.values import Caller, days_of
from storage.db import rows
from storage.db.compiled import Table
from storage.db.database import Row, Transaction
from storage.db.tables import (
    AllowanceAdjustmentRow,
    AmendmentRow,
    AuditRow,
    FlagField,
    LeaveRequestRow,
    SuggestionRow,
    TimeCreditRow,
)
from storage.people import people_rows

# Of each list, newest first: ten years of one person's leave are a few hundred rows, and what an
# admin did in ten years may be hundreds of thousands.
MAX_ROWS: Final = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonalData:
    """``about`` has the rows by section, ``done`` what the person did, both newest first.

    ``cut`` names the lists of which only the newest rows are there.
    """

    user_id: str
    exported_at: datetime
    about: dict[str, list[dict[str, object]]]
    done: dict[str, list[dict[str, object]]]
    cut: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Done:
    """Rows of others that name the person in a column, of which only some columns are shown."""

    table: Table
    column: str
    shown: tuple[str, ...]


_DONE: Final[Mapping[str, _Done]] = {
    "leave_decided": _Done(
        table=LeaveRequestRow, column="decided_by", shown=("id", "status", "decided_at")
    ),
    "leave_recorded": _Done(
        table=LeaveRequestRow, column="recorded_by", shown=("id", "status", "created_at")
    ),
    "leave_covered": _Done(
        table=LeaveRequestRow, column="cover_user_id", shown=("id", "start_date", "end_date")
    ),
    "amendments_decided": _Done(
        table=AmendmentRow, column="decided_by", shown=("id", "status", "decided_at")
    ),
    "dates_suggested": _Done(
        table=SuggestionRow, column="suggested_by", shown=("id", "status", "suggested_at")
    ),
    "time_credits_decided": _Done(
        table=TimeCreditRow, column="decided_by", shown=("id", "status", "decided_at")
    ),
    "adjustments_made": _Done(
        table=AllowanceAdjustmentRow, column="created_by", shown=("id", "created_at")
    ),
    "actions": _Done(
        table=AuditRow,
        column="actor_id",
        shown=("id", "action", "occurred_at", "source", "subject_type", "subject_id"),
    ),
}
_JSON: Final = frozenset(
    {
        *("working_days", "employment", "earlier_periods", "figures", "approvals", "changes"),
        *("known", "body"),
    }
)


def export(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> PersonalData:
    """Raises NotFound, or InsufficientRole for others than the person, admins and owners."""
    user = people_rows.get(tx, user_id, by=by)
    if user.id != by.user_id and not by.is_admin:
        raise InsufficientRole("admin")
    ids = personal_data.ids_of(tx, by.organisation_id, user)
    about: dict[str, list[dict[str, object]]] = {}
    done: dict[str, list[dict[str, object]]] = {}
    cut: list[str] = []
    for name, section in SECTIONS.items():
        where = {"organisation_id": by.organisation_id, section.column: ids[section.key]}
        shown = _shown_of(section)
        found = _newest(tx, section.table, where)
        about[name] = [_record(row, shown) for row in found[:MAX_ROWS]]
        cut += [name] if len(found) > MAX_ROWS else []
    for name, kind in _DONE.items():
        where = {"organisation_id": by.organisation_id, kind.column: user.id}
        shown = {name: kind.table._meta.fields[name] for name in kind.shown}
        found = _newest(tx, kind.table, where)
        done[name] = [_record(row, shown) for row in found[:MAX_ROWS]]
        cut += [name] if len(found) > MAX_ROWS else []
    return PersonalData(user_id=user.id, exported_at=now, about=about, done=done, cut=tuple(cut))


def _newest(tx: Transaction, table: Table, where: Mapping[str, object]) -> list[Row]:
    if "id" not in table._meta.fields:
        # One row, or one for each request that awaits the person.
        return tx.select(table, **where)
    return tx.select_page(table, after_id=None, limit=MAX_ROWS + 1, descends=True, **where)


def _shown_of(section: Section) -> Mapping[str, Field]:
    fields: Mapping[str, Field] = section.table._meta.fields
    hidden = section.hidden | {"organisation_id"}
    return {name: field for name, field in fields.items() if name not in hidden}


def _record(row: Row, shown: Mapping[str, Field]) -> dict[str, object]:
    return {
        _name(name): _value(name, field, getattr(row, field.column_name))
        for name, field in shown.items()
    }


def _name(column: str) -> str:
    return column.replace("half_days", "days")


def _value(name: str, field: Field, value: object) -> object:
    if value is None:
        return None
    if isinstance(value, (bytes, memoryview)):
        value = bytes(value).decode("utf-8", "replace")
    if name in _JSON and isinstance(value, str):
        parsed: object = orjson.loads(value)
        return parsed
    if isinstance(field, FlagField):
        return bool(value)
    if isinstance(value, int):
        return _number(name, value)
    return value


def _number(name: str, value: int) -> object:
    if name.endswith("half_days"):
        return days_of(value)
    return rows.instant(value) if name.endswith(("_at", "_until")) else value
