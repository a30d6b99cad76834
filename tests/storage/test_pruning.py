"""Old rows that are done or expired are deleted, in batches and off the event loop."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import timedelta
from typing import Any

from storage.access import oauth_states
from storage.base.secrets import Secrets
from storage.cli import pruning
from storage.db.database import Database
from storage.db.engines import open_database
from storage.slack import slack_events
from tests import outside
from tests.builders import NOW, a_person, a_request, an_organisation

OLD = NOW - timedelta(days=31)


def test_old_rows_are_deleted_in_any_number_of_batches(database: Database) -> None:
    for number in range(5):
        database.write_now(slack_events.claim, f"Ev{number}", now=OLD)
    database.write_now(slack_events.claim, "EvNew", now=NOW)
    for _ in range(3):
        database.write_now(oauth_states.issue, now=OLD)
    state = database.write_now(oauth_states.issue, now=NOW)

    asyncio.run(pruning.prune(database, now=NOW, batch=2))

    assert database.write_now(slack_events.prune, now=NOW) == 0
    assert not database.write_now(slack_events.claim, "EvNew", now=NOW)
    assert database.write_now(slack_events.claim, "Ev3", now=NOW)
    assert database.write_now(oauth_states.prune, now=NOW) == 0
    assert database.write_now(oauth_states.consume, state, now=NOW)


def test_no_deletion_runs_on_the_event_loop() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.use_cases: list[Any] = []

        async def write_long(self, use_case: Any, **_: Any) -> Any:
            self.use_cases.append(getattr(use_case, "func", use_case))
            return 0

    recorder: Any = Recorder()

    asyncio.run(pruning.prune(recorder, now=NOW))

    modules = [use_case.__module__ for use_case in recorder.use_cases]
    assert modules == [
        "storage.notifications.notifications",
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


def test_statistics_are_kept_for_sqlite(sqlite_url: str) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
    outside.run(
        sqlite_url,
        "INSERT INTO slack_events (event_id, received_at) "
        f"{numbers} SELECT CAST(i AS TEXT), {round(NOW.timestamp() * 1000)} FROM n",
    )

    with closing(open_database(sqlite_url, Secrets.generate())) as database:
        acme = an_organisation(database)
        a_request(database, acme, a_person(database, acme))
        asyncio.run(pruning.prune(database, now=NOW))

    estimates = dict(outside.rows(sqlite_url, "SELECT idx, stat FROM sqlite_stat1"))
    # Estimated from a few hundred rows.
    assert 500 < int(estimates["slackeventrow_received_at"].split()[0]) < 8_000
    assert "leaverequestrow_organisation_id_created_at_id" in estimates
    # A sample of the index says nothing of other organisations.
    assert "leave_requests_undecided" not in estimates
