"""Hiatus behind PgBouncer in transaction mode, with fewer server connections than clients."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import peewee
import psycopg
import pytest

from storage.base.secrets import Secrets
from storage.cli.backups import postgresql_backup
from storage.cli.backups.archive import BackupRefused
from storage.db.compiled import compiled
from storage.db.database import Transaction
from storage.db.engines import open_database
from storage.db.schema import MIGRATIONS, migrate
from tests import outside, pgbouncer, postgres
from tests.builders import an_organisation
from tests.fakes.receiver import LoopbackReceiver
from tests.fakes.slack import LoopbackSlack
from tests.flows.days import free_monday
from tests.flows.running import ROOT, Deployment, Server
from tests.flows.test_main_job import hire, unpaid
from tests.pgbouncer import SERVER_CONNECTIONS, PgBouncer
from tests.storage.test_notifier import notify, with_listener

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        pgbouncer.PROGRAM is None,
        reason="PgBouncer is not installed: `apt-get install pgbouncer` or its like adds it.",
    ),
]

PEOPLE = 6
REQUESTS_EACH = 8
# More than an outage lasts, on a machine that is busy with something else.
GIVE_UP_SECONDS = 60
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
        found = []
        for _ in range(SERVER_CONNECTIONS):
            # Each stays in a transaction, so the next one has another server connection.
            connection = stack.enter_context(psycopg.connect(pooled.url, prepare_threshold=None))
            row = connection.execute(query.encode()).fetchone()
            assert row is not None
            found.append(row[0])
        return found


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
            seen = threads.map(
                lambda _: database.read_now(lambda tx: tx.all(prepared_names)), range(200)
            )
            assert [*seen] == [[]] * 200

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
        postgresql_backup.save(pooled.url, 10, env, tmp_path / "dump")
    with pytest.raises(BackupRefused, match="leads to a connection pooler"):
        postgresql_backup.require_empty(pooled.url, 10, env, dumped_by=1)


class Company:
    """An owner and six people, whose requests go to two processes in turn; only one sends."""

    def __init__(self, deployment: Deployment, stack: ExitStack) -> None:
        owner_key = deployment.init()["api_key"]
        self.serving: Server = stack.enter_context(deployment.serving(HIATUS_SCHEDULER="off"))
        self.sending: Server = stack.enter_context(deployment.serving())
        self.owners = [server.client(owner_key) for server in (self.serving, self.sending)]
        self.people: list[list[httpx.Client]] = []
        for number in range(PEOPLE):
            hire(self.owners[0], f"Ada{number}")
            words = ("--email", f"ada{number}@example.com", "--name", "test", "--json")
            key = deployment.command("keys", "create", *words)["api_key"]
            self.people.append([server.client(key) for server in (self.serving, self.sending)])
        self.unpaid = unpaid(self.owners[0])
        feeds = self.owners[0].get("/api/v1/calendar-feeds/token").raise_for_status().json()
        self.feed: str = feeds["feeds"]["organisation"]


class Load:
    """Every person requests leave; the owner approves it, and reads lists and a feed."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self._first_day = free_monday()
        self.statuses: Counter[int] = Counter()
        self.codes: Counter[str] = Counter()
        self.created: dict[str, str] = {}

    def run(self) -> None:
        with ThreadPoolExecutor(PEOPLE) as threads:
            # list() raises what a thread has raised.
            list(threads.map(self._one_person, range(PEOPLE)))

    def _one_person(self, person: int) -> None:
        for turn in range(REQUESTS_EACH):
            server = (person + turn) % 2
            client, owner = self._company.people[person][server], self._company.owners[server]
            self.approve(owner, self.create(client, f"{person}-{turn}", half_day=turn))
            self._send(owner, "GET", "/api/v1/leave-requests?status=approved")
            self._send(owner, "GET", self._company.feed)

    def create(self, client: httpx.Client, key: str, half_day: int) -> str:
        """Request the half-day of that number, of the ten of the week; the request's id."""
        day = self._first_day + timedelta(days=half_day // 2)
        half = {"start_half_day": "pm"} if half_day % 2 else {"end_half_day": "am"}
        leave = {
            "leave_type_id": self._company.unpaid,
            "start_date": f"{day}",
            "end_date": f"{day}",
        }
        made = self._send(
            client,
            "POST",
            "/api/v1/leave-requests",
            json=leave | half,
            headers={"Idempotency-Key": key},
        )
        assert made.status_code == 201, made.text
        self.created[key] = made.json()["id"]
        return self.created[key]

    def approve(self, owner: httpx.Client, request_id: str) -> None:
        approved = self._send(
            owner,
            "POST",
            f"/api/v1/approvals/{request_id}/approve",
            headers={"Idempotency-Key": f"approve {request_id}"},
        )
        assert approved.json()["status"] == "approved", approved.text

    def _send(self, client: httpx.Client, method: str, path: str, **more: Any) -> httpx.Response:
        """Repeat it until it is answered with something else than 503."""
        ends_at = time.monotonic() + GIVE_UP_SECONDS
        while True:
            answer = client.request(method, path, **more)
            self.statuses[answer.status_code] += 1
            if answer.status_code != 503 or time.monotonic() > ends_at:
                return answer
            self.codes[answer.json()["code"]] += 1
            time.sleep(0.1)


def assert_nothing_lost_or_doubled(load: Load, pooled: Pooled, received: Sequence[Any]) -> None:
    stored = outside.rows(pooled.direct_url, "SELECT id::text, status FROM leave_requests")
    assert sorted(stored) == sorted((one, "approved") for one in load.created.values())
    actions = outside.rows(
        pooled.direct_url,
        "SELECT action, count(*) FROM audit_entries WHERE action LIKE 'leave_request.%'"
        " GROUP BY action ORDER BY action",
    )
    assert actions == [
        ("leave_request.approved", len(stored)),
        ("leave_request.created", len(stored)),
    ]
    events = Counter(
        (event["data"]["id"], event["type"])
        for event in {one.headers["webhook-id"]: json.loads(one.body) for one in received}.values()
    )
    assert events == {
        (request_id, f"leave_request.{what}"): 1
        for request_id in load.created.values()
        for what in ("created", "approved")
    }


def wait_until_delivered(pooled: Pooled) -> None:
    ends_at = time.monotonic() + GIVE_UP_SECONDS
    due = "SELECT count(*) FROM deliveries WHERE status <> 'delivered'"
    while outside.rows(pooled.direct_url, due) != [(0,)]:
        assert time.monotonic() < ends_at
        time.sleep(0.1)


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
        company = Company(deployment, stack)
        company.owners[0].post("/api/v1/webhooks", json={"url": receiver.url, "events": ["*"]})
        load = Load(company)

        load.run()
        # The process that serves does not send, and no notification reaches the one that does.
        began_at = time.monotonic()
        last = load.create(company.people[0][0], "last", half_day=REQUESTS_EACH)

        assert load.statuses.keys() == {200, 201}
        received = receiver.wait_for(2 * PEOPLE * REQUESTS_EACH + 1, SENT_WITHIN_SECONDS)
        slack.wait_for_dm("UOLIVE", showing=" requested ")
        assert time.monotonic() - began_at < SENT_WITHIN_SECONDS
        load.approve(company.owners[0], last)
        received = receiver.wait_for(2 * PEOPLE * REQUESTS_EACH + 2, SENT_WITHIN_SECONDS)
        wait_until_delivered(pooled)
        assert_nothing_lost_or_doubled(load, pooled, received)

    logged = [json.loads(line) for line in company.sending.logged().splitlines()]
    (said,) = [line for line in logged if line["event"] == "database.pooled"]
    assert (said["level"], "DATABASE_URL" in said["reason"]) == ("info", True)
    assert "Traceback" not in company.serving.logged() + company.sending.logged()


def test_processes_recover_by_themselves_when_the_pooler_is_killed_and_returns(
    pooled: Pooled,
) -> None:
    deployment = deployment_of(pooled)
    with ExitStack() as stack:
        receiver = stack.enter_context(LoopbackReceiver())
        company = Company(deployment, stack)
        company.owners[0].post("/api/v1/webhooks", json={"url": receiver.url, "events": ["*"]})
        load = Load(company)
        loading = threading.Thread(target=load.run)
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

        wait_until_delivered(pooled)
        assert load.statuses.keys() == {200, 201, 503}
        assert load.codes.keys() <= {"unavailable", "outcome_unknown"}
        assert len(load.created) == PEOPLE * REQUESTS_EACH
        assert_nothing_lost_or_doubled(load, pooled, receiver.requests)
