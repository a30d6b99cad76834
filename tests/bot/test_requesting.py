"""Requesting leave in Slack: the form, its inline errors, and the messages that result."""

from __future__ import annotations

import pytest

from bot.base import ids
from storage.leave import decisions
from storage.people import people_rows
from tests.bot.world import ADA, EVE, FIRST_DAY, GRACE, HEDY, World
from tests.builders import a_leave_type, a_person


def test_the_command_opens_a_form_with_the_types_in_use(world: World) -> None:
    a_leave_type(world.database, world.acme, name="Study & rest")
    response = world.slack.command(ADA, "/timeoff")

    form = world.slack.open_modal(ADA)

    options = form.blocks[0]["element"]["options"]
    assert response.ok
    assert [option["text"]["text"] for option in options] == [
        ":palm_tree: Annual leave",
        ":dove_of_peace: Compassionate leave",
        ":baby: Parental leave",
        ":face_with_thermometer: Sick leave",
        "Study & rest",
        ":hourglass: Unpaid leave",
    ]


@pytest.mark.parametrize("text", ["request", " Request "])
def test_the_word_request_opens_the_form(world: World, text: str) -> None:
    world.slack.command(ADA, "/timeoff", text)

    assert world.slack.open_modal(ADA).callback_id == ids.REQUEST_FORM


def test_the_shortcut_and_the_other_command_open_the_form(world: World) -> None:
    world.slack.shortcut(ADA, ids.REQUEST_SHORTCUT)
    world.slack.command(GRACE, "/leave")

    assert world.slack.open_modal(ADA).callback_id == ids.REQUEST_FORM
    assert world.slack.open_modal(GRACE).callback_id == ids.REQUEST_FORM


def test_the_word_help_gets_help(world: World) -> None:
    world.command(ADA, "help")

    (plain,) = world.ephemerals(ADA)
    assert plain.startswith("`/timeoff` opens the request form")
    assert not world.slack.has_modal(ADA)


def test_days_of_two_weeks_have_their_dates(world: World) -> None:
    # "Thu–Wed" would be read as one week.
    world.send_form(**{ids.FIRST_DAY: "2026-08-06", ids.LAST_DAY: "2026-08-12"})
    world.deliver()

    assert "Team of 3: Thu 6 to Wed 12 Aug 1 away" in world.card(GRACE).visible_text


@pytest.mark.both_engines
def test_a_request_reaches_every_approver_and_its_owner(world: World) -> None:
    response = world.send_form(note="Wedding <!here> & party")
    world.deliver()

    card = world.card(GRACE)
    assert response.errors == {}
    assert not world.slack.has_modal(ADA)
    assert card.visible_text.splitlines() == [
        "⏳ *Waiting for you and Hedy Lamarr*",
        "Ada Lovelace · Annual leave",
        "Mon 3 to Wed 5 Aug 2026 · 3 days · back Thu 6",
        "25 → 22 days left in 2026",
        "Approve",
        "Decline",
        "Suggest other dates",
        "Team of 3: Mon–Wed 1 away",
        "Note: Wedding <!here> & party",
    ]
    assert [(button.text, button.style, button.value) for button in card.buttons] == [
        ("Approve", "primary", world.request().id),
        ("Decline", "danger", world.request().id),
        ("Suggest other dates", None, world.request().id),
    ]
    assert "Note: Wedding &lt;!here&gt; &amp; party" in card.text
    assert "Mon 3 to Wed 5 Aug 2026, 3 days." in card.text
    hedys = card.visible_text.replace("you and Hedy Lamarr", "you and Grace Hopper")
    assert world.card(HEDY).visible_text == hedys
    assert [message.text for message in world.slack.dm(ADA)] == [
        "Your request was sent to Grace Hopper and Hedy Lamarr for approval. "
        "Annual leave, Mon 3 to Wed 5 Aug 2026, 3 days. "
        "After this: 22 days left in 2026."
    ]
    assert world.slack.dm(EVE) == []


