"""What somebody typed behind the command, read as leave: days, halves and a type. Pure.

What can be read in one way only is read; of everything else it is said why it was not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Final, NamedTuple

from bot import typed_days, typed_terms
from bot.typed_days import Puzzle, Span, Unclear
from storage.values import HalfDay, LeaveType

# Nobody types more to say when he is away; the rest is looked at by nobody.
LONGEST: Final = 200

_FILLERS: Final = frozenset(
    ("a", "an", "and", "for", "from", "in", "leave", "of", "off", "on", "please", "the", "time")
)
_DASHES: Final = str.maketrans("‐‑‒–—−", "------")  # what keyboards make of "-"


class Wish(NamedTuple):
    """What was read. None where nothing was said or what was said is not sure."""

    start_date: date | None = None
    end_date: date | None = None
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    leave_type_id: str | None = None
    puzzles: tuple[Puzzle, ...] = ()

    @property
    def is_about_leave(self) -> bool:
        """Whether anything in it speaks of days, halves or types of leave."""
        is_read = self.start_date is not None or self.leave_type_id is not None
        return is_read or any(one.kind != "unknown" for one in self.puzzles)


class Reader(NamedTuple):
    """Who typed it, as far as it matters.

    ``today`` is the person's own. ``is_month_first`` None where his country writes dates either
    way. ``weekdays`` are those on which he works, Monday 0.
    """

    today: date
    leave_types: Sequence[LeaveType]
    is_month_first: bool | None
    weekdays: frozenset[int]


def read(typed: str, reader: Reader) -> Wish:
    """The leave that somebody typed: ``3-7 aug``, ``next fri pm sick``, ``24 dec - 2 jan unpaid``.

    Days without a year are the next such days. A half belongs to the day before it, or to the one
    after it where it comes first. Types are found by code, name or the beginning of either.
    """
    text = " ".join(typed[:LONGEST].casefold().translate(_DASHES).split())
    offered = [one for one in reader.leave_types if not one.is_archived]
    text, types = _types_of_several_words(text, offered)
    terms, groups = typed_terms.terms_of(text)
    puzzles: list[Puzzle] = []
    for words in groups:
        found, left = _types_among(words, offered)
        types += found
        if left:
            puzzles.append(Puzzle("unknown", " ".join(left)))
    span = Span()
    try:
        span = typed_days.span_of(terms, reader.today, reader.is_month_first, reader.weekdays)
    except Unclear as unclear:
        puzzles.append(unclear.puzzle)
    leave_type_id = None
    try:
        leave_type_id = _only(types)
    except Unclear as unclear:
        puzzles.append(unclear.puzzle)
    return Wish(*span[:4], leave_type_id, (*span.puzzles, *puzzles))


class _Named(NamedTuple):
    """Words, and the types that they may mean."""

    typed: str
    meant: list[LeaveType]


def _types_of_several_words(text: str, offered: Sequence[LeaveType]) -> tuple[str, list[_Named]]:
    """Whole names and codes with a space or hyphen in them, before these can pass for dates."""
    found: list[_Named] = []
    phrases = {name for one in offered for name in _names(one) if re.search(r"[ -]", name)}
    for phrase in sorted(phrases, key=len, reverse=True):
        pattern = rf"(?<!\S){re.escape(phrase)}(?![^\s,;])"
        if re.search(pattern, text):
            text = re.sub(pattern, ";", text)
            found.append(_Named(phrase, [one for one in offered if phrase in _names(one)]))
    return text, found


def _types_among(
    words: Sequence[str], offered: Sequence[LeaveType]
) -> tuple[list[_Named], list[str]]:
    """The types that words in a row name, and the words that name none."""
    found: list[_Named] = []
    left: list[str] = []
    at = 0
    while at < len(words):
        named = _longest_at(words, at, offered)
        if named is None:
            if words[at] not in _FILLERS:
                left.append(words[at])
            at += 1
        else:
            found.append(named)
            at += len(named.typed.split(" "))
    return found, left


def _longest_at(words: Sequence[str], at: int, offered: Sequence[LeaveType]) -> _Named | None:
    phrases = [" ".join(words[at:end]) for end in range(len(words), at, -1)]
    for is_meant in (_is_name, _is_beginning):
        for phrase in phrases:
            meant = [one for one in offered if is_meant(phrase, one)]
            if meant and (phrase not in _FILLERS or is_meant is _is_name):
                return _Named(phrase, meant)
    return None


def _is_name(phrase: str, leave_type: LeaveType) -> bool:
    return phrase in _names(leave_type)


def _is_beginning(phrase: str, leave_type: LeaveType) -> bool:
    return any(name.startswith(phrase) for name in _names(leave_type))


def _names(leave_type: LeaveType) -> tuple[str, str]:
    name = " ".join(leave_type.name.casefold().translate(_DASHES).split())
    return leave_type.code.casefold(), name


def _only(types: Sequence[_Named]) -> str | None:
    """The one type that is meant. Raises Unclear."""
    for typed, meant in types:
        if len(meant) > 1:
            raise Unclear("which_type", typed, tuple(sorted(one.name for one in meant)))
    ids = {meant[0].id for _, meant in types}
    if len(ids) > 1:
        names = tuple(sorted(meant[0].name for _, meant in types))
        raise Unclear("several_types", ", ".join(typed for typed, _ in types), names)
    return ids.pop() if ids else None
