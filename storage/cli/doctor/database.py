"""Checks of what is in the database: its schema, keys, clock, queues and statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from peewee import SQL, Select, Table, fn

from storage.access import secret_canary
from storage.base.errors import DatabaseUnavailable, SchemaOutOfDate, SecretKeysUnusable
from storage.cli.doctor import integrity, statistics
from storage.cli.doctor.findings import (
    Check,
    Finding,
    by_limits,
    clock_finding,
    failed,
    ok,
    warning,
)
from storage.cli.doctor.reading import Reader
from storage.db.compiled import Param, compiled
from storage.db.connections import PROCESS_NAME
from storage.db.database import Transaction
from storage.db.schema import check_schema_again
from storage.directory import people_rows
from storage.events import digest_queue
from storage.notifications import notification_queue
from storage.webhooks import delivery_queue

Clock = Callable[[], datetime]
OldestDue = Callable[[Transaction], int | None]

# How long the oldest item may have been due, in seconds. A lease of a process that crashed lasts
# up to two minutes.
_LATE_SECONDS: Final = 150
_STUCK_SECONDS: Final = 900
_MAX_NAMED: Final = 5


def checks(reader: Reader, clock: Clock) -> list[Check]:
    """Each opens the database for itself: one that hangs does not hold up the others."""
    now = clock()
    queues: dict[str, OldestDue] = {
        "webhooks": delivery_queue.oldest_due_at,
        "messages": partial(notification_queue.QUEUE.oldest_due_at, now=now),
        "digests": partial(digest_queue.oldest_due_at, now=now),
    }
    return [
        Check(subject="database", look=partial(_schema, reader)),
        *([integrity.check(reader, reader.sqlite_path)] if reader.sqlite_path else []),
        _dependent("secret keys", partial(_keys, reader)),
        _dependent("addresses", partial(_addresses, reader)),
        *([] if reader.sqlite_path else [_dependent("clock", partial(_clock, reader, clock))]),
        *(
            _dependent(name, partial(_queue, reader, name, oldest_due, now))
            for name, oldest_due in queues.items()
        ),
        _dependent("statistics", partial(_statistics, reader)),
    ]


def _dependent(subject: str, look: Callable[[], Sequence[Finding]]) -> Check:
    """A check that says only that it was not made if the database does not answer.

    The line "database" has the reason.
    """

    def looked() -> Sequence[Finding]:
        try:
            return look()
        except DatabaseUnavailable:
            return warning(subject, "not checked, because the database cannot be read")

    return Check(subject=subject, look=looked)


def _schema(reader: Reader) -> list[Finding]:
    subject = "database"
    try:
        if not reader.read(statistics.has_table, "schema_migration"):
            return failed(subject, "has no tables yet: run `hiatus migrate`")
        newer = reader.read(check_schema_again)
    except SchemaOutOfDate as error:
        return failed(subject, str(error))
    except DatabaseUnavailable as error:
        reason = str(error).partition("\n")[0]
        return failed(subject, f"cannot be read: {reason}")
    if newer:
        text = (
            f"has the migration {newer[-1]} of a newer version, and this version works with it: "
            "complete the upgrade"
        )
        return warning(subject, text)
    return ok(subject, "answers, and its schema is up to date")


def _keys(reader: Reader) -> list[Finding]:
    subject = "secret keys"
    try:
        needs_older_keys = reader.read(secret_canary.needs_older_keys)
    except SecretKeysUnusable as error:
        return failed(subject, str(error))
    if needs_older_keys:
        text = "older keys are still needed: run `hiatus secrets rotate` to complete a rotation"
        return warning(subject, text)
    if not reader.settings.secret_keys:
        return warning(subject, "there is none yet: `hiatus init` or `hiatus serve` creates it")
    return ok(subject, "decrypt what is in the database")


def _addresses(reader: Reader) -> list[Finding]:
    """People of before addresses were compared by Unicode's compatibility form, too."""
    subject = "addresses"
    try:
        people = reader.read(people_rows.with_old_email_keys)
    except SchemaOutOfDate:
        return warning(subject, "not checked, because the schema is not up to date")
    if not people:
        return ok(subject, "are different for all people of an organisation")
    ids = ", ".join(people[:_MAX_NAMED])
    text = (
        f"of {len(people)} people count as equal to those of other people of their organisation "
        f"({ids}{', …' if len(people) > _MAX_NAMED else ''}), and Slack accounts and imports find "
        "the others: archive one of each two, or create the person with another address"
    )
    return warning(subject, text)


