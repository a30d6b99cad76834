"""Old rows that are done or expired are deleted, in batches and off the event loop."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import timedelta
from typing import Any

from peewee import SQL, Select

from storage.access import oauth_states
from storage.base.secrets import Secrets
from storage.cli import pruning
from storage.db.compiled import compiled
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.tables import LeaveRequestRow
from storage.slack import slack_events
from tests import outside
from tests.builders import NOW

OLD = NOW - timedelta(days=31)


def test_old_rows_are_deleted_in_any_number_of_batches(database: Database) -> None:
    for number in range(5):
        database.write_now(slack_events.claim, f"Ev{number}", now=OLD)
    database.write_now(slack_events.claim, "EvNew", now=NOW)
    states = [oauth_states.issue(database.secrets, now=when) for when in (OLD, OLD, OLD, NOW)]
    for state, when in zip(states, (OLD, OLD, OLD, NOW), strict=True):
        assert database.write_now(oauth_states.consume, state, now=when)

    asyncio.run(pruning.prune(database, now=NOW, batch=2))

    assert database.write_now(slack_events.prune, now=NOW) == 0
    assert not database.write_now(slack_events.claim, "EvNew", now=NOW)
    assert database.write_now(slack_events.claim, "Ev3", now=NOW)
    assert database.write_now(oauth_states.prune, now=NOW) == 0
    assert not database.write_now(oauth_states.consume, state, now=NOW)


def test_no_deletion_runs_on_the_event_loop() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.use_cases: list[Any] = []

        async def write(self, use_case: Any, **_: Any) -> Any:
            self.use_cases.append(getattr(use_case, "func", use_case))
            return 0

    recorder: Any = Recorder()

    asyncio.run(pruning.prune(recorder, now=NOW))

    modules = [use_case.__module__ for use_case in recorder.use_cases]
    assert modules == [
        "storage.notifications.notification_queue",
        "storage.access.idempotency",
        "storage.slack.slack_events",
        "storage.access.oauth_states",
        "storage.cli.pruning",
        "storage.cli.pruning",
    ]


def test_a_table_that_cannot_be_pruned_stops_no_other(postgres_url: str) -> None:
    with closing(open_database(postgres_url, Secrets.generate())) as database:
        database.write_now(slack_events.claim, "Ev1", now=OLD)
        outside.run(postgres_url, "ALTER TABLE notices RENAME TO damaged")

        asyncio.run(pruning.prune(database, now=NOW))

        assert database.write_now(slack_events.prune, now=NOW) == 0


def test_statistics_of_sqlite_are_dropped_and_forgotten_by_open_connections(
    sqlite_url: str,
) -> None:
    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        without = database.read_now(_plan, "b")
        outside.run(sqlite_url, "ANALYZE")
        # As if a person had one request, and many people the same status.
        outside.run(
            sqlite_url,
            "INSERT INTO sqlite_stat1 VALUES"
            " ('leave_requests', 'leaverequestrow_organisation_id_user_id_end_date', '999 99 1 1')",
        )
    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        with_statistics = database.read_now(_plan, "b")

        asyncio.run(pruning.prune(database, now=NOW))

        assert with_statistics != without
        assert database.read_now(_plan, "c") == without


def _plan(tx: Transaction, user_id: str) -> str:
    # Only a statement that reads notices a new schema, and only another text is planned again.
    tx.first(_any_leave)
    row = tx.first(_explained, user_id=user_id)
    assert row is not None
    return str(row.detail)


@compiled
def _any_leave() -> Select:
    return LeaveRequestRow.select(LeaveRequestRow.id).limit(1)


@compiled
def _explained(user_id: str) -> SQL:
    return SQL(
        "EXPLAIN QUERY PLAN SELECT note FROM leave_requests WHERE organisation_id = 'a'"
        f" AND user_id = '{user_id}' AND status = 'approved' AND start_date <= '2026-06-30'"
    )
