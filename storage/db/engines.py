"""Which engine a database URL names."""

from __future__ import annotations

from typing import Final

from storage.base.secrets import Secrets
from storage.db.database import TIMEOUT_SECONDS, Database
from storage.db.sqlite import BUSY_SECONDS, SqliteDatabase

# The primary answers in place of a standby that takes longer.
STANDBY_SECONDS: Final = 2.0


def open_database(
    url: str, secrets: Secrets, timeout_seconds: float = TIMEOUT_SECONDS, *, read_url: str = ""
) -> Database:
    """The handle for ``sqlite:///file`` or ``postgresql://…``; it connects when first used.

    A database that does not answer for ``timeout_seconds`` is unavailable. ``read_url`` leads to a
    standby of the PostgreSQL primary.
    """
    if url.startswith("sqlite:"):
        path = url.removeprefix("sqlite:///")
        return SqliteDatabase(path, secrets, min(BUSY_SECONDS, timeout_seconds))
    # Imported here: a process on SQLite does not need psycopg.
    from storage.db.postgresql import PostgresqlDatabase

    database = PostgresqlDatabase(url, secrets, timeout_seconds)
    if read_url:
        database.standby = PostgresqlDatabase(
            read_url, secrets, STANDBY_SECONDS, session_attrs="prefer-standby"
        )
    return database
