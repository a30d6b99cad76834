"""Text as Slack takes it: escaped, cut to its limits, in plain or marked-up text objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.base.block_kit import Block

LONGEST_SECTION: Final = 3_000
LONGEST_OPTION: Final = 75
LONGEST_TITLE: Final = 24
# Enough to know who is meant; ten of them with their dates still fit in a section.
LONGEST_NAME: Final = 80
# chat.update takes no longer text (docs.slack.dev, chat.update: msg_too_long).
LONGEST_MESSAGE: Final = 4_000


def escaped(text: str) -> str:
    """What a person typed, harmless inside mrkdwn: no mention, no link, no channel call.

    Source: docs.slack.dev, "Formatting message text", "Escaping text".
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(text: str, longest: int) -> str:
    """The text, at most that long, with an ellipsis where something is missing."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def plain(text: str, longest: int = LONGEST_SECTION) -> Block:
    """A text object in which nothing has a meaning; Slack refuses empty ones."""
    return {"type": "plain_text", "text": cut(text, longest) or " ", "emoji": True}


def verbatim(text: str, longest: int = LONGEST_SECTION) -> Block:
    """As ``plain``, with words between colons left as they are: what people typed."""
    return {"type": "plain_text", "text": cut(text, longest) or " ", "emoji": False}


def marked(text: str) -> Block:
    """A mrkdwn text object; whatever people typed inside it has been escaped."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: str) -> Block:
    """A paragraph in mrkdwn."""
    return {"type": "section", "text": marked(text)}


def paragraph(typed: str) -> Block:
    """A paragraph in which nothing has a meaning: what people typed."""
    return {"type": "section", "text": verbatim(typed)}


def quiet(text: str) -> Block:
    """A small grey line in mrkdwn."""
    return {"type": "context", "elements": [marked(text)]}


def name(text: str) -> str:
    """Somebody's or something's name inside mrkdwn: escaped, of a bounded length."""
    return escaped(cut(text, LONGEST_NAME))


def excerpt(typed: str, longest: int) -> str:
    """The beginning of what a person typed, escaped, at most that long."""
    # Cut before it is escaped, so that no entity is cut in two; the longest has five characters.
    return escaped(cut(typed, max(1, longest // 5)))


def room_after(parts: Iterable[str]) -> int:
    """How many characters of a message's text are left for an excerpt."""
    return min(2_000, LONGEST_MESSAGE - 20 - sum(len(part) + 1 for part in parts))
