"""Questions that people write: they are answered, and never become requests."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base import ids
from bot.parsing import typed_phrases
from bot.parsing.typed_questions import Question, question_of
from tests.bot.world import ADA, GRACE, World
from tests.builders import a_person, a_request, approved_leave
from tests.fakes.slack import Message


def off(world: World, who: str, first: date, last: date | None = None, **more: str) -> None:
    approved_leave(world.database, world.acme, world.people[who], first, last, **more)


def said(world: World, text: str) -> str:
    return world.say(ADA, text).visible_text


def change_locale(world: World, locale: str) -> None:
    world.slack.change_person(ADA, locale=locale)
    world.slack.event({"type": "user_change", "user": world.slack.user(ADA) | {"locale": locale}})
    world.settled()


# World's today is Monday 1 June 2026.
def test_whether_a_colleague_is_in_on_a_day(world: World) -> None:
    off(world, GRACE, date(2026, 6, 2), date(2026, 6, 4))

    assert "Grace Hopper is off on Tue 2 Jun" in said(world, "is grace in tomorrow?")
    assert "is back on Fri 5 Jun" in said(world, "is Grace around on wednesday?")
    assert "As far as I know, Grace Hopper is in on Mon 8 Jun" in said(
        world, "will grace be in the office on 8 june"
    )
    assert "isn't a working day of Grace" in said(world, "is grace in on saturday")
    assert "no leave booked" in said(world, "is grace off in december?")
    assert "Tue 2" in said(world, "is grace off this week?")


def test_private_leave_of_a_colleague_is_away(world: World) -> None:
    off(world, GRACE, date(2026, 6, 2), code="sick")

    answer = said(world, "is grace sick tomorrow?")

    assert "(Away)" in answer
    assert "ick leave" not in answer


def test_pending_leave_of_a_colleague_stays_unknown(world: World) -> None:
    a_request(world.database, world.acme, world.people[GRACE], start_date=date(2026, 6, 2))

    assert "is in on Tue 2 Jun" in said(world, "is grace in tomorrow")


def test_when_a_colleague_is_back(world: World) -> None:
    off(world, GRACE, date(2026, 6, 1), date(2026, 6, 5))
    off(world, GRACE, date(2026, 6, 8), end_half_day="am")

    # Two requests in a row, with a weekend between them.
    assert said(world, "when is Grace back?").startswith("Grace Hopper is back on Mon 8 Jun")
    assert "at midday" in said(world, "how long is grace away?")
    assert said(world, "when's hedy back") == "Hedy Lamarr isn't off, and has no leave booked."


def test_names_of_several_people_are_asked_back_and_unknown_ones_named(world: World) -> None:
    a_person(world.database, world.acme, first_name="Grace", last_name="Kelly")

    answer = said(world, "when is grace back?")
    assert "Several people match “grace”: Grace Hopper and Grace Kelly" in answer
    assert "Grace Kelly" in said(world, "when is grace kelly back?")
    assert said(world, "is zoe in?") == "I can't find “zoe” among your colleagues."


def test_a_mentioned_colleague_is_found(world: World) -> None:
    world.home(GRACE)

    assert "Grace Hopper" in said(world, f"is <@{GRACE}> in tomorrow?")


def test_whether_one_works_oneself(world: World) -> None:
    off(world, ADA, date(2026, 6, 5))
    a_request(world.database, world.acme, world.people[ADA], start_date=date(2026, 6, 4))

    assert "You're off on Fri 5 Jun" in said(world, "am I off on Friday?")
    assert "awaiting approval" in said(world, "do I work on thursday?")
    assert "You work on Tue 2 Jun" in said(world, "am i working tomorrow")
    assert "isn't one of your working days" in said(world, "am i off on saturday?")
    assert "Christmas Day" in said(world, "do i have to work on 25 december?")


def test_what_one_has_booked_in_a_month(world: World) -> None:
    off(world, ADA, date(2026, 12, 14), date(2026, 12, 18))
    off(world, ADA, date(2026, 6, 5))

    answer = said(world, "anything booked for me in december?")
    assert "14" in answer
    assert "5 Jun" not in answer
    assert "You have no leave booked" in said(world, "do i have anything booked in july?")


def test_public_holidays(world: World) -> None:
    assert "Christmas Day" in said(world, "when is the next bank holiday?")
    assert "Boxing Day" in said(world, "bank holidays in december")
    assert said(world, "is 25 december a public holiday?").startswith("Yes: ")
    assert said(world, "is the 3rd a bank holiday?").startswith("No, ")


def test_who_approves(world: World) -> None:
    assert "Grace Hopper and Hedy Lamarr" in said(world, "who approves my leave?")


def buttons(message: Message) -> list[tuple[str, str]]:
    return [(button.action_id, button.text) for button in message.buttons]


def test_leave_is_changed_and_cancelled_by_buttons_and_new_days_are_named(world: World) -> None:
    off(world, ADA, date(2026, 12, 14), date(2026, 12, 18))
    off(world, ADA, date(2026, 6, 5))

    one = world.say(ADA, "can you move my leave in december to january?")
    assert buttons(one) == [(ids.EDIT, "Change")]
    assert "I didn't read “to january”." in one.visible_text
    assert len(buttons(world.say(ADA, "extend my holiday"))) == 2
    assert len(buttons(world.say(ADA, "cancel friday"))) == 1
    cancel = world.say(ADA, "please cancel my day off on friday")
    assert buttons(cancel) == [(ids.CANCEL_LISTED, "Cancel leave")]

    world.click(ADA, ids.EDIT, one)

    assert world.slack.open_modal(ADA, ids.EDIT_FORM)


def test_the_command_opens_the_form_of_the_only_leave_that_is_meant(world: World) -> None:
    off(world, ADA, date(2026, 12, 14), date(2026, 12, 18))
    off(world, ADA, date(2026, 6, 5))

    world.command(ADA, "shorten my leave in december")

    assert world.slack.open_modal(ADA, ids.EDIT_FORM)


def test_the_same_in_german(world: World) -> None:
    off(world, GRACE, date(2026, 6, 2), date(2026, 6, 3))
    off(world, ADA, date(2026, 6, 5))
    change_locale(world, "de-DE")

    assert "Grace Hopper ist am Di" in said(world, "ist Grace morgen da?")
    assert "wieder da" in said(world, "wann kommt Grace zurück?")
    assert "Du hast am Fr" in said(world, "hab ich am Freitag frei?")
    assert "keine Abwesenheit" in said(world, "ist im Dezember schon was für mich eingetragen?")
    assert "Weihnachtstag" in said(world, "wann ist der nächste Feiertag?")
    assert "Ändern" in said(world, "kann ich meinen Urlaub verschieben?")
    assert "Grace Hopper und Hedy Lamarr" in said(world, "wer genehmigt meinen Urlaub?")


def test_the_balance_of_another_day_is_that_of_the_day(world: World) -> None:
    assert "31 Mar" in said(world, "how much holiday will i have left at the end of march?")
    assert "can't read “for my trip”" in said(world, "how many days do i have left for my trip?")


@pytest.mark.parametrize(
    "text",
    [
        "14-18 dec",
        "i'm sick today",
        "chloe is off tomorrow",
        "friday off",
        "out sick today",
        "ich bin morgen weg",
        "what is the meaning of leave",
        "is this working?",
        "how many days do i have left",
    ],
)
def test_other_text_is_no_such_question(text: str) -> None:
    assert question_of(text) is None


def test_a_question_has_its_name_and_days() -> None:
    assert question_of("Hi, do you know if Grace Hopper is in on the 30.?") is None
    assert question_of("hi, is Grace Hopper in tomorrow, please?") == Question(
        name="person_in", who="grace hopper", when="tomorrow"
    )


WORDS = st.sampled_from(
    (
        *("is", "am", "i", "who", "grace", "in", "off", "on", "friday", "back", "when", "my"),
        *("leave", "move", "cancel", "december", "booked", "anything", "next", "bank holiday"),
        *("ist", "bin", "ich", "wann", "kommt", "zurück", "frei", "urlaub", "morgen", "?", ","),
    )
)


@given(st.lists(WORDS, min_size=1, max_size=40).map(" ".join))
def test_questions_are_read_in_bounded_time(text: str) -> None:
    began = time.process_time()
    question_of(text)
    typed_phrases.command_of(text)

    assert time.process_time() - began < 0.02


@pytest.mark.parametrize("piece", ["is grace ", "a ", "wann kommt ", "do i have ", "my leave "])
def test_long_questions_are_read_in_20_milliseconds(piece: str) -> None:
    text = " ".join((piece * 200)[:200].split())
    took = []
    for _ in range(5):
        began = time.process_time()
        question_of(text)
        took.append(time.process_time() - began)

    assert min(took) < 0.02
