"""``hiatus doctor`` on a real standby and a real Redis."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from click.testing import CliRunner

import serve
from storage.base.secrets import new_secret_key
from storage.base.settings import StorageSettings
from storage.cli.doctor import standby
from storage.cli.doctor.findings import Finding, run
from storage.cli.doctor.reading import Reader
from storage.db.schema import migrate
from tests import outside, postgres, redis_server, replication
from tests.flows.running import Deployment
from tests.redis_server import RedisServer
from tests.replication import Pair

pytestmark = pytest.mark.slow

KEY = new_secret_key()


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with replication.running() as pair:
        migrate(pair.url)
        # The primary's commits wait for no standby.
        replication.set_up(pair.primary.local_url, "synchronous_standby_names", "")
        yield pair


def found(url: str, read_url: str) -> Finding:
    settings = StorageSettings(database_url=url, read_url=read_url, secret_keys=(KEY,))
    [finding] = run(standby.checks(Reader(settings=settings)))
    return finding


def test_a_standby_that_follows_is_ok(pair: Pair) -> None:
    outside.rows(pair.primary.local_url, "SELECT pg_switch_wal()")

    finding = found(pair.url, pair.standby.url)

    assert (finding.state, finding.subject) == ("ok", "standby"), finding.text


def test_a_standby_that_does_not_catch_up_is_a_warning_that_says_how_far(pair: Pair) -> None:
    outside.rows(pair.standby.local_url, "SELECT pg_wal_replay_pause()")
    outside.run(pair.primary.local_url, "CREATE TABLE filling AS SELECT generate_series(1, 99999)")

    finding = found(pair.url, pair.standby.url)
    outside.rows(pair.standby.local_url, "SELECT pg_wal_replay_resume()")

    assert finding.state == "warning"
    mebibytes = float(finding.text.removeprefix("is ").split(" ")[0])
    assert 2 < mebibytes < 50
    assert "pg_stat_replication" in finding.text
    assert found(pair.url, pair.standby.url).state == "ok"


def test_a_primary_in_place_of_a_standby_is_a_warning(pair: Pair) -> None:
    finding = found(pair.url, pair.primary.url)

    assert (finding.state, "leads to a primary" in finding.text) == ("warning", True)


def test_a_standby_of_another_primary_or_database_is_a_failure(
    pair: Pair, postgres_server: str
) -> None:
    # Every server has a database of that name.
    other_database = pair.standby.url.replace("/hiatus?", "/postgres?")

    findings = [found(postgres_server, other_database), found(pair.url, other_database)]

    assert [finding.state for finding in findings] == ["failed", "failed"]
    assert {"leads to another database" in finding.text for finding in findings} == {True}


def test_a_frozen_standby_is_a_failure_in_its_time_without_the_password(pair: Pair) -> None:
    url = pair.standby.url.replace("hiatus@", "hiatus:hunter2@")
    began_at = time.monotonic()
    with postgres.frozen(pair.standby.folder):
        finding = found(pair.url, url)

    assert (finding.state, "cannot be read" in finding.text) == ("failed", True), finding.text
    assert "no result within" not in finding.text
    assert time.monotonic() - began_at < 20
    assert "hunter2" not in finding.text


def test_a_standby_is_looked_at_while_the_primary_is_away(pair: Pair) -> None:
    finding = found("postgresql://hiatus@127.0.0.1:1/hiatus", pair.standby.url)

    assert (finding.state, finding.text.startswith("answers; ")) == ("warning", True)


@pytest.mark.skipif(redis_server.PROGRAM is None, reason=redis_server.MISSING)
def test_standby_and_redis_are_checked_where_they_are_set(pair: Pair) -> None:
    with closing(RedisServer("--requirepass", "secret-of-redis")) as redis:
        deployment = Deployment(
            pair.url,
            DATABASE_READ_URL=pair.standby.url,
            HIATUS_RATE_LIMIT_STORAGE=redis.url("secret-of-redis"),
        )

        printed = CliRunner().invoke(serve.command_line(deployment.env), ["doctor"]).stdout

    assert "ok       standby" in printed
    assert "ok       Redis" in printed
    assert "secret-of-redis" not in printed
