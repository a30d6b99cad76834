"""Slash commands: subcommands, and everything else parsed as a leave request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final

from bot.base import ids
from bot.interaction import identity
from bot.interaction.interaction import Interaction
from bot.interaction.listening import Listener
from bot.listeners import own_leave, record_form, request_form
from bot.listeners.overview import calendar
from bot.message_views import answers, replies
from bot.message_views.answers import Away
from bot.typed import typed_people
from storage.access import absences
from storage.base.clock import end_of_week, local_day
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import people_rows
from storage.events import organisation_config
from storage.leave import ledgers


def listeners(command: str) -> tuple[Listener, ...]:
    """The configured command, and ``/leave`` for workspaces in which Slack does not reserve it."""
    names = dict.fromkeys((command, ids.LEAVE_COMMAND))
    return tuple(Listener(kind="command", name=name, act=timeoff) for name in names)


async def timeoff(interaction: Interaction) -> None:
    """Run a subcommand, or open a form filled in from the typed text."""
    typed = " ".join(str(interaction.body.get("text") or "").split())
    subcommand = SUBCOMMANDS.get(typed.casefold())
    if subcommand is not None:
        await subcommand(interaction)
        return
    if calendar.is_typed(typed):
        await calendar.show_typed(interaction, typed)
        return
    if mentions := typed_people.mentions_of(typed):
        await record_form.open_typed(interaction, mentions)
        return
    first, _, rest = typed.partition(" ")
    if SUBCOMMANDS.get(first.casefold()) is request_form.open_form:
        typed = rest
    is_misspelt = first.casefold() in SUBCOMMANDS and typed != rest
    if is_misspelt or not await request_form.open_typed(interaction, typed):
        await _help(interaction, typed)


async def _help(interaction: Interaction, unknown: str = "") -> None:
    await interaction.ack()
    await identity.greet(interaction)
    help_text = replies.help_text(
        str(interaction.body["command"]),
        unknown,
        contact=interaction.services.support_contact,
    )
    await interaction.reply({"text": help_text})


async def _balance(interaction: Interaction) -> None:
    await interaction.ack()
    by = await identity.caller(interaction)
    balance = await interaction.services.database.read(
        ledgers.balance, str(by.user_id), on=None, by=by, now=interaction.now
    )
    await interaction.reply(answers.balance(balance))


async def _out_today(interaction: Interaction) -> None:
    await _out(interaction, is_week=False)


async def _out_this_week(interaction: Interaction) -> None:
    await _out(interaction, is_week=True)


async def _out(interaction: Interaction, *, is_week: bool) -> None:
    await interaction.ack()
    by = await identity.caller(interaction)
    away = await interaction.services.database.read_long(_away, is_week, by=by, now=interaction.now)
    await interaction.reply(answers.out(away))


def _away(tx: Transaction, is_week: bool, *, by: Caller, now: datetime) -> Away:
    """Absences of today or until the end of the week, as on Home: the team, then everyone."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    first_day = local_day(now, user.timezone or config.organisation.timezone)
    last_day = end_of_week(first_day) if is_week else first_day
    page = PageOf(limit=answers.MAX_AWAY)
    team, everyone = (
        absences.away(
            tx, page, user, config.organisation, scope, first_day=first_day, last_day=last_day
        )
        for scope in ("team", "org")
    )
    return Away(first_day=first_day, last_day=last_day, team=team, everyone=everyone)


# In all languages for everyone, because no word has different meanings in two languages.
SUBCOMMANDS: Final[Mapping[str, Callable[[Interaction], Awaitable[None]]]] = {
    "": request_form.open_form,
    "request": request_form.open_form,
    "help": _help,
    "balance": _balance,
    "out": _out_today,
    "out today": _out_today,
    "out week": _out_this_week,
    "out this week": _out_this_week,
    "mine": own_leave.show,
    "cancel": own_leave.show_to_cancel,
    "antrag": request_form.open_form,
    "beantragen": request_form.open_form,
    "hilfe": _help,
    "konto": _balance,
    "resturlaub": _balance,
    "abwesend": _out_today,
    "abwesend heute": _out_today,
    "abwesend woche": _out_this_week,
    "abwesend diese woche": _out_this_week,
    "weg": _out_today,
    "weg heute": _out_today,
    "weg woche": _out_this_week,
    "weg diese woche": _out_this_week,
    "meine": own_leave.show,
    "stornieren": own_leave.show_to_cancel,
}
