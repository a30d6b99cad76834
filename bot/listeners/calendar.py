"""The calendar of who is off: typed, or opened from Home; a week back and forth."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.blocks import words
from bot.interaction import listening, modals, typed_context
from bot.interaction.interaction import Interaction
from bot.parsing import typed_leave
from bot.parsing.languages import in_english
from bot.parsing.typed_names import plain
from bot.views import calendar
from bot.views.calendar import CalendarPage, CalendarScope
from storage.base.values import Caller, local_day
from storage.calendars import feeds, wallchart
from storage.calendars.absences import end_of_week
from storage.calendars.wallchart import Wallchart
from storage.db.database import Transaction
from storage.outbox import organisation_config
from storage.people import people_rows

# In all languages for everyone, as the command's other words.
COMMANDS: Final = ("calendar", "wallchart", "kalender")
_SCOPES: Final[Mapping[str, CalendarScope]] = {
    "team": "team",
    "department": "department",
    "abteilung": "department",
    "everyone": "everyone",
    "all": "everyone",
    "alle": "everyone",
}
_WEEKS: Final[Mapping[str, int]] = {
    "": 0,
    "week": 0,
    "woche": 0,
    "this week": 0,
    "diese woche": 0,
    "today": 0,
    "heute": 0,
    "next week": 1,
    "nächste woche": 1,
    "last week": -1,
    "letzte woche": -1,
}


def is_typed(typed: str) -> bool:
    """Whether the text after the command asks for the calendar."""
    return in_english(plain(typed.partition(" ")[0])) in COMMANDS


async def show_typed(interaction: Interaction, typed: str) -> bool:
    """Show the calendar beside the command; False if the words were not understood."""
    by = await listening.acknowledged(interaction)
    scope, when = _words(typed)
    page = await interaction.database.read(_typed_page, scope, when, by=by, now=interaction.now)
    if page is not None:
        await interaction.reply(calendar.message(*page))
    return page is not None


async def open_modal(interaction: Interaction) -> None:
    """Open the calendar from Home, or from an approval card at the request's week.

    The card's menu also has a link to Home, which Slack opens by itself.
    """
    await interaction.ack()
    if interaction.choice == "home":
        return
    by = await listening.caller(interaction)
    shown, chart = await interaction.database.read(
        _first_page, None, _day_of(interaction.value), by=by, now=interaction.now
    )
    await interaction.open(calendar.view(shown, chart, await _web_url(interaction, by)))


async def turn(interaction: Interaction) -> None:
    """Show another part of the calendar, in the message or the modal."""
    by = await listening.acknowledged(interaction)
    asked = CalendarPage.unpacked(interaction.value)
    database = interaction.database
    if asked is None:
        shown, chart = await database.read(_first_page, None, 0, by=by, now=interaction.now)
    else:
        shown, chart = await database.read(_page, asked, by=by, now=interaction.now)
    if interaction.body.get("view"):
        url = await _web_url(interaction, by)
        await modals.refresh(interaction, calendar.view(shown, chart, url))
    else:
        await interaction.refresh(calendar.message(shown, chart))


async def _web_url(interaction: Interaction, by: Caller) -> str | None:
    """The caller's wallchart on the web, if their personal feed exists. Only modals may show it."""
    feed = await interaction.database.read(feeds.find_personal, by=by)
    if feed is None or not feed.token:
        return None
    return wallchart.url(interaction.services.base_url, feed.token)


def _words(typed: str) -> tuple[CalendarScope | None, str]:
    """The scope and the words for the week after the command."""
    first, _, after = typed.partition(" ")[2].partition(" ")
    scope = _SCOPES.get(in_english(plain(first)))
    return scope, after if scope else f"{first} {after}".strip()


def _typed_page(
    tx: Transaction, scope: CalendarScope | None, typed: str, *, by: Caller, now: datetime
) -> tuple[CalendarPage, Wallchart] | None:
    week: int | date | None = _WEEKS.get(in_english(plain(typed)))
    if week is None:
        week = typed_leave.day_in(typed, typed_context.of_caller(tx, by=by, now=now))
    return None if week is None else _first_page(tx, scope, week, by=by, now=now)


def _first_page(
    tx: Transaction,
    scope: CalendarScope | None,
    week: int | date,
    *,
    by: Caller,
    now: datetime,
) -> tuple[CalendarPage, Wallchart]:
    """The first people. ``scope`` None is the team, or everyone for those without a department.

    At weekends, "this week" is the next one, as in ``out week``.
    """
    user = people_rows.get(tx, str(by.user_id), by=by)
    if scope is None:
        scope = "team" if user.department_id else "everyone"
    first_day = week
    if isinstance(first_day, int):
        sunday = end_of_week(_today(tx, by=by, now=now))
        first_day = sunday + timedelta(weeks=first_day, days=-6)
    return _page(tx, CalendarPage(scope=scope, first_day=first_day), by=by, now=now)


def _day_of(value: str) -> int | date:
    """The day that a card's menu names; this week for Home's button, which names none."""
    try:
        return date.fromisoformat(value)
    except ValueError:
        return 0


def _page(
    tx: Transaction, asked: CalendarPage, *, by: Caller, now: datetime
) -> tuple[CalendarPage, Wallchart]:
    user = people_rows.get(tx, str(by.user_id), by=by)
    today = _today(tx, by=by, now=now)
    shown = asked.within(today)
    department_id = user.department_id if shown.scope == "department" else None
    # The team of people without a department: those whom they manage, and themselves.
    is_wide = shown.scope == "everyone" or department_id is not None
    chart = wallchart.load(
        tx,
        organisation_id=by.organisation_id,
        viewer_id=user.id,
        viewer_department_id=user.department_id,
        scope="org" if is_wide else "team",
        department_id=department_id,
        first_day=shown.first_day,
        day_count=calendar.DAY_COUNT,
        page=shown.people,
        page_size=calendar.MAX_PEOPLE,
        pending="all" if by.is_admin else "awaiting",
        today=today,
    )
    return shown, wallchart.renamed(chart, words.leave_type)


def _today(tx: Transaction, *, by: Caller, now: datetime) -> date:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    return local_day(now, user.timezone or config.organisation.timezone)


def register(app: AsyncApp) -> None:
    app.action(ids.CALENDAR)(open_modal)
    app.action(ids.CALENDAR_BACK)(turn)
    app.action(ids.CALENDAR_FORTH)(turn)
    app.action(ids.CALENDAR_SCOPE)(turn)
    app.action(ids.CALENDAR_FIRST)(turn)
    app.action(ids.CALENDAR_NEXT)(turn)
