""" "Got it" under a notice of days that lapse."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.interaction import errors, listening
from bot.interaction.interaction import Interaction
from bot.message_views import expiry_messages
from storage.base.errors import NotFound
from storage.notifications import expiry_notices


async def see(interaction: Interaction) -> None:
    """Record that the person saw it, and show that in the message; later clicks show it again."""
    by = await listening.acknowledged(interaction)
    try:
        shown = await interaction.database.write(
            expiry_notices.see, interaction.value, by=by, now=interaction.now
        )
    except NotFound as refusal:
        await interaction.tell(errors.sentence(refusal))
        return
    await interaction.refresh(expiry_messages.message(shown))


def register(app: AsyncApp) -> None:
    app.action(ids.EXPIRY_SEEN)(see)
