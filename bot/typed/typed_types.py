"""Finds the leave types that typed text names, by code, name or a prefix of either. Pure."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
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


class TypeNames:
    """The names and codes of leave types, folded once for all the words that are looked up."""

    def __init__(self, leave_types: Iterable[LeaveType]) -> None:
        self._types: dict[str, dict[str, LeaveType]] = {}
        for leave_type in leave_types:
            for name in (leave_type.code.casefold(), plain(leave_type.name)):
                self._types.setdefault(name, {})[leave_type.id] = leave_type
        self._sorted = sorted(self._types)

    def phrases_of(self, text: str) -> tuple[str, list[Mention]]:
        """Names and codes with spaces or hyphens, and the text without them.

        To be found before the dates, because they could pass for one.
        """
        mentions: list[Mention] = []
        phrases = [name for name in self._sorted if " " in name or "-" in name]
        for phrase in sorted(phrases, key=len, reverse=True):
            without = _without(text, phrase)
            if without != text:
                text = without
                mentions.append(Mention(typed=phrase, matches=[*self._types[phrase].values()]))
        return text, mentions

    def mentions_of(
        self, words: Sequence[str], fillers: frozenset[str]
    ) -> tuple[list[Mention], list[str]]:
        """The leave types that consecutive words name, and the remaining words.

        A word in ``fillers`` is never a prefix.
        """
        mentions: list[Mention] = []
        remaining: list[str] = []
        at = 0
        while at < len(words):
            mention = self._longest_at(words, at, fillers)
            if mention is None:
                remaining.append(words[at])
                at += 1
            else:
                mentions.append(mention)
                at += mention.typed.count(" ") + 1
        return mentions, remaining

    def _longest_at(self, words: Sequence[str], at: int, fillers: frozenset[str]) -> Mention | None:
        """The longest name, else the longest prefix of one."""
        name = prefix = None
        for end in range(at + 1, len(words) + 1):
            phrase = " ".join(words[at:end])
            if not self._is_prefix(phrase):
                # No name begins with more of these words either.
                break
            if phrase in self._types:
                name = phrase
            if phrase not in fillers:
                prefix = phrase
        if name is not None:
            return Mention(typed=name, matches=[*self._types[name].values()])
        return None if prefix is None else Mention(typed=prefix, matches=self._beginning(prefix))

    def _is_prefix(self, phrase: str) -> bool:
        at = bisect_left(self._sorted, phrase)
        return at < len(self._sorted) and self._sorted[at].startswith(phrase)

    def _beginning(self, prefix: str) -> list[LeaveType]:
        names = self._sorted[bisect_left(self._sorted, prefix) :]
        of_names = takewhile(lambda name: name.startswith(prefix), names)
        types = {key: each for name in of_names for key, each in self._types[name].items()}
        return [*types.values()]


def _without(text: str, phrase: str) -> str:
    """The text with ``;`` in place of the phrase wherever it stands between other words."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        begins = at == 0 or text[at - 1].isspace()
        if begins and (end == len(text) or text[end] in " ,;"):
            text = f"{text[:at]};{text[end:]}"
        at = text.find(phrase, at + 1)
    return text


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
