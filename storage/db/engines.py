"""Which engine a database URL names."""

from __future__ import annotations

from storage.base.secrets import Secrets
from storage.db.database import TIMEOUT_SECONDS, Database
from storage.db.postgresql import PostgresqlDatabase
from storage.db.sqlite import SqliteDatabase


def open_database(url: str, secrets: Secrets, timeout_seconds: float = TIMEOUT_SECONDS) -> Database:
    """The handle for ``sqlite:///file`` or ``postgresql://…``; it connects when first used.

    A database that does not answer for ``timeout_seconds`` is unavailable.
    """
    if url.startswith("sqlite:"):
        return SqliteDatabase(url.removeprefix("sqlite:///"), secrets, timeout_seconds)
    return PostgresqlDatabase(url, secrets, timeout_seconds)
