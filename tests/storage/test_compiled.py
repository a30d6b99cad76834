"""Compiled queries: every parameter is given on every call, so no filter is left out by mistake.

Each ``type: ignore`` below is used: mypy reports the same mistakes (``warn_unused_ignores``).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from peewee import Select, Update

from storage.db.compiled import (
    Engine,
    Param,
    compiled,
    compiled_per_engine,
    sql_of,
)
from storage.db.database import Database, Row, Transaction
from storage.db.tables import LeaseRow, LeaveRequestRow, LeaveTypeRow
from tests.builders import an_organisation


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
