"""Slash commands: subcommands, and everything else parsed as a leave request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.interaction import identity
from bot.interaction.interaction import Interaction
from bot.listeners import own_leave, record_form, request_form
from bot.listeners.overview import calendar
from bot.listeners.typed import unknown_words, who_is_out
from bot.message_views import answers
from bot.parsing import typed_names, typed_phrases
from bot.parsing.typed_leave import ParsedLeave
from bot.parsing.typed_terms import Problem
from storage.leave import ledgers

# As long as a message in Slack may be; nothing that is understood is longer.
_MAX_TYPED: Final = 3_000


async def timeoff(interaction: Interaction) -> None:
    """Run a subcommand, or open a form filled in from the typed text."""
    typed = " ".join(str(interaction.body.get("text") or "")[:_MAX_TYPED].split())
    subcommand = SUBCOMMANDS.get(typed.casefold())
    if subcommand is not None:
        await subcommand(interaction)
        return
    if calendar.is_typed(typed):
        if not await calendar.show_typed(interaction, typed):
            await _not_understood(interaction, typed)
        return
    if mentions := typed_names.mentions_of(typed):
        if typed_phrases.is_question(typed):
            await _not_understood(interaction, typed)
            return
        await record_form.open_typed(interaction, mentions)
        return
    command = typed_phrases.command_of(typed)
    if command is not None and command.name == "out":
        if await who_is_out.show(interaction, command.rest):
            return
        # "Out tomorrow, dentist" is leave.
    elif command is not None:
        await SUBCOMMANDS[command.name](interaction)
        return
    first, _, rest = typed.partition(" ")
    if SUBCOMMANDS.get(first.casefold()) is request_form.open_form:
        typed = rest
    leave = await request_form.open_typed(interaction, typed)
    if leave is not None:
        await unknown_words.reply(interaction, typed, leave)


async def _not_understood(interaction: Interaction, typed: str) -> None:
    unknown = Problem(kind="unknown", typed=typed)
    leave = ParsedLeave(problems=(unknown,), is_question=typed_phrases.is_question(typed))
    await unknown_words.reply(interaction, typed, leave)


async def _help(interaction: Interaction) -> None:
    await interaction.ack()
    await identity.greet(interaction)
    help_text = answers.help_text(
        str(interaction.body["command"]), contact=interaction.services.support_contact
    )
    await interaction.reply({"text": help_text})


async def _balance(interaction: Interaction) -> None:
    await interaction.ack()
    by = await identity.caller(interaction)
    balance = await interaction.services.database.read(
        ledgers.balance, str(by.user_id), on=None, by=by, now=interaction.now
    )
    await interaction.reply(answers.balance(balance))


async def _out(interaction: Interaction) -> None:
    await who_is_out.show(interaction, "")


# In all languages for everyone, because no word has different meanings in two languages.
SUBCOMMANDS: Final[Mapping[str, Callable[[Interaction], Awaitable[None]]]] = {
    "": request_form.open_form,
    "request": request_form.open_form,
    "help": _help,
    "balance": _balance,
    "out": _out,
    "mine": own_leave.show,
    "cancel": own_leave.show_to_cancel,
    "antrag": request_form.open_form,
    "beantragen": request_form.open_form,
    "hilfe": _help,
    "konto": _balance,
    "resturlaub": _balance,
    "meine": own_leave.show,
    "stornieren": own_leave.show_to_cancel,
}


def register(app: AsyncApp, command: str) -> None:
    """The configured command, and ``/leave`` for workspaces in which Slack does not reserve it."""
    for name in dict.fromkeys((command, ids.LEAVE_COMMAND)):
        app.command(name)(timeoff)
