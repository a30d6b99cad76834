"""The start of a process: its imports, validators and exemptions from garbage collection."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.service.process import exempt_from_collection
from storage.db.schema import migrate
from tests.flows.running import free_port

ROOT = Path(__file__).parents[1]

# What `hiatus serve` does before it listens.
_PREPARE_AND_BUILD = """
import gc, json, os, sys
import serve
frozen = gc.get_freeze_count()
settings = serve.prepare(os.environ)
database = serve.open_database(settings)
serve.build(settings, database, serve.utc_now)
database.close()
from api.http.fields import Body
print(json.dumps({
    "modules": [*sys.modules],
    "collects": gc.isenabled(),
    "frozen": frozen,
    "built": [
        model.__name__ for model in Body.__subclasses__() if model.__pydantic_complete__
    ],
}))
"""

# `on_started` connects to the server, and then stops it.
_RUN = """
import os, signal, socket, sys
from starlette.applications import Starlette
from api.service import server
port = int(sys.argv[1])
def connect_and_stop():
    socket.create_connection(("127.0.0.1", port), 5).close()
    print("connected", flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
server.run(
    Starlette(), "127.0.0.1", port, trusted_proxies=[], on_started=connect_and_stop
)
"""


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A server with Slack that is ready to listen."""
    url = f"sqlite:///{tmp_path_factory.mktemp('start')}/hiatus.db"
    migrate(url)
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": url,
        "BASE_URL": "https://hiatus.example.com",
        "HIATUS_SLACK_BOT_TOKEN": "xoxb-1",
        "HIATUS_SLACK_SIGNING_SECRET": "secret",
    }

    result = subprocess.run(
        [sys.executable, "-c", _PREPARE_AND_BUILD],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )

    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed


@pytest.mark.parametrize("name", ["holidays.countries", "playground", "typer"])
def test_a_server_listens_without_importing_unneeded_modules(
    start: dict[str, Any], name: str
) -> None:
    assert name not in start["modules"]


def test_on_started_is_called_once_the_server_listens() -> None:
    result = subprocess.run(
        [sys.executable, "-c", _RUN, str(free_port())],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )

    assert result.stdout == "connected\n"


def test_rich_is_not_installed_because_structlog_would_import_it() -> None:
    locked = (ROOT / "requirements.txt").read_text(encoding="utf-8")

    assert "\nrich==" not in locked


def test_validators_of_bodies_are_built_at_their_first_use(start: dict[str, Any]) -> None:
    assert start["built"] == []


def test_modules_imported_with_the_command_line_are_exempt_from_garbage_collection(
    start: dict[str, Any],
) -> None:
    assert start["collects"]
    # Without it, 0: there are about 200,000 objects.
    assert start["frozen"] > 10_000


def test_objects_created_at_the_start_are_exempt_from_garbage_collection() -> None:
    before = gc.get_freeze_count()
    try:
        with exempt_from_collection():
            assert not gc.isenabled()
            objects = [[number] for number in range(1_000)]

        assert gc.isenabled()
        assert gc.get_freeze_count() >= before + len(objects)
    finally:
        gc.unfreeze()
