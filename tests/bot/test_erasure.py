"""What approvers still see in Slack of a person who was erased."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.base.block_kit import Block
from bot.base.language import using_locale
from bot.blocks import layout
from storage.admin import erasure, people_status
from storage.admin.personal_data import ERASED_NAME
from storage.leave import decisions, time_credits
from tests.bot.test_time_credits import claim, credits_of, earnable
from tests.bot.world import ADA, GRACE, World
from tests.fakes.slack import Message


def card_after_erasure(world: World) -> Message:
    """Grace's only card, which named Ada and her wedding before she was erased."""
    (before,) = world.cards(GRACE)
    assert "Ada" in before.visible_text
    assert "Wedding" in before.visible_text
    ada = world.people[ADA]
    world.write(people_status.archive, ada.id)
    world.write(erasure.erase, ada.id, confirm=ada.email)
    world.deliver()
    (after,) = world.cards(GRACE)
    return after


@pytest.mark.parametrize(("locale", "name"), [("en-GB", "Erased person"), ("de-DE", "Gelöschte")])
def test_cards_are_rewritten_without_name_and_note(world: World, locale: str, name: str) -> None:
    world.slack.change_person(GRACE, locale=locale)
    request = world.a_request(note="Wedding of my sister")
    world.write(decisions.approve, request.id)
    world.deliver()

    after = card_after_erasure(world)

    assert name in after.visible_text
    assert "Ada" not in after.text + after.visible_text
    assert "Wedding" not in after.visible_text


def test_messages_about_time_in_lieu_are_rewritten_without_name_and_reason(world: World) -> None:
    earnable(world)
    claim(world, text="worked sat 1 day Wedding of my sister")
    (credit,) = credits_of(world)
    world.write(time_credits.approve, credit.id)
    world.deliver()

    after = card_after_erasure(world)

    assert "Erased person" in after.visible_text
    for trace in ("Ada", "Wedding", "Reason:"):
        assert trace not in after.text + after.visible_text


@pytest.mark.parametrize("text_object", [layout.plain, layout.verbatim])
def test_plain_texts_name_an_erased_person_in_the_readers_language(
    text_object: Callable[[str], Block],
) -> None:
    with using_locale("de-DE"):
        shown = text_object(f"{ERASED_NAME}, 3 days")

    assert shown["text"] == "Gelöschte Person, 3 days"
