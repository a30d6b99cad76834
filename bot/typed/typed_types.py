"""Finds the leave types that typed text names, by code, name or a prefix of either. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.typed.problems import Unclear
from bot.typed.words.vocabulary import MAIN
from storage.base.values import LeaveType

_KEYS: Final = str.maketrans("‐‑‒–—−’‘", "------''")  # what keyboards make of - and '


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """Words, and the leave types that they may mean."""

    typed: str
    matches: list[LeaveType]


def phrases_of(text: str, leave_types: Sequence[LeaveType]) -> tuple[str, list[Mention]]:
    """Names and codes with spaces or hyphens, and the text without them.

    To be found before the dates, because they could pass for one.
    """
    mentions: list[Mention] = []
    phrases = {
        name
        for leave_type in leave_types
        for name in _names(leave_type)
        if re.search(r"[ -]", name)
    }
    for phrase in sorted(phrases, key=len, reverse=True):
        pattern = rf"(?<!\S){re.escape(phrase)}(?![^\s,;])"
        if re.search(pattern, text):
            text = re.sub(pattern, ";", text)
            matches = [leave_type for leave_type in leave_types if phrase in _names(leave_type)]
            mentions.append(Mention(typed=phrase, matches=matches))
    return text, mentions


def mentions_of(
    words: Sequence[str], leave_types: Sequence[LeaveType], fillers: frozenset[str]
) -> tuple[list[Mention], list[str]]:
    """The leave types that consecutive words name, and the remaining words.

    A word in ``fillers`` is never a prefix.
    """
    mentions: list[Mention] = []
    remaining: list[str] = []
    at = 0
    while at < len(words):
        mention = _longest_at(words, at, leave_types, fillers)
        if mention is None:
            remaining.append(words[at])
            at += 1
        else:
            mentions.append(mention)
            at += len(mention.typed.split(" "))
    return mentions, remaining


def synonyms_of(
    words: Sequence[str],
    leave_types: Sequence[LeaveType],
    type_words: Mapping[str, str],
    main_type_id: str | None,
) -> tuple[list[Mention], list[str]]:
    """The leave types that stand for words such as "pto" and "ill", and the remaining words."""
    by_word = {leave_type.code: leave_type for leave_type in leave_types}
    by_word |= [(MAIN, each) for each in leave_types if each.id == main_type_id]
    mentions: list[Mention] = []
    remaining: list[str] = []
    for word in words:
        leave_type = by_word.get(type_words.get(word, ""))
        if leave_type is None:
            remaining.append(word)
        else:
            mentions.append(Mention(typed=word, matches=[leave_type]))
    return mentions, remaining


def most_specific(
    synonyms: Sequence[Mention], named: Sequence[Mention], main_type_id: str | None
) -> list[Mention]:
    """The synonyms; "vacation" is no type of its own beside another, as in "unpaid vacation"."""
    others = [mention for mention in synonyms if mention.matches[0].id != main_type_id]
    return others if named or others else list(synonyms)


def _longest_at(
    words: Sequence[str], at: int, leave_types: Sequence[LeaveType], fillers: frozenset[str]
) -> Mention | None:
    phrases = [" ".join(words[at:end]) for end in range(len(words), at, -1)]
    for is_match in (_is_name, _is_prefix):
        for phrase in phrases:
            matches = [leave_type for leave_type in leave_types if is_match(phrase, leave_type)]
            if matches and (phrase not in fillers or is_match is _is_name):
                return Mention(typed=phrase, matches=matches)
    return None


def _is_name(phrase: str, leave_type: LeaveType) -> bool:
    return phrase in _names(leave_type)


def _is_prefix(phrase: str, leave_type: LeaveType) -> bool:
    return any(name.startswith(phrase) for name in _names(leave_type))


def _names(leave_type: LeaveType) -> tuple[str, str]:
    return leave_type.code.casefold(), plain(leave_type.name)


def only_id(mentions: Sequence[Mention]) -> str | None:
    """The id of the only leave type that is mentioned, or None. Raises Unclear."""
    for mention in mentions:
        if len(mention.matches) > 1:
            names = tuple(sorted(leave_type.name for leave_type in mention.matches))
            raise Unclear("which_type", mention.typed, names)
    ids = {mention.matches[0].id for mention in mentions}
    if len(ids) > 1:
        names = tuple(sorted(mention.matches[0].name for mention in mentions))
        raise Unclear("several_types", ", ".join(mention.typed for mention in mentions), names)
    return ids.pop() if ids else None


def plain(typed: str) -> str:
    """The text with one case, one kind of dash and apostrophe, and single spaces."""
    # Some keyboards type an umlaut as two characters.
    composed = unicodedata.normalize("NFC", typed)
    return " ".join(composed.casefold().translate(_KEYS).split())
