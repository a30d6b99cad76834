"""Rows become values by the names of their columns and the types of the values' fields."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import pytest
from peewee import SQL, Select

from storage.db import rows
from storage.db.compiled import Compiled, compiled
from storage.db.database import Database, Transaction
from storage.leave import leave_types
from tests.builders import Acme, type_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """A field of every type that is converted, named as the columns of ``stored``."""

    name: str
    is_active: bool
    created_at: datetime
    ended_at: datetime | None
    first_day: date
    last_day: date | None
    events: tuple[str, ...]
    working_days: tuple[str, ...] | None


COLUMNS = {
    "working_days": "'[\"monday\"]'",
    "events": '\'["a", "b"]\'',
    "last_day": "'2026-12-31'",
    "first_day": "'2026-08-03'",
    "ended_at": "1780000000001",
    "created_at": "1780000000000",
    "is_active": "1",
    "more": "'no field has this name'",
    "name": "'Ada'",
}
NULLABLE = ("ended_at", "last_day", "working_days")
INSTANT = datetime(2026, 5, 28, 20, 26, 40, tzinfo=UTC)

stored_of = rows.mapper(Stored)


@compiled
def stored() -> Select:
    return Select(columns=[SQL(text).alias(name) for name, text in COLUMNS.items()])


@compiled
def stored_with_nulls() -> Select:
    texts = COLUMNS | dict.fromkeys(NULLABLE, "NULL")
    return Select(columns=[SQL(text).alias(name) for name, text in texts.items()])


@compiled
def named() -> Select:
    return Select(columns=[SQL("'Ada'").alias("name"), SQL("1 + 1"), SQL("2").alias("level")])


def value_of(tx: Transaction, query: Compiled[[]]) -> Stored:
    row = tx.first(query)
    assert row is not None
    return stored_of(row)


def test_columns_become_fields_by_their_names_and_the_fields_types(database: Database) -> None:
    assert database.read_now(value_of, stored) == Stored(
        name="Ada",
        is_active=True,
        created_at=INSTANT,
        ended_at=INSTANT + timedelta(milliseconds=1),
        first_day=date(2026, 8, 3),
        last_day=date(2026, 12, 31),
        events=("a", "b"),
        working_days=("monday",),
    )


def test_null_becomes_none(database: Database) -> None:
    value = database.read_now(value_of, stored_with_nulls)

    assert (value.ended_at, value.last_day, value.working_days) == (None, None, None)


def test_a_column_without_a_name_is_passed_over(database: Database) -> None:
    (row,) = database.read_now(lambda tx: tx.all(named))

    assert (row.name, row.level) == ("Ada", 2)
    assert row == ("Ada", 2, 2)


def test_a_field_without_a_column_is_an_error(database: Database) -> None:
    with pytest.raises(AttributeError, match="is_active"):
        database.read_now(value_of, named)


def test_a_booleans_column_becomes_a_boolean(database: Database, acme: Acme) -> None:
    leave_type = database.read_now(leave_types.get, type_id(database, acme, "sick"), by=acme.caller)

    assert (leave_type.requires_approval, leave_type.is_paid) == (False, True)
    assert type(leave_type.requires_approval) is bool
