"""The types of what Slack is sent. ``bot.views`` makes the values."""

from __future__ import annotations

from typing import NotRequired, TypedDict

# Any object of Block Kit: a block, an element, a text or an option.
Block = dict[str, object]
# A modal or a Home tab.
View = dict[str, object]


class Message(TypedDict):
    """Where there are blocks, notifications and screen readers say ``text``."""

    text: str
    blocks: NotRequired[list[Block]]
