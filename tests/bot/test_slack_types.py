"""Every view and message passes @slack/types as it was sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from bot import listeners
from bot.base import ids
from playground.loopback.blocks import located
from tests import slack_types
from tests.bot import every_screen
from tests.bot.world import FIRST_DAY, World

# The buttons of long lists, all made by the same two functions.
PAGES: Final = frozenset(
    name
    for name in vars(ids).values()
    if isinstance(name, str) and name.endswith((".more", ".next", ".first"))
)


def sent_messages(world: World) -> list[list[dict[str, Any]]]:
    methods = ("chat.postMessage", "chat.update", "chat.postEphemeral")
    bodies = [call.arguments for method in methods for call in world.slack.calls(method)]
    bodies += [post.body for post in world.slack.response_posts]
    return [body["blocks"] for body in bodies if body.get("blocks")]


def sent_views(world: World) -> list[dict[str, Any]]:
    methods = ("views.open", "views.push", "views.update", "views.publish")
    views = [call.arguments["view"] for method in methods for call in world.slack.calls(method)]
    return views + [answer["view"] for answer in answers(world) if "view" in answer]


def offered_options(world: World) -> list[dict[str, Any]]:
    """The answers to searches."""
    return [answer for answer in answers(world) if answer.keys() & {"options", "option_groups"}]


def answers(world: World) -> list[dict[str, Any]]:
    return [answer.body for answer in world.slack.answers if isinstance(answer.body, dict)]


def missing(messages: list[Any], views: list[Any]) -> set[str]:
    """The forms and buttons for which the app listens and that nobody was shown."""
    registered = listeners.registered(ids.COMMAND)
    listened = {each.name for each in registered if each.kind in ("action", "view")}
    shown = {view.get("callback_id") for view in views}
    for blocks in [*messages, *(view["blocks"] for view in views)]:
        shown |= {element.get("action_id") for _, element in located(blocks)}
    return listened - shown - PAGES


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_every_view_and_message_passes(world: World, tmp_path: Path, locale: str) -> None:
    every_screen.show_all(world, locale)

    messages, views, options = sent_messages(world), sent_views(world), offered_options(world)

    assert missing(messages, views) == set(), "lines that every_screen lacks"
    assert slack_types.problems(tmp_path, messages=messages, views=views, options=options) == []


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
