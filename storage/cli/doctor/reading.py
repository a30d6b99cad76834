"""Reads the database without changing anything, not even the files beside an SQLite database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

from storage.base.errors import DatabaseUnavailable
from storage.base.secrets import Secrets
from storage.base.settings import SQLITE_PREFIX, StorageSettings
from storage.db import engines
from storage.db.database import Transaction

P = ParamSpec("P")
T = TypeVar("T")

# Shorter than a check may take.
READ_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """Opens the database of the settings for each read."""

    settings: StorageSettings

    @property
    def sqlite_path(self) -> Path | None:
        """The SQLite file; None with PostgreSQL or without a valid DATABASE_URL."""
        url = self.settings.database_url
        return Path(url.removeprefix(SQLITE_PREFIX)) if url.startswith(SQLITE_PREFIX) else None

    def read(
        self, use_case: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a reading use case. Raises DatabaseUnavailable."""
        settings = self.settings
        if not settings.database_url:
            raise DatabaseUnavailable("DATABASE_URL is not valid")
        secrets = settings.secrets() if settings.secret_keys else Secrets.generate()
        if self.sqlite_path is not None:
            return _read_sqlite(self.sqlite_path, secrets, lambda tx: use_case(tx, *args, **kwargs))
        seconds = min(settings.database_timeout, READ_SECONDS)
        with closing(engines.open_database(settings.database_url, secrets, seconds)) as database:
            return database.read_now(use_case, *args, **kwargs)


def _read_sqlite(path: Path, secrets: Secrets, work: Callable[[Transaction], T]) -> T:
    if not path.exists():
        raise DatabaseUnavailable(f"there is no file {path}: run `hiatus migrate`")
    # Even a read-only connection would create -wal and -shm. Without them, no process has the file
    # open, and it can be read as immutable.
    in_use = any(path.with_name(path.name + end).exists() for end in ("-wal", "-journal"))
    mode = "mode=ro" if in_use else "immutable=1"
    uri = f"{path.absolute().as_uri()}?{mode}"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=READ_SECONDS)) as connection:
            return work(Transaction(connection.execute, "sqlite", secrets, {}))
    except sqlite3.DatabaseError as error:
        raise DatabaseUnavailable(str(error)) from error
