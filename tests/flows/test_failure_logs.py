"""Every response of 500 or more has one line in the log that names its reason."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from storage.db.schema import migrate
from tests import outside, postgres
from tests.fakes.slack import LoopbackSlack
from tests.flows.running import Deployment, Server

pytestmark = pytest.mark.slow

MEGABYTE = 1_000_000


def problems_of(server: Server, response: httpx.Response) -> list[dict[str, Any]]:
    """The warnings and errors with the response's request id, once the server has ended."""
    lines = [json.loads(line) for line in server.logged().splitlines() if line.startswith("{")]
    return [
        line
        for line in lines
        if line.get("request_id") == response.headers["X-Request-Id"] and line["level"] != "info"
    ]


def test_a_stopped_postgresql_is_named(tmp_path: Path) -> None:
    database = postgres.start()
    try:
        url = postgres.make_database(database.url, "hiatus")
        migrate(url)
        deployment = Deployment(url, HIATUS_DATABASE_TIMEOUT="3")
        key = deployment.init()["api_key"]
        with deployment.serving() as server:
            client = server.client(key)
            assert client.get("/api/v1/users").status_code == 200
            database.stop()
            read = client.get("/api/v1/users")
            written = client.post("/api/v1/departments", json={"name": "Design"})
            ready = client.get("/readyz")
            counted = client.get("/metrics").text
    finally:
        database.stop()

    for response in (read, written, ready):
        assert response.status_code == 503
        (problem,) = problems_of(server, response)
        assert problem["kind"] == "connection_lost"
        assert problem["reason"]
        assert key not in json.dumps(problem)
    assert "hiatus_database_up 0.0" in counted
    (line,) = (line for line in counted.splitlines() if 'errors_total{kind="connection_' in line)
    assert float(line.split()[-1]) >= 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("Mounting a file system needs root on Linux.")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_named(small_disk: Path) -> None:
    url = f"sqlite:///{small_disk / 'hiatus.db'}"
    migrate(url)
    deployment = Deployment(url)
    key = deployment.init()["api_key"]
    filler = small_disk / "filler"
    with deployment.serving() as server:
        client = server.client(key)
        with filler.open("wb") as file:
            try:
                while True:
                    file.write(b"x" * MEGABYTE)
                    file.flush()
            except OSError:
                pass
        refused = client.post("/api/v1/departments", json={"name": "Design"})
        for number in range(50):
            if refused.status_code == 503:
                break
            refused = client.post("/api/v1/departments", json={"name": f"Design {number}"})
        filler.unlink()
        accepted = client.post("/api/v1/departments", json={"name": "Research"})

    assert (refused.status_code, accepted.status_code) == (503, 201)
    (problem,) = problems_of(server, refused)
    assert (problem["event"], problem["kind"]) == ("request unavailable", "disk_full")
    assert "full" in problem["reason"]


def test_an_outage_of_slack_is_named(sqlite_url: str) -> None:
    with LoopbackSlack() as slack:
        slack.add_person("UINA", "ina@example.com", "Ina Installer")
        deployment = Deployment(
            sqlite_url,
            HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
            HIATUS_SLACK_CLIENT_ID=slack.client_id,
            HIATUS_SLACK_CLIENT_SECRET=slack.client_secret,
            HIATUS_SLACK_API_URL=slack.api_url,
        )
        with deployment.serving() as server:
            begun = httpx.get(f"{server.url}/slack/install")
            state = parse_qs(urlsplit(begun.headers["location"]).query)["state"][0]
            code = slack.oauth_code("UINA")
            slack.fail_next("auth.test", status=500, times=100)
            failed = httpx.get(
                f"{server.url}/slack/oauth_redirect",
                params={"state": state, "code": code},
                headers={"Cookie": begun.headers["set-cookie"].partition(";")[0]},
                timeout=30,
            )

    assert failed.status_code == 400
    assert "Failed to fetch oauth.v2.access" in server.logged()
    assert "status: 500" in server.logged()
    for secret in (state, code, slack.client_secret):
        assert secret not in server.logged()


def test_an_unexpected_error_is_named_with_its_traceback(sqlite_url: str) -> None:
    deployment = Deployment(sqlite_url)
    key = deployment.init()["api_key"]
    with deployment.serving() as server:
        outside.run(sqlite_url, "ALTER TABLE departments RENAME TO departments_away")
        failed = server.client(key).get("/api/v1/departments")

    assert failed.status_code == 500
    (problem,) = problems_of(server, failed)
    assert (problem["event"], problem["reason"]) == ("request failed", "OperationalError")
    assert "no such table" in problem["exception"]
    assert key not in json.dumps(problem)
