"""Who is out on the Home tab: today in words, with covers, and two weeks as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext
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
    today = [absence for absence in home.away.items if absence.start_date <= home.today]
    shown: list[Block] = [
        layout.header(gettext("Who's out")),
        {**text.section(who), "accessory": switch},
    ]
    if not home.away.items:
        return [*shown, text.section(gettext("No one is out."))]
    shown += [*_absences(gettext("Today"), today), calendar.table(home.chart)]
    if meanings := calendar.legend(home.chart):
        shown.append(text.quiet(meanings))
    cursors, cursor = home.cursors, home.away.next_cursor
    return shown + page_buttons(
        cursors.away, cursor, replace(cursors, away=None), replace(cursors, away=cursor)
    )


def _absences(title: str, absences: Sequence[Absence]) -> list[Block]:
    if not absences:
        return []
    lines = "\n".join(f"• {_absence_line(absence)}" for absence in absences)
    return [
        text.section(f"*{title}*"),
        text.paragraph(lines),
    ]


def _absence_line(absence: Absence) -> str:
    when = words.span(
        absence.start_date, absence.end_date, absence.start_half_day, absence.end_half_day
    )
    what = text.cut(absence.summary_type or gettext("Away"), text.MAX_NAME)
    if absence.status == "pending":
        what = gettext("{leave_type}, pending", leave_type=what)
    who = (
        gettext("You")
        if absence.is_own
        else text.one_line(text.cut(absence.person_name, text.MAX_NAME))
    )
    cover_name = absence.cover_name and text.one_line(text.cut(absence.cover_name, text.MAX_NAME))
    return words.with_cover(f"{who}: {when} ({what})", cover_name)
