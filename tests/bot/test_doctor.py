"""``hiatus doctor`` on Slack: its tokens, scopes and settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.base.settings import SlackSettings
from bot.service import doctor
from storage.base.secrets import Secrets, new_secret_key
from storage.base.settings import StorageSettings
from storage.db.engines import open_database
from storage.operations.doctor import Finding, Reader, run
from storage.workspaces import slack_installations
from tests.builders import NOW, a_slack_installation, a_slack_profile
from tests.fakes.slack import LoopbackSlack

KEY = new_secret_key()


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as slack:
        yield slack
    assert slack.violations == []


def one_workspace(slack: LoopbackSlack, **more: str) -> SlackSettings:
    return SlackSettings(
        bot_token=slack.token, signing_secret="secret", api_url=slack.api_url, **more
    )


def many_workspaces(slack: LoopbackSlack) -> SlackSettings:
    return SlackSettings(
        client_id="client-id",
        client_secret="client-secret",
        signing_secret="secret",
        api_url=slack.api_url,
    )


def reader_of(url: str, *keys: str) -> Reader:
    return Reader(settings=StorageSettings(database_url=url, secret_keys=keys or (KEY,)))


def findings_of(settings: SlackSettings | None, reader: Reader) -> list[Finding]:
    return [*run(doctor.checks(settings, reader))]


def states(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.subject, finding.state) for finding in findings]


def installed(slack: LoopbackSlack, url: str, *team_ids: str) -> None:
    """The workspaces have the app, by OAuth; the last one was installed last."""
    with closing(open_database(url, Secrets([KEY]))) as database:
        for number, team_id in enumerate(team_ids):
            slack.add_team(team_id, f"xoxb-{team_id}")
            installer = a_slack_profile(
                f"ina@{team_id.lower()}.example", slack_user_id=f"U{team_id}"
            )
            new = a_slack_installation(
                installer, team_id=team_id, team_name=team_id, bot_token=f"xoxb-{team_id}"
            )
            now = NOW + timedelta(minutes=number)
            database.write_now(slack_installations.install, new, now=now)


def test_a_token_with_every_scope_is_ok(slack: LoopbackSlack, sqlite_url: str) -> None:
    findings = findings_of(one_workspace(slack), reader_of(sqlite_url))

    assert states(findings) == [("Slack", "ok")]


def test_a_missing_scope_is_a_failure_that_names_it(slack: LoopbackSlack, sqlite_url: str) -> None:
    slack.team().scopes.remove("users:read.email")

    findings = findings_of(one_workspace(slack), reader_of(sqlite_url))

    assert findings[0].state == "failed"
    assert "lacks users:read.email." in findings[0].text


def test_a_token_without_the_scope_of_the_conversation_is_a_warning(
    slack: LoopbackSlack, sqlite_url: str
) -> None:
    slack.team().scopes.remove("im:history")

    findings = findings_of(one_workspace(slack), reader_of(sqlite_url))

    assert findings[0].state == "warning"
    assert "lacks im:history, so what people write to the app is not answered" in findings[0].text


def test_a_revoked_token_is_a_failure_that_names_the_setting(
    slack: LoopbackSlack, sqlite_url: str
) -> None:
    slack.revoke(slack.token)

    [finding] = findings_of(one_workspace(slack), reader_of(sqlite_url))

    assert finding.state == "failed"
    assert "token_revoked" in finding.text
    assert "HIATUS_SLACK_BOT_TOKEN" in finding.text
    assert slack.token not in finding.text


def test_a_slack_that_fails_is_a_failure_without_the_advice_to_replace_the_token(
    slack: LoopbackSlack, sqlite_url: str
) -> None:
    slack.fail_next("auth.test", error="internal_error")

    [finding] = findings_of(one_workspace(slack), reader_of(sqlite_url))

    assert finding.state == "failed"
    assert "internal_error" in finding.text
    assert "HIATUS_SLACK_BOT_TOKEN" not in finding.text


def test_a_slack_that_cannot_be_reached_is_a_failure(slack: LoopbackSlack, sqlite_url: str) -> None:
    settings = replace(one_workspace(slack), api_url="http://127.0.0.1:1/api/")

    assert states(findings_of(settings, reader_of(sqlite_url))) == [("Slack", "failed")]


def test_the_token_of_socket_mode_is_checked(slack: LoopbackSlack, sqlite_url: str) -> None:
    good = one_workspace(slack, app_token=slack.app_token)
    bad = one_workspace(slack, app_token="xapp-other")

    assert ("Socket Mode", "ok") in states(findings_of(good, reader_of(sqlite_url)))
    findings = findings_of(bad, reader_of(sqlite_url))
    assert states(findings)[-1] == ("Socket Mode", "failed")
    assert "HIATUS_SLACK_APP_TOKEN (invalid_auth)" in findings[-1].text


def test_each_workspace_with_a_problem_has_its_line(slack: LoopbackSlack, sqlite_url: str) -> None:
    installed(slack, sqlite_url, "T2", "T3", "T4")
    slack.revoke("xoxb-T3")
    slack.team("T4").scopes.remove("chat:write")

    findings = findings_of(many_workspaces(slack), reader_of(sqlite_url))

    texts = [
        (finding.state, finding.text.partition(" (")[0].partition(".")[0]) for finding in findings
    ]
    assert texts == [
        ("ok", "accepts the tokens, with every scope, of 1 of 3 workspaces"),
        ("warning", "T4: its token lacks chat:write"),
        ("warning", "T3: Slack does not accept its token"),
    ]


def test_a_token_that_no_key_decrypts_is_named(slack: LoopbackSlack, sqlite_url: str) -> None:
    installed(slack, sqlite_url, "T2")

    findings = findings_of(many_workspaces(slack), reader_of(sqlite_url, new_secret_key()))

    assert states(findings) == [("Slack", "warning")]
    assert "T2: its token cannot be decrypted" in findings[0].text


def test_only_the_newest_workspaces_are_checked(slack: LoopbackSlack, sqlite_url: str) -> None:
    team_ids = [f"T{number}" for number in range(10, 11 + doctor.MAX_WORKSPACES)]
    installed(slack, sqlite_url, *team_ids)
    slack.revoke(f"xoxb-{team_ids[0]}")

    findings = findings_of(many_workspaces(slack), reader_of(sqlite_url))

    assert states(findings) == [("Slack", "ok")]
    assert len(slack.calls("auth.test")) == doctor.MAX_WORKSPACES


def test_workspaces_are_not_checked_without_a_database(slack: LoopbackSlack) -> None:
    reader = reader_of("postgresql://hiatus@127.0.0.1:1/hiatus")

    assert states(findings_of(many_workspaces(slack), reader)) == [("Slack", "warning")]


def test_slack_is_not_called_if_it_is_not_set_up(sqlite_url: str) -> None:
    assert states(findings_of(None, reader_of(sqlite_url))) == [("Slack", "ok")]


HTTP = SlackSettings(bot_token="xoxb-1", signing_secret="secret")
SOCKET = replace(HTTP, app_token="xapp-1")
OAUTH = SlackSettings(client_id="1", client_secret="secret", app_token="xapp-1")


@pytest.mark.parametrize(
    ("settings", "base_url", "named"),
    [
        (HTTP, "https://hiatus.example.com", None),
        (HTTP, "http://hiatus.example.com", "BASE_URL"),
        (HTTP, "https://localhost:8000", "BASE_URL"),
        (SOCKET, "http://127.0.0.1:8000", None),
        (OAUTH, "https://hiatus.example.com", None),
        (OAUTH, "http://127.0.0.1:8000", "BASE_URL"),
    ],
)
def test_slacks_settings_need_a_reachable_base_url(
    settings: SlackSettings, base_url: str, named: str | None
) -> None:
    findings = doctor.contradictions(replace(settings, base_url=base_url))

    assert [finding.text.partition(" ")[0] for finding in findings] == ([named] if named else [])
