"""Which part of the calendar is shown, and the buttons that turn to another part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal, get_args

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext, gettext_noop
from bot.blocks import layout, text
from storage.access.wallchart import Wallchart

CalendarScope = Literal["team", "department", "everyone"]

SCOPE_NAMES: Final[dict[CalendarScope, str]] = {
    "team": gettext_noop("Your team"),
    "department": gettext_noop("Your department"),
    "everyone": gettext_noop("Everyone"),
}
_WEEK: Final = timedelta(weeks=1)
# As far as the calendar on the web.
_PAST: Final = timedelta(weeks=52)
_AHEAD: Final = timedelta(weeks=104)


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarPage:
    """``first_day`` is a Monday; ``people`` is the page of people, from 1."""

    scope: CalendarScope
    first_day: date
    people: int = 1

    def packed(self) -> str:
        """As the value of a button."""
        return f"{self.scope} {self.first_day.isoformat()} {self.people}"

    @classmethod
    def unpacked(cls, packed: str) -> CalendarPage | None:
        """The inverse of ``packed``; None for any other value."""
        scope, _, rest = packed.partition(" ")
        first_day, _, people = rest.partition(" ")
        known = next((each for each in get_args(CalendarScope) if each == scope), None)
        try:
            monday = date.fromisoformat(first_day)
            return known and cls(scope=known, first_day=monday, people=int(people))
        except ValueError:
            return None

    def within(self, today: date) -> CalendarPage:
        """The page in the weeks that can be shown, beginning on a Monday."""
        day = min(max(self.first_day, today - _PAST), today + _AHEAD)
        return replace(self, first_day=day - timedelta(days=day.weekday()))


def buttons(shown: CalendarPage, chart: Wallchart) -> Block:
    """One week back and forth, whose days are shown, and further people."""
    back = replace(shown, first_day=shown.first_day - _WEEK).packed()
    forth = replace(shown, first_day=shown.first_day + _WEEK).packed()
    elements = [
        layout.button(gettext("Week back"), ids.CALENDAR_BACK, back),
        layout.button(gettext("Week forward"), ids.CALENDAR_FORTH, forth),
        _scopes(shown),
    ]
    if chart.page > 1:
        first = replace(shown, people=1).packed()
        elements.append(layout.button(gettext("First people"), ids.CALENDAR_FIRST, first))
    if chart.page < chart.pages:
        following = replace(shown, people=chart.page + 1).packed()
        elements.append(layout.button(gettext("Next people"), ids.CALENDAR_NEXT, following))
    return layout.actions(*elements)


def _scopes(shown: CalendarPage) -> Block:
    options = {
        scope: {
            "text": text.plain(gettext(name), text.MAX_OPTION),
            "value": replace(shown, scope=scope, people=1).packed(),
        }
        for scope, name in SCOPE_NAMES.items()
    }
    return {
        "type": "static_select",
        "action_id": ids.CALENDAR_SCOPE,
        "options": list(options.values()),
        "initial_option": options[shown.scope],
    }
