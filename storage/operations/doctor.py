"""The command ``hiatus doctor``: what a check and its findings are, and the checks of storage.

``api.service.doctor`` and ``bot.service.doctor`` add theirs, and ``serve.py`` composes them. A
check changes nothing, prints no secret, and works without the database wherever it can.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Concatenate, Final, Literal, ParamSpec, TypeVar
from urllib.parse import urlsplit

import click
import peewee
import psycopg
from peewee import fn

from storage.base.errors import (
    DatabaseUnavailable,
    SchemaOutOfDate,
    SchemaTooNew,
    SecretKeysUnusable,
)
from storage.base.secrets import Secrets
from storage.base.settings import SQLITE_PREFIX, StorageSettings
from storage.db import engines
from storage.db.compiled import Param, compiled
from storage.db.connections import PROCESS_NAME
from storage.db.database import Transaction
from storage.db.schema import check_schema, check_schema_again
from storage.keys import stored_secrets
from storage.notifications import digests, notification_queue
from storage.operations import console
from storage.people import slack_status_rows
from storage.webhooks import delivery_queue

P = ParamSpec("P")
T = TypeVar("T")
State = Literal["ok", "warning", "failed"]

CHECK_SECONDS: Final = 10.0
# Shorter than a check may take.
_READ_SECONDS: Final = 5.0
# How long the oldest item may have been due. A lease of a process that crashed lasts up to two
# minutes.
_LATE_SECONDS: Final = 150
_STUCK_SECONDS: Final = 900
# SQLite files up to this size are read well within the time of a check.
_MAX_FILE_BYTES: Final = 512 << 20
_MIB: Final = 1 << 20
FULL_BYTES: Final = 100 * _MIB
_LOW_BYTES: Final = 1_024 * _MIB
_PUBLIC_FILES: Final = ("HIATUS_WEBHOOK_CA_FILE", "SSL_CERT_FILE")
_COLOURS: Final[dict[State, str]] = {"ok": "green", "warning": "yellow", "failed": "red"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line: what was looked at and, unless it is ok, what to do. It contains no secret.

    ``code`` stays the same from version to version (docs/doctor.md); texts may change.
    """

    state: State
    subject: str
    code: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Looks at one part of the installation within ``seconds``; it may raise."""

    subject: str
    look: Callable[[], Sequence[Finding]]
    seconds: float = CHECK_SECONDS


def ok(subject: str, text: str) -> list[Finding]:
    return [Finding(state="ok", subject=subject, code="ok", text=text)]


def warning(subject: str, code: str, text: str) -> list[Finding]:
    return [Finding(state="warning", subject=subject, code=code, text=text)]


def failed(subject: str, code: str, text: str) -> list[Finding]:
    return [Finding(state="failed", subject=subject, code=code, text=text)]


def leads_to_this_machine(url: str) -> bool:
    """Whether only programs on this machine reach the URL."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def command(checks: Callable[[], Sequence[Check]]) -> click.Command:
    """``hiatus doctor`` with these checks."""

    @click.command()
    @console.as_json_option
    def doctor(as_json: bool) -> None:
        """Check settings, databases, disk, Redis, Slack and BASE_URL; changes nothing."""
        found = []
        for finding in run(checks()):
            found.append(finding)
            if not as_json:
                # Padded before it is coloured, because colour codes would count towards the width.
                state = click.style(f"{finding.state:<8}", fg=_COLOURS[finding.state])
                click.echo(f"{state} {finding.subject:<14} {finding.text}")
        states = {finding.state for finding in found}
        if as_json:
            worst = next(state for state in ("failed", "warning", "ok") if state in {*states, "ok"})
            console.print_json({"state": worst, "findings": [asdict(each) for each in found]})
        if "failed" in states:
            raise click.exceptions.Exit(1)

    return doctor


def run(checks: Sequence[Check]) -> Iterator[Finding]:
    """What the checks find, in their order. They run at the same time.

    A check that does not end in its time is a failure; its thread ends with the process.
    """
    found: dict[int, Sequence[Finding]] = {}

    def look(number: int, check: Check) -> None:
        try:
            found[number] = check.look()
        except DatabaseUnavailable:
            # The line "database" has the reason.
            text = "not checked, because the database cannot be read"
            found[number] = warning(check.subject, "not_checked", text)
        except Exception as error:  # noqa: BLE001  # the other checks are still printed
            # Without its message, which could contain a secret.
            text = f"could not be checked: {type(error).__name__}"
            found[number] = failed(check.subject, "check_failed", text)

    # No time-out ends a call to a file system that hangs.
    threads = [
        threading.Thread(target=look, args=(number, check), daemon=True)
        for number, check in enumerate(checks)
    ]
    for thread in threads:
        thread.start()
    for number, (check, thread) in enumerate(zip(checks, threads, strict=True)):
        thread.join(check.seconds)
        text = (
            f"no result within {check.seconds:g} s: check that the database, the name server and "
            "the disk answer"
        )
        yield from found.get(number) or failed(check.subject, "no_result", text)


