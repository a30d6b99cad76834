"""Migrate a database to the schema of this code, and check that this code can use its schema.

Each migration records the oldest version that still works after it, as the number of the last
migration that this version has. So old processes keep serving while newer ones take over.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import peewee
import structlog

from storage.base.errors import SchemaOutOfDate, SchemaTooNew
from storage.db.compiled import compiled
from storage.db.database import TIMEOUT_SECONDS, Transaction
from storage.db.migrations.connections import (
    connected,
    is_lock_timeout,
    is_pooled_database,
    locked,
)
from storage.db.migrations.history import (
    COMPATIBLE_FROM,
    FIRST,
    HISTORY,
    LAST_BEFORE,
    applied_names,
    bring_to_first,
    compatibility,
    extend_history,
    is_earlier,
    number_of,
    runner_of,
)

MIGRATIONS = Path(__file__).parent / "migrations"
# What SQLite's planner assumes of each index: its rows, then how many of them have the same first
# column, the same first two columns … Without statistics it takes every organisation for ten rows;
# ANALYZE would count the average organisation (docs/decisions.md, "SQLite gets statistics").
_SQLITE_STATISTICS = {
    "leave_requests": {
        "sqlite_autoindex_leave_requests_1": "1000000 10000 1",
        "leaverequestrow_organisation_id_created_at_id": "1000000 10000 1 1",
        "leaverequestrow_organisation_id_start_date_end_date": "1000000 10000 10 5",
        "leaverequestrow_organisation_id_updated_at_id": "1000000 10000 1 1",
        "leaverequestrow_organisation_id_user_id_end_date": "1000000 10000 50 2",
        "leave_requests_decided": "900000 9000 100",
        "leave_requests_covered": "1000 100 2 1",
        "leave_requests_first_approved": "1000 100 10",
        "leave_requests_second_approved": "1000 100 20",
        "leave_requests_undecided": "1000 100 1 1",
    },
    "audit_entries": {
        "sqlite_autoindex_audit_entries_1": "2000000 20000 1",
        "auditrow_organisation_id_occurred_at_id": "2000000 20000 1 1",
        "auditrow_organisation_id_action_occurred_at_id": "2000000 20000 2000 1 1",
        "auditrow_organisation_id_actor_id_occurred_at_id": "2000000 20000 200 1 1",
        "auditrow_organisation_id_subject_id_occurred_at_id": "2000000 20000 4 1 1",
    },
}
_LOCK_PAUSE_SECONDS = 1.0
# How long to repeat that before giving up.
LOCK_SECONDS = 60.0

_log = structlog.stdlib.get_logger("hiatus.database")


def migrate(
    url: str,
    timeout_seconds: float = TIMEOUT_SECONDS,
    *,
    migrations: Path = MIGRATIONS,
    lock_seconds: float = LOCK_SECONDS,
) -> list[str]:
    """Apply the missing migrations, oldest first, and return their names.

    Processes take turns. A statement may take as long as it needs while the server still accepts
    connections, but never waits long for a lock: it is repeated for ``lock_seconds``. Through a
    connection pooler all migrations are one transaction. Raises SchemaOutOfDate or
    DatabaseUnavailable.
    """
    ends_at = time.monotonic() + lock_seconds
    done: list[str] = []
    with connected(url, timeout_seconds) as database:
        while True:
            try:
                with locked(database):
                    _apply(database, migrations, done)
                return done
            except peewee.OperationalError as error:
                if not is_lock_timeout(error):
                    raise
                if time.monotonic() > ends_at:
                    raise SchemaOutOfDate(
                        "Other transactions kept a table locked, so a migration could not begin: "
                        "it changed nothing. Wait for the end of a backup, or look in "
                        "pg_stat_activity for transactions that are open for long. Then run "
                        "`hiatus migrate` again."
                    ) from error
                if is_pooled_database(database):
                    done.clear()
            time.sleep(random.uniform(0.5, 1.5) * _LOCK_PAUSE_SECONDS)


def _apply(database: Any, folder: Path, done: list[str]) -> None:
    """Apply the missing migrations, and add the name of each to ``done`` after it."""
    runner, names = runner_of(database, folder)
    applied = set(runner.applied()) if extend_history(database) else set()
    newer = _newer(applied, names)
    if newer and set(names) - applied:
        raise _too_new(newer[0])
    _require_usable(compatibility(database) if newer else {}, names)
    done += bring_to_first(database, runner, applied)
    for name in names:
        done += runner.up(target=name)
    if isinstance(database, peewee.SqliteDatabase):
        _write_statistics(database)


def _write_statistics(database: peewee.SqliteDatabase) -> None:
    # Only ANALYZE can create the table; this one counts a few rows.
    database.execute_sql("ANALYZE secret_canaries")
    database.execute_sql("DELETE FROM sqlite_stat1")
    for table, indexes in _SQLITE_STATISTICS.items():
        for index, numbers in indexes.items():
            database.execute_sql(
                "INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", (table, index, numbers)
            )


def check_schema(url: str, timeout_seconds: float = TIMEOUT_SECONDS) -> list[str]:
    """Raise SchemaOutOfDate, with what to do, unless this version can use the database's schema.

    Returns the migrations of newer versions, with which this version works.
    """
    with connected(url, timeout_seconds) as database:
        newer = _newer_if_complete(applied_names(database))
        if newer:
            _require_usable(compatibility(database), _migrations())
    return newer


def check_schema_again(tx: Transaction) -> list[str]:
    """As ``check_schema``, on the connection of a running process."""
    newer = _newer_if_complete({name for (name,) in tx.all(_applied_names)})
    if newer:
        rows = tx.all(_applied_compatibility)
        _require_usable(dict(rows), _migrations())
    return newer


def log_newer(names: Collection[str]) -> None:
    """Log, once in this process, that a newer version has migrated the database."""
    for name in names:
        _log_newer(name)


@cache
def _log_newer(name: str) -> None:
    _log.info(
        "database.newer",
        migration=name,
        reason="a newer version has migrated the database; this version works with its schema",
    )


@compiled
def _applied_names() -> peewee.Select:
    history = peewee.Table(HISTORY, ("name",))
    return history.select(history.name)


@compiled
def _applied_compatibility() -> peewee.Select:
    history = peewee.Table(HISTORY, ("name", COMPATIBLE_FROM))
    return history.select(history.name, history.compatible_from)


def _newer_if_complete(applied: set[str]) -> list[str]:
    """As ``_newer``, of this version's migrations. Raises SchemaOutOfDate if some are missing."""
    needed = _migrations()
    missing = sorted(set(needed) - applied)
    if missing:
        raise SchemaOutOfDate(
            f"The database lacks the migration {missing[0]}: run `hiatus migrate` first."
        )
    return _newer(applied, needed)


def _newer(applied: set[str], known: Collection[str]) -> list[str]:
    """The applied migrations of versions that are newer than one with the ``known`` ones."""
    return sorted(name for name in applied - set(known) if not is_earlier(name))


def _require_usable(oldest: Mapping[str, int | None], known: Collection[str]) -> None:
    """Raise SchemaTooNew if an applied migration needs a version with later ones than ``known``."""
    last = max(map(number_of, known))
    for name in _newer(set(oldest), known):
        since = oldest[name]
        if since is None or since > last:
            raise _too_new(name)


def _too_new(name: str) -> SchemaTooNew:
    return SchemaTooNew(
        f"The database has the migration {name}, which this version does not know and cannot work "
        "with: run a newer version of Hiatus."
    )


def latest_migration() -> str:
    return _migrations()[-1]


def is_known(migration: str) -> bool:
    """Whether ``migrate`` can continue after that migration."""
    return migration in _migrations() or LAST_BEFORE <= migration < FIRST


def _migrations() -> list[str]:
    return sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))
