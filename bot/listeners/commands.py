"""Slash commands: a word is answered, everything else is read as leave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final

from bot.base import ids
from bot.interaction import identity
from bot.interaction.listening import Listener, Visit
from bot.listeners import own_leave, request_form
from bot.views import answers, replies
from bot.views.answers import Away
from storage.access import absences
from storage.base.clock import end_of_week, local_day
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import people_rows
from storage.events import organisation_config
from storage.leave import ledgers


def listeners(command: str) -> tuple[Listener, ...]:
    """The command under the operator's name for it, and under Slack's own, where Slack lets go."""
    names = dict.fromkeys((command, ids.LEAVE_COMMAND))
    return tuple(Listener(kind="command", name=name, act=timeoff) for name in names)


async def timeoff(visit: Visit) -> None:
    """Open the form, filled in with what was typed; or answer a word."""
    typed = " ".join(str(visit.body.get("text") or "").split())
    answer = WORDS.get(typed.casefold())
    if answer is not None:
        await answer(visit)
        return
    first, _, others = typed.partition(" ")
    if WORDS.get(first.casefold()) is request_form.open_form:
        typed = others
    is_misspelt = first.casefold() in WORDS and typed != others
    if is_misspelt or not await request_form.open_typed(visit, typed):
        await _help(visit, typed)


async def _help(visit: Visit, unknown: str = "") -> None:
    await visit.ack()
    await identity.greet(visit)
    told = replies.help_text(str(visit.body["command"]), unknown)
    await visit.reply({"text": told})


async def _balance(visit: Visit) -> None:
    await visit.ack()
    by = await identity.caller(visit)
    found = await visit.edge.database.read(
        ledgers.balance, str(by.user_id), on=None, by=by, now=visit.now
    )
    await visit.reply(answers.balance(found))


async def _out_today(visit: Visit) -> None:
    await _out(visit, is_week=False)


async def _out_this_week(visit: Visit) -> None:
    await _out(visit, is_week=True)


async def _out(visit: Visit, *, is_week: bool) -> None:
    await visit.ack()
    by = await identity.caller(visit)
    away = await visit.edge.database.read(_away, is_week, by=by, now=visit.now)
    await visit.reply(answers.out(away))


def _away(tx: Transaction, is_week: bool, *, by: Caller, now: datetime) -> Away:
    """Who is off today, or this week as Home means it: the caller's team, then everyone else."""
    known = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    first_day = local_day(now, user.timezone or known.organisation.timezone)
    last_day = end_of_week(first_day) if is_week else first_day
    page = PageOf(limit=answers.MOST_AWAY)
    team, everybody = (
        absences.away(
            tx, page, user, known.organisation, scope, first_day=first_day, last_day=last_day
        )
        for scope in ("team", "org")
    )
    return Away(first_day=first_day, last_day=last_day, team=team, everybody=everybody)


# In all languages for every reader: no word has another meaning in another language.
WORDS: Final[Mapping[str, Callable[[Visit], Awaitable[None]]]] = {
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
