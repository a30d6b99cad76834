from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from structlog.testing import capture_logs

import serve
from api.service import server
from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import a_key, an_organisation

pytestmark = pytest.mark.shared_database


def test_a_valid_request_id_is_kept_and_any_other_replaced(client: Client) -> None:
    def returned(sent: str) -> str:
        response = client.get("/healthz", headers={"X-Request-Id": sent})
        return str(response.headers["X-Request-Id"])

    assert returned("trace-7") == "trace-7"
    for odd in ("", "two words", "x" * 129, "tab\tbed"):
        assert returned(odd) not in ("", odd)
    assert returned("") != returned("")


def test_one_line_is_logged_for_a_request(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)

    with capture_logs() as lines:
        client.get(f"/api/v1/users/{acme.owner.id}", key, headers={"X-Request-Id": "trace-7"})

    (line,) = lines
    assert line["method"] == "GET"
    assert line["route"] == "/api/v1/users/{id}"
    assert line["status"] == 200
    assert line["request_id"] == "trace-7"
    assert line["organisation_id"] == acme.id
    assert line["key_id"]
    assert line["duration_ms"] > 0


@pytest.mark.parametrize(
    "path", ["/cal/secret-token", "/cal/secret-token.ics", "/cal/x/secret-token"]
)
def test_a_feeds_token_is_never_logged(client: Client, path: str) -> None:
    with capture_logs() as lines:
        client.get(path)

    assert len(lines) == 1
    assert "secret-token" not in str(lines)


def test_health_needs_no_key(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {
        "status": "ready",
        "oldest_undelivered_seconds": 0,
    }


def served(folder: Path, *options: str) -> Result:
    env = {"DATABASE_URL": f"sqlite:///{folder}/hiatus.db"}
    return CliRunner().invoke(serve.command_line(env), ["serve", "--demo", *options])


def test_a_port_in_use_ends_serve_before_it_writes_anything(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        done = served(tmp_path, "--port", str(port))

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        f"Port {port} of 127.0.0.1 is in use by another program. Stop that program, or choose "
        'another port, such as --port 9000. With make: `make run ARGS="--port 9000"`.\n'
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "sentence"),
    [
        # Of the block for documentation, RFC 5737.
        ("192.0.2.1", "192.0.2.1 is not an address of this machine. Use --host 127.0.0.1"),
        ("no-such-host.invalid", "'no-such-host.invalid' is not a host that this machine can find"),
    ],
)
def test_an_address_of_another_machine_is_refused(tmp_path: Path, host: str, sentence: str) -> None:
    done = served(tmp_path, "--host", host)

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(sentence)


def test_a_port_for_root_only_is_refused_with_a_cure() -> None:
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    assert server.why_not(refused, "127.0.0.1", 80) == (
        "This user may not listen on port 80. Choose a port from 1024 on, such as --port 8000, and "
        "let a reverse proxy listen on 80 and 443."
    )
