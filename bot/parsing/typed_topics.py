"""What a question is about by single words, where no phrase is known for the whole of it. Pure.

Understood in all languages by everyone. What else the question says is not read, and is named
beside the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from bot.parsing import typed_leave
from bot.parsing.languages import LANGUAGES, words_of
from bot.parsing.typed_leave import ParsingContext
from bot.parsing.typed_names import plain
from bot.parsing.typed_phrases import MAX_LENGTH, cleaned

Topic = Literal["balance", "holidays", "out"]

_HOW_MUCH: Final = r"how (?:many|much)|wie ?viele?|combien|cu[áa]nt[oa]s?"
# "What is left to do?" is no question about days.
_WHAT: Final = r"what(?:'s)?|was|quel(?:le)?s?|qué"
_OWN: Final = r"i|we|my|our|ich|mir|mich|wir|uns|mein|je|j'ai|me|nous|mon|mes|mis?|nos|yo|tengo"
_LEFT: Final = (
    r"left|remain(?:s|ing)?|still have|übrig|bleibt|bleiben|verbleib\w*|rest|restants?|restera\w*"
    r"|reste(?:nt)?|quedan?|quedarán?|tendré"
)
_HOLIDAYS: Final = r"(?:bank|public) holidays?|(?:gesetzliche )?feiertage?|jours? fériés?|festivos?"
_WHO: Final = r"who(?:'s|s)?|wer|qui|quién(?:es)?|quien(?:es)?"
# Little words that no one misses when they are left out.
_LITTLE: Final = (
    r"is|are|will|would|be|do|does|have|has|got|i|me|we|us|there|any|still|yet|days?|holidays?"
    r"|leave|the|a|of|ist|sind|hat|haben|habe?|ich|wir|mir|uns|es|gibt|noch|schon|da|tage?|urlaub"
    r"|die|der|das|est|sont|ont|ai|je|nous|il|y|t|de|des|les?|la|encore|déjà|jours?|congés?"
    r"|está|están|es|son|hay|tengo|yo|nos|el|los|las|ya|aún|todavía|días?|vacaciones"
)
_MAX_WORDS: Final = 10
_MAX_DAY_WORDS: Final = 5
_PREPOSITIONS: Final = r"for|in|on|at|für|am|im|en|pour|au|para|por"
# Words of another question: about a condition, about who is not off, who decides or who covers.
_OTHER: Final = re.compile(
    r"<@|\b(?:not|\w+n't|nicht|kein\w*|pas|no|if|wenn|falls|si|s'|approv\w*|decid\w*"
    r"|genehmig\w*|entscheide\w*|approuv\w*|valid\w*|aprueb\w*|aprob\w*|cover\w*|vertr\w*|remplac\w*"
    r"|sustitu\w*|cubr\w*)\b"
)
# Another person than the reader, without a name.
_THEY: Final = re.compile(
    r"\b(?:s?[h]e|they|[h]is|[h]er|their|er|ihm|ihr|hat sie|haben sie|lui|leur|elle|a-t-il|ont-ils"
    r"|él|ella|ellos|ellas|le quedan?|les quedan?)\b"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """``when`` are the words of the days, "" for none; ``unread`` those that were not read."""

    topic: Topic
    when: str
    unread: str


def asked(typed: str, context: ParsingContext, names: Collection[str]) -> Asked | None:
    """The topic; None if there is none, or words that were not read may say when or of whom.

    ``names`` are words of people's names that may be in the text.
    """
    if len(typed) > MAX_LENGTH or _OTHER.search(plain(typed)):
        return None
    text = " ".join(re.findall(r"[\w'.:/]+|(?<=\d)-(?=\d)", cleaned(typed)))
    topic = _topic(text)
    if topic is None or (topic == "balance" and _THEY.search(text)):
        return None
    text = _without(_of_topic(topic), text)
    words = _without(_LITTLE, text).split()
    if len(words) > _MAX_WORDS:
        return None
    when, unread = _period(words, context)
    unread = _without(_PREPOSITIONS, " ".join(unread)).split()
    if any(word in names or _may_move(word) for word in unread) or (topic == "out" and not when):
        return None
    return Asked(topic=topic, when=when, unread=" ".join(unread))


def _period(words: list[str], context: ParsingContext) -> tuple[str, list[str]]:
    """The longest words in a row that are days, "" for none, and the other words."""
    for length in range(min(len(words), _MAX_DAY_WORDS), 0, -1):
        # Days tend to be the last words.
        for start in range(len(words) - length, -1, -1):
            when = " ".join(words[start : start + length])
            if typed_leave.period_in(when, context) is not None:
                return when, words[:start] + words[start + length :]
    return "", words


def _may_move(word: str) -> bool:
    """Whether the word may say when in any language: "after", "except", "5"."""
    return any(
        typed_leave.may_move(word, language)
        or word in {*words.before, *words.after, *words.back, *words.to, *words.since}
        for language in LANGUAGES
        if (words := words_of(language))
    )


def is_of_other(typed: str, names: Collection[str]) -> bool:
    """Whether a question about days left is about another person, whose ``names`` these may be."""
    text = cleaned(typed[:MAX_LENGTH])
    words = [word.removesuffix("'s") for word in re.findall(r"[\w'-]+", text)]
    return bool(_THEY.search(text)) or any(
        word in names and not re.fullmatch(_LITTLE, word) and not _may_move(word) for word in words
    )


def _topic(text: str) -> Topic | None:
    if _has(_HOLIDAYS, text):
        return "holidays"
    asks_how_much = _has(_HOW_MUCH, text) or (_has(_WHAT, text) and _has(_OWN, text))
    if asks_how_much and _has(_LEFT, text):
        return "balance"
    return "out" if re.match(rf"(?:{_WHO})\b", text) else None


def _of_topic(topic: Topic) -> str:
    match topic:
        case "holidays":
            return f"{_HOLIDAYS}|{_HOW_MUCH}|{_WHAT}|when|wann|quand|cuándo"
        case "balance":
            return f"{_HOW_MUCH}|{_WHAT}|{_LEFT}"
        case "out":
            return _WHO


def _has(pattern: str, text: str) -> bool:
    return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text) is not None


def _without(pattern: str, text: str) -> str:
    return " ".join(re.sub(rf"(?<![\w'])(?:{pattern})(?![\w'])", " ", text).split())
