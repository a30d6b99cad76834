"""Parses text typed after the command as leave: days, halves and a type. Pure.

Only unambiguous text is parsed; everything else becomes a puzzle that says why it was not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from bot.typed import typed_days, typed_terms
from bot.typed.puzzles import Puzzle, Unclear
from bot.typed.typed_days import Span
from bot.typed.typed_terms import Day, Term
from bot.typed.typed_words import Words, words_of
from storage.base.values import HalfDay, LeaveType

# Longer text is cut.
LONGEST: Final = 200

_DASHES: Final = str.maketrans("‐‑‒–—−", "------")  # what keyboards make of "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """The parsed text; None where a part is absent or ambiguous.

    ``is_about_leave``: whether it mentions days, halves or leave types at all.
    """

    start_date: date | None = None
    end_date: date | None = None
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    leave_type_id: str | None = None
    puzzles: tuple[Puzzle, ...] = ()
    is_about_leave: bool = False

    @property
    def has_unclear_days(self) -> bool:
        """Whether there were days, or possible days, that were not understood."""
        about_types = ("which_type", "several_types")
        return self.start_date is None and any(
            puzzle.kind not in about_types for puzzle in self.puzzles
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """The context of the person who typed.

    ``today`` is in their time zone. ``is_month_first`` is None if their country writes dates
    either way. ``weekdays`` are their working days, Monday 0. ``language`` is theirs, such as
    ``de``; English is always understood, too.
    """

    today: date
    leave_types: Sequence[LeaveType]
    is_month_first: bool | None
    weekdays: frozenset[int]
    language: str = "en"


def read(typed: str, reader: Reader) -> Wish:
    """Parse typed leave: ``3-7 aug``, ``next fri pm sick``, ``24 dec - 2 jan unpaid``.

    Days without a year are the next such days; for a type that needs no approval, the latest.
    A half belongs to the day before it, or to the day after it if it comes first. Leave types are
    found by code, name or a prefix of either. If a word was not understood, no days are returned,
    because the word may change all of them.
    """
    text = _plain(typed[:LONGEST])
    offered = [leave_type for leave_type in reader.leave_types if not leave_type.is_archived]
    text, types = _types_of_several_words(text, offered)
    terms, groups = typed_terms.terms_of(text, reader.language)
    vocabulary = words_of(reader.language)
    puzzles: list[Puzzle] = []
    for words in groups:
        named, left = _types_among(words, offered, vocabulary)
        types += named
        if left:
            puzzles.append(Puzzle(kind="unknown", typed=" ".join(left)))
    is_understood = not puzzles
    leave_type_id = None
    try:
        leave_type_id = _only(types)
    except Unclear as unclear:
        puzzles.append(unclear.puzzle)
    span = Span()
    try:
        span = typed_days.span_of(
            terms,
            reader.today,
            reader.is_month_first,
            reader.weekdays,
            prefers_past=any(
                leave_type.id == leave_type_id and not leave_type.requires_approval
                for leave_type in offered
            ),
        )
    except Unclear as unclear:
        puzzles.append(unclear.puzzle)
    if not is_understood:
        span = Span()
    is_about_leave = bool(types) or any(map(_is_about_leave, terms))
    return Wish(
        start_date=span.start_date,
        end_date=span.end_date,
        start_half_day=span.start_half_day,
        end_half_day=span.end_half_day,
        leave_type_id=leave_type_id,
        puzzles=(*span.puzzles, *puzzles),
        is_about_leave=is_about_leave,
    )


def _is_about_leave(term: Term) -> bool:
    return isinstance(term, Day) or term.kind not in ("to", "since", "starting")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Named:
    """Words, and the leave types that they may mean."""

    typed: str
    meant: list[LeaveType]


def _types_of_several_words(text: str, offered: Sequence[LeaveType]) -> tuple[str, list[_Named]]:
    """Find names and codes with spaces or hyphens first, because these could pass for dates."""
    named: list[_Named] = []
    phrases = {
        name for leave_type in offered for name in _names(leave_type) if re.search(r"[ -]", name)
    }
    for phrase in sorted(phrases, key=len, reverse=True):
        pattern = rf"(?<!\S){re.escape(phrase)}(?![^\s,;])"
        if re.search(pattern, text):
            text = re.sub(pattern, ";", text)
            named.append(
                _Named(
                    typed=phrase,
                    meant=[leave_type for leave_type in offered if phrase in _names(leave_type)],
                )
            )
    return text, named


def _types_among(
    words: Sequence[str], offered: Sequence[LeaveType], vocabulary: Words
) -> tuple[list[_Named], list[str]]:
    """The leave types that consecutive words name, and the remaining words."""
    all_named: list[_Named] = []
    left: list[str] = []
    at = 0
    while at < len(words):
        named = _longest_at(words, at, offered, vocabulary.fillers)
        if named is None:
            if words[at] not in vocabulary.fillers | vocabulary.leave_words:
                left.append(words[at])
            at += 1
        else:
            all_named.append(named)
            at += len(named.typed.split(" "))
    return all_named, left


def _longest_at(
    words: Sequence[str], at: int, offered: Sequence[LeaveType], fillers: frozenset[str]
) -> _Named | None:
    phrases = [" ".join(words[at:end]) for end in range(len(words), at, -1)]
    for is_meant in (_is_name, _is_beginning):
        for phrase in phrases:
            meant = [leave_type for leave_type in offered if is_meant(phrase, leave_type)]
            if meant and (phrase not in fillers or is_meant is _is_name):
                return _Named(typed=phrase, meant=meant)
    return None


def _is_name(phrase: str, leave_type: LeaveType) -> bool:
    return phrase in _names(leave_type)


def _is_beginning(phrase: str, leave_type: LeaveType) -> bool:
    return any(name.startswith(phrase) for name in _names(leave_type))


def _names(leave_type: LeaveType) -> tuple[str, str]:
    return leave_type.code.casefold(), _plain(leave_type.name)


def _plain(typed: str) -> str:
    """The text with one case, one kind of dash, and single spaces."""
    # Some keyboards type an umlaut as two characters.
    composed = unicodedata.normalize("NFC", typed)
    return " ".join(composed.casefold().translate(_DASHES).split())


def _only(types: Sequence[_Named]) -> str | None:
    """The only leave type that is meant, or None. Raises Unclear."""
    for named in types:
        if len(named.meant) > 1:
            names = tuple(sorted(leave_type.name for leave_type in named.meant))
            raise Unclear("which_type", named.typed, names)
    ids = {named.meant[0].id for named in types}
    if len(ids) > 1:
        names = tuple(sorted(named.meant[0].name for named in types))
        raise Unclear("several_types", ", ".join(named.typed for named in types), names)
    return ids.pop() if ids else None
