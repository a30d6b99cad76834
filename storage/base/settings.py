"""Settings from environment variables: readers for all packages, and storage's own settings.

The environment is an argument; ``serve.py`` passes the process's own.
"""

from __future__ import annotations

import fcntl
import math
import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar, cast

from storage.base.secrets import Secrets, is_secret_key, new_secret_key

Word = TypeVar("Word", bound=str)

DEFAULT_DATABASE_URL: Final = "sqlite:///hiatus.db"
_SQLITE_PREFIX: Final = "sqlite:///"
# How every database file begins: https://www.sqlite.org/fileformat.html, 1.2.
_SQLITE_HEADER: Final = b"SQLite format 3\0"
_KEY_CHARACTERS: Final = 44
_ENCRYPTED: Final = (
    "SELECT 1 FROM secret_canaries LIMIT 1",
    "SELECT 1 FROM webhooks LIMIT 1",
    "SELECT 1 FROM calendar_feeds LIMIT 1",
    "SELECT 1 FROM slack_installations WHERE bot_token_encrypted <> '' LIMIT 1",
)
_DATABASE_TIMEOUT: Final = 10.0
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
_SWITCH: Final = {
    "on": True,
    "true": True,
    "yes": True,
    "1": True,
    "off": False,
    "false": False,
    "no": False,
    "0": False,
}


class SettingsError(Exception):
    """Settings that are missing or malformed; ``problems`` has a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = tuple(problems)


class Environment:
    """Reads settings and collects all problems, which ``check`` raises together.

    An empty value counts as missing.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.problems: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """The stripped value; ``default`` if it is missing."""
        return self._values.get(name, "").strip() or default

    def secret(self, name: str) -> str:
        """The value of ``name``, or the content of the file in ``name_FILE``; "" without both."""
        value, path = self.text(name), self.text(f"{name}_FILE")
        if not path:
            return value
        if value:
            self.problem(f"{name} and {name}_FILE are both set; keep one of them.")
            return value
        try:
            found = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            self.problem(f"{name}_FILE names {path}, which cannot be read: {reason}.")
            return ""
        if not found:
            self.problem(f"{name}_FILE names {path}, which is empty.")
        return found

    def switch(self, name: str, *, default: bool) -> bool:
        """``on`` or ``off``, also true, yes, 1, false, no and 0."""
        text = self.text(name).lower()
        if text and text not in _SWITCH:
            self.problem(f"{name} is either on or off, not {text!r}.")
        return _SWITCH.get(text, default)

    def one_of(self, name: str, words: Sequence[Word], default: Word) -> Word:
        """One of a few words."""
        text = self.text(name, default)
        if text not in words:
            self.problem(f"{name} is one of {', '.join(words)}, not {text!r}.")
            return default
        return cast(Word, text)

    def seconds(self, name: str, default: float, *, least: float, most: float) -> float:
        """A number of seconds within bounds."""
        text = self.text(name, str(default))
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not least <= seconds <= most:
            self.problem(f"{name} is a number of seconds from {least:g} to {most:g}, not {text!r}.")
            return default
        return seconds

    def problem(self, sentence: str) -> None:
        """Add a problem; the sentence names the setting and contains no secret."""
        self.problems.append(sentence)

    def check(self) -> None:
        """Raises SettingsError if there are problems."""
        if self.problems:
            raise SettingsError(self.problems)


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSettings:
    """``database_url`` is ``sqlite:///file`` or ``postgresql://…``; the first key encrypts.

    ``database_timeout`` is how long a call waits for the database, in seconds.
    """

    database_url: str = field(repr=False)
    secret_keys: tuple[str, ...] = field(repr=False)
    database_timeout: float = _DATABASE_TIMEOUT

    @classmethod
    def read(cls, environment: Environment) -> StorageSettings:
        """The settings; problems are added to ``environment.problems``.

        Makes the key file of an SQLite database that has neither a key nor a key file.
        """
        url = _database_url(environment)
        timeout = environment.seconds(
            "HIATUS_DATABASE_TIMEOUT", _DATABASE_TIMEOUT, least=2, most=600
        )
        return cls(
            database_url=url, secret_keys=_secret_keys(environment, url), database_timeout=timeout
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


def _database_url(environment: Environment) -> str:
    """The URL for ``open_database``; "" after a problem."""
    url = environment.secret("DATABASE_URL") or DEFAULT_DATABASE_URL
    if url.startswith("postgres://"):
        url = "postgresql://" + url.removeprefix("postgres://")
    if url.startswith("postgresql://"):
        # libpq's message could contain the password, and so could a value.
        parameters = _libpq_parameters(url)
        if parameters is None:
            environment.problem("DATABASE_URL is not a postgresql:// URL that libpq understands.")
            return ""
        malformed = [name for name in _NUMBERS if not _is_number(parameters.get(name))]
        for name in malformed:
            environment.problem(
                f"DATABASE_URL sets {name} to something that is not a whole number."
            )
        return "" if malformed else url
    path = Path(url.removeprefix(_SQLITE_PREFIX))
    if not url.startswith(_SQLITE_PREFIX) or not path.name or path.name == ":memory:":
        environment.problem(
            "DATABASE_URL is sqlite:///<file> or postgresql://<user>@<host>/<database>."
        )
        return ""
    if not path.parent.is_dir():
        environment.problem(f"DATABASE_URL names a file in {path.parent}, which is no folder.")
        return ""
    problem = _sqlite_file_problem(path)
    if problem:
        environment.problem(f"DATABASE_URL names {path}, which {problem}.")
        return ""
    return url


def _sqlite_file_problem(path: Path) -> str:
    """Why the path cannot be an SQLite database, as the end of a sentence; "" if it can."""
    if not path.exists():
        return ""
    if not path.is_file():
        return "is no file"
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_SQLITE_HEADER))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    # SQLite initialises an empty file.
    return "" if beginning in (b"", _SQLITE_HEADER) else "is no SQLite database"


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


