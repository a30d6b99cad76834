"""People mentioned in text that was typed after the command."""

from __future__ import annotations

from typing import Any

import pytest

from bot.parsing.typed_names import Mention, mentions_of, named
from storage.base.values import User, field_names


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
