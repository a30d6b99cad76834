"""The table of applied migrations, with the oldest version that each works with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import peewee
from playhouse.migrations import Runner

from storage.base.errors import SchemaOutOfDate

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


_FIRST_VERSION = "0001_first_version"
# The last commit with these migrations.
_LAST_TRIAL_COMMIT = "073ebe9"
TRIAL_MIGRATIONS = (
    "0001_initial",
    "0002_indexes_of_approval",
    "0003_indexes_of_lists",
    "0004_index_of_adjustments",
    "0006_indexes_of_audit",
    "0007_webhook_queues",
    "0008_feed_changes",
    "0010_slack_workspaces",
    "0012_slack_homes",
    "0013_reminders_and_digests",
    "0014_slack_syncs",
    "0015_archived_people",
    "0016_secret_canaries",
    "0017_failing_webhooks",
    "0019_days_of_notices",
    "0020_constraints",
    "0023_feed_sequences",
    "0024_feed_fetches",
)


def adopt_trial(runner: Runner) -> list[str]:
    """Replace the history of a trial database by that of the first version.

    Returns the migrations that were recorded. Raises SchemaOutOfDate when the database lacks some
    of the 18: the trial version that made it has to migrate it first.
    """
    applied = runner.applied()
    missing = [name for name in TRIAL_MIGRATIONS if name not in applied]
    if len(missing) == len(TRIAL_MIGRATIONS):
        return []
    if missing:
        raise SchemaOutOfDate(
            f"This database was made by a trial version and lacks the migration {missing[0]}. "
            f"First run `hiatus migrate` of commit {_LAST_TRIAL_COMMIT}, then that of this version."
        )
    history = runner.History
    with runner.database.atomic():
        history.delete().where(history.name.in_(TRIAL_MIGRATIONS)).execute()
        history.create(name=_FIRST_VERSION)
    return [_FIRST_VERSION]
