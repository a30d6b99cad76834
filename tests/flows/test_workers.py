"""``hiatus serve --workers``: processes that share a port and the jobs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from api.service.server import DRAIN_SECONDS, FINISH_SECONDS, WORKER_START_SECONDS
from storage.db.schema import migrate
from tests.fakes.receiver import LoopbackReceiver
from tests.flows.running import ROOT, Deployment, Server

pytestmark = pytest.mark.slow

PINGS = 20


def workers_of(server: Server) -> list[int]:
    """The processes whose application runs."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
    return [pid for pid in map(int, children.split()) if b"resource_tracker" not in _command(pid)]


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    ends_at = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.05)


def test_two_workers_share_the_port_and_the_jobs(database_url: str) -> None:
    migrate(database_url)
    deployment = Deployment(database_url, HIATUS_WEBHOOK_ALLOW_PRIVATE="on")
    key = deployment.init()["api_key"]
    with deployment.serving("--workers", "2") as server, LoopbackReceiver() as receiver:
        # Both have started: each answers while the other is stopped.
        wait_until(lambda: len(workers_of(server)) == 2)
        workers = workers_of(server)
        for worker in workers:
            os.kill(worker, signal.SIGSTOP)
            try:
                assert httpx.get(f"{server.url}/readyz", timeout=60).status_code == 200
            finally:
                os.kill(worker, signal.SIGCONT)

        headers = {"Authorization": f"Bearer {key}"}
        webhook = {"url": receiver.url, "events": ["*"]}
        made = httpx.post(f"{server.url}/api/v1/webhooks", json=webhook, headers=headers)
        ping = f"{server.url}/api/v1/webhooks/{made.raise_for_status().json()['id']}/test"
        for _ in range(PINGS):
            # A connection each, so that either worker may get it.
            httpx.post(ping, headers=headers).raise_for_status()

        received = receiver.wait_for(PINGS)
        began_at = time.monotonic()
        assert server.stop() == 0

    assert time.monotonic() - began_at < DRAIN_SECONDS + FINISH_SECONDS
    assert len({each.headers["webhook-id"] for each in received}) == PINGS
    assert len(receiver.requests) == PINGS
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_metrics_count_the_requests_of_all_workers(sqlite_url: str) -> None:
    with Deployment(sqlite_url).serving("--workers", "2") as server:
        wait_until(lambda: len(workers_of(server)) == 2)
        for worker in workers_of(server):
            os.kill(worker, signal.SIGSTOP)
            try:
                for _ in range(3):
                    httpx.get(f"{server.url}/privacy", timeout=60).raise_for_status()
            finally:
                os.kill(worker, signal.SIGCONT)

        shown = httpx.get(f"{server.url}/metrics").raise_for_status().text

    [line] = [
        line
        for line in shown.splitlines()
        if line.startswith("hiatus_http_request_duration_seconds_count")
        and 'route="/privacy"' in line
    ]
    assert line.endswith(" 6.0")
    assert "hiatus_build_info{" in shown
    assert "\nhiatus_database_up 1.0\n" in shown


def test_a_worker_that_is_killed_is_replaced(sqlite_url: str) -> None:
    with Deployment(sqlite_url).serving("--workers", "2") as server:
        wait_until(lambda: len(workers_of(server)) == 2)
        killed = workers_of(server)[0]
        os.kill(killed, signal.SIGKILL)

        # The supervisor may just wait for the answer of the worker that was killed.
        wait_until(
            lambda: killed not in workers_of(server) and len(workers_of(server)) == 2,
            seconds=60 + WORKER_START_SECONDS,
        )
        assert httpx.get(f"{server.url}/readyz", timeout=60).status_code == 200


def test_the_demo_needs_one_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "serve.py", "serve", "--demo", "--workers", "2"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATABASE_URL": f"sqlite:///{tmp_path}/hiatus.db"},
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 2
    assert "--demo needs one process" in done.stderr
    assert list(tmp_path.iterdir()) == []
