"""Rolling upgrades: processes of two releases on one database, under load.

The newer release is a copy of this source tree with migrations that only this test has.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import holidays
import httpx
import pytest

from api.base.version import VERSION
from storage.db.schema import migrate
from tests import outside
from tests.fakes.receiver import LoopbackReceiver
from tests.flows.days import free_monday
from tests.flows.running import ROOT, Deployment, Server
from tests.flows.test_main_job import hire, listen, unpaid

pytestmark = pytest.mark.slow

PEOPLE = 4
PAUSE_SECONDS = 0.1
# At least so many requests are approved in each phase of the upgrade.
APPROVED_EACH = 8
GIVE_UP_SECONDS = 120
NEWER = "99.0.0"
_ADDS_COLUMNS = """
COMPATIBLE_FROM = 1
def up(migrator, db):
    db.execute_sql("ALTER TABLE leave_requests ADD COLUMN mood TEXT")
    db.execute_sql("ALTER TABLE users ADD COLUMN shoe_size INTEGER NOT NULL DEFAULT 0")
    db.execute_sql("CREATE TABLE moods (id INTEGER NOT NULL PRIMARY KEY)")
"""
_ADDS_AN_INDEX = """
from storage.db.migrations.statements import create_index
COMPATIBLE_FROM = 1
atomic = False
def up(migrator, db):
    create_index(db, "leave_requests_by_mood", "leave_requests (organisation_id, mood)")
"""
_REMOVES_A_TABLE = """
def up(migrator, db):
    db.execute_sql("DROP TABLE leases")
