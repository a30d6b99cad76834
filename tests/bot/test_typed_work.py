"""The work that typed text causes, counted in calls: text of any kind stops no one else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.parsing import typed_names, typed_phrases
from storage.base.values import LeaveType
from storage.leave import leave_types
from tests.bot.test_typed_leave import a_type, parsed
from tests.bot.test_typed_people import a_user

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
PEOPLE = [a_user("A " * 40, "İ" * 80, f"a{number}@acme.example") for number in range(99)]

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
            typed_names.named(mention, PEOPLE)

    find()  # Imports what names are compared with.
    assert calls(find) < 10_000
