"""People mentioned in text that was typed after the command, and the work it causes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsing import typed_names, typed_phrases
from bot.parsing.typed_names import Mention, mentions_of, named
from storage.base.leave_values import LeaveType
from storage.base.values import User, field_names
from storage.leave import leave_types
from tests.bot.test_typed_leave import a_type, parsed


def a_user(first_name: str, last_name: str, email: str) -> User:
    blank: dict[str, Any] = dict.fromkeys(field_names(User))
    return User(**blank | {"first_name": first_name, "last_name": last_name, "email": email})


AMIR = a_user("Amir", "Rahimi", "a.rahimi@acme.example")
AMIR_KHAN = a_user("Amir", "Khan", "akhan@acme.example")
JEAN_LUC = a_user("Jean-Luc", "Le Goff", "jl@acme.example")
PEOPLE = [AMIR, AMIR_KHAN, JEAN_LUC]


@pytest.mark.parametrize(
    ("typed", "slack_user_id", "rest"),
    [
        ("<@U123|amir> sick today", "U123", "sick today"),
        ("<@W0AB> 3-7 aug", "W0AB", "3-7 aug"),
        ("sick <@U123|amir.r> since friday", "U123", "sick since friday"),
        ("<@U123|>sick", "U123", "sick"),
    ],
)
def test_a_mention_that_slack_escaped_has_an_id(typed: str, slack_user_id: str, rest: str) -> None:
    (mention,) = mentions_of(typed)

    assert (mention.slack_user_id, mention.rest) == (slack_user_id, rest)


@pytest.mark.parametrize(
    ("typed", "people", "rest"),
    [
        ("@amir sick today", [AMIR, AMIR_KHAN], "sick today"),
        ("@Amir Rahimi sick today", [AMIR], "sick today"),
        ("@amir.khan, 3-7 aug", [AMIR_KHAN], "3-7 aug"),
        ("@a.rahimi today", [AMIR], "today"),
        ("sick @akhan today", [AMIR_KHAN], "sick today"),
        ("@jean-luc le goff today", [JEAN_LUC], "today"),
        ("@rah today", PEOPLE, "today"),
        ("@jl", [JEAN_LUC], ""),
    ],
)
def test_a_typed_name_takes_as_many_words_as_match(
    typed: str, people: list[User], rest: str
) -> None:
    (mention,) = mentions_of(typed)

    assert mention.slack_user_id is None
    assert named(mention, PEOPLE) == (people, rest)


@pytest.mark.parametrize("typed", ["3-7 aug", "@", "3@4", "ada@example.com sick", "@ today"])
def test_other_text_mentions_no_one(typed: str) -> None:
    assert mentions_of(typed) == []


def test_every_mention_is_found() -> None:
    assert [mention.slack_user_id for mention in mentions_of("<@U1> @ada <@U2>")] == [
        "U1",
        None,
        "U2",
    ]


def test_the_name_ends_at_a_comma() -> None:
    assert Mention(slack_user_id=None, before="", after="amir, sick").name == "amir"


# Two names of many short words, two that begin alike, and some with letters that grow when folded.
TYPES: list[LeaveType] = [
    *(
        a_type(name, f"code-{number}-{'a-' * 20}a")
        for number, name in enumerate(
            ("a " * 49 + "a", "a " * 48 + "b", "İ" * 100, "ß " * 49, "ﷺ" * 100, "leave of absence")
        )
    ),
    *(a_type(f"Leave of kind {number}", f"kind-{number}") for number in range(6, 50)),
]
HOLIDAYS = {f"holiday of the kind {number}": date(2026, 7, 1) for number in range(30)}
CROWD = [a_user("A " * 40, "İ" * 80, f"a{number}@acme.example") for number in range(99)]

# What grows when folded, joins other letters, or is in the vocabulary again and again.
PIECES = st.sampled_from(
    ["İ", "ß", "ﷺ", "\u0301", "\u0307", "😀", "a", "a ", "a-", "a a a a a ", "leave of ", "s", " "]
    + ["3", "3.", "3 ", "-", "fr am ", "next week ", "between ", "jemand ", "ist ", "wer ", "left "]
    + ["am ", "ab ", "days ", "1 ", "31.12.", "may ", "@", "@a ", "x", "?", ",", ";", ":", "wie "]
)
HOSTILE = (
    st.builds(lambda piece, count: piece * count, PIECES, st.integers(1, 3_000))
    | st.lists(PIECES, max_size=300).map("".join)
    | st.text(max_size=3_000)
).map(lambda text: " ".join(text[:3_000].split()))


def calls(work: Callable[[], object]) -> int:
    """How many functions the work calls, those of the interpreter included."""
    count = 0

    def counted(frame: object, event: str, of: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_an_organisation_of_the_test_has_as_many_leave_types_as_one_may_have() -> None:
    assert len(TYPES) == leave_types.MAX_LEAVE_TYPES


@given(HOSTILE, st.sampled_from(["en", "de"]))
def test_any_text_is_parsed_in_bounded_steps(text: str, language: str) -> None:
    def parse() -> object:
        return parsed(text, types=TYPES, language=language, holidays=HOLIDAYS)

    parse()  # Compiles the vocabulary.
    assert calls(parse) < 40_000


@given(HOSTILE)
def test_any_text_is_compared_with_phrases_in_bounded_steps(text: str) -> None:
    typed_phrases.command_of(text)  # Compiles the phrases.
    assert calls(lambda: typed_phrases.command_of(text)) < 200


@given(HOSTILE)
def test_any_typed_name_is_found_among_people_in_bounded_steps(text: str) -> None:
    def find() -> None:
        for mention in typed_names.mentions_of(f"@{text}")[:1]:
            typed_names.named(mention, CROWD)

    find()  # Imports what names are compared with.
    assert calls(find) < 10_000
