"""Storage's settings: the database, its timeout and the secret keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from storage.base.environment import Environment
from storage.base.secret_keys import SQLITE_PREFIX, read_secret_keys
from storage.base.secrets import Secrets

DEFAULT_DATABASE_URL: Final = "sqlite:///hiatus.db"
# How every database file begins: https://www.sqlite.org/fileformat.html, 1.2.
_SQLITE_HEADER: Final = b"SQLite format 3\0"
_DATABASE_TIMEOUT: Final = 10.0
_POSTGRESQL_PREFIXES: Final = ("postgres://", "postgresql://")
# libpq's parameters that are whole numbers.
_NUMBERS: Final = (
    "port",
    "connect_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
)
_NUMBER: Final = re.compile(r"([+-]?[0-9]{1,9})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSettings:
    """``database_url`` is ``sqlite:///file`` or ``postgresql://…``; the first key encrypts.

    ``database_timeout`` is how long a call waits for the database, in seconds.
    """

    database_url: str = field(repr=False)
    secret_keys: tuple[str, ...] = field(repr=False)
    database_timeout: float = _DATABASE_TIMEOUT

    @classmethod
    def read(cls, environment: Environment, *, creates_key: bool = True) -> StorageSettings:
        """The settings; problems are added to ``environment.problems``.

        Creates the key file of an SQLite database that has neither a key nor a key file, unless
        ``creates_key`` is False.
        """
        if environment.text("HIATUS_CACHE_MB"):
            environment.problem("HIATUS_CACHE_MB was removed: caches have fixed bounds. Unset it.")
        if environment.secret("DATABASE_READ_URL"):
            environment.problem(
                "DATABASE_READ_URL was removed: everything is read from DATABASE_URL. Unset it."
            )
        url = read_database_url(environment)
        return cls(
            database_url=url,
            secret_keys=read_secret_keys(environment, url, creates_key=creates_key),
            database_timeout=read_database_timeout(environment),
        )

    @classmethod
    def from_env(cls, values: Mapping[str, str]) -> StorageSettings:
        """As ``read``. Raises SettingsError."""
        environment = Environment(values)
        settings = cls.read(environment)
        environment.check()
        return settings

    def secrets(self) -> Secrets:
        return Secrets(self.secret_keys)


def read_database_url(environment: Environment) -> str:
    """The URL for ``open_database``; "" after a problem."""
    url = environment.secret("DATABASE_URL") or DEFAULT_DATABASE_URL
    if url.startswith(_POSTGRESQL_PREFIXES):
        return _read_postgresql_url(environment, url)
    path = Path(url.removeprefix(SQLITE_PREFIX))
    if not url.startswith(SQLITE_PREFIX) or not path.name or path.name == ":memory:":
        environment.problem(
            "DATABASE_URL is sqlite:///<file> or postgresql://<user>@<host>/<database>."
        )
        return ""
    if not path.parent.is_dir():
        environment.problem(f"DATABASE_URL names a file in {path.parent}, which is not a folder.")
        return ""
    problem = _sqlite_file_problem(path)
    if problem:
        environment.problem(f"DATABASE_URL names {path}, which {problem}.")
        return ""
    return url


def _read_postgresql_url(environment: Environment, url: str) -> str:
    """The URL in libpq's form; "" after a problem."""
    if url.startswith("postgres://"):
        url = "postgresql://" + url.removeprefix("postgres://")
    # libpq's message could contain the password, and so could a value.
    parameters = _libpq_parameters(url)
    if parameters is None:
        environment.problem("DATABASE_URL is not a postgresql:// URL that libpq understands.")
        return ""
    malformed = [number for number in _NUMBERS if not _is_number(parameters.get(number))]
    for number in malformed:
        environment.problem(f"DATABASE_URL has a {number} that is not a whole number.")
    return "" if malformed else url


def read_database_timeout(environment: Environment) -> float:
    """How long a call waits for the database, in seconds."""
    return environment.seconds("HIATUS_DATABASE_TIMEOUT", _DATABASE_TIMEOUT, least=2, most=600)


def _sqlite_file_problem(path: Path) -> str:
    """Why the path cannot be an SQLite database, as the end of a sentence; "" if it can."""
    if not path.exists():
        return ""
    if not path.is_file():
        return "is not a file"
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_SQLITE_HEADER))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    # SQLite initialises an empty file.
    return "" if beginning in (b"", _SQLITE_HEADER) else "is not an SQLite database"


def _libpq_parameters(url: str) -> Mapping[str, str | int | None] | None:
    """The connection parameters in a URL; None if libpq does not understand it."""
    # Imported here: not needed with SQLite.
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return None


def _is_number(value: str | int | None) -> bool:
    """Whether it is a whole number or missing; several hosts may have one each, comma-separated."""
    return all(_NUMBER.fullmatch(part.strip()) for part in str(value or "").split(","))
