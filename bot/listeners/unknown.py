"""Fallback listeners: respond to unknown payloads, because Slack shows an error otherwise.

Old buttons and forms may still be open after an upgrade.
"""

from __future__ import annotations

from typing import Final

from bot.base.language import gettext
from bot.interaction import identity
from bot.interaction.interaction import Interaction
from bot.interaction.listening import Listener
from bot.message_views import replies
from bot.views import notice


async def unknown_command(interaction: Interaction) -> None:
    await identity.greet(interaction)
    await interaction.ack(
        response_type="ephemeral",
        text=replies.unknown_command(str(interaction.body.get("command"))),
    )


async def unknown_action(interaction: Interaction) -> None:
    """Respond to buttons, but not to links and to fields that are read on submission."""
    action = interaction.body["actions"][0]
    if action.get("type") == "button" and not action.get("url"):
        await outdated(interaction)


async def outdated(interaction: Interaction) -> None:
    await identity.greet(interaction)
    await interaction.tell(gettext(notice.OUTDATED))


async def ignored(interaction: Interaction) -> None:
    """Only acknowledge."""


LISTENERS: Final = (
    Listener(kind="command", name="", act=unknown_command),
    Listener(kind="action", name="", act=unknown_action),
    Listener(kind="shortcut", name="", act=outdated),
    Listener(kind="view", name="", act=outdated),
    Listener(kind="view_closed", name="", act=ignored),
    Listener(kind="options", name="", act=ignored),
    Listener(kind="event", name="", act=ignored),
)
