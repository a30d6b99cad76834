"""What people see about a request passes @slack/types as it was sent."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from bot.base import ids
from storage.leave import leave_requests
from tests import slack_types
from tests.bot.world import ADA, FIRST_DAY, GRACE, HEDY, World


def sent_messages(world: World) -> list[list[dict[str, Any]]]:
    calls = [*world.slack.calls("chat.postMessage"), *world.slack.calls("chat.update")]
    bodies = [call.arguments for call in calls]
    bodies += [post.body for post in world.slack.response_posts]
    return [body["blocks"] for body in bodies if body.get("blocks")]


def sent_views(world: World) -> list[dict[str, Any]]:
    methods = ("views.open", "views.update", "views.publish")
    return [call.arguments["view"] for method in methods for call in world.slack.calls(method)]


def test_everything_about_a_request_passes(world: World, tmp_path: Path) -> None:
    world.submit_over_rest(HEDY)
    world.send_form(note="Wedding")
    world.deliver()
    world.slack.open_home(ADA)
    world.slack.open_home(GRACE)
    world.settled()
    world.clock.now = datetime(2026, 6, 2, 8, tzinfo=UTC)
    world.run(world.app.reminders.run)
    world.deliver()
    card = next(card for card in world.cards(GRACE) if card.text.startswith("Ada"))
    world.click(GRACE, ids.DECLINE, card)
    form = world.slack.open_modal(GRACE, ids.DECLINE_FORM)
    world.slack.submit(GRACE, form, {ids.REASON: "Release week"})
    world.deliver()
    world.click(GRACE, ids.REVERSE, world.card(GRACE))
    form = world.slack.open_modal(GRACE, ids.REVERSE_TO_APPROVED_FORM)
    world.slack.submit(GRACE, form)
    world.deliver()
    world.database.write_now(
        leave_requests.edit,
        world.request().id,
        {"end_date": date(2026, 8, 7)},
        by=world.caller(ADA),
        now=world.clock(),
    )
    world.deliver()
    world.slack.open_home(GRACE)
    world.settled()

    messages, views = sent_messages(world), sent_views(world)

    kinds = {block["type"] for blocks in messages for block in blocks}
    assert kinds >= {"card", "section", "context", "actions"}
    assert {view["type"] for view in views} == {"home", "modal"}
    assert slack_types.problems(tmp_path, messages=messages, views=views) == []


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

    assert [line.split("(")[1].split(",")[0] for line in problems] == ["3", "4", "5", "6"]
