"""Recording leave for another person in Slack: from Home, and typed after the command."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from bot.base import ids
from storage.leave import leave_types
from tests.bot.test_form import alerts
from tests.bot.test_home import menu_of
from tests.bot.test_settings_access import choose
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_leave_type, a_person
from tests.fakes.slack import View

BOSS = "UBOSS"


@pytest.fixture
def world(world: World) -> World:
    """With Bea, an admin."""
    bea = a_person(world.database, world.acme, first_name="Bea", last_name="Boss", role="admin")
    world.people[BOSS] = bea
    world.slack.add_person(BOSS, bea.email, bea.name)
    return world


def typed(world: World, who: str, text: str) -> View:
    """The form that the typed text opens."""
    world.command(who, text)
    return world.slack.open_modal(who, ids.RECORD_FORM)


def told(world: World, who: str, text: str) -> str:
    """The sentence with which the typed text is refused."""
    world.command(who, text)
    assert not world.slack.has_modal(who)
    return world.ephemerals(who)[-1]


def value(view: View, block_id: str) -> Any:
    (state,) = view.values[block_id].values()
    option = state.get("selected_option") or {}
    return option.get("value") or state.get("selected_date") or state.get("value")


def on_home(world: World, who: str) -> bool:
    return "Record leave" in menu_of(world.home(who), ids.HOME_MORE)


def test_a_manager_types_sick_leave_of_a_colleague(world: World) -> None:
    form = typed(world, GRACE, "<@UADA|ada> sick today")

    assert value(form, ids.PERSON) == world.people[ADA].id
    assert "*1 day* (Mon 1 Jun)" in form.visible_text
    assert "It's approved as soon as you record it. They'll get a message." in form.visible_text
    assert world.slack.submit(GRACE, form, {}).errors == {}
    world.deliver()

    request = world.request(ADA)
    assert (request.status, request.recorded_by) == ("approved", world.people[GRACE].id)
    assert "Grace Hopper recorded this leave for you." in world.slack.dm(ADA)[-1].text
    done = world.slack.open_modal(GRACE)
    assert "Recorded for Ada Lovelace. They'll get a message." in done.visible_text
    world.pick(GRACE, done, None, ids.CANCEL_RECORDED, request.id)
    assert world.request(ADA).status == "cancelled"
    assert "Cancelled." in world.slack.open_modal(GRACE).visible_text


@pytest.mark.parametrize("first_name", ["Will", "May", "An", "Al"])
def test_a_name_that_is_another_word_too_keeps_the_person(world: World, first_name: str) -> None:
    a_person(world.database, world.acme, first_name=first_name, last_name="Smith")

    world.command(BOSS, f"{first_name} is sick today")

    assert f"I read: {first_name} Smith, Sick leave" in world.ephemerals(BOSS)[-1]
    assert not world.slack.has_modal(BOSS)


def test_leave_of_others_is_refused_or_unclear_without_a_button(world: World) -> None:
    a_person(world.database, world.acme, first_name="Ada", last_name="Byron")

    refused = told(world, EVE, "grace sick today")
    assert refused == "Only admins, owners and the person's approvers can record their leave."
    unclear = told(world, BOSS, "ada sick today")
    assert unclear == "Sorry, I didn't understand “ada”. `/timeoff help` shows examples."
    told(world, BOSS, "grace and hedy off tomorrow")
    assert not any(message.buttons for message in world.slack.ephemerals)


def test_sick_leave_of_a_person_on_leave_replaces_those_days(world: World) -> None:
    world.a_request()
    world.press(GRACE, ids.APPROVE)

    form = typed(world, GRACE, "<@UADA> sick 4 aug")
    assert (
        "Replaces days of other leave (Mon 3 to Wed 5 Aug 2026). They get these days back."
    ) in form.visible_text
    assert "overlaps" not in form.visible_text
    assert world.slack.submit(GRACE, form, {}).errors == {}
    world.deliver()

    request = world.request(ADA)
    assert (request.start_date, request.interrupts is None) == (date(2026, 8, 4), False)
    assert request.recorded_by == world.people[GRACE].id
    assert world.slack.dm(ADA)[-1].text == (
        "Grace Hopper recorded this leave for you. It replaces leave that you had booked. "
        "Sick leave, Tue 4 Aug 2026, 1 day."
    )
    assert "Recorded for Ada Lovelace." in world.slack.open_modal(GRACE).visible_text


@pytest.mark.parametrize(
    ("who", "text", "sentence"),
    [
        (
            GRACE,
            "<@UADA> 3-7 aug annual",
            "Only admins and owners can record Annual leave for others.",
        ),
        (
            GRACE,
            "<@UEVE> sick today",
            "Only admins, owners and the person's approvers can record their leave.",
        ),
        (
            GRACE,
            "@eve sick today",
            "I can't find @eve among the people whose leave you can record.",
        ),
        (BOSS, "<@UADA> <@UEVE> sick today", "Record leave for one person at a time."),
    ],
)
def test_a_sentence_says_why_leave_cannot_be_recorded(
    world: World, who: str, text: str, sentence: str
) -> None:
    assert told(world, who, text) == sentence


def test_people_with_the_same_name_are_listed(world: World) -> None:
    a_person(world.database, world.acme, first_name="Ada", last_name="Byron")

    assert told(world, BOSS, "@ada sick today") == (
        "Several people match @ada: Ada Byron and Ada Lovelace. Type the full name, or use "
        "“Record leave” on my Home tab."
    )
    assert value(typed(world, BOSS, "@ada byron sick today"), ids.PERSON) != world.people[ADA].id


def test_a_mentioned_account_is_matched_by_its_confirmed_address(world: World) -> None:
    new = a_person(world.database, world.acme, first_name="New", status="pending")
    world.slack.add_person("UNEW", new.email, "New Person")
    world.slack.add_person("UOTHER", "other@elsewhere.example", "Other Person")

    assert value(typed(world, BOSS, "<@UNEW> sick today"), ids.PERSON) == new.id
    world.slack.close(BOSS, world.slack.open_modal(BOSS))
    assert told(world, BOSS, "<@UOTHER> sick today") == (
        "This person isn't in Hiatus yet. An admin can add them."
    )


def test_home_offers_recording_to_those_who_may(world: World) -> None:
    assert [on_home(world, who) for who in (BOSS, GRACE, HEDY, ADA, EVE)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    changes = {"approvers_may_record": False}
    world.write(leave_types.update, world.leave_type("sick"), changes)

    assert [on_home(world, who) for who in (BOSS, GRACE)] == [True, False]


def test_the_picker_offers_those_whose_leave_one_may_record(world: World) -> None:
    def offered(who: str, words: str = "") -> list[str]:
        form = choose(world, who, world.home(who), ids.HOME_MORE, "record")
        assert "Choose a person, a leave type and days to see the total." in form.visible_text
        answer = world.slack.suggest(who, form, ids.RECORD_PERSON, words)
        world.slack.close(who, form)
        return [option["text"]["text"].split(" (")[0] for option in answer.body["options"]]

    assert offered(GRACE) == ["Ada Lovelace", "Hedy Lamarr"]
    assert offered(GRACE, "love") == ["Ada Lovelace"]
    assert offered(BOSS) == [
        "Ada Lovelace",
        "Eve Elsewhere",
        "Grace Hopper",
        "Hedy Lamarr",
        "Olive Owner",
    ]


def test_an_admin_overrides_a_rule_with_a_reason(world: World) -> None:
    a_leave_type(world.database, world.acme, name="Strict", min_notice_days=30, requires_note=True)
    form = typed(world, BOSS, "<@UADA> strict today")
    assert alerts(form) == [("warning", "Strict must be requested at least 30 days in advance.")]
    refused = world.slack.submit(BOSS, form, {})
    assert refused.errors == {ids.NOTE: "Strict needs a note."}

    assert world.slack.submit(BOSS, form, {ids.EXCEPTION_REASON: "A birth."}).errors == {}
    world.deliver()

    assert world.request(ADA).override_reason == "A birth."
    assert "Reason for the exception: A birth." in world.slack.dm(ADA)[-1].visible_text


def test_approvers_have_no_field_for_exceptions(world: World) -> None:
    assert ids.EXCEPTION_REASON in typed(world, BOSS, "<@UADA>").values
    assert ids.EXCEPTION_REASON not in typed(world, GRACE, "<@UADA>").values


def test_refusals_speak_of_the_other_person(world: World) -> None:
    world.a_request()
    form = typed(world, BOSS, "<@UADA> 5 aug annual")

    overlap = "This overlaps other leave of theirs (Mon 3 to Wed 5 Aug 2026)."
    assert alerts(form) == [("warning", overlap)]
    long = {ids.FIRST_DAY: "2026-09-01", ids.LAST_DAY: "2026-11-01"}
    assert world.slack.submit(BOSS, form, long).errors == {
        ids.FIRST_DAY: "They have 22 days left in 2026. This needs 44 days."
    }
    weekend = {ids.FIRST_DAY: "2026-09-05", ids.LAST_DAY: "2026-09-06"}
    assert world.slack.submit(BOSS, form, weekend).errors == {
        ids.FIRST_DAY: "They're not working on any of these days."
    }


def test_the_form_follows_every_pick(world: World) -> None:
    form = typed(world, BOSS, "<@UADA> 3 aug annual")
    (eve,) = world.slack.suggest(BOSS, form, ids.RECORD_PERSON, "eve").body["options"]

    world.pick(BOSS, form, ids.PERSON, ids.RECORD_PERSON, eve)
    form = world.slack.open_modal(BOSS)
    world.pick(BOSS, form, ids.LAST_DAY, ids.RECORD_RECOUNT, "2026-08-04")

    form = world.slack.open_modal(BOSS)
    assert value(form, ids.PERSON) == world.people[EVE].id
    assert "*2 days*" in form.visible_text


def test_a_cover_is_chosen_among_the_persons_colleagues(world: World) -> None:
    form = typed(world, BOSS, "<@UADA> 3 aug annual")

    groups = world.slack.suggest(BOSS, form, ids.RECORD_COVER, "").body["option_groups"]
    names = [option["text"]["text"] for group in groups for option in group["options"]]
    assert names == ["No one", "Grace Hopper", "Hedy Lamarr"]
    hedy = groups[-1]["options"][-1]
    world.pick(BOSS, form, ids.COVER, ids.RECORD_COVER, hedy)
    form = world.slack.open_modal(BOSS)
    assert world.slack.submit(BOSS, form, {}).errors == {}
    world.deliver()

    assert world.request(ADA).cover_user_id == world.people[HEDY].id
    assert any("Ada Lovelace" in message.text for message in world.slack.dm(HEDY))
