"""Screen readers read only a message's ``text``, so it has the key facts of the blocks."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.base import ids
from storage.admin import organisation_settings
from storage.leave import leave_requests
from tests.bot.world import ADA, GRACE, HEDY, World

pytestmark = pytest.mark.both_engines

NINE = datetime(2026, 6, 2, 8, tzinfo=UTC)
CHANNEL = "CWHOISOUT"


def missing_words(message: dict[str, Any]) -> list[str]:
    """Words of the card, or in bold in the first section or all of it, that the text lacks."""
    text = message.get("text") or ""
    cards = [block for block in message.get("blocks") or [] if block["type"] == "card"]
    if cards:
        lines = [cards[0][key]["text"] for key in ("title", "subtitle")]
        return [words for line in lines for words in line.split(" · ") if words not in text]
    first = next(
        (block for block in message.get("blocks") or [] if block["type"] == "section"), None
    )
    if first is None:
        return [] if text else ["…"]
    shown = first["text"]["text"]
    stressed = re.findall(r"\*([^*]+)\*", shown)
    if not stressed and "thread_ts" in message:
        # The text of a reply has its names and dates in sentences of its own.
        stressed = re.findall(r"[A-Z]\w{2,}|\d+", shown)
    stressed = stressed or [shown.rstrip(".")]
    return [words for words in stressed if words not in text]


def test_the_text_of_every_message_has_person_type_and_dates(world: World) -> None:
    world.slack.add_channel(CHANNEL, "who-is-out", is_member=True)
    request = world.a_request()
    world.write(organisation_settings.update, {"digest_channel": CHANNEL})
    world.change(leave_requests.edit, request.id, {"note": "new"}, by=ADA)
    for day in range(3):
        world.clock.now = NINE + timedelta(days=day)
        world.run(world.app.reminders.run)
        world.run(world.app.digests.run)
        world.deliver()
    world.press(HEDY, ids.APPROVE, world.cards(HEDY)[0])
    today = world.clock.now.date()
    world.submit_over_rest(start_date=today, end_date=today)
    world.deliver()
    world.press(GRACE, ids.APPROVE)
    world.clock.now += timedelta(minutes=2)
    world.run(world.app.reminders.run)
    world.run(world.app.digests.run)

    posted = [
        call.arguments
        for method in ("chat.postMessage", "chat.update")
        for call in world.slack.calls(method)
    ]

    assert len(posted) > 10
    assert {message["channel"] for message in posted} >= {CHANNEL}
    assert [
        (message["text"], missing_words(message)) for message in posted if missing_words(message)
    ] == []
    assert all(
        re.search("Ada Lovelace|[Yy]our (updated )?request", message["text"]) for message in posted
    )
    assert all(re.search(r"\d{1,2} (June|August) 2026", message["text"]) for message in posted)