"""


def release_with(folder: Path, **migrations: str) -> Path:
    """A copy of this source tree with a higher version and more migrations, by name."""
    folder.mkdir()
    for package in ("api", "bot", "playground", "storage"):
        shutil.copytree(ROOT / package, folder / package)
    shutil.copy(ROOT / "serve.py", folder)
    version = folder / "api" / "base" / "version.py"
    version.write_text(version.read_text().replace(VERSION, NEWER))
    for name, text in migrations.items():
        (folder / "storage" / "db" / "migrations" / f"{name}.py").write_text(text)
    return folder


def run(release: Path, deployment: Deployment, *words: str) -> subprocess.CompletedProcess[str]:
    """``hiatus …`` of that release."""
    command = [sys.executable, "serve.py", *words]
    return subprocess.run(
        command, cwd=release, env=deployment.env, capture_output=True, text=True, timeout=180
    )


def version_of(server: Server) -> str:
    metrics = httpx.get(f"{server.url}/metrics", timeout=60).text
    (build,) = re.findall(r"^hiatus_build_info.*", metrics, re.MULTILINE)
    (version,) = re.findall(r'version="(.*?)"', build)
    return str(version)


def half_days() -> list[tuple[date, dict[str, str]]]:
    """600 half-days on which people in England work."""
    closed = holidays.country_holidays("GB", subdiv="ENG")
    days = (free_monday() + timedelta(days=number) for number in range(500))
    working = [day for day in days if day.weekday() < 5 and day not in closed][:300]
    return [
        (day, half)
        for day in working
        for half in ({"end_half_day": "am"}, {"start_half_day": "pm"})
    ]


class Balancer:
    """Sends each request to one of the processes that it knows, in turn."""

    def __init__(self) -> None:
        self._servers: list[Server] = []
        self._in_flight: Counter[str] = Counter()
        self._turn = 0
        self._changed = threading.Condition()

    def add(self, server: Server) -> None:
        with self._changed:
            self._servers.append(server)

    def remove(self, server: Server) -> None:
        """Send it nothing more, and wait for the responses to what it has."""
        with self._changed:
            self._servers.remove(server)
            assert self._changed.wait_for(lambda: not self._in_flight[server.url], GIVE_UP_SECONDS)

    def servers(self) -> list[Server]:
        with self._changed:
            return [*self._servers]

    @contextmanager
    def server(self) -> Iterator[Server]:
        with self._changed:
            self._turn += 1
            server = self._servers[self._turn % len(self._servers)]
            self._in_flight[server.url] += 1
        try:
            yield server
        finally:
            with self._changed:
                self._in_flight[server.url] -= 1
                self._changed.notify_all()


class Load:
    """People request half-days, each with an idempotency key, and the owner approves them."""

    def __init__(self, balancer: Balancer, owner_key: str, keys: list[str], type_id: str) -> None:
        self._balancer = balancer
        self._owner_key = owner_key
        self._type_id = type_id
        self._half_days = half_days()
        self._is_over = threading.Event()
        self.statuses: Counter[int] = Counter()
        self.readiness: Counter[tuple[int, str]] = Counter()
        self.approved: list[str] = []
        self.errors: list[BaseException] = []
        works = [lambda key=key: self._request_leave(key) for key in keys]
        self._threads = [
            threading.Thread(target=self._guarded, args=(work,))
            for work in [*works, self._look_at_readiness]
        ]

    def _guarded(self, work: Any) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # stop() raises it
            self.errors.append(error)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        assert self.errors == []

    def more(self) -> None:
        """Wait until some more requests are approved."""
        goal, ends_at = len(self.approved) + APPROVED_EACH, time.monotonic() + GIVE_UP_SECONDS
        while len(self.approved) < goal:
            assert self.errors == []
            assert time.monotonic() < ends_at
            time.sleep(0.02)

    def _request_leave(self, key: str) -> None:
        for number, (day, half) in enumerate(self._half_days):
            leave = {
                **half,
                "leave_type_id": self._type_id,
                "start_date": f"{day}",
                "end_date": f"{day}",
            }
            headers = {"Idempotency-Key": f"{key[-8:]}-{number}"}
            # Twice, as a client that lost the first response: the second is the same request.
            first, again = (
                self._send(key, "/api/v1/leave-requests", json=leave, headers=headers)
                for _ in range(2)
            )
            assert first["id"] == again["id"]
            self._send(self._owner_key, f"/api/v1/approvals/{first['id']}/approve")
            self.approved.append(first["id"])
            if self._is_over.wait(PAUSE_SECONDS):
                return

    def _send(self, key: str, path: str, **more: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {key}", **more.pop("headers", {})}
        with self._balancer.server() as server:
            response = httpx.post(server.url + path, headers=headers, timeout=60, **more)
        self.statuses[response.status_code] += 1
        assert response.is_success, response.text
        body: dict[str, Any] = response.json()
        return body

    def _look_at_readiness(self) -> None:
        while not self._is_over.wait(0.2):
            with self._balancer.server() as server:
                response = httpx.get(f"{server.url}/readyz", timeout=60)
            self.readiness[response.status_code, response.json().get("reason", "")] += 1


def wait_until_delivered(url: str) -> None:
    ends_at = time.monotonic() + GIVE_UP_SECONDS
    due = "SELECT count(*) FROM deliveries WHERE status <> 'delivered'"
    while outside.rows(url, due) != [(0,)]:
        assert time.monotonic() < ends_at
        time.sleep(0.1)


@pytest.fixture
def deployment(database_url: str) -> Deployment:
    migrate(database_url)
    return Deployment(database_url, HIATUS_WEBHOOK_ALLOW_PRIVATE="on")


def test_two_releases_serve_one_database_during_an_upgrade_and_on_the_way_back(
    deployment: Deployment, tmp_path: Path
) -> None:
    url = deployment.env["DATABASE_URL"]
    migrations = {"9001_columns": _ADDS_COLUMNS, "9002_index": _ADDS_AN_INDEX}
    newer = release_with(tmp_path / "newer", **migrations)
    owner_key = deployment.init()["api_key"]
    processes = 2 if url.startswith("postgresql") else 1

    def replace(*, by: Path) -> list[Server]:
        """As operators do: start the others, and stop these once the others are ready."""
        leaving = balancer.servers()
        joining = [stack.enter_context(deployment.serving(release=by)) for _ in range(processes)]
        for server in joining:
            balancer.add(server)
        load.more()
        for server in leaving:
            balancer.remove(server)
            assert server.stop() == 0
        load.more()
        return joining

    with ExitStack() as stack:
        receiver = stack.enter_context(LoopbackReceiver())
        balancer = Balancer()
        old = [stack.enter_context(deployment.serving()) for _ in range(processes)]
        for server in old:
            balancer.add(server)
        owner = old[0].client(owner_key)
        listen(owner, receiver.url)
        keys = []
        for number in range(PEOPLE):
            hire(owner, f"Ada{number}")
            words = ("--email", f"ada{number}@example.com", "--name", "test", "--json")
            keys.append(deployment.command("keys", "create", *words)["api_key"])
        load = Load(balancer, owner_key, keys, unpaid(owner))
        load.start()
        try:
            load.more()
            done = run(newer, deployment, "migrate")
            assert (done.returncode, done.stderr) == (0, "")
            assert [*migrations] == [
                line.split()[1].rstrip(".") for line in done.stdout.splitlines()[:-1]
            ]
            load.more()
            new = replace(by=newer)
            assert {version_of(server) for server in new} == {NEWER}
            # The way back.
            done = run(ROOT, deployment, "migrate")
            assert (done.returncode, done.stderr) == (0, "")
            assert done.stdout.startswith("Nothing to do: the database has the migration 9002")
            back = replace(by=ROOT)
            assert {version_of(server) for server in back} == {VERSION}
        finally:
            load.stop()
        wait_until_delivered(url)

    assert load.statuses.keys() == {200, 201}
    assert load.readiness.keys() == {(200, "")}
    stored = outside.rows(url, "SELECT id, status FROM leave_requests")
    assert sorted((str(id_), status) for id_, status in stored) == sorted(
        (id_, "approved") for id_ in load.approved
    )
    events = Counter(
        (event["data"]["id"], event["type"])
        for event in {
            one.headers["webhook-id"]: json.loads(one.body) for one in receiver.requests
        }.values()
    )
    assert events == {
        (id_, f"leave_request.{what}"): 1
        for id_ in load.approved
        for what in ("created", "approved")
    }
    for server in (*old, *new, *back):
        assert "Traceback" not in server.logged()
    # Each old process says once for each migration that a newer release was here.
    for server in (*old, *back):
        lines = [json.loads(line) for line in server.logged().splitlines()]
        newer_names = [line["migration"] for line in lines if line["event"] == "database.newer"]
        assert newer_names == [*migrations]
    assert not any("database.newer" in server.logged() for server in new)


def test_an_old_release_stops_at_a_schema_that_it_cannot_use(
    deployment: Deployment, tmp_path: Path
) -> None:
    newer = release_with(tmp_path / "newer", **{"9001_no_leases": _REMOVES_A_TABLE})
    deployment.init()
    history = "SELECT name, compatible_from FROM schema_migration ORDER BY name"
    with deployment.serving() as old:
        assert run(newer, deployment, "migrate").returncode == 0
        after = outside.rows(deployment.env["DATABASE_URL"], history)

        refused = httpx.get(f"{old.url}/readyz")
        assert (refused.status_code, refused.json()["reason"]) == (503, "schema_too_new")
        for words in (("migrate",), ("serve",), ("keys", "list")):
            done = run(ROOT, deployment, *words)
            assert (done.returncode, done.stdout) == (1, ""), words
            assert "9001_no_leases" in done.stderr
            assert "run a newer version of Hiatus" in done.stderr
        with deployment.serving(release=newer) as new:
            assert version_of(new) == NEWER
    assert outside.rows(deployment.env["DATABASE_URL"], history) == after
