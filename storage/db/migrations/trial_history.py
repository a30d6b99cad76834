"""Databases of trials before the first version, which 18 migrations made.

The first version folds those migrations into one. A database that has all 18 has exactly its
schema, so only the history of migrations is replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from storage.base.errors import SchemaOutOfDate

if TYPE_CHECKING:
    from playhouse.migrations import Runner

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
