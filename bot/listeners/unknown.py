"""Fallback listeners: respond to unknown payloads, because Slack shows an error otherwise.

Old buttons and forms may still be open after an upgrade.
"""

from __future__ import annotations

import re
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.language import gettext
from bot.interaction import errors, listening
from bot.interaction.interaction import Interaction
from bot.message_views import answers

_ANY: Final = re.compile("")


async def unknown_command(interaction: Interaction) -> None:
    await listening.greet(interaction)
    await interaction.ack(
        response_type="ephemeral",
        text=answers.unknown_command(str(interaction.body.get("command"))),
    )


async def unknown_action(interaction: Interaction) -> None:
    """Respond to buttons, but not to links and to fields that are read on submission."""
    action = interaction.body["actions"][0]
    if action.get("type") == "button" and not action.get("url"):
        await outdated(interaction)


async def outdated(interaction: Interaction) -> None:
    await listening.greet(interaction)
    await interaction.tell(gettext(errors.OUTDATED))


async def ignored(interaction: Interaction) -> None:
    """Only acknowledge."""


def register(app: AsyncApp) -> None:
    app.command(_ANY)(unknown_command)
    app.action(_ANY)(unknown_action)
    app.shortcut(_ANY)(outdated)
    app.view(_ANY)(outdated)
    app.view_closed(_ANY)(ignored)
    app.options(_ANY)(ignored)
    listening.on_event(app, _ANY, ignored)
