"""My data in the settings of everyone: a file in the conversation, or a link that works once."""

from __future__ import annotations

import json
from datetime import timedelta
from urllib.parse import urlsplit

from structlog.testing import capture_logs

from storage.admin import data_files, people_status
from storage.base.values import Caller
from tests.bot.test_settings_access import settings
from tests.bot.world import ADA, World


def ask(world: World) -> None:
    form = settings(world, ADA, "settings.my_data")
    assert "Everything that Hiatus keeps about you" in form.visible_text
    assert world.slack.submit(ADA, form, {}).errors == {}
    world.settled()
    assert "I'm sending you the file" in world.slack.open_modal(ADA).visible_text


def link(world: World) -> str:
    """The token of the link that Ada gets in a workspace that gives the app no files."""
    ask(world)
    (button,) = world.slack.messages[-1].buttons
    path = urlsplit(str(button.element["url"])).path
    assert path.startswith(data_files.PATH)
    return path.removeprefix(data_files.PATH)


def opened(world: World, token: str, days_later: int = 0) -> Caller | None:
    now = world.clock() + timedelta(days=days_later)
    return world.database.write_now(data_files.open_once, token, now=now)


def test_everyone_gets_their_data_as_a_file_where_the_app_may_send_files(world: World) -> None:
    world.slack.team().scopes.add("files:write")

    ask(world)

    message = world.slack.messages[-1]
    (file,) = message.files
    assert message.user == ADA
    assert file.name == f"hiatus-my-data-{world.clock():%Y-%m-%d}.json"
    assert file.content is not None
    data = json.loads(file.content)
    ada = world.people[ADA]
    assert data["user_id"] == ada.id
    assert [row["email"] for row in data["about"]["user"]] == [ada.email]
    assert world.slack.messages[-2].text == "Here is everything that Hiatus keeps about you."


def test_without_that_scope_a_link_opens_the_persons_own_data_once_and_for_a_day(
    world: World,
) -> None:
    with capture_logs() as logs:
        token = link(world)

    assert world.slack.messages[-1].text.endswith("The link works once, within a day.")
    assert opened(world, token, days_later=2) is None
    by = opened(world, token)
    assert by is not None
    assert by.user_id == world.people[ADA].id
    assert opened(world, token) is None
    assert token not in repr(logs)


def test_a_link_of_a_person_who_was_deactivated_opens_nothing(world: World) -> None:
    token = link(world)
    ada = world.people[ADA]

    world.database.write_now(
        people_status.deactivate, ada.id, by=world.acme.caller, now=world.clock()
    )

    assert opened(world, token) is None
