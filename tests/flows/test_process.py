"""The process and its connections: signals, files, and hostile clients."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests import outside
from tests.flows.running import ROOT, START_SECONDS, Deployment, Server

pytestmark = pytest.mark.slow

GIGABYTE = 1_000_000_000


def response_to_a_large_body(server: Server, request: bytes, *, of_bytes: int) -> tuple[bytes, int]:
    """The response to a client that goes on sending, and how many bytes the server accepted."""
    sent_bytes = 0
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(request)
        try:
            while sent_bytes < of_bytes:
                sent_bytes += connection.send(b"x" * 65_536)
        except OSError:
            pass  # The server has closed the connection.
        response = b""
        try:
            while received := connection.recv(65_536):
                response += received
        except ConnectionResetError:
            pass
    return response, sent_bytes


def test_a_refused_body_is_not_read_to_its_end(sqlite_url: str) -> None:
    deployment = Deployment(sqlite_url)
    key = deployment.init()["api_key"].encode()
    post = b"POST /api/v1/departments HTTP/1.1\r\nHost: a\r\n"
    json = b"Content-Type: application/json\r\n"
    large = b"Content-Length: %d\r\n\r\n" % GIGABYTE
    authorized = b"Authorization: Bearer %s\r\n" % key
    with deployment.serving() as server:
        for request, status in (
            (post + json + large, b"401"),
            (post + authorized + json + large, b"413"),
            (post + authorized + b"Content-Type: text/csv\r\n" + large, b"413"),
            (b"POST /no-such-path HTTP/1.1\r\nHost: a\r\n" + large, b"404"),
            (b"POST /slack/events HTTP/1.1\r\nHost: a\r\n" + large, b"404"),
            (b"PUT /healthz HTTP/1.1\r\nHost: a\r\n" + large, b"405"),
            (post + json + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFF\r\n", b"401"),
        ):
            response, sent_bytes = response_to_a_large_body(server, request, of_bytes=GIGABYTE // 4)

            assert response.startswith(b"HTTP/1.1 %s " % status), (request, response[:200])
            assert b"\r\nconnection: close\r\n" in response
            assert sent_bytes < GIGABYTE // 10, request


def test_a_small_refused_body_costs_no_connection(sqlite_url: str) -> None:
    with (
        Deployment(sqlite_url).serving() as server,
        httpx.Client(base_url=server.url) as http,
    ):
        response = http.post("/api/v1/departments", json={"name": "Research"})

    assert response.status_code == 401
    assert "Connection" not in response.headers


def test_clients_that_send_too_much_read_why(sqlite_url: str) -> None:
    deployment = Deployment(sqlite_url)
    key = deployment.init()["api_key"]
    with deployment.serving() as server:
        http = server.client(key)
        for _ in range(3):
            response = http.post("/api/v1/departments", json={"name": "x" * 1_000_000})

            assert response.json()["code"] == "body_too_large"
            assert "Connection" not in response.headers


def test_an_idle_connection_is_closed(sqlite_url: str) -> None:
    with (
        Deployment(sqlite_url).serving() as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection,
    ):
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        while connection.recv(65_536):
            pass  # Until the server closes it; a time-out fails the test.


def test_sighup_is_ignored(sqlite_url: str) -> None:
    with Deployment(sqlite_url).serving() as server:
        server.signal(signal.SIGHUP)

        assert httpx.get(f"{server.url}/readyz").status_code == 200
        assert server.stop() == 0


def test_sighup_is_ignored_by_the_bot(sqlite_url: str, tmp_path: Path) -> None:
    env = Deployment(sqlite_url).env
    with (tmp_path / "log").open("wb") as log:
        bot = subprocess.Popen(
            [sys.executable, "serve.py", "bot", "--idle-without-slack"],
            cwd=ROOT,
            env=env,
            stderr=log,
        )
    deadline = time.monotonic() + START_SECONDS
    while b"idle until stopped" not in (tmp_path / "log").read_bytes():
        assert bot.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)

    bot.send_signal(signal.SIGHUP)
    bot.send_signal(signal.SIGTERM)

    assert bot.wait(60) == 0


def test_a_new_sqlite_database_is_for_its_owner_only(tmp_path: Path) -> None:
    deployment = Deployment(f"sqlite:///{tmp_path}/hiatus.db")
    mask = os.umask(0o022)
    try:
        deployment.command("migrate")
        with deployment.serving() as server:
            modes = {
                path.name: stat.S_IMODE(path.stat().st_mode)
                for path in tmp_path.iterdir()
                if path.name.startswith("hiatus.db")
            }
            httpx.get(f"{server.url}/readyz").raise_for_status()
    finally:
        os.umask(mask)

    assert modes == {"hiatus.db": 0o600, "hiatus.db-wal": 0o600, "hiatus.db-shm": 0o600}


@pytest.mark.parametrize(
    "command",
    [
        ["migrate"],
        ["serve"],
        ["bot"],
        ["keys", "list"],
        ["secrets", "reencrypt"],
    ],
)
def test_a_file_that_is_no_database_stops_every_command(tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes. " * 100)

    done = subprocess.run(
        [sys.executable, "serve.py", *command],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATABASE_URL": f"sqlite:///{path}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == f"DATABASE_URL names {path}, which is not an SQLite database.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_damaged_database_stops_with_a_sentence(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    path.write_bytes(path.read_bytes()[:100] + b"damaged" * 1_000)

    done = subprocess.run(
        [sys.executable, "serve.py", "serve"],
        cwd=ROOT,
        env=Deployment(sqlite_url).env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("The database does not answer: ")


def test_metrics_are_served_while_the_database_is_damaged(database_url: str) -> None:
    with Deployment(database_url).serving() as server:
        outside.run(database_url, "ALTER TABLE deliveries RENAME TO deliveries_of_before")
        first = httpx.get(f"{server.url}/metrics")
        second = httpx.get(f"{server.url}/metrics")
        outside.run(database_url, "ALTER TABLE deliveries_of_before RENAME TO deliveries")
        repaired = httpx.get(f"{server.url}/metrics")

    assert [response.status_code for response in (first, second, repaired)] == [200, 200, 200]
    for response, count in ((first, 1), (second, 2), (repaired, 2)):
        assert f'hiatus_problems_total{{event="metrics incomplete"}} {count}.0' in response.text
    assert "\nhiatus_database_up 0.0\n" in second.text
    assert "\nhiatus_database_up 1.0\n" in repaired.text