def settings_check(
    problems: Sequence[str], *contradictions: Callable[[], Sequence[Finding]]
) -> Check:
    """Malformed settings, and valid ones that contradict each other."""

    def look() -> Sequence[Finding]:
        subject = "settings"
        found = []
        for problem in problems:
            found += failed(subject, "invalid_setting", problem)
        for contradiction in contradictions:
            found += contradiction()
        return found or ok(subject, "are valid and consistent")

    return Check(subject="settings", look=look)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """Opens the database of the settings for each read, so that no check waits for another.

    It changes nothing, not even the files beside an SQLite database.
    """

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
        seconds = min(settings.database_timeout, _READ_SECONDS)
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
        with closing(sqlite3.connect(uri, uri=True, timeout=_READ_SECONDS)) as connection:
            return work(Transaction(connection.execute, "sqlite", secrets, {}))
    except sqlite3.DatabaseError as error:
        raise DatabaseUnavailable(str(error)) from error


def checks(reader: Reader, env: Mapping[str, str], now: datetime) -> list[Check]:
    """The checks of the database and its files. ``env`` has the paths of files with secrets."""
    queues: dict[str, Callable[[Transaction], int | None]] = {
        "webhooks": delivery_queue.oldest_due_at,
        "messages": partial(notification_queue.QUEUE.oldest_due_at, now=now),
        "digests": partial(digests.oldest_due_at, now=now),
        "Slack statuses": partial(slack_status_rows.QUEUE.oldest_due_at, now=now),
    }
    secret_files = [
        Path(path.strip())
        for name, path in env.items()
        if name.endswith("_FILE") and name.startswith(("HIATUS_", "DATABASE_"))
        if name not in _PUBLIC_FILES and path.strip()
    ]
    of_file = []
    if reader.sqlite_path is not None:
        # A link leads to where the data is.
        path = reader.sqlite_path.resolve()
        of_file = [
            Check(subject="file", look=partial(_integrity, reader, path)),
            Check(subject="disk", look=partial(disk, path)),
        ]
        secret_files.append(path.with_name(path.name + ".key"))
    look = partial(permissions, reader.sqlite_path, secret_files)
    return [
        Check(subject="database", look=partial(_schema, reader)),
        *of_file[:1],
        Check(subject="secret keys", look=partial(_keys, reader)),
        *(
            Check(subject=name, look=partial(_queue, reader, name, oldest_due, now))
            for name, oldest_due in queues.items()
        ),
        *of_file[1:],
        Check(subject="permissions", look=look),
    ]


def _schema(reader: Reader) -> list[Finding]:
    subject = "database"
    try:
        url = reader.settings.database_url
        if url.startswith("postgresql:"):
            newer = check_schema(url, _READ_SECONDS)
        else:
            newer = reader.read(check_schema_again)
    except SchemaTooNew as error:
        return failed(subject, "schema_too_new", str(error))
    except SchemaOutOfDate as error:
        return failed(subject, "schema_out_of_date", str(error))
    except (DatabaseUnavailable, psycopg.Error) as error:
        reason = str(error).partition("\n")[0]
        if "schema_migration" in reason:
            text = "has no tables yet: run `hiatus migrate`"
            return failed(subject, "schema_out_of_date", text)
        return failed(subject, "database_unavailable", f"cannot be read: {reason}")
    if newer:
        text = (
            f"has the migration {newer[-1]} of a newer version, and this version works with it: "
            "complete the upgrade"
        )
        return warning(subject, "schema_newer", text)
    return ok(subject, "answers, and its schema is up to date")


def _integrity(reader: Reader, path: Path) -> list[Finding]:
    """Whether the SQLite file is damaged: writes may fail, while most reads still work."""
    subject = "file"
    if path.exists() and path.stat().st_size > _MAX_FILE_BYTES:
        return ok(subject, "is too large for a full check here: `hiatus backup` checks all of it")
    try:
        problem = str(reader.read(lambda tx: tx.all(_first_problem))[0].problem)
    except DatabaseUnavailable as error:
        if "malformed" not in str(error) and "not a database" not in str(error):
            raise
        problem = str(error)
    if problem == "ok":
        return ok(subject, "is complete")
    # SQLite's text has several lines.
    text = f"is damaged ({problem.splitlines()[-1]}): stop Hiatus, and restore a backup"
    return failed(subject, "file_damaged", text)


@compiled
def _first_problem() -> peewee.Select:
    sql = peewee.SQL
    return peewee.Select([sql("pragma_quick_check(1)")], [sql("quick_check").alias("problem")])


