"""Who is out on the Home tab: how many today, and two weeks as a table, with covers."""

from __future__ import annotations

from dataclasses import replace

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext, ngettext
from bot.blocks import calendar, layout, text, words
from bot.views.home.pages import page_buttons
from storage.base.calendar_values import Absence
from storage.slack.home import Home


def blocks(home: Home) -> list[Block]:
    is_team = home.cursors.scope == "team"
    other = replace(home.cursors, scope="org" if is_team else "team", away=None)
    switch = layout.button(
        gettext("Show everyone") if is_team else gettext("Show my team"),
        ids.HOME_SCOPE,
        other.packed(),
    )
    last_day = words.day(home.last_day)
    if is_team:
        who = gettext("Your team, today to {day}", day=last_day)
    else:
        who = gettext("Everyone, today to {day}", day=last_day)
    if home.cursors.away is None:
        who = f"{who}\n{_today(home)}"
    shown: list[Block] = [
        layout.header(gettext("Who's out")),
        {**text.section(who), "accessory": switch},
    ]
    if not home.away.items:
        return shown
    shown.append(calendar.table(home.chart))
    if meanings := calendar.legend(home.chart):
        shown.append(text.quiet(meanings))
    shown += _covers(home)
    cursors, cursor = home.cursors, home.away.next_cursor
    return shown + page_buttons(
        cursors.away, cursor, replace(cursors, away=None), replace(cursors, away=cursor)
    )


def _today(home: Home) -> str:
    """How many people are out today; the table below has their names.

    Only for the first page, which begins with them.
    """
    items = home.away.items
    out = [absence for absence in items if absence.start_date <= home.today]
    count = len({absence.user_id for absence in out if absence.status != "pending"})
    if count and len(out) == len(items) and home.away.next_cursor is not None:
        return gettext("{count} people or more are out today.", count=count)
    if count:
        return ngettext("{count} person is out today.", "{count} people are out today.", count)
    return gettext("No one is out today.") if items else gettext("No one is out.")


def _covers(home: Home) -> list[Block]:
    """Who covers for whom, which the table cannot show."""
    lines = [_cover_line(absence) for absence in home.away.items if absence.cover_name]
    return [text.paragraph("\n".join(lines))] if lines else []


def _cover_line(absence: Absence) -> str:
    when = words.span(
        absence.start_date, absence.end_date, absence.start_half_day, absence.end_half_day
    )
    who = gettext("You") if absence.is_own else _one_line(absence.person_name)
    return words.with_cover(f"{who}: {when}", _one_line(absence.cover_name or ""))


def _one_line(name: str) -> str:
    return text.one_line(text.cut(name, text.MAX_NAME))
