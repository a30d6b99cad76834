"""What people write to the app in the conversation with it, and Send under what was read."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base import ids
from bot.blocks import words
from bot.views.conversation import ReadLeave, packed, unpacked
from bot.views.request_values import Filled
from storage.db.pages import PageOf
from storage.leave import leave_lists
from storage.leave.previews import Preview
from tests.bot.test_form import fields
from tests.bot.test_views import user
from tests.bot.world import ADA, EVE, GRACE, World
from tests.builders import caller_for
from tests.fakes.slack import Message


def sent(world: World, who: str = ADA) -> list[tuple[date, date]]:
    """The dates of the person's leave."""
    by = caller_for(world.acme, world.people[who])
    page = world.database.read_now(
        leave_lists.own, PageOf(limit=9), by=by, today=world.clock.now.date()
    )
    return [(request.start_date, request.end_date) for request in page.items]


def labels(message: Message) -> list[str]:
    return [button.text for button in message.buttons]


def test_leave_is_read_and_sent_by_a_click(world: World) -> None:
    card = world.say(ADA, "14-18 dec please")

    assert "I read: " in card.text
    assert "annual leave" in card.text.lower()
    assert "5 days" in card.visible_text
    assert "left in 2026" in card.visible_text
    assert labels(card) == ["Send", "Change"]
    assert sent(world) == []

    world.click(ADA, ids.SEND_UNDERSTOOD, card)

    assert sent(world) == [(date(2026, 12, 14), date(2026, 12, 18))]
    after = next(each for each in world.slack.dm(ADA) if each.ts == card.ts)
    assert after.text.startswith("✅ Sent: ")
    assert after.buttons == []


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("hello", "Hello! `help` shows examples."),
        ("Good morning!", "Hello! `help` shows examples."),
        ("hi", "Hello! `help` shows examples."),
        ("thanks a lot", "Happy to help! `help` shows examples."),
    ],
)
def test_a_greeting_is_returned_and_thanks_are_welcome(
    world: World, written: str, answer: str
) -> None:
    assert world.say(ADA, written).text == answer


def test_sending_twice_sends_once_and_says_so(world: World) -> None:
    card = world.say(ADA, "14-18 dec")
    world.click(ADA, ids.SEND_UNDERSTOOD, card)

    world.click(ADA, ids.SEND_UNDERSTOOD, card)

    assert len(sent(world)) == 1
    after = next(each for each in world.slack.dm(ADA) if each.ts == card.ts)
    assert after.text.startswith("✅ Sent: ")


def test_a_balance_that_changed_since_is_shown_before_anything_is_sent(world: World) -> None:
    card = world.say(ADA, "14-18 dec")
    world.a_request(ADA)

    world.click(ADA, ids.SEND_UNDERSTOOD, card)

    after = next(each for each in world.slack.dm(ADA) if each.ts == card.ts)
    assert "Something has changed since" in after.text
    assert labels(after) == ["Send", "Change"]
    assert len(sent(world)) == 1

    world.click(ADA, ids.SEND_UNDERSTOOD, after)

    assert len(sent(world)) == 2


def test_what_would_be_refused_cannot_be_sent(world: World) -> None:
    world.a_request(ADA)

    card = world.say(ADA, "3-5 aug")

    assert "overlaps" in card.visible_text
    assert labels(card) == ["Change"]


def test_change_opens_the_form_with_what_was_read(world: World) -> None:
    card = world.say(ADA, "friday afternoon off, dentist")

    world.click(ADA, ids.OPEN_UNDERSTOOD, card)

    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)
    assert fields(form) == ("2026-06-05", "2026-06-05", "midday", "whole_day")


def test_days_that_are_unclear_are_chosen_in_the_form(world: World) -> None:
    answer = world.say(ADA, "sick from tuesday")

    assert "until when?" in answer.text
    assert [button.action_id for button in answer.buttons] == [ids.OPEN_UNDERSTOOD]


def test_questions_and_commands_are_answered_in_the_conversation(world: World) -> None:
    assert "No one is off" in world.say(ADA, "who is out today?").text
    assert "left" in world.say(ADA, "balance").text
    assert "cancel my leave" in world.say(ADA, "help").text
    assert world.slack.ephemerals == []


@pytest.mark.parametrize(
    ("text", "locale", "buttons"),
    [
        ("can I take friday off?", "en-GB", ["Send", "Change"]),
        ("kann ich am Freitag frei haben?", "de-DE", ["Senden", "Ändern"]),
        # Without words that ask for it, leave is only offered.
        ("friday off?", "en-GB", ["Request leave"]),
    ],
)
def test_only_a_polite_request_is_a_question_that_can_be_sent(
    world: World, text: str, locale: str, buttons: list[str]
) -> None:
    world.slack.change_person(ADA, locale=locale)

    assert labels(world.say(ADA, text)) == buttons


def test_a_question_mark_makes_spanish_words_of_leave_a_question(world: World) -> None:
    world.slack.change_person(ADA, locale="es-ES")

    assert labels(world.say(ADA, "estoy fuera el viernes")) == ["Enviar", "Cambiar"]
    for asked in ("¿estoy fuera el viernes?", "¿estoy libre el viernes", "trabajo el viernes?"):
        assert "Trabajas el vie 5 jun" in world.say(ADA, asked).text


@pytest.mark.parametrize(
    ("text", "locale", "read"),
    [
        ("15-19 feb plus 1 march", "en-GB", ["Mon 15 to Fri 19 Feb 2027", "Mon 1 Mar 2027"]),
        ("heute krank, bis voraussichtlich Donnerstag", "de-DE", ["Mo 1. bis Do 4. Juni 2026"]),
        ("ganzer Februar Urlaub", "de-DE", ["Mo 1. bis So 28. Feb. 2027"]),
    ],
)
def test_words_that_join_or_soften_are_understood(
    world: World, text: str, locale: str, read: list[str]
) -> None:
    world.slack.change_person(ADA, locale=locale)

    card = world.say(ADA, text)

    assert all(days in card.visible_text for days in read)