def _keys(reader: Reader) -> list[Finding]:
    subject = "secret keys"
    try:
        needs_older_keys = reader.read(stored_secrets.canary_needs_older_keys)
    except SecretKeysUnusable as error:
        return failed(subject, "keys_unusable", str(error))
    if needs_older_keys:
        text = "older keys are still needed: run `hiatus secrets rotate` to complete a rotation"
        return warning(subject, "rotation_incomplete", text)
    if not reader.settings.secret_keys:
        text = "there is none yet: `hiatus init` or `hiatus serve` creates it"
        return warning(subject, "no_key", text)
    return ok(subject, "decrypt what is in the database")


def count_processes(reader: Reader) -> int:
    """How many processes of Hiatus, this one not included, are connected to PostgreSQL."""
    if reader.sqlite_path is not None:
        return 0
    try:
        [row] = reader.read(lambda tx: tx.all(_processes, beginning=f"{PROCESS_NAME} %"))
    except DatabaseUnavailable:
        return 0
    return int(row.number)


@compiled
def _processes(beginning: Param[str]) -> peewee.Select:
    activity = peewee.Table("pg_stat_activity", ("application_name", "datname"))
    number = fn.COUNT(activity.application_name.distinct()).alias("number")
    return activity.select(number).where(
        activity.datname == fn.current_database(),
        activity.application_name**beginning,
        activity.application_name != fn.current_setting("application_name"),
    )


def _queue(
    reader: Reader,
    subject: str,
    oldest_due: Callable[[Transaction], int | None],
    now: datetime,
) -> list[Finding]:
    due_at = reader.read(oldest_due)
    # 0 is a digest that no process has posted yet.
    seconds = max(now.timestamp() - due_at / 1000, 0.0) if due_at else 0.0
    if seconds <= _LATE_SECONDS:
        return ok(subject, "none is late")
    if subject == "webhooks":
        late_before = now - timedelta(seconds=_LATE_SECONDS)
        late = reader.read(delivery_queue.late_webhooks, before=late_before)
        if late and all(late.values()):
            named = f"{', '.join([*late][:3])}{', …' if len(late) > 3 else ''}"
            text = (
                f"all late deliveries wait for endpoints that fail: {named}. Ask for a fix, or "
                "switch them off"
            )
            return warning(subject, "endpoints_failing", text)
    text = (
        f"the oldest has been due for {seconds:,.0f} s: run a process with HIATUS_SCHEDULER=on "
        "and, for Slack, with its settings, and look for warnings in its log"
    )
    if seconds > _STUCK_SECONDS:
        return failed(subject, "stuck", text)
    return warning(subject, "late", text)


def disk(database: Path, full_bytes: int = FULL_BYTES) -> list[Finding]:
    """Whether the folder of the database, its -wal file and its key file has space left.

    A copy of the database, for a backup or a migration that rewrites a table, has to fit.
    """
    free = shutil.disk_usage(database.parent).free
    size = sum(file.stat().st_size for file in _files_of(database)[:2] if file.exists())
    text = f"{free // _MIB:,} MiB free in {database.parent}; the database has {size // _MIB:,} MiB"
    if free < full_bytes:
        return failed("disk", "disk_full", f"{text}: make space, or writes will fail")
    if free < max(_LOW_BYTES, size):
        text += ": make space for a copy of it and for its growth"
        return warning("disk", "disk_low", text)
    return ok("disk", text)


def permissions(database: Path | None, secret_files: list[Path]) -> list[Finding]:
    """Whether this user can write the database, and other users can read neither it nor secrets."""
    subject = "permissions"
    files = _files_of(database) if database else []
    for path in [*files, *([database.parent] if database else [])]:
        if path.exists() and not os.access(path, os.R_OK | os.W_OK):
            text = f"{path} cannot be read and written by this user: run as its owner, or chown it"
            return failed(subject, "not_writable", text)
    if public := _with_mode(secret_files, stat.S_IROTH | stat.S_IWOTH):
        text = f"every user can read secrets: chmod o= {public}"
        return failed(subject, "secrets_public", text)
    if shared := _with_mode([*files, *secret_files], stat.S_IRWXG | stat.S_IRWXO):
        text = f"other users can read or change files: chmod 600 {shared}"
        return warning(subject, "files_shared", text)
    return ok(subject, "only their owner can read the files with data and secrets")


def _files_of(database: Path) -> list[Path]:
    return [database.with_name(database.name + end) for end in ("", "-wal", "-shm")]


def _with_mode(paths: list[Path], bits: int) -> str:
    """The paths of files that have any of these permissions."""
    return " ".join(str(path) for path in paths if path.exists() and path.stat().st_mode & bits)
