"""A listener's failure is acknowledged in time, shown to the user and logged."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest
from structlog.testing import capture_logs

from bot.base import ids
from bot.interaction import errors
from bot.interaction.interaction import ANSWER_SECONDS, Interaction
from storage.base.errors import DatabaseUnavailable
from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from tests.bot.browser import Browser, by_oauth
from tests.bot.registrations import Listener
from tests.bot.world import ADA, GRACE, World
from tests.fakes.breaking_proxy import BreakingProxy, Moment
from tests.fakes.slack import LoopbackSlack

SOON_SECONDS = 0.3
# Longer than Slack waits: a listener has to acknowledge without this limit.
NEVER_SECONDS = 60.0


@pytest.fixture
def logs() -> Iterator[list[Any]]:
    with capture_logs() as entries:
        yield entries


class Troubled:
    """The app's database, which awaits ``before_write`` before every write."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def before_write(self) -> None:
        return None

    async def write(self, *args: Any, **kwargs: Any) -> Any:
        await self.before_write()
        return await self._database.write(*args, **kwargs)


class Slow(Troubled):
    """Writes only while ``may_write`` is set."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.may_write = threading.Event()
        self.may_write.set()

    async def before_write(self) -> None:
        await until(self.may_write)

    def hang(self, world: World) -> None:
        """Block all writes from now on, and answer Slack early for listeners that hang."""
        self.may_write.clear()
        world.app.services.answer_seconds = SOON_SECONDS


async def until(event: threading.Event) -> None:
    while not event.is_set():
        await asyncio.sleep(0.01)


class Broken(Troubled):
    is_broken = False

    async def before_write(self) -> None:
        if self.is_broken:
            raise KeyError("broken")


class Away(Troubled):
    is_away = False

    async def before_write(self) -> None:
        if self.is_away:
            raise DatabaseUnavailable("away")


async def ack_and_break(interaction: Interaction) -> None:
    await interaction.ack()
    raise KeyError("broken")


async def break_at_once(interaction: Interaction) -> None:
    raise KeyError("broken")


class Hanging:
    """A listener that posts a message once ``may_end`` is set."""

    __name__ = "hanging"

    def __init__(self) -> None:
        self.may_end = threading.Event()

    async def __call__(self, interaction: Interaction) -> None:
        await until(self.may_end)
        await interaction.tell("Done at last.")


@pytest.mark.parametrize("act", [ack_and_break, break_at_once])
def test_a_broken_command_is_acknowledged_and_shows_an_error(
    database: Database, slack: LoopbackSlack, logs: list[Any], act: Any
) -> None:
    with World(
        database, slack, listeners=[Listener(kind="command", name="/broken", act=act)]
    ) as world:
        world.app.services.answer_seconds = NEVER_SECONDS
        response = world.slack.command(ADA, "/broken")
        world.settled()

    assert response.ok
    assert world.ephemerals(ADA) == [errors.BROKEN]
    (entry,) = [entry for entry in logs if entry["event"] == "slack.listener_failed"]
    assert (entry["listener"], type(entry["exc_info"])) == ("/broken", KeyError)


def test_a_slow_command_is_acknowledged_and_answered_later(
    database: Database, slack: LoopbackSlack
) -> None:
    hanging = Hanging()
    with World(
        database, slack, listeners=[Listener(kind="command", name="/slow", act=hanging)]
    ) as world:
        world.app.services.answer_seconds = SOON_SECONDS
        response = world.slack.command(ADA, "/slow")
        assert world.ephemerals(ADA) == []
        hanging.may_end.set()
        world.settled()

    assert response.ok
    assert world.ephemerals(ADA) == ["Done at last."]


def test_a_broken_form_stays_open_with_the_typed_values(
    database: Database, slack: LoopbackSlack, logs: list[Any]
) -> None:
    broken = Broken(database)
    with World(database, slack, app_database=broken) as world:
        form = world.open_form(ADA)
        world.settled()
        broken.is_broken = True

        response = slack.submit(ADA, form, {ids.LEAVE_TYPE: world.leave_type("annual")})

        assert response.errors == {ids.LEAVE_TYPE: errors.BROKEN}
        assert slack.has_modal(ADA)
        assert [entry["event"] for entry in logs] == ["slack.listener_failed"]


def test_an_unavailable_database_is_reported(
    database: Database, slack: LoopbackSlack, logs: list[Any]
) -> None:
    away = Away(database)
    with World(database, slack, app_database=away) as world:
        world.a_request()
        away.is_away = True

        response = world.click(GRACE, ids.APPROVE)

        assert response.ok
        assert world.ephemerals(GRACE) == [errors.BUSY]
        assert "slack.database_unavailable" in {entry["event"] for entry in logs}


def test_a_wrong_statement_is_not_reported_as_an_unavailable_database(
    world: World, logs: list[Any], tmp_path: Path
) -> None:
    world.a_request()
    _without_table(tmp_path, "leave_requests")

    world.click(GRACE, ids.APPROVE)

    assert world.ephemerals(GRACE) == [errors.BROKEN]
    (entry,) = [entry for entry in logs if entry["event"] == "slack.listener_failed"]
    assert entry["exc_info"]


def test_a_slow_form_shows_a_message_and_still_creates_the_request(
    database: Database, slack: LoopbackSlack
) -> None:
    slow = Slow(database)
    with World(database, slack, app_database=slow) as world:
        form = world.open_form(ADA)
        world.settled()
        slow.hang(world)

        response = slack.submit(ADA, form, {ids.LEAVE_TYPE: world.leave_type("annual")})
        modal = slack.open_modal(ADA)
        slow.may_write.set()
        world.deliver()

        assert response.in_time
        assert modal.visible_text == errors.SLOW
        assert len(world.cards(GRACE)) == 1


def test_a_refusal_too_late_for_the_form_is_sent_as_a_message(
    database: Database, slack: LoopbackSlack
) -> None:
    slow = Slow(database)
    with World(database, slack, app_database=slow) as world:
        world.a_request()
        form = world.open_form(ADA)
        world.settled()
        slow.hang(world)

        filled = {
            ids.LEAVE_TYPE: world.leave_type("annual"),
            ids.FIRST_DAY: "2026-08-03",
            ids.LAST_DAY: "2026-08-03",
        }
        slack.submit(ADA, form, filled)
        slow.may_write.set()
        world.settled()

        assert slack.dm(ADA)[-1].text == ("This overlaps your leave (Mon 3 to Wed 5 Aug 2026).")


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        ({"error": "expired_trigger_id"}, "That took too long, so Slack didn't open the form."),
        ({"error": "ratelimited"}, "Slack is limiting requests from Hiatus right now."),
        ({"error": "invalid_auth"}, "to reinstall the app and set its new bot token."),
        ({"error": "account_inactive"}, "to reinstall the app and set its new bot token."),
        ({"error": "missing_scope"}, "Hiatus is missing a permission in this workspace."),
        ({"error": "view_too_large"}, "Slack refused this (view_too_large)."),
        ({"error": "internal_error"}, "I can't reach Slack right now."),
        ({"status": 500}, "I can't reach Slack right now."),
        ({"reset": True}, "I can't reach Slack right now."),
        ({"hang_seconds": 3.0}, "Slack didn't respond in time."),
    ],
    ids=lambda parameter: str(parameter) if isinstance(parameter, dict) else "",
)
def test_a_form_that_slack_does_not_open_is_reported_with_the_reason(
    world: World, logs: list[Any], failure: dict[str, Any], sentence: str
) -> None:
    world.app.services.open_seconds = ANSWER_SECONDS
    world.slack.fail_next("views.open", **failure)

    response = world.slack.command(ADA, "/timeoff")
    world.settled()

    assert response.ok
    (message,) = world.ephemerals(ADA)
    assert sentence in message


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ("token_revoked", "Hiatus is no longer connected to this workspace."),
        ("missing_scope", "Hiatus is missing a permission in this workspace."),
    ],
)
def test_a_workspace_that_installed_the_app_gets_the_link_to_reinstall_it(
    database: Database, slack: LoopbackSlack, error: str, sentence: str
) -> None:
    with World(database, slack, slack_settings=by_oauth(slack)) as world:
        world.link()
        assert Browser(world).install(slack, ADA).status_code == 200
        slack.fail_next("views.open", error=error)

        slack.command(ADA, "/timeoff")
        world.settled()

        (message,) = world.ephemerals(ADA)
        assert message.startswith(sentence)
        assert message.endswith(f": {slack.app_url}/slack/install")


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [
        ("en-GB", "Hiatus isn't installed in this Slack workspace. Please ask a Slack admin"),
        ("de-DE", "Hiatus ist in diesem Slack-Workspace nicht installiert."),
    ],
)
def test_users_of_an_uninstalled_app_get_the_link_to_reinstall_it(
    database: Database, slack: LoopbackSlack, locale: str, sentence: str
) -> None:
    with World(database, slack, slack_settings=by_oauth(slack)) as world:
        world.link()
        slack.change_person(ADA, locale=locale)
        assert Browser(world).install(slack, ADA).status_code == 200
        world.open_form(ADA)
        world.settled()
        now = {"event_time": int(world.clock().timestamp())}
        assert slack.event({"type": "app_uninstalled"}, overrides=now).ok

        slack.command(ADA, "/timeoff")
        world.settled()

        message = world.ephemerals(ADA)[-1]
        assert message.startswith(sentence)
        assert message.endswith(f": {slack.app_url}/slack/install")


def test_a_card_is_refreshed_later_if_slack_fails_at_the_click(world: World) -> None:
    world.a_request()
    world.slack.fail_next("chat.update", status=500, times=2)

    world.press(GRACE, ids.APPROVE)
    world.clock.advance(seconds=5)
    world.deliver()

    assert world.request().status == "approved"
    assert [button.action_id for button in world.card(GRACE).buttons] == [ids.REVERSE]


def test_running_interactions_finish_before_the_process_ends(
    database: Database, slack: LoopbackSlack
) -> None:
    slow = Slow(database)
    with World(database, slack, app_database=slow) as world:
        world.a_request()
        card = world.card(GRACE)
        slow.may_write.clear()
        response = slack.click(GRACE, card, ids.APPROVE)
        assert world.request().status == "pending"
        threading.Timer(SOON_SECONDS, slow.may_write.set).start()

    assert response.in_time
    assert world.request().status == "approved"


def _without_table(tmp_path: Path, name: str) -> None:
    with closing(sqlite3.connect(tmp_path / "hiatus.db")) as connection:
        connection.execute(f"ALTER TABLE {name} RENAME TO {name}_gone")


@pytest.mark.parametrize("moment", get_args(Moment))
def test_a_form_whose_commit_breaks_reports_an_unknown_outcome(
    slack: LoopbackSlack, postgres_url: str, moment: Moment
) -> None:
    secrets = Secrets.generate()
    with (
        BreakingProxy(postgres_url) as proxy,
        closing(open_database(postgres_url, secrets)) as database,
        closing(open_database(proxy.url, secrets)) as breaking,
        World(database, slack, app_database=breaking) as world,
    ):
        form = world.open_form(ADA)
        world.settled()
        proxy.breaks = moment

        response = slack.submit(ADA, form, {ids.LEAVE_TYPE: world.leave_type("annual")})

        assert response.errors == {ids.LEAVE_TYPE: errors.UNKNOWN_OUTCOME}
        assert slack.has_modal(ADA)
