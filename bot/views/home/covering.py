"""The Home tab's list of colleagues for whom the viewer covers: dates only."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import layout, text, words
from storage.leave.cover.covered import Covered
from storage.slack.home import MAX_COVERING


def blocks(covering: Sequence[Covered]) -> list[Block]:
    if not covering:
        return []
    lines = [f"• {_line(leave)}" for leave in covering[:MAX_COVERING]]
    if len(covering) > MAX_COVERING:
        lines.append(gettext("… and more"))
    return [layout.header(gettext("You're covering for")), text.paragraph("\n".join(lines))]


def _line(leave: Covered) -> str:
    name = text.one_line(text.cut(leave.person_name, text.MAX_NAME))
    when = words.span(leave.start_date, leave.end_date, leave.start_half_day, leave.end_half_day)
    return f"{name}: {when}"
