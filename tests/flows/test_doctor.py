"""``hiatus doctor`` as an operator runs it, beside a running server and without one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import serve
from tests.fakes.slack import LoopbackSlack
from tests.flows.running import ROOT, Deployment


def run_doctor(env: dict[str, str], *options: str) -> Result:
    return CliRunner().invoke(serve.command_line(env), ["doctor", *options])


def test_as_json_it_is_one_object_with_a_code_for_each_line(sqlite_url: str) -> None:
    env = {"DATABASE_URL": sqlite_url, "HIATUS_RATE_LIMIT": "a lot", "PATH": ""}

    result = run_doctor(env, "--json")

    assert (result.exit_code, result.stderr) == (1, "")
    printed = json.loads(result.stdout)
    assert printed["state"] == "failed"
    codes = {each["subject"]: (each["state"], each["code"]) for each in printed["findings"]}
    assert codes["settings"] == ("failed", "invalid_setting")
    assert codes["BASE_URL"] == ("warning", "base_url_missing")
    assert codes["digests"] == ("ok", "ok")


def test_the_page_lists_every_code() -> None:
    sources = [ROOT / f"{package}/doctor.py" for package in ("api/service", "bot/service")]
    text = "".join(path.read_text() for path in (*sources, ROOT / "storage/operations/doctor.py"))
    calls = r'(?:warning|failed|partial)\((?:[\w.]+, )*\s*[\w".]+,\s+"(\w+)",\s|return "(\w+)", '
    codes = {first or second for first, second in re.findall(calls, text)}

    listed = set(re.findall(r"`([a-z_]+)`", (ROOT / "docs/doctor.md").read_text()))

    assert len(codes) > 25
    assert codes - listed == set()


@pytest.mark.slow
def test_a_deployment_that_serves_is_clean(database_url: str) -> None:
    with LoopbackSlack() as slack:
        deployment = Deployment(
            database_url,
            HIATUS_SLACK_BOT_TOKEN=slack.token,
            HIATUS_SLACK_APP_TOKEN=slack.app_token,
            HIATUS_SLACK_API_URL=slack.api_url,
        )
        deployment.init()
        with deployment.serving() as server:
            result = run_doctor({**deployment.env, "BASE_URL": server.url})

    assert {line.split(" ")[0] for line in result.stdout.splitlines()} == {"ok"}, result.stdout
    assert result.exit_code == 0
    assert result.stderr == ""


def test_a_database_that_is_down_leaves_the_other_checks() -> None:
    with LoopbackSlack() as slack:
        deployment = Deployment(
            "postgresql://hiatus:hunter2@127.0.0.1:1/hiatus",
            HIATUS_SLACK_BOT_TOKEN=slack.token,
            HIATUS_SLACK_SIGNING_SECRET="secret-of-slack",
            HIATUS_SLACK_API_URL=slack.api_url,
            BASE_URL="https://127.0.0.1:1",
        )

        result = run_doctor(deployment.env)

    assert result.exit_code == 1
    lines = {line[:22].strip() for line in result.stdout.splitlines()}
    assert {
        "failed   database",
        "warning  webhooks",
        "ok       Slack",
        "failed   BASE_URL",
    } <= lines
    secrets = ("hunter2", slack.token, "secret-of-slack", deployment.env["HIATUS_SECRET_KEYS"])
    assert [secret for secret in secrets if secret in result.output] == []


def test_malformed_settings_are_all_named_and_the_valid_ones_are_checked(sqlite_url: str) -> None:
    env = {
        "DATABASE_URL": sqlite_url,
        "HIATUS_SECRET_KEYS": "too-short",
        "HIATUS_RATE_LIMIT": "often",
        "HIATUS_SLACK_BOT_TOKEN": "xoxb-1",
    }

    result = run_doctor({**env, "HIATUS_SLACK_API_URL": "http://127.0.0.1:1/api/"})

    failed = [line for line in result.stdout.splitlines() if line.startswith("failed   settings")]
    named = ("HIATUS_SECRET_KEYS", "HIATUS_RATE_LIMIT", "HIATUS_SLACK_SIGNING_SECRET")
    assert all(any(name in line for line in failed) for name in named), result.stdout
    assert "ok       database" in result.stdout
    assert "too-short" not in result.stdout
    assert result.exit_code == 1


def test_a_key_file_is_not_created(tmp_path: Path) -> None:
    run_doctor({"DATABASE_URL": f"sqlite:///{tmp_path}/hiatus.db"})

    assert [*tmp_path.iterdir()] == []
