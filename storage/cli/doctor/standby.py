"""A check of the standby in ``DATABASE_READ_URL``: that it is one, and how far it is behind."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Final

from peewee import SQL, Select, fn

from storage.base.errors import DatabaseUnavailable
from storage.cli.doctor.findings import Check, Finding, failed, ok, warning
from storage.cli.doctor.reading import Reader
from storage.db.compiled import compiled
from storage.db.database import Transaction

# How long a standby may take to have what the primary had when it was asked.
CATCH_UP_SECONDS: Final = 3.0

# Longer than both servers may take to answer, and the standby to catch up.
_CHECK_SECONDS: Final = 20.0
_PAUSE_SECONDS: Final = 0.2
_MIB: Final = 1 << 20
_SUBJECT: Final = "standby"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Server:
    """``position`` counts the bytes of the write-ahead log that the server has.

    ``age_seconds`` is how old the newest change is that a standby has; None without one.
    """

    cluster: int
    database: str
    is_standby: bool
    position: int
    age_seconds: float | None


def checks(reader: Reader) -> list[Check]:
    """None without ``DATABASE_READ_URL``."""
    if not reader.settings.read_url:
        return []
    look = partial(_look, reader)
    return [Check(subject=_SUBJECT, look=look, seconds=_CHECK_SECONDS)]


def _look(reader: Reader) -> list[Finding]:
    try:
        standby = reader.read_standby(_server)
    except DatabaseUnavailable as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        text = (
            f"cannot be read ({reason}), so the primary answers for it: check that it runs, and "
            "DATABASE_READ_URL"
        )
        return failed(_SUBJECT, text)
    try:
        primary = reader.read(_server)
    except DatabaseUnavailable:
        return warning(_SUBJECT, "answers; not compared, because the database cannot be read")
    if (standby.cluster, standby.database) != (primary.cluster, primary.database):
        text = (
            "DATABASE_READ_URL leads to another database than DATABASE_URL: name a standby of its "
            "primary"
        )
        return failed(_SUBJECT, text)
    if not standby.is_standby:
        text = (
            "DATABASE_READ_URL leads to a primary, so it takes no reads off one: name a standby, "
            "or leave it out"
        )
        return warning(_SUBJECT, text)
    return _lag(reader, standby, primary.position)


def _lag(reader: Reader, standby: _Server, position: int) -> list[Finding]:
    ends_at = time.monotonic() + CATCH_UP_SECONDS
    while standby.position < position and time.monotonic() < ends_at:
        time.sleep(_PAUSE_SECONDS)
        standby = reader.read_standby(_server)
    if standby.position >= position:
        return ok(_SUBJECT, "follows the primary, and has the same schema and data")
    behind = f"{(position - standby.position) / _MIB:,.1f} MiB"
    if standby.age_seconds is not None:
        behind += f" and up to {standby.age_seconds:,.0f} s"
    text = (
        f"is {behind} behind the primary, which answers for it: look at its log, and at "
        "pg_stat_replication on the primary"
    )
    return warning(_SUBJECT, text)


def _server(tx: Transaction) -> _Server:
    row = tx.first(_state)
    assert row is not None
    return _Server(
        cluster=row.cluster,
        database=row.database,
        is_standby=row.is_standby,
        position=row.position,
        age_seconds=row.age_seconds,
    )


@compiled
def _state() -> Select:
    # The WAL functions of one kind of server raise an error on the other.
    position = SQL(
        "pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
        " ELSE pg_current_wal_lsn() END, '0/0')::bigint"
    )
    age = SQL("extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8")
    return Select(
        columns=[
            SQL("(SELECT system_identifier FROM pg_control_system())").alias("cluster"),
            fn.current_database().alias("database"),
            fn.pg_is_in_recovery().alias("is_standby"),
            position.alias("position"),
            age.alias("age_seconds"),
        ]
    )
