"""Compiled queries: every parameter is given on every call, so no filter is left out by mistake.

Each ``type: ignore`` below is used: mypy reports the same mistakes (``warn_unused_ignores``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import pytest
from peewee import SQL, Select, Update

from storage.base.values import Department, record
from storage.db import rows
from storage.db.compiled import (
    Compiled,
    Engine,
    Param,
    compiled,
    compiled_per_engine,
    sql_of,
)
from storage.db.database import Database, Row, Transaction
from storage.db.tables import LeaseRow, LeaveRequestRow, LeaveTypeRow
from storage.leave import leave_types
from tests.builders import NOW, Acme, an_organisation, type_id

pytestmark = pytest.mark.both_engines


@compiled
def leases(holder: Param[str] | None, is_sorted: bool, limit: Param[int]) -> Select:
    query = LeaseRow.select(LeaseRow.name, LeaseRow.holder)
    if holder is not None:
        query = query.where(LeaseRow.holder == holder)
    return query.order_by(LeaseRow.name if is_sorted else LeaseRow.held_until).limit(limit)


@compiled
def rename(name: Param[str], new_name: Param[str]) -> Update:
    return LeaseRow.update(name=new_name).where(LeaseRow.name == name)


@compiled
def held_by(holder: Param[str | None]) -> Select:
    return LeaseRow.select(LeaseRow.name).where(LeaseRow.holder == holder)


@compiled_per_engine
def engines_of(engine: Engine, name: Param[str]) -> Select:
    return LeaseRow.select(LeaseRow.name, LeaseRow.holder == engine).where(LeaseRow.name == name)


def fill(tx: Transaction) -> None:
    for name, holder in (("digest", "ada"), ("report", "grace")):
        tx.insert(LeaseRow, name=name, holder=holder, held_until=0)


def all_leases(tx: Transaction) -> list[Row]:
    return tx.all(leases, holder=None, is_sorted=True, limit=10)


def without_filter(tx: Transaction) -> None:
    tx.all(leases, is_sorted=True, limit=10)  # type: ignore[call-arg]


def without_value(tx: Transaction) -> None:
    tx.first(leases, holder=None, is_sorted=True)  # type: ignore[call-arg]


def without_shape(tx: Transaction) -> None:
    tx.all(leases, holder=None, limit=10)  # type: ignore[call-arg]


def change_without_value(tx: Transaction) -> None:
    tx.change(rename, name="digest")  # type: ignore[call-arg]


def misspelt(tx: Transaction) -> None:
    tx.all(leases, hodler="ada", is_sorted=True, limit=10)  # type: ignore[call-arg]


def with_another(tx: Transaction) -> None:
    tx.change(rename, name="digest", new_name="x", holder="ada")  # type: ignore[call-arg]


def by_position(tx: Transaction) -> None:
    # mypy cannot refuse this one.
    tx.change(rename, "digest", new_name="summary")


def with_the_engine(tx: Transaction) -> None:
    tx.all(engines_of, name="digest", engine="sqlite")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "call",
    [
        without_filter,
        without_value,
        without_shape,
        change_without_value,
        misspelt,
        with_another,
        by_position,
        with_the_engine,
    ],
)
def test_exactly_the_parameters_are_passed_by_name_on_every_call(
    database: Database, call: Callable[[Transaction], None]
) -> None:
    database.write_now(fill)

    for _ in range(2):
        with pytest.raises(TypeError, match=r"takes \[.* by name"):
            database.write_now(call)
        # Compiled by now, for the same absent filter.
        assert database.read_now(all_leases) == [("digest", "ada"), ("report", "grace")]


def test_a_query_may_differ_by_engine(database: Database) -> None:
    database.write_now(fill)

    assert database.read_now(lambda tx: tx.all(engines_of, name="digest")) in (
        [("digest", 0)],
        [("digest", False)],
    )


def test_a_filter_that_is_none_is_absent(database: Database) -> None:
    database.write_now(fill)

    def of(tx: Transaction, holder: str | None) -> list[str]:
        return [name for name, _ in tx.all(leases, holder=holder, is_sorted=True, limit=10)]

    assert database.read_now(of, None) == ["digest", "report"]
    assert database.read_now(of, "grace") == ["report"]


def test_a_value_that_may_be_none_is_bound_as_null(database: Database) -> None:
    database.write_now(fill)

    def of(tx: Transaction, holder: str | None) -> list[Row]:
        return tx.all(held_by, holder=holder)

    assert database.read_now(of, "ada") == [("digest",)]
    # NULL equals nothing: a caller without the value finds no rows, instead of all of them.
    assert database.read_now(of, None) == []


@compiled
def leases_of_constants(limit: Param[int]) -> Select:
    awkward = LeaseRow.name.in_(("it's", "?", r"\'"))
    return LeaseRow.select(LeaseRow.name).where(awkward).order_by(LeaseRow.name).limit(limit)


def awkward_leases(tx: Transaction) -> None:
    for name in ("it's", "?", r"\'", "its"):
        tx.insert(LeaseRow, name=name, holder="ada", held_until=0)


def test_constants_of_a_query_may_have_quotes_and_question_marks(database: Database) -> None:
    database.write_now(awkward_leases)

    rows = database.read_now(lambda tx: tx.all(leases_of_constants, limit=10))

    assert [name for (name,) in rows] == ["?", r"\'", "it's"]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_constants_of_a_query_are_literals_for_indexes_with_a_condition(engine: Engine) -> None:
    query = LeaveRequestRow.select(LeaveRequestRow.id).where(LeaveRequestRow.status == "approved")

    statement = sql_of(query, engine)

    assert statement.sql.endswith("""WHERE ("t1"."status" = 'approved')""")
    assert statement.bound({}) == []


@compiled
def archived(is_archived: bool) -> Select:
    return LeaveTypeRow.select(LeaveTypeRow.id).where(LeaveTypeRow.is_archived == is_archived)


@pytest.mark.parametrize("is_archived", [True, False])
def test_a_constant_may_be_a_boolean(database: Database, is_archived: bool) -> None:
    an_organisation(database)

    found = database.read_now(lambda tx: tx.all(archived, is_archived=is_archived))

    assert bool(found) is not is_archived


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
    leave_type = acme.read(leave_types.get, type_id(database, acme, "sick"))

    assert (leave_type.requires_approval, leave_type.is_paid) == (False, True)
    assert type(leave_type.requires_approval) is bool


def test_clients_see_public_names_days_and_nothing_hidden() -> None:
    department = Department(
        id="0197c2a4-4f02-7b55-a1d0-93c85e7f2103",
        name="Research",
        manager_id=None,
        default_leave_allowance_half_days=55,
        created_at=NOW,
        updated_at=NOW,
        version=3,
    )

    assert record(department) == {
        "id": department.id,
        "name": "Research",
        "manager_id": None,
        "default_leave_allowance": 27.5,
        "created_at": NOW,
    }
