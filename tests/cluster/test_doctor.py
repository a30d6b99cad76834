"""``hiatus doctor`` on a real Redis."""

from __future__ import annotations

from contextlib import closing

import pytest
from click.testing import CliRunner

import serve
from tests import redis_server
from tests.flows.running import Deployment
from tests.redis_server import RedisServer

pytestmark = pytest.mark.slow


@pytest.mark.skipif(redis_server.PROGRAM is None, reason=redis_server.MISSING)
def test_redis_is_checked_where_it_is_set(sqlite_url: str) -> None:
    with closing(RedisServer("--requirepass", "secret-of-redis")) as redis:
        deployment = Deployment(
            sqlite_url,
            HIATUS_RATE_LIMIT_STORAGE=redis.url("secret-of-redis"),
        )

        printed = CliRunner().invoke(serve.command_line(deployment.env), ["doctor"]).stdout

    assert "ok       Redis" in printed
    assert "secret-of-redis" not in printed