def test_words_that_a_question_about_own_leave_has_besides_are_named(world: World) -> None:
    answer = world.say(ADA, "am I off when the moon is full")

    assert answer.text.startswith("I didn't read “when the moon is full”. ")


def test_what_would_be_left_is_shown_for_typed_days(world: World) -> None:
    answer = world.say(ADA, "how many days would I have left if I took next week?")

    assert answer.text.startswith("Type only the days that you'd take, such as `3-7 aug`.")
    assert not answer.buttons


def test_an_answer_is_in_the_thread_in_which_was_asked(world: World) -> None:
    first = world.say(ADA, "help")

    assert world.say(ADA, "balance", thread_ts=first.ts).thread_ts == first.ts


@pytest.mark.parametrize(
    "changed",
    [
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "file_share"},
        {"bot_id": "BOTHER"},
        {"channel_type": "mpim"},
        {"channel_type": "channel"},
    ],
)
def test_edits_bots_and_other_conversations_are_not_answered(
    world: World, changed: dict[str, str]
) -> None:
    event = {
        "type": "message",
        "user": ADA,
        "channel": world.slack.workspace.dm_channel(world.slack.team_id, ADA),
        "channel_type": "im",
        "text": "14-18 dec",
        "ts": f"{world.clock.now.timestamp():.6f}",
    }

    assert world.slack.event(event | changed).status == 200
    world.settled()

    assert world.slack.dm(ADA) == []


def test_a_message_is_answered_once(world: World) -> None:
    for _ in range(2):
        world.say(ADA, "balance", event_id="Ev1")

    assert len([each for each in world.slack.dm(ADA) if not each.is_written]) == 1


def test_a_message_that_arrives_hours_later_is_not_read_as_new(world: World) -> None:
    hours_ago = (world.clock.now - timedelta(hours=3)).timestamp()

    answer = world.say(ADA, "sick tomorrow", at_seconds=hours_ago)

    assert answer.text.startswith("Sorry, “sick tomorrow” reached me only now.")
    assert answer.buttons == []


def test_guests_are_told_that_hiatus_is_for_members(world: World) -> None:
    world.slack.add_person("UGUEST", "guest@example.com", "Gina Guest", is_restricted=True)

    assert "full members" in world.say("UGUEST", "14-18 dec").text


def test_leave_of_a_mentioned_person_is_recorded_in_the_form(world: World) -> None:
    world.home(ADA)
    offer = world.say(GRACE, "@ada sick today")
    assert "Ada Lovelace" in offer.text

    world.click(GRACE, ids.RECORD_UNDERSTOOD, offer)

    assert world.slack.open_modal(GRACE, ids.RECORD_FORM)


@pytest.mark.parametrize("text", ["request", "antrag"])
def test_a_form_is_opened_by_a_button(world: World, text: str) -> None:
    world.click(EVE, ids.HOME_REQUEST, world.say(EVE, text))

    assert world.slack.open_modal(EVE, ids.REQUEST_FORM)


def test_the_buttons_of_the_help_answer(world: World) -> None:
    for action_id in (ids.ASK_OUT, ids.ASK_BALANCE, ids.ASK_MINE):
        world.click(ADA, action_id, world.say(ADA, "help"))

    assert len(world.slack.ephemerals) == 3


READ = st.lists(
    st.builds(
        Filled,
        leave_type_id=st.uuids().map(str),
        start_date=st.dates(date(2026, 1, 1), date(2027, 1, 1)),
        end_date=st.dates(date(2027, 1, 1), date(2028, 1, 1)),
        begins_at_midday=st.booleans(),
        ends_at_midday=st.booleans(),
        note=st.none()
        | st.text(st.characters(exclude_characters="\n\r"), min_size=1, max_size=100),
    ),
    min_size=1,
    max_size=5,
)


@given(READ, st.integers(0, 60))
def test_send_has_the_leave_that_is_shown(read: list[Filled], half_days: int) -> None:
    preview = Preview(
        user=user("Ada", "Lovelace"),
        leave_type=None,
        lines=[],
        total_half_days=half_days,
        years=[],
        approvers=[],
        approved_because=None,
        unreachable=[],
        colleagues=[],
        colleagues_count=0,
        pending_colleagues_count=0,
        refusals=[],
        warnings=[],
    )
    shown = [ReadLeave(filled=filled, preview=preview) for filled in read]

    assert unpacked(packed(shown)) == [(each.effects, each.filled) for each in shown]


@pytest.mark.parametrize(
    "text",
    [
        "14-18 dec",
        "friday pm",
        "sick today",
        "14 dec and 16-17 dec",
        "all of july 2026",
        "3 aug am",
    ],
)
def test_what_the_card_shows_is_sent(world: World, text: str) -> None:
    card = world.say(ADA, text)
    (send,) = [button for button in card.buttons if button.action_id == ids.SEND_UNDERSTOOD]
    shown = unpacked(str(send.value))

    world.click(ADA, ids.SEND_UNDERSTOOD, card)

    by = caller_for(world.acme, world.people[ADA])
    page = world.database.read_now(leave_lists.filtered, PageOf(limit=9), by=by, sort="start_date")
    assert [Filled.with_request(request) for request in page.items] == [each for _, each in shown]
    for request in page.items:
        assert words.dates(request) in card.text
        assert words.amount(request.total_half_days) in card.visible_text
