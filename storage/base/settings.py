"""Storage's settings: the database, its timeout, the secret keys, and how long queues are kept."""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from storage.base.environment import Environment
from storage.base.retention import MAX_DAYS, MIN_DAYS, Retention
from storage.base.secrets import Secrets, is_secret_key, new_secret_key

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
    retention: Retention = Retention()

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
            retention=_read_retention(environment),
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


def _read_retention(environment: Environment) -> Retention:
    usual = Retention()
    return Retention(
        delivery_days=environment.days(
            "HIATUS_DELIVERY_DAYS", usual.delivery_days, least=MIN_DAYS, most=MAX_DAYS
        ),
        notification_days=environment.days(
            "HIATUS_NOTIFICATION_DAYS", usual.notification_days, least=MIN_DAYS, most=MAX_DAYS
        ),
    )


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
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return None


def _is_number(value: str | int | None) -> bool:
    """Whether it is a whole number or missing; several hosts may have one each, comma-separated."""
    return all(_NUMBER.fullmatch(part.strip()) for part in str(value or "").split(","))


SQLITE_PREFIX: Final = "sqlite:///"
_SETTING: Final = "HIATUS_SECRET_KEYS"
_KEY_LENGTH: Final = 44
_ENCRYPTED_ROWS: Final = (
    "SELECT 1 FROM secret_canaries LIMIT 1",
    "SELECT 1 FROM webhooks LIMIT 1",
    "SELECT 1 FROM calendar_feeds LIMIT 1",
    "SELECT 1 FROM slack_installations WHERE bot_token_encrypted <> '' LIMIT 1",
)


def read_secret_keys(
    environment: Environment, url: str, *, creates_key: bool = True
) -> tuple[str, ...]:
    """The Fernet keys for the database at ``url``; problems are added to ``environment``.

    None without a valid key, and where there is no key file yet and ``creates_key`` is False.
    """
    text = environment.secret(_SETTING)
    if not text and url.startswith(SQLITE_PREFIX):
        path = Path(url.removeprefix(SQLITE_PREFIX))
        text = _key_from_file(path, environment, creates_key=creates_key)
    elif not text and url:
        environment.problem(
            "HIATUS_SECRET_KEYS is missing: PostgreSQL needs one or more Fernet keys, "
            "comma-separated."
        )
    if not text:
        return ()
    keys = split_keys(text)
    if not keys:
        environment.problem(
            "HIATUS_SECRET_KEYS (or the key file beside the database) has a value that is not a "
            "Fernet key (32 bytes in URL-safe base64)."
        )
    return keys


def split_keys(text: str) -> tuple[str, ...]:
    """The keys in a value of ``HIATUS_SECRET_KEYS``; empty if one of them is not a Fernet key."""
    keys = tuple(key.strip() for key in text.split(",") if key.strip())
    # Base64 decoding ignores what follows the padding: two keys without a comma would pass as one.
    if not all(len(key) == _KEY_LENGTH and is_secret_key(key) for key in keys):
        return ()
    return keys


def secret_key_file(environment: Environment, url: str) -> Path | None:
    """The file that the keys come from, existing or not; None if the setting itself has them."""
    if environment.text(_SETTING):
        return None
    path = environment.secret_path(_SETTING)
    if path is None and url.startswith(SQLITE_PREFIX):
        return _key_file(Path(url.removeprefix(SQLITE_PREFIX)))
    return path


def key_file_in_use(environment: Environment, url: str) -> Path | None:
    """The key file beside an SQLite database; None if the setting or its file has the keys."""
    return None if environment.secret(_SETTING) else secret_key_file(environment, url)


def replace_keys(path: Path, old: Sequence[str], new: Sequence[str]) -> bool:
    """Replace the keys of a key file at once; False if it no longer has the ``old`` ones.

    After a crash the file has all old or all new keys. Its owner stays the same. Raises OSError.
    """
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # Concurrent replacements take turns.
        fcntl.flock(folder, fcntl.LOCK_EX)
        if split_keys(_read_key(path)) != tuple(old):
            return False
        before = path.stat()
        written = path.with_name(path.name + ".new")
        written.unlink(missing_ok=True)
        descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(",".join(new) + "\n")
            file.flush()
            if (before.st_uid, before.st_gid) != (os.getuid(), os.getgid()):
                os.fchown(file.fileno(), before.st_uid, before.st_gid)
            os.fsync(file.fileno())
        os.replace(written, path)
        os.fsync(folder)
    finally:
        os.close(folder)
    return True


def _key_file(database: Path) -> Path:
    return database.with_name(database.name + ".key")


def _key_from_file(database: Path, environment: Environment, *, creates_key: bool) -> str:
    """The content of the key file; with ``creates_key`` a new database gets one."""
    path = _key_file(database)
    try:
        if key := _read_key(path):
            return key
        if not creates_key:
            return ""
        # Read again: another process may have created and used the key in between.
        if _has_secrets(database) and not (key := _read_key(path)):
            environment.problem(
                f"HIATUS_SECRET_KEYS is missing, and so is the key file {path} that the secrets "
                f"in {database} were encrypted with: restore the file or, if it is lost for good, "
                "set HIATUS_SECRET_KEYS to a new key and run "
                "`hiatus secrets reencrypt --accept-loss`."
            )
            return ""
    except (OSError, UnicodeDecodeError):
        environment.problem(
            f"HIATUS_SECRET_KEYS is missing, and the key file {path} cannot be read."
        )
        return ""
    try:
        return _create_key(path)
    except OSError as error:
        environment.problem(
            f"HIATUS_SECRET_KEYS is missing, and the key file {path} cannot be created: "
            f"{error.strerror}."
        )
        return ""


def _read_key(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""


def _has_secrets(database: Path) -> bool:
    """Whether an SQLite file contains encrypted values; runs before the database is opened."""
    if not database.is_file():
        return False
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as file:
        for query in _ENCRYPTED_ROWS:
            # An older database may lack a table. Other errors appear when the database is opened.
            with suppress(sqlite3.Error):
                if file.execute(query).fetchone() is not None:
                    return True
    return False


def _create_key(path: Path) -> str:
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="ascii") as file:
        # A second process waits here, then reads the key that the first one wrote.
        fcntl.flock(file, fcntl.LOCK_EX)
        key = file.read().strip()
        if not key:
            key = new_secret_key()
            file.write(key + "\n")
            file.flush()
            os.fsync(file.fileno())
        return key
