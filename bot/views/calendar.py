"""The calendar of who is off, as a modal: Slack allows no table there, so day by day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import calendar, calendar_pages, layout, text, words
from bot.blocks.calendar_pages import CalendarPage
from bot.message_views.calendar import title
from storage.access.wallchart import Day, PersonDays, Wallchart

# So long that the lines of a day, at most one holiday and one leave a person, fit in a section.
_MAX_HOLIDAY: Final = 80
_MAX_OFF: Final = 100


def view(shown: CalendarPage, chart: Wallchart, web_url: str | None) -> View:
    """``web_url`` is secret and leads to the viewer's wallchart; None before they have a feed."""
    blocks: list[Block] = [
        calendar_pages.buttons(shown, chart),
        text.paragraph(title(shown, chart)),
    ]
    blocks += [_day(day, chart) for day in calendar.columns(chart)]
    if web_url is not None:
        blocks.append(
            text.section(f"<{web_url}|{gettext('See who is out this month in your browser')}>")
        )
    return layout.modal(gettext("Calendar"), blocks)


def _day(day: date, chart: Wallchart) -> Block:
    lines = list(_lines(day, chart)) or [gettext("No one is out.")]
    heading = f"*{words.short_day(day)}*"
    return text.section("\n".join([heading, *lines]))


def _lines(day: date, chart: Wallchart) -> Iterator[str]:
    """The public holidays of that day, and everyone who is off."""
    days = [(person, each) for person in chart.people for each in person.days if each.date == day]
    for _, name in calendar.holidays(each for _, each in days):
        yield f"{calendar.HOLIDAY} {text.escaped_within(name, _MAX_HOLIDAY)}"
    for person, each in days:
        if each.morning is not None or each.afternoon is not None:
            yield f"• {text.escaped_within(_off(person, each), _MAX_OFF)}"


def _off(person: PersonDays, day: Day) -> str:
    kinds = []
    if day.morning is not None and day.morning == day.afternoon:
        kinds.append(calendar.type_name(day.morning))
    else:
        if day.morning is not None:
            name = calendar.type_name(day.morning)
            kinds.append(gettext("{leave_type}, morning", leave_type=name))
        if day.afternoon is not None:
            name = calendar.type_name(day.afternoon)
            kinds.append(gettext("{leave_type}, afternoon", leave_type=name))
    return f"{calendar.name(person)}: {'; '.join(kinds)}"
