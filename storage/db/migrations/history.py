"""The table of applied migrations, with the oldest version that each works with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

import peewee
from playhouse.migrations import Runner

from storage.base.errors import SchemaOutOfDate

HISTORY = "schema_migration"
COMPATIBLE_FROM = "compatible_from"

# The whole schema of 1.0.0. Versions before it had migrations with lower numbers.
FIRST: Final = "0100_version_1_0_0"
LAST_BEFORE: Final = "0032_questions_about_balances"
# From the schema of LAST_BEFORE to that of FIRST.
STEPS: Final = Path(__file__).parent / "steps_to_1_0_0"
# The last commit whose version ends with LAST_BEFORE.
COMMIT_BEFORE: Final = "93fceb48"


def runner_of(database: Any, folder: Path) -> tuple[Runner, list[str]]:
    """The runner of the migrations in a folder, and their names in order."""
    runner = Runner(database, str(folder), table_name=HISTORY)
    modules = {migration.name: migration.load() for migration in runner.migrations()}
    runner.History = _history_model(runner, modules)
    return runner, list(modules)


def _history_model(runner: Runner, modules: Mapping[str, Any]) -> Any:
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


def is_earlier(migration: str) -> bool:
    """Whether it is of a version before 1.0.0. Its row in the history stays."""
    return migration < FIRST


def is_too_old(migration: str) -> bool:
    """Whether a database whose last migration this is cannot be brought to FIRST."""
    return migration < LAST_BEFORE


def bring_to_first(database: Any, runner: Runner, applied: Collection[str]) -> list[str]:
    """Bring the database of a version before 1.0.0 to FIRST, and return what was recorded.

    Its earlier migrations stay recorded: processes of that version look for them, and keep serving.
    Raises SchemaOutOfDate when it lacks some of them.
    """
    if not applied or FIRST in applied:
        return []
    if LAST_BEFORE not in applied:
        raise SchemaOutOfDate(
            f"This database was made by a version before 1.0.0 and lacks the migration "
            f"{LAST_BEFORE}. First run `hiatus migrate` of commit {COMMIT_BEFORE}, then that of "
            "this version."
        )
    steps, names = runner_of(database, STEPS)
    done = [name for step in names for name in steps.up(target=step)]
    with database.atomic():
        runner.History.create(name=FIRST)
    return [*done, FIRST]
