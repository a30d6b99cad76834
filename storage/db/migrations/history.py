"""The table of applied migrations, with the oldest version that each works with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import peewee

if TYPE_CHECKING:
    from playhouse.migrations import Runner

HISTORY = "schema_migration"
COMPATIBLE_FROM = "compatible_from"


def history_model(runner: Runner, modules: Mapping[str, Any]) -> Any:
    """The table of applied migrations: each is recorded in its own transaction."""

    class History(runner.database.Model):  # type: ignore[misc]
        name = peewee.CharField(unique=True)
        applied = peewee.DateTimeField(default=runner.History.applied.default)
        compatible_from = peewee.IntegerField(null=True)

        class Meta:
            legacy_table_names = False
            table_name = HISTORY

        @classmethod
        def create(cls, *, name: str) -> Any:
            # A migration that says nothing works with no older version.
            compatible_from = getattr(modules[name], "COMPATIBLE_FROM", number_of(name))
            return super().create(name=name, compatible_from=compatible_from)

    return History


def extend_history(database: Any) -> bool:
    """Add what an older history lacks. Returns whether there is a history at all."""
    if not database.table_exists(HISTORY):
        return False
    if all(column.name != COMPATIBLE_FROM for column in database.get_columns(HISTORY)):
        database.execute_sql(f"ALTER TABLE {HISTORY} ADD COLUMN {COMPATIBLE_FROM} INTEGER")
    return True


def applied_names(database: Any) -> set[str]:
    """The names of the applied migrations."""
    if not database.table_exists(HISTORY):
        return set()
    history = peewee.Table(HISTORY, ("name",)).bind(database)
    return {name for (name,) in history.select(history.name).tuples()}


def compatibility(database: Any) -> dict[str, int | None]:
    """By migration: the number of the last migration of the oldest version that it works with."""
    history = peewee.Table(HISTORY, ("name", COMPATIBLE_FROM)).bind(database)
    rows = history.select(history.name, history.compatible_from).tuples()
    return dict(rows)


def number_of(migration: str) -> int:
    """The number that a migration's name begins with."""
    return int(migration.partition("_")[0])
