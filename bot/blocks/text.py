"""Slack text objects: escaped, cut to Slack's limits, plain or mrkdwn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from bot.base.block_kit import Block

MAX_SECTION: Final = 3_000
MAX_OPTION: Final = 75
MAX_TITLE: Final = 24
# Long enough to identify a person; ten names with dates still fit in a section.
MAX_NAME: Final = 80
# The limit of chat.update (docs.slack.dev, chat.update: msg_too_long).
MAX_MESSAGE: Final = 4_000


def escaped(text: str) -> str:
    """User input escaped for mrkdwn: it cannot mention, link or call a channel.

    Source: docs.slack.dev, "Formatting message text", "Escaping text".
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(text: str, longest: int) -> str:
    """The text cut to that length, with an ellipsis if it was cut."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def escaped_within(typed: str, longest: int) -> str:
    """User input escaped, and cut to that length as escaped text, with its entities whole."""
    shown = escaped(typed)
    if len(shown) <= longest:
        return shown
    return re.sub(r"&[a-z]*$", "", shown[: longest - 1]).rstrip() + "…"


def plain(text: str, longest: int = MAX_SECTION) -> Block:
    """A plain_text object; a space replaces empty text, which Slack rejects."""
    return {"type": "plain_text", "text": cut(text, longest) or " ", "emoji": True}


def verbatim(text: str, longest: int = MAX_SECTION) -> Block:
    """As ``plain`` without emoji conversion, for user input."""
    return {"type": "plain_text", "text": cut(text, longest) or " ", "emoji": False}


def mrkdwn(text: str) -> Block:
    """A mrkdwn text object; the caller escapes user input."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: str) -> Block:
    """A section in mrkdwn."""
    return {"type": "section", "text": mrkdwn(text)}


def paragraph(typed: str) -> Block:
    """A section in plain text, for user input."""
    return {"type": "section", "text": verbatim(typed)}


def quiet(text: str) -> Block:
    """A context block in mrkdwn."""
    return {"type": "context", "elements": [mrkdwn(text)]}


def name(text: str) -> str:
    """A name inside mrkdwn: escaped and cut to ``MAX_NAME``."""
    return escaped(cut(text, MAX_NAME))


def excerpt(typed: str, longest: int) -> str:
    """The start of user input, escaped, at most that long."""
    # Cut before escaping, to keep entities whole; the longest has five characters.
    return escaped(cut(typed, max(1, longest // 5)))


def that_fit(lines: Iterable[str], longest: int) -> list[str]:
    """The first lines that fit, escaped and each with a line break, in that many characters."""
    length, shown = 0, []
    for line in lines:
        length += len(escaped(line)) + 1
        if length > longest:
            break
        shown.append(line)
    return shown


def room_after(parts: Iterable[str]) -> int:
    """The number of characters left for an excerpt in a message's text."""
    return min(2_000, MAX_MESSAGE - 20 - sum(len(part) + 1 for part in parts))


def one_line(typed: str) -> str:
    """The text with single spaces and no line breaks."""
    return " ".join(typed.split())
