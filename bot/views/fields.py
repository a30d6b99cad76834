"""Headers, buttons and dialogues that several views are made of."""

from __future__ import annotations

from typing import Final

from bot.views import text
from bot.views.text import Block

LONGEST_LABEL: Final = 75


def header(title: str) -> Block:
    return {"type": "header", "text": text.plain(title, 150)}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def button(label: str, action_id: str, value: str = "", style: str = "", spoken: str = "") -> Block:
    """A button. ``spoken`` is what a screen reader says, where the label alone is not enough."""
    made: Block = {"type": "button", "action_id": action_id, "text": text.plain(label)}
    if value:
        made["value"] = value
    if style:
        made["style"] = style
    if spoken:
        made["accessibility_label"] = text.cut(spoken, LONGEST_LABEL)
    return made


def confirm(title: str, sentence: str, yes: str, no: str) -> Block:
    """The dialogue that asks before a button does what cannot be taken back; plain text."""
    return {
        "title": text.plain(title, 100),
        "text": text.verbatim(sentence, 300),
        "confirm": text.plain(yes, 30),
        "deny": text.plain(no, 30),
    }
