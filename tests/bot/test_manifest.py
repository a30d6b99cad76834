"""The manifest has exactly the commands, events and scopes that the code uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from bot.base import ids
from bot.base.settings import command_problem
from bot.service import manifest
from playground.loopback import web_api
from tests import slack_types
from tests.bot.registrations import registered
from tests.bot.world import FIRST_DAY, World

ROOT = Path(__file__).parents[2]

LISTENERS = registered()
HTTP: Any = yaml.safe_load(manifest.render(manifest.EXAMPLE_URL))
SOCKET: Any = yaml.safe_load(manifest.render(None, is_socket_mode=True))


def names(kind: str) -> set[str]:
    return {listener.name for listener in LISTENERS if listener.kind == kind}


def test_the_manifest_in_the_repository_is_up_to_date() -> None:
    printed = manifest.render(manifest.EXAMPLE_URL)

    assert (ROOT / "manifest.yml").read_text(encoding="utf-8") == printed, (
        f"run: hiatus slack manifest --base-url {manifest.EXAMPLE_URL} > manifest.yml"
    )


def test_every_command_and_shortcut_has_a_listener() -> None:
    features = HTTP["features"]

    listed = {command["command"] for command in features["slash_commands"]}
    # Slack refuses a manifest that names a command of Slack's.
    assert listed == names("command") - {ids.LEAVE_COMMAND}
    assert {shortcut["callback_id"] for shortcut in features["shortcuts"]} == names("shortcut")


def test_every_subscribed_event_has_a_listener() -> None:
    subscribed = HTTP["settings"]["event_subscriptions"]["bot_events"]

    # Messages in conversations of two are events of the type "message".
    assert {name.removesuffix(".im") for name in subscribed} == names("event")
    assert len(subscribed) == len(set(subscribed))
    assert ("app_home_opened" in subscribed) is HTTP["features"]["app_home"]["home_tab_enabled"]


def test_listeners_have_unique_names() -> None:
    registrations = [(listener.kind, listener.name) for listener in LISTENERS]

    assert len(registrations) == len(set(registrations))


def test_the_manifest_has_the_scopes_that_methods_events_and_commands_need() -> None:
    needed = {scope for scope in manifest.METHODS.values() if scope}
    needed |= {event.scope for event in manifest.EVENTS.values() if event.scope}
    if names("command") or names("shortcut"):
        needed.add("commands")

    scopes = HTTP["oauth_config"]["scopes"]
    assert set(scopes["bot"]) - set(scopes["bot_optional"]) == set(manifest.SCOPES)
    assert set(scopes["bot_optional"]) == set(manifest.OPTIONAL_METHODS.values())
    # These scopes extend methods that already have another scope.
    assert set(manifest.SCOPES) - needed <= {"chat:write.public", "groups:read", "im:write"}
    assert needed - set(manifest.SCOPES) == set()


def test_the_loopback_slack_requires_the_same_scopes() -> None:
    methods = web_api.METHODS
    listed = {**manifest.METHODS, **manifest.OPTIONAL_METHODS}
    scopes = {name: methods[name].scope for name in listed if name in methods}

    assert scopes == {name: listed[name] for name in scopes}
    assert len(scopes) > 5


def test_the_status_needs_a_scope_that_people_may_refuse() -> None:
    scopes = HTTP["oauth_config"]["scopes"]

    assert scopes["user"] == scopes["user_optional"] == list(manifest.USER_SCOPES)
    assert set(manifest.USER_METHODS.values()) == set(manifest.USER_SCOPES)
    assert web_api.USER_METHODS == manifest.USER_METHODS
    # Only who installs the app by OAuth, at an address, can ask for it.
    assert SOCKET["oauth_config"]["scopes"].keys() == {"bot", "bot_optional"}


def test_the_main_job_needs_no_scope_that_the_manifest_lacks(world: World) -> None:
    world.slack.team().scopes.clear()
    world.slack.team().scopes.update(manifest.SCOPES)
    world.slack.add_person("UNEW", "nora@example.com", "Nora New")

    world.a_request()
    world.open_form("UNEW")

    failed = [call.answer for call in world.slack.calls() if not call.answer["ok"]]
    assert failed == []


@pytest.mark.parametrize("content", [HTTP, SOCKET], ids=["http", "socket"])
def test_the_manifest_keeps_to_slacks_limits(content: Any) -> None:
    about, features = content["display_information"], content["features"]
    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    assert len(features["slash_commands"]) <= 50
    assert len(features["shortcuts"]) <= 10
    for command in features["slash_commands"]:
        assert command_problem(command["command"]) is None
        assert len(command["description"]) <= 2_000
        assert len(command["usage_hint"]) <= 1_000
    for shortcut in features["shortcuts"]:
        assert len(shortcut["name"]) <= 24
        assert len(shortcut["callback_id"]) <= 255
        assert len(shortcut["description"]) <= 150
    assert content["settings"]["org_deploy_enabled"] is False
    assert content["settings"]["token_rotation_enabled"] is False


def test_the_http_manifest_has_only_urls_of_the_deployment() -> None:
    content: Any = yaml.safe_load(manifest.render("https://leave.acme.example"))

    events = "https://leave.acme.example/slack/events"
    settings = content["settings"]
    assert [command["url"] for command in content["features"]["slash_commands"]] == [events]
    assert settings["event_subscriptions"]["request_url"] == events
    assert settings["interactivity"]["request_url"] == events
    assert settings["socket_mode_enabled"] is False
    assert content["oauth_config"]["redirect_urls"] == [
        "https://leave.acme.example/slack/oauth_redirect"
    ]


def test_the_socket_mode_manifest_has_no_urls() -> None:
    assert "http" not in yaml.safe_dump(SOCKET)
    assert SOCKET["settings"]["socket_mode_enabled"] is True


def test_scopes_and_events_are_explained() -> None:
    lines = manifest.render(manifest.EXAMPLE_URL).splitlines()

    for name in (*manifest.SCOPES, *manifest.EVENTS):
        (at,) = [number for number, line in enumerate(lines) if line.strip() == f"- {name}"]
        assert lines[at - 1].strip().startswith("# ")


def test_the_slack_page_explains_each_scope() -> None:
    rows = [
        line.split("|")[1].strip(" `")
        for line in (ROOT / "docs" / "slack.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `") and line.count("|") == 3
    ]

    assert set(rows) == {*manifest.SCOPES, *manifest.OPTIONAL_SCOPES}


def printed(*arguments: str, **env: str) -> tuple[int, str]:
    slack = click.Group()
    manifest.add_to(slack, env)
    done = CliRunner().invoke(slack, ["manifest", *arguments])
    return done.exit_code, done.output


def test_the_command_prints_the_manifest_for_a_base_url_and_a_command() -> None:
    code, text = printed("--base-url", "https://leave.acme.example/", "--command", "/urlaub")

    assert code == 0
    assert text == manifest.render("https://leave.acme.example", command="/urlaub")


def test_the_command_follows_the_setting() -> None:
    code, text = printed("--socket-mode", HIATUS_SLACK_COMMAND="/urlaub")

    assert code == 0
    assert yaml.safe_load(text)["features"]["slash_commands"][0]["command"] == "/urlaub"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--base-url", "http://leave.acme.example"),
        ("--base-url", "https://leave.acme.example/?a=b"),
        ("--base-url", "https://leave.acme.example/\n  evil: true"),
        ("--base-url", "https://"),
        ("--socket-mode", "--command", "/leave"),
        ("--socket-mode", "--command", "/status"),
        ("--socket-mode", "--command", "timeoff"),
        ("--socket-mode", "--command", "/Time Off"),
        ("--socket-mode", "--command", "/" + "a" * 32),
    ],
)
def test_invalid_options_are_usage_errors(arguments: tuple[str, ...]) -> None:
    code, _ = printed(*arguments)

    assert code == 2


def test_the_compiler_refuses_what_slack_has_not(tmp_path: Path) -> None:
    text = {"type": "mrkdwn", "text": str(FIRST_DAY)}
    plain = {"type": "plain_text", "text": "Title"}
    menu = {"type": "overflow", "options": [{"text": plain, "value": "x"}]}

    problems = slack_types.problems(
        tmp_path,
        messages=[
            [{"type": "card", "title": text}],
            [{"type": "card", "title": plain}],
            [{"type": "card", "title": text, "actions": [menu]}],
            [{"type": "card", "title": text, "footer": text}],
        ],
        views=[{"type": "home", "blocks": [{"type": "card", "title": text}], "footer": text}],
    )

    assert [line.split("(")[1].split(",")[0] for line in problems] == ["2", "3", "4", "5"]
