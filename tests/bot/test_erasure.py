"""What approvers still see in Slack of a person who was erased."""

from __future__ import annotations

import pytest

from storage.admin import erasure, people_status
from storage.leave import decisions
from tests.bot.world import ADA, GRACE, World


@pytest.mark.parametrize(("locale", "name"), [("en-GB", "Erased person"), ("de-DE", "Gelöschte")])
def test_cards_are_rewritten_without_name_and_note(world: World, locale: str, name: str) -> None:
    world.slack.change_person(GRACE, locale=locale)
    request = world.a_request(note="Wedding of my sister")
    world.write(decisions.approve, request.id)
    world.deliver()
    (before,) = world.cards(GRACE)
    assert "Ada" in before.visible_text
    assert "Wedding" in before.visible_text
    ada = world.people[ADA]
    world.write(people_status.archive, ada.id)

    world.write(erasure.erase, ada.id, confirm=ada.email)
    world.deliver()

    (after,) = world.cards(GRACE)
    assert name in after.visible_text
    assert "Ada" not in after.text + after.visible_text
    assert "Wedding" not in after.visible_text