def _clock(reader: Reader, clock: Clock) -> list[Finding]:
    before = clock()
    database_ms = reader.read(_server_time)
    now = clock()
    halfway = before + (now - before) / 2
    difference = halfway - datetime.fromtimestamp(database_ms / 1000, halfway.tzinfo)
    # What the connection took may lie on either side of the server's reading.
    uncertainty = (now - before) / 2
    return clock_finding(
        "the database server", timedelta() if abs(difference) < uncertainty else difference
    )


def _server_time(tx: Transaction) -> float:
    row = tx.first(_server_milliseconds)
    assert row is not None
    return float(row.milliseconds)


@compiled
def _server_milliseconds() -> Select:
    seconds = fn.date_part("epoch", fn.clock_timestamp())
    return Select(columns=[(seconds * SQL("1000")).alias("milliseconds")])


def _queue(reader: Reader, subject: str, oldest_due: OldestDue, now: datetime) -> list[Finding]:
    due_at = reader.read(oldest_due)
    # 0 is a digest that no process has posted yet.
    seconds = max(now.timestamp() - due_at / 1000, 0.0) if due_at else 0.0
    state = by_limits(seconds, warns_over=_LATE_SECONDS, fails_over=_STUCK_SECONDS)
    if state == "ok":
        return ok(subject, "none is late")
    if subject == "webhooks":
        late_before = now - timedelta(seconds=_LATE_SECONDS)
        late = reader.read(delivery_queue.late_webhooks, before=late_before)
        if late and all(late.values()):
            text = (
                f"all late deliveries wait for endpoints that fail: {', '.join([*late][:3])}"
                f"{', …' if len(late) > 3 else ''}. Ask for a fix, or switch "
                "them off"
            )
            return warning(subject, text)
    text = (
        f"the oldest has been due for {seconds:,.0f} s: run a process with HIATUS_SCHEDULER=on "
        "and, for messages and digests, with the settings of Slack, and look for warnings in its "
        "log"
    )
    return [Finding(state=state, subject=subject, text=text)]


def count_processes(tx: Transaction) -> int:
    """How many processes of Hiatus, this one not included, are connected to PostgreSQL."""
    row = tx.first(_processes, beginning=f"{PROCESS_NAME} %")
    return 0 if row is None else int(row.number)


@compiled
def _processes(beginning: Param[str]) -> Select:
    activity = Table("pg_stat_activity", ("application_name", "datname"))
    return activity.select(fn.COUNT(activity.application_name.distinct()).alias("number")).where(
        activity.datname == fn.current_database(),
        activity.application_name**beginning,
        activity.application_name != fn.current_setting("application_name"),
    )


def _statistics(reader: Reader) -> list[Finding]:
    if reader.sqlite_path:
        if reader.read(statistics.has_table, "sqlite_stat1"):
            text = "slow SQLite down in large organisations: run `hiatus migrate`, which drops them"
            return warning("statistics", text)
        return ok("statistics", "are not kept: without them SQLite has the same plans for everyone")
    tables = reader.read(statistics.without_statistics)
    if tables:
        text = f"missing or outdated for {', '.join(tables)}: run ANALYZE in the database"
        return warning("statistics", text)
    return ok("statistics", "are up to date for every large table")
