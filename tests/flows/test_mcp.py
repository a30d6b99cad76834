"""`/mcp` of a deployment with two processes, for the SDK's own client."""

from __future__ import annotations

import time

import pytest

from storage.db.schema import migrate
from tests.assistants import MODES, Assistant, ByKey, BySlack
from tests.fakes.slack import LoopbackSlack
from tests.flows.running import Deployment
from tests.flows.test_workers import wait_until, workers_of

pytestmark = pytest.mark.slow


def test_any_of_two_processes_answers_any_request(database_url: str) -> None:
    migrate(database_url)
    deployment = Deployment(database_url)
    key = deployment.init()["api_key"]
    with deployment.serving("--workers", "2") as server:
        wait_until(lambda: len(workers_of(server)) == 2)
        for _ in range(10):
            for mode in MODES:
                # A connection for each client, so that either process may get it.
                answer = Assistant(server.url, ByKey(key), mode=mode).ask("my_balance")
                assert answer["person"] == "Olive Owner"

    assert "Traceback" not in server.logged()
    assert '"tool":"my_balance"' in server.logged()
    assert key not in server.logged()


def test_slack_asks_a_whole_deployment_for_a_person(database_url: str) -> None:
    migrate(database_url)
    with LoopbackSlack() as slack:
        slack.add_person("UOLIVE", "olive@example.com", "Olive Owner", tz="Europe/London")
        deployment = Deployment(
            database_url,
            HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
            HIATUS_SLACK_BOT_TOKEN=slack.token,
            HIATUS_SLACK_API_URL=slack.api_url,
        )
        deployment.init()
        with deployment.serving() as server:
            slack.app_url = server.url
            slackbot = Assistant(
                server.url, BySlack(slack.signing_secret, time.time), slack=("T1", "UOLIVE")
            )
            assert slackbot.ask("my_balance")["person"] == "Olive Owner"
