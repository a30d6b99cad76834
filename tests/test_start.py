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


@pytest.mark.parametrize(
    "name",
    [
        *("bot.service.app", "holidays.groups", "playground"),
        *("resvg_py", "slack_bolt", "slack_sdk"),
    ],
)
def test_a_server_listens_without_importing_unneeded_modules(
    start: dict[str, Any], name: str
) -> None:
    assert name not in start["modules"]


@pytest.mark.parametrize("name", ["pygments", "rich"])
def test_what_structlog_and_httpx_import_if_it_is_there_is_not_installed(name: str) -> None:
    locked = (ROOT / "requirements.txt").read_text(encoding="utf-8")

    assert f"\n{name}==" not in locked


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


_WRITE_IN_GERMAN = """
import json, os, sys
from datetime import date
import serve
serve.import_later(with_slack=True)
from bot.base import language
from bot.base.language import gettext
from babel.dates import format_date
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
texts = []
for locale in ("de-DE", "en-GB"):
    language.set_locale(locale)
    day = format_date(date(2026, 3, 2), "EEEE d MMMM", locale=language.locale())
    texts.append([gettext("Approve"), day])
print(json.dumps({"opened": opened, "texts": texts}))
"""


def test_languages_are_read_before_the_first_text_needs_them() -> None:
    result = subprocess.run(
        [sys.executable, "-c", _WRITE_IN_GERMAN],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )

    seen = json.loads(result.stdout)
    assert seen["texts"] == [["Genehmigen", "Montag 2 März"], ["Approve", "Monday 2 March"]]
    assert seen["opened"] == []
