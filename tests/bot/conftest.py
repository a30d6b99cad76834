"""Fixtures for Slack. After each test: no call broke Slack's rules, no log has personal data."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from bot.service import manifest
from storage.db.database import Database
from tests.bot.world import World
from tests.fakes.slack import LoopbackSlack

SHORTEST_SECRET = 5


class Logged:
    """Every line that is logged, as production writes it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def msg(self, line: str) -> None:
        self.lines.append(line)

    debug = info = warning = error = critical = exception = log = msg

    def __call__(self, *_: Any) -> Logged:
        return self


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[Logged]:
    lines = Logged()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        logger_factory=lines,
        cache_logger_on_first_use=False,
    )
    caplog.set_level(logging.INFO)
    yield lines
    lines.lines += [logging.Formatter().format(record) for record in caplog.records]
    structlog.reset_defaults()


@pytest.fixture
def slack(logged: Logged, caplog: pytest.LogCaptureFixture) -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as running:
        yield running
        assert running.violations == []
        # Only tests delete messages.
        listed = {*manifest.METHODS, *manifest.USER_METHODS, *manifest.OPTIONAL_METHODS}
        unlisted = running.methods_called - listed - {"chat.delete"}
        assert unlisted == set(), "manifest.METHODS lacks a method, and perhaps SCOPES its scope"
        ours = [record for record in caplog.records if record.name != "httpx"]
        lines = [*logged.lines, *(logging.Formatter().format(record) for record in ours)]
        leaks = [(word, line) for word in personal(running) for line in lines if word in line]
        assert leaks == [], "something personal or secret was logged"


def personal(slack: LoopbackSlack) -> set[str]:
    """Names, e-mail addresses and tokens, and all texts that were typed into forms."""
    workspace = slack.workspace
    words = {
        slack.app_token,
        slack.signing_secret,
        slack.client_secret,
        "xoxb-",
        "xoxp-",
        "@example",
    }
    for person in workspace.people.values():
        if not person.is_bot:
            words |= {person.real_name, person.real_name.split()[-1], str(person.email)}
    for view in workspace.views.values():
        for block in view.values.values():
            words |= {str(state.get("value")) for state in block.values()}
    return {word for word in words if len(word) >= SHORTEST_SECRET and not word.startswith("U")}


@pytest.fixture
def world(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    with World(database, slack) as running:
        yield running
