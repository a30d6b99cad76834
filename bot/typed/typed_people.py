"""Finds the person whom typed text mentions, before it is parsed as leave. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from storage.base.values import User

# Slack replaces a mention by an id if the manifest says `should_escape`:
# docs.slack.dev, "Enabling interactivity with slash commands".
_MENTION: Final = re.compile(r"<@(?P<id>[UW][A-Z0-9]+)(?:\|[^>]*)?>|(?<!\S)@(?=[^\s@])")
_JOINTS: Final = re.compile(r"[\s._-]+")
_MAX_NAME_WORDS: Final = 5
_SUBJECT: Final = re.compile(
    r"(?:(?:hi|hello|hey|hallo|moin|please|bitte)[\s,]+)?(?P<name>[^\W\d][\w-]*)(?:['’]s)?"
    r" (?:is|has|ist|hat|sick|ill|unwell|poorly|off|out|away|ooo|absent|krank|frei|weg|abwesend)\b",
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
