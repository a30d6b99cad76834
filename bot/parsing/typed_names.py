"""Leave types and people whose names are typed. Pure."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from bot.base import type_names
from bot.parsing.languages import PHRASES, further
from bot.parsing.typed_terms import Unclear, any_of
from bot.parsing.vocabulary import MAIN
from storage.base.leave_values import LeaveType
from storage.base.values import User

# In all languages for everyone: people use these words in both.
_HOME_OFFICE: Final = (
    r"home[ -]?office(?:[ -](?:days?|tage?))?|wfh|(?:work(?:ing|ed)? )?from home|home[ -]?working"
    r"|work(?:ing|ed)? at home|work(?:ing|ed)? remote(?:ly)?|remote(?:ly)? work(?:ing)?"
    r"|tele[ -]?(?:work(?:ing)?|arbeit(?:en)?)|telecommut(?:e|ing)|mobile working"
    r"|mobil(?:e[ns]?)?[ -]?arbeit(?:en)?|von (?:zu ?hause|daheim)(?: aus)?"
    rf"|{any_of(further('home_office'))}"
)
_TYPED_HOME_OFFICE: Final = re.compile(rf"(?<!\S)(?:{_HOME_OFFICE})(?=$|[\s,;.!?])")
_NAMED_HOME_OFFICE: Final = re.compile(rf"\b(?:{_HOME_OFFICE}|remote)\b")
# Words that mean nothing beside home office, and much elsewhere: "I work on Friday".
HOME_OFFICE_FILLERS: Final = frozenset(
    (
        *("work", "working", "worked", "do", "doing"),
        *("arbeite", "arbeiten", "gearbeitet", "habe", "mach", "mache"),
        *(word for phrases in PHRASES.values() for word in phrases.home_office_fillers),
    )
)

_KEYS: Final = str.maketrans("‐‑‒–—−’‘", "------''", "¿¡")  # what keyboards make of - and '


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeMention:
    """Words, and the leave types that they may mean.

    ``is_home_office``: the words mean work at home. Then ``matches`` may be empty, or with
    ``is_guess`` has types that are not called so.
    """

    typed: str
    matches: list[LeaveType]
    is_home_office: bool = False
    is_guess: bool = False


class TypeNames:
    """The names and codes of leave types, folded once for all the words that are looked up."""

    def __init__(self, leave_types: Sequence[LeaveType]) -> None:
        self._leave_types = leave_types
        self._types: dict[str, dict[str, LeaveType]] = {}
        for leave_type in leave_types:
            for name in {leave_type.code.casefold(), *map(plain, _names(leave_type))}:
                self._types.setdefault(name, {})[leave_type.id] = leave_type
        self._sorted = sorted(self._types)
        self._words = sorted({word for name in self._types for word in name.split()})

    def phrases_of(self, text: str) -> tuple[str, list[TypeMention]]:
        """Names and codes with spaces or hyphens, words for home office, and the text without them.

        To be found before the dates, because they could pass for one: "from home on Friday".
        """
        mentions: list[TypeMention] = []
        phrases = [name for name in self._sorted if " " in name or "-" in name]
        for phrase in sorted(phrases, key=len, reverse=True):
            without = _without(text, phrase)
            if without != text:
                text = without
                mentions.append(TypeMention(typed=phrase, matches=[*self._types[phrase].values()]))
        for match in _TYPED_HOME_OFFICE.finditer(text):
            mentions.append(self._home_office(match.group()))
        return _TYPED_HOME_OFFICE.sub(";", text), mentions

    @property
    def long_words(self) -> tuple[str, ...]:
        """The words of names in which a typing error is recognised."""
        return tuple(word for word in self._words if word.isalpha() and 5 <= len(word) <= 20)

    def names_with(self, word: str) -> bool:
        """Whether the word is one of a name or code, or begins one."""
        at = bisect_left(self._words, word)
        return at < len(self._words) and self._words[at].startswith(word)

    def _home_office(self, typed: str) -> TypeMention:
        """The type that is called so, in any words; else those that do not count as away."""
        matches = [*self._types.get(typed, {}).values()]
        matches = matches or [each for each in self._leave_types if _is_home_office(each)]
        others = [each for each in self._leave_types if not each.is_away]
        return TypeMention(
            typed=typed,
            matches=matches or others,
            is_home_office=True,
            is_guess=not matches,
        )

    def mentions_of(
        self, words: Sequence[str], fillers: frozenset[str]
    ) -> tuple[list[TypeMention], list[str]]:
        """The leave types that consecutive words name, and the remaining words.

        A word in ``fillers`` is never a prefix.
        """
        mentions: list[TypeMention] = []
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

    def _longest_at(
        self, words: Sequence[str], at: int, fillers: frozenset[str]
    ) -> TypeMention | None:
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
            return TypeMention(typed=name, matches=[*self._types[name].values()])
        return (
            None if prefix is None else TypeMention(typed=prefix, matches=self._beginning(prefix))
        )

    def _is_prefix(self, phrase: str) -> bool:
        at = bisect_left(self._sorted, phrase)
        return at < len(self._sorted) and self._sorted[at].startswith(phrase)

    def _beginning(self, prefix: str) -> list[LeaveType]:
        names = self._sorted[bisect_left(self._sorted, prefix) :]
        of_names = takewhile(lambda name: name.startswith(prefix), names)
        types = {key: each for name in of_names for key, each in self._types[name].items()}
        return [*types.values()]


def _is_home_office(leave_type: LeaveType) -> bool:
    names = *map(plain, _names(leave_type)), leave_type.code
    return any(_NAMED_HOME_OFFICE.search(name) for name in names)


def _shown(leave_type: LeaveType) -> str:
    return type_names.shown(leave_type.type_name)


def _names(leave_type: LeaveType) -> tuple[str, str]:
    """As the organisation calls it, and as the reader does."""
    return leave_type.name, _shown(leave_type)


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
) -> tuple[list[TypeMention], list[str]]:
    """The leave types that stand for words such as "pto" and "ill", and the remaining words."""
    by_word = {leave_type.code: leave_type for leave_type in leave_types}
    by_word |= [(MAIN, each) for each in leave_types if each.id == main_type_id]
    mentions: list[TypeMention] = []
    remaining: list[str] = []
    for word in words:
        leave_type = by_word.get(type_words.get(word, ""))
        if leave_type is None:
            remaining.append(word)
        else:
            mentions.append(TypeMention(typed=word, matches=[leave_type]))
    return mentions, remaining


def most_specific(
    synonyms: Sequence[TypeMention], named: Sequence[TypeMention], main_type_id: str | None
) -> list[TypeMention]:
    """The synonyms; "vacation" is no type of its own beside another, as in "unpaid vacation"."""
    others = [mention for mention in synonyms if mention.matches[0].id != main_type_id]
    return others if named or others else list(synonyms)


def only_id(mentions: Sequence[TypeMention]) -> str | None:
    """The id of the only leave type that is mentioned, or None. Raises Unclear."""
    for mention in mentions:
        if not mention.matches:
            raise Unclear("no_home_office", mention.typed)
        if len(mention.matches) > 1 or mention.is_guess:
            names = tuple(sorted(map(_shown, mention.matches)))
            raise Unclear("which_type", mention.typed, names)
    ids = {mention.matches[0].id for mention in mentions}
    if len(ids) > 1:
        names = tuple(sorted(_shown(mention.matches[0]) for mention in mentions))
        raise Unclear("several_types", ", ".join(mention.typed for mention in mentions), names)
    return ids.pop() if ids else None


def plain(typed: str) -> str:
    """The text with one case, one kind of dash and apostrophe, and single spaces."""
    # Some keyboards type an umlaut as two characters.
    composed = unicodedata.normalize("NFC", typed)
    return " ".join(composed.casefold().translate(_KEYS).split())


# Slack replaces a mention by an id if the manifest says `should_escape`:
# docs.slack.dev, "Enabling interactivity with slash commands".
_MENTION: Final = re.compile(r"<@(?P<id>[UW][A-Z0-9]+)(?:\|[^>]*)?>|(?<!\S)@(?=[^\s@])")
_JOINTS: Final = re.compile(r"[\s._-]+")
_MAX_NAME_WORDS: Final = 5
_SUBJECT: Final = re.compile(
    r"(?:(?:hi|hello|hey|hallo|moin|please|bitte)[\s,]+)?(?P<name>[^\W\d][\w-]*)(?:['’]s)?"
    r" (?:is|has|ist|hat|sick|ill|unwell|poorly|off|out|away|ooo|absent|krank|frei|weg|abwesend"
    rf"|{any_of(further('off'))})\b",
    re.IGNORECASE,
)
_MAX_END: Final = 100
_LAST_WORDS: Final = re.compile(r"[,;:(–—-] ?(?P<name>[^\W\d][\w'-]*(?: [^\W\d][\w'-]*)?)\W*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A mention with the text around it; without an id, ``after`` begins with the typed name."""

    slack_user_id: str | None
    before: str
    after: str

    @property
    def name(self) -> str:
        """The first word of the typed name."""
        return re.split(r"[\s,;]", self.after, maxsplit=1)[0]

    @property
    def rest(self) -> str:
        """The text without a mention by id."""
        return " ".join(f"{self.before} {self.after}".split())


