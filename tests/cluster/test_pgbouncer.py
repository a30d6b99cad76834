"""Hiatus behind PgBouncer in transaction mode, with fewer server connections than clients."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peewee
import psycopg
import pytest

from storage.base.secrets import Secrets
from storage.db.compiled import compiled
from storage.db.database import Transaction
from storage.db.engines import open_database
from storage.db.schema import MIGRATIONS, migrate
from storage.operations import backup_copies
from storage.operations.backup_copies import BackupRefused
from tests import outside, pgbouncer, postgres
from tests.builders import an_organisation
from tests.cluster.company import (
    PEOPLE,
    Company,
    Load,
    assert_nothing_lost_or_doubled,
    wait_until_delivered,
)
from tests.fakes.receiver import LoopbackReceiver
from tests.fakes.slack import LoopbackSlack
from tests.flows.running import ROOT, Deployment
from tests.pgbouncer import SERVER_CONNECTIONS, PgBouncer
from tests.storage.test_connections import notify, with_listener

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        pgbouncer.PROGRAM is None,
        reason="PgBouncer is not installed: `apt-get install pgbouncer` or its like adds it.",
    ),
]

REQUESTS_EACH = 8
# A process looks for due work every second.
SENT_WITHIN_SECONDS = 10
RECOVERED_WITHIN_SECONDS = 20
_MIGRATE = """
import json, sys
from storage.db.schema import migrate
print(json.dumps(migrate(sys.argv[1])))
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pooled:
    """A database as clients reach it through the pooler, and its server's own address."""

    pooler: PgBouncer
    url: str
    direct_url: str


@pytest.fixture
def pooled() -> Iterator[Pooled]:
    """An empty database."""
    with ExitStack() as stack:
        server = postgres.start()
        stack.callback(server.stop)
        direct_url = postgres.make_database(server.url, "hiatus")
        pooler = stack.enter_context(closing(PgBouncer(server)))
        pooler.start()
        yield Pooled(pooler=pooler, url=pooler.url("hiatus"), direct_url=direct_url)


@compiled
def prepared_names() -> peewee.Select:
    return peewee.Table("pg_prepared_statements", ("name",)).select(peewee.SQL("name"))


def in_every_session(pooled: Pooled, query: str) -> list[Any]:
    """What a query gives in each server connection of the pooler."""
    with ExitStack() as stack:
        results = []
        for _ in range(SERVER_CONNECTIONS):
            # Each stays in a transaction, so the next one has another server connection.
            connection = stack.enter_context(psycopg.connect(pooled.url, prepare_threshold=None))
            row = connection.execute(query.encode()).fetchone()
            assert row is not None
            results.append(row[0])
        return results


def test_processes_that_migrate_at_once_take_turns_and_leave_no_lock(pooled: Pooled) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _MIGRATE, pooled.url], cwd=ROOT, stdout=subprocess.PIPE
        )
        for _ in range(3)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in processes]

    applied = sorted(sum(map(json.loads, outputs), []))
    assert applied == sorted(path.stem for path in MIGRATIONS.glob("[0-9]*.py"))
    locks = outside.rows(pooled.direct_url, "SELECT pid FROM pg_locks WHERE locktype = 'advisory'")
    assert locks == []


def test_use_cases_leave_nothing_in_the_sessions_that_they_share(pooled: Pooled) -> None:
    migrate(pooled.url)
    with closing(open_database(pooled.url, Secrets.generate())) as database:
        an_organisation(database)
        with ThreadPoolExecutor(2 * SERVER_CONNECTIONS) as threads:
            prepared = threads.map(
                lambda _: database.read_now(lambda tx: tx.all(prepared_names)), range(200)
            )
            assert [*prepared] == [[]] * 200

        assert in_every_session(pooled, "SELECT count(*) FROM pg_prepared_statements") == [0] * 4
        assert in_every_session(pooled, "SHOW plan_cache_mode") == ["auto"] * SERVER_CONNECTIONS


def test_a_direct_connection_prepares_its_statements(postgres_url: str) -> None:
    def prepared(tx: Transaction) -> int:
        return len(tx.all(prepared_names))

    with closing(open_database(postgres_url, Secrets.generate())) as database:
        assert [database.read_now(prepared) for _ in range(10)][-1] == 1


