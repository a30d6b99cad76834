"""A database that hangs: callers get an error soon, and the process can still be stopped."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from storage.db.schema import migrate
from tests import postgres
from tests.flows.running import ROOT, Deployment

pytestmark = pytest.mark.slow

TIMEOUT_SECONDS = 3.0
# A machine that is busy with something else.
GRACE_SECONDS = 10.0


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Another process writes to the SQLite file, and does not end."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_hanging_database_is_503_and_sigterm_ends_the_process() -> None:
    server = postgres.start()
    try:
        url = postgres.make_database(server.url, "hiatus")
        migrate(url)
        deployment = Deployment(url, HIATUS_DATABASE_TIMEOUT=str(TIMEOUT_SECONDS))
        key = deployment.init()["api_key"]
        with deployment.serving() as process, process.client(key) as client:
            assert client.get("/api/v1/users").status_code == 200
            with postgres.frozen(server.folder):
                began_at = time.monotonic()
                with ThreadPoolExecutor(20) as callers:
                    responses = list(callers.map(lambda _: client.get("/api/v1/users"), range(20)))
                assert {response.status_code for response in responses} == {503}
                assert all(int(response.headers["Retry-After"]) > 0 for response in responses)
                assert time.monotonic() - began_at < TIMEOUT_SECONDS + GRACE_SECONDS
            assert client.get("/api/v1/users").status_code == 200
            counted = client.get("/metrics").text
            assert 'hiatus_problems_total{event="request unavailable"} 20.0' in counted
            with postgres.frozen(server.folder):
                began_at = time.monotonic()
                assert process.stop() in (0, 1)
                # Requests under way, 20 s, and the remaining work, 10 s.
                assert time.monotonic() - began_at < 30 + GRACE_SECONDS
            reasons = [json.loads(line) for line in process.logged().splitlines()]
            unavailable = [
                entry["reason"] for entry in reasons if entry.get("event") == "request unavailable"
            ]
            assert len(unavailable) == 20
            assert all(unavailable)
    finally:
        server.stop()


def test_a_sqlite_file_locked_by_another_process_is_503_soon(
    sqlite_url: str,
) -> None:
    deployment = Deployment(sqlite_url, HIATUS_DATABASE_TIMEOUT=str(TIMEOUT_SECONDS))
    key = deployment.init()["api_key"]
    with deployment.serving() as process, process.client(key) as client:
        with locked(sqlite_url.removeprefix("sqlite:///")):
            began_at = time.monotonic()
            response = client.post("/api/v1/departments", json={"name": "Design"})
            assert (response.status_code, response.headers["Retry-After"]) == (503, "2")
            assert time.monotonic() - began_at < TIMEOUT_SECONDS + GRACE_SECONDS
            assert client.get("/api/v1/departments").status_code == 200
        assert client.post("/api/v1/departments", json={"name": "Design"}).status_code == 201


_HANGING = """
import threading
from api.service import server
threading.Thread(target=threading.Event().wait).start()
server.end_soon(0.5)
"""


def test_a_stopping_process_ends_although_a_thread_hangs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HANGING], cwd=ROOT, capture_output=True, check=False, timeout=60
    )

    assert done.returncode == 1
    assert b"process.ended_unfinished" in done.stdout + done.stderr