def mentions_of(typed: str) -> list[Mention]:
    return [
        Mention(
            slack_user_id=match["id"], before=typed[: match.start()], after=typed[match.end() :]
        )
        for match in _MENTION.finditer(typed)
    ]


def possible_names(typed: str) -> list[str]:
    """Words that pass for others, but may say whose leave it is; casefolded.

    These are the first word if what follows says that a person is off, as in "Will is off" and "May
    sick today", and the last one or two after a comma, which pass for a reason.
    """
    found = (_SUBJECT.match(typed), _LAST_WORDS.search(typed[-_MAX_END:]))
    return [match["name"].casefold() for match in found if match]


def named(mention: Mention, people: Sequence[User]) -> tuple[list[User], str]:
    """The people with the typed name, and the text without it.

    That is a full name, a first name or the address before its @, with as many words as match;
    without such a match, all ``people``, whom a search found by the first word.
    """
    words = mention.after.split()
    by_key: dict[str, list[User]] = {}
    for person in people:
        for key in _keys(person):
            by_key.setdefault(key, []).append(person)
    for count in range(min(len(words), _MAX_NAME_WORDS), 0, -1):
        matches = by_key.get(_key(" ".join(words[:count]).rstrip(",;")))
        if matches:
            return matches, " ".join([*mention.before.split(), *words[count:]])
    return list(people), " ".join([*mention.before.split(), *words[1:]])


def _keys(person: User) -> set[str]:
    local_part = person.email.partition("@")[0]
    return {_key(person.name), _key(person.first_name), _key(local_part)}


def _key(name: str) -> str:
    return _JOINTS.sub("", name.casefold())
