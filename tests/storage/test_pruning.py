"""Old rows that are done or expired are deleted, in batches and off the event loop."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import timedelta
from typing import Any

from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from storage.operations import pruning
from storage.workspaces import oauth_states, slack_events
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
        "storage.keys.idempotency",
        "storage.workspaces.slack_events",
        "storage.workspaces.oauth_states",
        "storage.operations.pruning",
    ]


def test_a_table_that_cannot_be_pruned_stops_no_other(postgres_url: str) -> None:
    with closing(open_database(postgres_url, Secrets.generate())) as database:
        database.write_now(slack_events.claim, "Ev1", now=OLD)
        outside.run(postgres_url, "ALTER TABLE notices RENAME TO damaged")

        asyncio.run(pruning.prune(database, now=NOW))

        assert database.write_now(slack_events.prune, now=NOW) == 0
