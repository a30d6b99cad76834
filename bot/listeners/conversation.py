"""The person's conversation with the app: what they write there is read like the command."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.payloads import Event
from bot.interaction import listening
from bot.interaction.interaction import Interaction
from bot.listeners import balance, commands, own_leave
from bot.parsing import typed_leave
from bot.views import conversation as views

# "Tomorrow" may mean another day later. Slack sends events again for hours that an app missed:
# docs.slack.dev, "Events API", "Delayed events".
MAX_AGE: Final = timedelta(minutes=15)


async def written(interaction: Interaction) -> None:
    """Answer a message that a person wrote to the app.

    Edits, deletions, files and messages of apps have a subtype or a bot; they are not answered, and
    neither are messages in other conversations.
    """
    event = interaction.event
    if not is_for_app(event):
        return
    typed = event.get("text", "")
    if interaction.now.timestamp() - _written_at(event) > MAX_AGE.total_seconds():
        await listening.caller(interaction)
        await interaction.reply(views.too_late(typed_leave.unescaped(typed)))
        return
    await commands.answer(interaction, typed)


def is_for_app(event: Event) -> bool:
    """Whether a person wrote it to the app, in the conversation with it."""
    is_by_person = not event.get("subtype") and not event.get("bot_id") and bool(event.get("user"))
    return is_by_person and event.get("channel_type") == "im"


def _written_at(event: Event) -> float:
    """Seconds since 1970."""
    try:
        return float(event["ts"])
    except ValueError:
        return 0.0


async def ask_out(interaction: Interaction) -> None:
    await commands.show(interaction, "")


async def ask_balance(interaction: Interaction) -> None:
    await balance.show(interaction)


def register(app: AsyncApp) -> None:
    listening.on_event(app, "message", listening.telling(written))
    app.action(ids.ASK_OUT)(ask_out)
    app.action(ids.ASK_BALANCE)(ask_balance)
    app.action(ids.ASK_MINE)(own_leave.show)
