"""The Slack side over a test's database, and nothing in it that Slack would not like."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storage.database import Database
from tests.bot.world import World
from tests.fakes.slack import LoopbackSlack


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as running:
        yield running
        assert running.violations == []


@pytest.fixture
def world(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    with World(database, slack) as running:
        yield running
