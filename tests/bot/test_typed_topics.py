"""Questions in words that no phrase has are answered by topic, and name what was not read."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsing.typed_leave import ParsingContext, period_in
from bot.parsing.typed_topics import asked
from storage.people import people_changes
from tests.bot.world import ADA, World

CONTEXT = ParsingContext(
    today=date(2026, 6, 1), leave_types=[], is_month_first=False, weekdays=frozenset(range(5))
)


def read(typed: str, names: frozenset[str] = frozenset()) -> tuple[str, str, str] | None:
    found = asked(typed, CONTEXT, names)
    return None if found is None else (found.topic, found.when, found.unread)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("what have i got left for 2027", ("balance", "for 2027", "")),
        ("how much holiday will i still have in december?", ("balance", "in december", "")),
        ("wie viel bleibt mir 2027", ("balance", "2027", "")),
        ("wie viele Tage bleiben mir dieses Jahr eigentlich noch", ("balance", "dieses jahr", "")),
        ("combien me restera-t-il en 2027", ("balance", "en 2027", "")),
        ("cuántos días tendré en 2027", ("balance", "en 2027", "")),
        ("what will i have left in may 2027", ("balance", "in may 2027", "")),
        ("who's at work on new years eve", ("out", "work on new years eve", "")),
        ("who has a birthday on friday", ("out", "on friday", "birthday")),
        ("wer ist heiligabend noch da", ("out", "heiligabend", "")),
        ("qui travaille vendredi", ("out", "vendredi", "travaille")),
        ("quién trabaja el viernes", ("out", "viernes", "trabaja")),
        ("il y a quels jours fériés en mai", ("holidays", "en mai", "")),
        ("cuántos festivos hay en diciembre", ("holidays", "en diciembre", "")),
    ],
)
def test_a_question_is_read_by_its_topic_and_days(typed: str, found: tuple[str, str, str]) -> None:
    assert read(typed) == found


@pytest.mark.parametrize(
    "typed",
    [
        # Another person's balance.
        "how many days does bob have left",
        # Days that are not read, or only in part.
        "what do i have left after friday",
        "what will i have left until friday",
        "who is off except on friday",
        "who is in before christmas",
        "who goes to the party on friday",
        "who is off on the day after the party",
        # A condition, another question, or none.
        "how many days left if i take friday",
        "who is not off on friday",
        "who approves my leave on friday",
        "who covers for amir next week",
        "what is left to do on friday",
        "who is my manager",
        "wer bist du",
    ],
)
def test_what_may_mean_something_else_has_no_topic(typed: str) -> None:
    assert read(typed, frozenset(("bob", "amir"))) is None


@given(
    words=st.lists(
        st.sampled_from(
            ["who", "wer", "how", "many", "left", "noch", "friday", "freitag", "until", "nach"]
            + ["bob", "not", "5", "2027", "in", "mai", "june", "the", "party", "holidays", "and"]
            + ["feiertage", "on", "week"]
        ),
        min_size=1,
        max_size=9,
    )
)
def test_every_word_of_a_question_is_read_or_named_or_little(words: list[str]) -> None:
    found = asked(" ".join(words), CONTEXT, frozenset(("bob",)))

    if found is None:
        return
    assert "bob" not in words
    assert not {"until", "nach", "5", "not"} & {*words} - {*found.when.split()}
    assert {"party", "week"} & {*words} <= {*found.when.split(), *found.unread.split()}
    assert not found.when or period_in(found.when, CONTEXT) is not None


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            "who is on call for the party on friday?",
            "I didn't read “call party”.\nNo one is off on Fri 5 Jun.",
        ),
        (
            "who goes to the party on friday?",
            "Sorry, I can't answer “who goes to the party",
        ),
        ("how many days does grace still have left", "Sorry, I can't answer"),
    ],
)
def test_the_answer_in_slack_names_what_was_not_read(world: World, typed: str, said: str) -> None:
    assert world.say(ADA, typed).visible_text.startswith(said)


def test_what_is_left_of_a_year_is_asked_in_other_words(world: World) -> None:
    in_few_words, in_others = (
        world.say(ADA, typed).visible_text
        for typed in ("balance 2027", "what have i got left for 2027")
    )

    assert in_others == in_few_words
    assert "2027" in in_others


@pytest.mark.parametrize(
    "typed",
    [
        "how many days does grace still have left",
        "how many days does she have left",
        "wie viele Tage hat Grace noch",
        "combien de jours reste-t-il à Grace",
        "cuántos días le quedan a Grace",
    ],
)
def test_the_days_of_a_colleague_are_not_answered_by_ones_own(world: World, typed: str) -> None:
    assert world.say(ADA, typed).visible_text.startswith("Sorry, I can't answer")


def test_a_colleague_called_may_is_no_month(world: World) -> None:
    world.acme.write(
        people_changes.add_all,
        [{"email": "may@acme.example", "first_name": "May", "last_name": "Will"}],
        "active",
    )

    said = world.say(ADA, "how many days will I have left in may").visible_text

    assert "days left" in said
