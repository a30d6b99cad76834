"""The command's words balance, out, mine and cancel reply to the sender only."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest

from bot.base import ids
from storage.leave import decisions
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_person
from tests.fakes.slack import Message


def reply(world: World, text: str, who: str = ADA) -> Message:
    """Send the command; returns its ephemeral reply."""
    assert world.slack.command(who, "/timeoff", text).ok
    world.settled()
    message = [message for message in world.slack.ephemerals if message.user == who][-1]
    assert message.ephemeral
    return message


def approved(world: World, who: str, **fields: object) -> None:
    request = world.submit_over_rest(who, **fields)
    if request.status == "pending":
        world.write(decisions.approve, request.id)


def test_balance_shows_the_remaining_days_and_their_parts(world: World) -> None:
    world.a_request()
    approved(world, ADA, start_date=_day("2026-07-06"), end_date=_day("2026-07-06"))

    assert reply(world, "Balance").text == (
        "*21 days left* in the leave year 2026\n"
        "Allowance: 25 days. Approved: 1 day. Pending: 3 days."
    )


def test_out_lists_the_team_first_and_hides_private_types(world: World) -> None:
    today, friday = _day("2026-06-01"), _day("2026-06-05")
    approved(world, GRACE, start_date=today, end_date=friday)
    sick = world.leave_type("sick")
    approved(world, EVE, leave_type_id=sick, start_date=today, end_date=today)
    approved(world, HEDY, start_date=friday, end_date=friday)

    assert reply(world, "out").visible_text == (
        "On your team, off today, Mon 1 Jun:\n"
        "• Grace Hopper: Mon 1 to Fri 5 Jun 2026 (Annual leave)\n"
        "Others off today, Mon 1 Jun:\n"
        "• Eve Elsewhere: Mon 1 Jun 2026 (Away)"
    )
    assert "• Hedy Lamarr: Fri 5 Jun 2026 (Annual leave)" in reply(world, "out week").text
    assert "Hedy" not in reply(world, "out today").text


def test_out_reports_a_day_without_absences(world: World) -> None:
    assert reply(world, "out").text == "No one is off today, Mon 1 Jun."
    assert reply(world, "OUT  this week").text == ("No one is off from today until Sun 7 Jun.")


def test_mine_lists_the_senders_leave(world: World) -> None:
    assert reply(world, "mine").text == ("You have no upcoming leave or pending requests.")
    world.a_request()
    approved(world, ADA, start_date=_day("2026-07-06"), end_date=_day("2026-07-06"))
    approved(world, HEDY)

    assert reply(world, "mine").text == (
        "Your leave:\n"
        "• Mon 6 Jul 2026, 1 day, Annual leave: approved\n"
        "• Mon 3 to Wed 5 Aug 2026, 3 days, Annual leave: awaiting approval"
    )


def test_cancel_lists_leave_with_buttons_and_refreshes_the_list(world: World) -> None:
    world.a_request()
    approved(world, ADA, start_date=_day("2026-07-06"), end_date=_day("2026-07-06"))
    listed = reply(world, "cancel")
    july, august = listed.buttons

    assert world.slack.click(ADA, listed, ids.CANCEL_LISTED, august.value).ok
    world.settled()
    (remaining,) = [message for message in world.slack.ephemerals if message.ts == listed.ts]

    assert july.element["confirm"]["text"]["text"] == "Mon 6 Jul 2026, 1 day, Annual leave"
    assert world.audited("leave_request.cancelled") == 1
    assert remaining.visible_text.startswith("Cancelled. Leave you can cancel:")
    assert [button.value for button in remaining.buttons] == [july.value]

    world.slack.click(ADA, remaining, ids.CANCEL_LISTED, july.value)
    world.settled()
    (gone,) = [message for message in world.slack.ephemerals if message.ts == listed.ts]
    assert gone.visible_text == ("Cancelled. You have no upcoming leave or pending requests.")


def test_a_click_in_a_stale_list_shows_the_status_and_refreshes_it(world: World) -> None:
    world.a_request()
    listed = reply(world, "cancel")
    world.slack.click(ADA, listed, ids.CANCEL_LISTED)
    world.settled()

    world.slack.click(ADA, listed, ids.CANCEL_LISTED)
    world.settled()

    assert "Already cancelled by Ada Lovelace." in world.ephemerals(ADA)
    assert world.audited("leave_request.cancelled") == 1


def test_other_users_cannot_use_the_buttons_of_a_list(world: World) -> None:
    request = world.a_request()
    listed = reply(world, "cancel")

    world.slack.click(EVE, listed, ids.CANCEL_LISTED)
    world.settled()

    assert world.ephemerals(EVE) == [
        "This request doesn't exist, or you no longer have access to it."
    ]
    assert world.request().version == request.version


@pytest.mark.parametrize("text", ["out banana", "balances", "tell me a joke"])
def test_unknown_words_are_repeated(world: World, text: str) -> None:
    assert reply(world, text).text.startswith(f"Sorry, I didn't understand “{text}”.")


@pytest.mark.parametrize("day", range(1, 8))
def test_at_weekends_the_week_lasts_until_the_sunday_after(world: World, day: int) -> None:
    """From Monday 1 to Sunday 7 June, with a person off until each of three Sundays."""
    for number, sunday in enumerate(("2026-06-07", "2026-06-14", "2026-06-21")):
        eve = a_person(world.database, world.acme, first_name="Eve", last_name=f"Sunday{number}")
        world.people[f"U{number}"] = eve
        first = _day(sunday) - timedelta(days=2)
        approved(world, f"U{number}", start_date=first, end_date=_day(sunday))
    world.clock.advance(days=day - 1)

    listing = reply(world, "out week").visible_text

    assert f"until {'Sun 14 Jun' if day > 5 else 'Sun 7 Jun'}" in listing
    shown = [f"Sunday{number}" in listing for number in range(3)]
    assert shown == [True, day > 5, False]


@pytest.mark.parametrize(
    ("german", "english"),
    [
        ("hilfe", "help"),
        ("Konto", "balance"),
        ("resturlaub", "balance"),
        ("weg", "out"),
        ("abwesend heute", "out today"),
        ("weg woche", "out week"),
        ("abwesend diese Woche", "out week"),
        ("meine", "mine"),
        ("stornieren", "cancel"),
    ],
)
def test_german_words_are_answered_as_english_ones(world: World, german: str, english: str) -> None:
    approved(world, HEDY, start_date=_day("2026-06-01"), end_date=_day("2026-06-05"))

    assert reply(world, german).visible_text == reply(world, english).visible_text


def test_the_german_help_names_german_words_that_are_understood(world: World) -> None:
    world.slack.change_person(ADA, locale="de-DE")

    help_text = reply(world, "hilfe").text

    named = re.findall(r"`/timeoff (.+?)`", help_text)
    assert {"konto", "weg", "weg woche", "meine", "stornieren", "hilfe"} <= set(named)
    assert "3.-7. aug" in named
    for words in named:
        world.command(ADA, words)
    assert not any(
        "habe ich leider nicht verstanden" in message for message in world.ephemerals(ADA)[1:]
    )


@pytest.mark.parametrize("text", ["balance", "out", "mine", "cancel", "3 aug"])
def test_guests_are_refused_for_every_command_text(world: World, text: str) -> None:
    world.slack.add_person("UGUEST", "guest@example.com", "Gus Guest", is_restricted=True)

    assert "full members" in reply(world, text, "UGUEST").text


def test_replies_stay_within_limits_with_many_people(world: World) -> None:
    today = _day("2026-06-01")
    for number in range(45):
        person = a_person(
            world.database,
            world.acme,
            first_name="A" + "&" * 79,
            last_name=f"{number}" + "<" * 70,
            email=f"{number}@example.com",
        )
        world.people[f"U{number}"] = person
        approved(world, f"U{number}", start_date=today, end_date=_day("2026-06-05"))

    message = reply(world, "out week")

    assert message.visible_text.count("•") == 20
    assert message.visible_text.endswith("… and more")
    assert len(message.text) <= 4_000


def _day(text: str) -> date:
    return date.fromisoformat(text)
