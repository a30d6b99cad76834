"""Who is off on the typed days: today, this week, or any others."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from bot.interaction import identity, typed_context
from bot.interaction.interaction import Interaction
from bot.message_views import answers
from bot.message_views.answers import Away
from bot.parsing import typed_leave
from bot.parsing.typed_names import plain
from storage.access import absences
from storage.base.clock import end_of_week, local_day
from storage.base.values import Caller, User
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import people_rows
from storage.events import organisation_config

_TODAY: Final = frozenset(("", "today", "now", "right now", "heute", "gerade", "jetzt"))
_WEEK: Final = frozenset(("week", "this week", "the week", "woche", "diese woche"))
# Longer periods are cut.
_MAX_DAYS: Final = 366


async def show(interaction: Interaction, typed: str) -> bool:
    """Show who is off on the typed days; False if they were not understood."""
    await interaction.ack()
    by = await identity.caller(interaction)
    away = await interaction.services.database.read(_away, typed, by=by, now=interaction.now)
    if away is not None:
        await interaction.reply(answers.out(away))
    return away is not None


def _away(tx: Transaction, typed: str, *, by: Caller, now: datetime) -> Away | None:
    """Absences: those of the team, then everyone's."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    today = local_day(now, user.timezone or config.organisation.timezone)
    days = _days(tx, typed, user, today, by=by, now=now)
    if days is None:
        return None
    first_day, last_day = days
    page = PageOf(limit=answers.MAX_AWAY)
    team, everyone = (
        absences.away(
            tx,
            page,
            user,
            config.organisation,
            scope,
            config.leave_types,
            first_day=first_day,
            last_day=last_day,
        )
        for scope in ("team", "org")
    )
    return Away(today=today, first_day=first_day, last_day=last_day, team=team, everyone=everyone)


def _days(
    tx: Transaction, typed: str, user: User, today: date, *, by: Caller, now: datetime
) -> tuple[date, date] | None:
    words = plain(typed)
    if words in _TODAY:
        return today, today
    if words in _WEEK:
        return today, end_of_week(today)
    context = typed_context.of_person(tx, user, by=by, now=now)
    leave = typed_leave.parse(typed, context)
    if leave.problems or leave.note or leave.start_date is None or leave.end_date is None:
        return None
    return leave.start_date, min(leave.end_date, leave.start_date + timedelta(days=_MAX_DAYS))
