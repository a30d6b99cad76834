"""A working week in a form: a menu for each weekday."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import fields, text, words
from bot.blocks.fields import Option
from storage.rules.counted_days import WEEKDAYS

# The names of the fields, from Monday.
FIELDS: Final = tuple(f"working_days/{day}" for day in WEEKDAYS)


def rows(working_days: Sequence[str], hint: str = "") -> list[Block]:
    """The menus; their values are the entries of ``working_days``."""
    title = gettext("Working days")
    return [
        text.quiet(f"*{title}*\n{hint}".strip()),
        *(_row(number, working_days) for number in range(len(WEEKDAYS))),
    ]


def _row(number: int, working_days: Sequence[str]) -> Block:
    day = WEEKDAYS[number]
    options = [
        Option(label=gettext("Works"), value=day),
        Option(label=gettext("Mornings only"), value=f"{day}:am"),
        Option(label=gettext("Afternoons only"), value=f"{day}:pm"),
        Option(label=gettext("Off"), value=ids.NOTHING),
    ]
    chosen = next((entry for entry in working_days if entry.startswith(day)), ids.NOTHING)
    return fields.field(FIELDS[number], words.weekday(number), fields.select(options, chosen))