def _secret_keys(environment: Environment, url: str) -> tuple[str, ...]:
    text = environment.secret("HIATUS_SECRET_KEYS")
    if not text and url.startswith(_SQLITE_PREFIX):
        text = _key_beside(Path(url.removeprefix(_SQLITE_PREFIX)), environment)
    elif not text and url:
        environment.problem(
            "HIATUS_SECRET_KEYS is missing: with PostgreSQL it has to hold one or more "
            "Fernet keys, comma-separated."
        )
    if not text:
        return ()
    keys = tuple(key.strip() for key in text.split(",") if key.strip())
    # Base64 decoding ignores what follows the padding: two keys without a comma would pass as one.
    if not keys or not all(len(key) == _KEY_CHARACTERS and is_secret_key(key) for key in keys):
        environment.problem(
            "HIATUS_SECRET_KEYS holds something that is no Fernet key "
            "(32 bytes in URL-safe base64), or the key file beside the database does."
        )
    return keys


def _key_beside(database: Path, environment: Environment) -> str:
    """The key in the key file, which is created for a new database."""
    path = database.with_name(database.name + ".key")
    try:
        if key := _kept_key(path):
            return key
        # Read again: another process may have created and used the key in between.
        if _holds_secrets(database) and not (key := _kept_key(path)):
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
        return _make_key(path)
    except OSError as error:
        environment.problem(
            f"HIATUS_SECRET_KEYS is missing, and no key file {path} can be made: {error.strerror}."
        )
        return ""


def _kept_key(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""


def _holds_secrets(database: Path) -> bool:
    """Whether an SQLite file contains encrypted values; runs before the database is opened."""
    if not database.is_file():
        return False
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as file:
        for query in _ENCRYPTED:
            # An older database may lack a table. Other errors appear when the database is opened.
            with suppress(sqlite3.Error):
                if file.execute(query).fetchone() is not None:
                    return True
    return False


def _make_key(path: Path) -> str:
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
