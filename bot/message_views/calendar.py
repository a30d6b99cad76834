"""The calendar of who is off, as a message: a table, and the same in words."""

from __future__ import annotations

from typing import Final

from bot.base.block_kit import Block, Message
from bot.base.language import gettext, ngettext
from bot.blocks import calendar, calendar_pages, text, words
from bot.blocks.calendar_pages import CalendarPage
from storage.access.wallchart import Wallchart

# For the number of lines that are left out.
_ROOM_FOR_MORE: Final = 40


def message(shown: CalendarPage, chart: Wallchart) -> Message:
    heading = title(shown, chart)
    blocks: list[Block] = [text.section(f"*{text.escaped(heading)}*")]
    if chart.people:
        blocks.append(calendar.table(chart))
    if meanings := calendar.legend(chart):
        blocks.append(text.quiet(meanings))
    blocks.append(calendar_pages.buttons(shown, chart))
    return {"text": _in_words(heading, chart), "blocks": blocks}


def title(shown: CalendarPage, chart: Wallchart) -> str:
    """Whose days, which days, and which of several pages of people; plain text."""
    scope = gettext(calendar_pages.SCOPE_NAMES[shown.scope])
    heading = f"{scope}, {words.span(chart.first_day, chart.last_day)}"
    if chart.pages == 1:
        return heading
    return gettext(
        "{heading} (page {page} of {pages})", heading=heading, page=chart.page, pages=chart.pages
    )


def _in_words(heading: str, chart: Wallchart) -> str:
    """Everything that the table shows, within the length of a message's text."""
    lines = calendar.lines(chart) or [gettext("No one is out.")]
    said = [text.escaped(f"{heading}:")]
    shown = text.that_fit(lines, text.MAX_MESSAGE - _ROOM_FOR_MORE - len(said[0]))
    said += map(text.escaped, shown)
    if more := len(lines) - len(shown):
        said.append(ngettext("… and {count} more", "… and {count} more", more))
    return "\n".join(said)