def test_commits_through_a_pooler_notify_a_process_with_a_direct_connection(
    pooled: Pooled,
) -> None:
    def commit(_: list[str]) -> None:
        with closing(open_database(pooled.url, Secrets.generate())) as writer:
            writer.write_now(notify)

    migrate(pooled.url)

    assert asyncio.run(with_listener(pooled.direct_url, commit)) == ["webhooks", "webhooks"]


def test_backups_and_restores_are_refused_through_a_pooler(pooled: Pooled, tmp_path: Path) -> None:
    env = {"PATH": f"{postgres.client_programs()}"}
    migrate(pooled.url)

    with pytest.raises(BackupRefused, match="leads to a connection pooler"):
        backup_copies.save_postgresql(pooled.url, 10, env, tmp_path / "dump")
    with pytest.raises(BackupRefused, match="leads to a connection pooler"):
        backup_copies.restore_postgresql(pooled.url, 10, env, io.BytesIO(), lambda: None)


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as slack:
        slack.add_person("UOLIVE", "olive@example.com", "Olive Owner", tz="Europe/London")
        yield slack


def deployment_of(pooled: Pooled, **settings: str) -> Deployment:
    migrate(pooled.url)
    return Deployment(pooled.url, HIATUS_WEBHOOK_ALLOW_PRIVATE="on", **settings)


def test_two_processes_share_four_server_connections(pooled: Pooled, slack: LoopbackSlack) -> None:
    deployment = deployment_of(
        pooled,
        HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
        HIATUS_SLACK_BOT_TOKEN=slack.token,
        HIATUS_SLACK_API_URL=slack.api_url,
    )
    with ExitStack() as stack:
        receiver = stack.enter_context(LoopbackReceiver())
        # Only the second process sends.
        company = Company(deployment, stack, {"HIATUS_SCHEDULER": "off"}, {})
        company.owners[0].post("/api/v1/webhooks", json={"url": receiver.url, "events": ["*"]})
        load = Load(company)

        load.run(REQUESTS_EACH)
        # The process that serves does not send, and no notification reaches the one that does.
        began_at = time.monotonic()
        last = load.create(0, 0, "last", half_day=REQUESTS_EACH)

        assert load.statuses.keys() == {200, 201}
        received = receiver.wait_for(2 * PEOPLE * REQUESTS_EACH + 1, SENT_WITHIN_SECONDS)
        slack.wait_for_dm("UOLIVE", showing=" requested ")
        assert time.monotonic() - began_at < SENT_WITHIN_SECONDS
        load.approve(0, last)
        received = receiver.wait_for(2 * PEOPLE * REQUESTS_EACH + 2, SENT_WITHIN_SECONDS)
        wait_until_delivered(pooled.direct_url)
        assert_nothing_lost_or_doubled(load, pooled.direct_url, received)

    serving, sending = (server.logged() for server in company.servers)
    logged = [json.loads(line) for line in sending.splitlines()]
    (said,) = [line for line in logged if line["event"] == "database.pooled"]
    assert (said["level"], "DATABASE_URL" in said["reason"]) == ("info", True)
    assert "Traceback" not in serving + sending


def test_processes_recover_by_themselves_when_the_pooler_is_killed_and_returns(
    pooled: Pooled,
) -> None:
    deployment = deployment_of(pooled)
    with ExitStack() as stack:
        receiver = stack.enter_context(LoopbackReceiver())
        company = Company(deployment, stack, {"HIATUS_SCHEDULER": "off"}, {})
        company.owners[0].post("/api/v1/webhooks", json={"url": receiver.url, "events": ["*"]})
        load = Load(company)
        loading = threading.Thread(target=load.run, args=(REQUESTS_EACH,))
        loading.start()
        for outage in range(3):
            # Amid the load, however fast the machine is.
            while loading.is_alive() and len(load.created) < 10 * (outage + 1):
                time.sleep(0.005)
            pooled.pooler.kill()
            time.sleep(0.5)
            assert company.owners[0].get("/api/v1/users").status_code == 503
            pooled.pooler.start()
            began_at = time.monotonic()
            while company.owners[0].get("/api/v1/users").status_code != 200:
                assert time.monotonic() - began_at < RECOVERED_WITHIN_SECONDS
                time.sleep(0.05)
        loading.join()

        wait_until_delivered(pooled.direct_url)
        assert load.statuses.keys() == {200, 201, 503}
        assert load.codes.keys() <= {"unavailable", "outcome_unknown"}
        assert len(load.created) == PEOPLE * REQUESTS_EACH
        assert_nothing_lost_or_doubled(load, pooled.direct_url, receiver.requests)