@pytest.mark.parametrize(
    ("filled", "shown"),
    [
        ({"end_half_day": "midday"}, "Mon 3 Aug 2026, morning · half a day"),
        ({"start_half_day": "midday"}, "Mon 3 Aug 2026, afternoon · half a day"),
        ({}, "Mon 3 Aug 2026 · 1 day"),
    ],
)
def test_a_single_day_may_be_halved(world: World, filled: dict[str, str], shown: str) -> None:
    world.a_request(end_date=FIRST_DAY.isoformat(), **filled)

    assert shown in world.card(GRACE).visible_text


@pytest.mark.parametrize(
    ("filled", "errors"),
    [
        (
            {"end_date": "2026-08-01"},
            {ids.LAST_DAY: "The last day is before the first day."},
        ),
        (
            {"end_date": "2026-08-03", "start_half_day": "midday", "end_half_day": "midday"},
            {
                ids.ENDS: "Leave on a single day cannot start in the afternoon and end in "
                "the morning."
            },
        ),
        (
            {"start_date": "2026-08-01", "end_date": "2026-08-02"},
            {ids.FIRST_DAY: "You're not working on any of these days."},
        ),
        (
            {"end_date": "2026-10-30"},
            {ids.FIRST_DAY: "You have 25 days left in 2026. This request needs 65 days."},
        ),
    ],
)
def test_a_broken_rule_is_shown_at_its_field(
    world: World, filled: dict[str, str], errors: dict[str, str]
) -> None:
    response = world.send_form(**filled)

    assert response.errors == errors
    assert world.slack.has_modal(ADA)
    assert world.deliver() == 0


def test_broken_rules_are_shown_in_german_with_german_figures(world: World) -> None:
    world.slack.change_person(ADA, locale="de-DE")
    strict = a_leave_type(
        world.database, world.acme, name="Sabbatical", min_notice_days=365, max_consecutive_days=1
    )

    ruled_out = world.send_form(leave_type_id=strict.id, end_half_day="midday")
    too_much = world.send_form(
        start_date="2026-08-03", end_date="2026-09-14", end_half_day="midday"
    )

    assert ruled_out.errors == {
        ids.FIRST_DAY: "Sabbatical musst du mindestens 365 Tage im Voraus beantragen.",
        ids.LAST_DAY: "Sabbatical geht höchstens 1 Tag am Stück. Das hier sind 2,5 Tage.",
    }
    assert too_much.errors == {
        ids.FIRST_DAY: "Du hast 2026 noch 25 Tage übrig. Dieser Antrag braucht 30,5 Tage."
    }


def test_colleagues_off_then_are_shown_without_private_types(world: World) -> None:
    world.a_request(HEDY, leave_type_id=world.leave_type("sick"), end_date="2026-08-03")
    world.submit_over_rest(EVE)
    theirs = world.submit_over_rest(GRACE)
    world.write(decisions.approve, theirs.id)

    world.a_request()

    text = world.card(GRACE).visible_text
    assert "• Hedy Lamarr: Mon 3 Aug 2026 (Away)" in text
    assert "• Grace Hopper: Mon 3 to Wed 5 Aug 2026 (Annual leave)" in text
    assert "Eve" not in text


def test_the_balance_of_each_leave_year_is_shown(world: World) -> None:
    world.a_request(start_date="2026-12-30", end_date="2027-01-04")

    text = world.card(GRACE).visible_text
    assert "25 → 23 days left in 2026\n25 → 24 days left in 2027" in text


def test_a_pending_user_becomes_active_by_using_slack(world: World) -> None:
    zoe = a_person(world.database, world.acme, first_name="Zoe", status="pending")
    world.slack.add_person("UZOE", zoe.email, "Zoe Zebra")

    world.open_form("UZOE")

    person = world.database.read_now(people_rows.get, zoe.id, by=world.acme.caller)
    assert (zoe.status, person.status, person.slack_user_id) == ("pending", "active", "UZOE")
