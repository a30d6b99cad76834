"""The caller's balances: typed after the command, and where they come from in a modal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext
from bot.blocks import fields, words
from bot.interaction import errors, listening, modals, typed_context
from bot.interaction.interaction import Interaction
from bot.message_views import answers
from bot.parsing import typed_leave
from bot.parsing.languages import in_english
from bot.parsing.typed_names import plain
from bot.views import balance as views
from storage.base.errors import InvalidInput
from storage.base.values import Caller, local_day
from storage.db.database import Transaction
from storage.leave import ledgers
from storage.leave.ledgers import Balance
from storage.outbox import organisation_config
from storage.people import allowance_terms, people_rows
from storage.rules import leave_years
from storage.workspaces import balance_questions

_TODAY: Final = frozenset(("", "today", "now", "heute", "jetzt"))
_PREPOSITION: Final = re.compile(
    r"(?:as of|on|by|at|for|in|until|of|am|ab|zum|per|im|für|bis zum|bis"
    r"|au|le|en|à|pour|hasta el|al|el|del|para|a)(?: the| dem| el)? "
)
# A leave year by the calendar year in which it begins; "2026/27" is one, too.
_YEAR: Final = re.compile(r"(?:(?:leave )?year |(?:urlaubs)?jahr )?(\d{4})(?:/(?:\d{2}){1,2})?")


async def show(interaction: Interaction, typed: str = "") -> None:
    """Show the balances, as of the typed day or year; "" is today."""
    by = await listening.acknowledged(interaction)
    shown = await interaction.database.read(typed_balances, typed, by=by, now=interaction.now)
    if shown is None:
        message = answers.unknown_day(interaction.command, typed)
    else:
        message = answers.balance(*shown)
    await interaction.reply(message)


async def open_ledger(interaction: Interaction) -> None:
    """Open the ledger as of the day of the button, or as of today."""
    by = await listening.acknowledged(interaction)
    on = date.fromisoformat(interaction.value) if interaction.value else None
    view = await interaction.database.read(_view, on, by=by, now=interaction.now)
    await interaction.open(view)


async def pick_day(interaction: Interaction) -> None:
    """Show the ledger as of the picked day; a day out of reach is explained in its place."""
    by = await listening.acknowledged(interaction)
    on = fields.date_of(interaction.values, views.DAY)
    try:
        view = await interaction.database.read(_view, on, by=by, now=interaction.now)
    except InvalidInput as refusal:
        view = views.refused(errors.sentence(refusal), on or interaction.now.date())
    await modals.refresh(interaction, view)


def _view(tx: Transaction, on: date | None, *, by: Caller, now: datetime) -> View:
    balances = ledgers.balances(tx, str(by.user_id), on=on, by=by, now=now)
    types = organisation_config.of_organisation(tx, by.organisation_id).leave_types
    return views.view(balances, {each.id: words.leave_type(each) for each in types.values()})


def typed_balances(
    tx: Transaction, typed: str, *, by: Caller, now: datetime
) -> tuple[Sequence[Balance], date] | None:
    """The balances as of the typed day, and today; None if the words are not a day."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    on = _day(tx, plain(typed), today, by=by, now=now)
    if on is None:
        return None
    return ledgers.balances(tx, str(by.user_id), on=on, by=by, now=now), today


def _day(tx: Transaction, words: str, today: date, *, by: Caller, now: datetime) -> date | None:
    if in_english(words) in _TODAY:
        return today
    without = _PREPOSITION.sub("", words, count=1) if _PREPOSITION.match(words) else words
    named = in_english(words if in_english(words) in typed_leave.YEARS else without)
    if (match := _YEAR.fullmatch(without)) or named in typed_leave.YEARS:
        number = int(match[1]) if match else today.year + typed_leave.YEARS[named]
        return _of_year(tx, number, today, by=by)
    context = typed_context.of_caller(tx, by=by, now=now)
    return typed_leave.day_in(words, context) or typed_leave.day_in(without, context)


def _of_year(tx: Transaction, number: int, today: date, *, by: Caller) -> date | None:
    """Of a leave year the day nearest to today. It begins in the calendar year."""
    try:
        last_day = date(number, 12, 31)
    except ValueError:
        return None
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    rule = allowance_terms.leave_year_rule(config, user)
    try:
        year = leave_years.leave_year_containing(rule, last_day)
    except (ValueError, OverflowError):
        return None
    return min(max(today, year.first_day), year.last_day)


async def not_right(interaction: Interaction) -> None:
    """Tell the admins that the person's balance is not right, and the person that they know."""
    by = await listening.acknowledged(interaction)
    is_sent = await interaction.database.write(balance_questions.ask, by=by, now=interaction.now)
    await interaction.tell(
        gettext("Sent to your admins. They can correct your days.")
        if is_sent
        else gettext("Your admins know already. Write to one of them if it's urgent.")
    )


def register(app: AsyncApp) -> None:
    app.action(ids.BALANCE_NOT_RIGHT)(not_right)
    app.action(ids.BALANCE)(open_ledger)
    app.action(ids.BALANCE_DAY)(pick_day)
