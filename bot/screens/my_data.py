"""Settings: everything that is kept about the caller, sent to them.

As a file where the workspace lets the app send files, else as a link that works once.
"""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import View
from bot.base.language import gettext, gettext_noop
from bot.blocks import layout
from bot.interaction import listening
from bot.interaction.interaction import Interaction
from bot.screens import file_messages
from bot.screens.screen import Screen
from storage.admin import data_files

NAME: Final = "settings.my_data"


async def _open(interaction: Interaction) -> None:
    await listening.acknowledged(interaction)
    await interaction.open(view())


def view() -> View:
    blocks = [
        layout.section(
            gettext(
                "Everything that Hiatus keeps about you, as a file that programs can read (JSON). "
                "Other people are in it as ids only."
            )
        )
    ]
    return layout.modal(
        gettext("My data"), blocks, f"{NAME}.form", gettext("Send it to me"), gettext("Back")
    )


async def _send(interaction: Interaction) -> None:
    """Send the file in a direct message; the form says so meanwhile."""
    by = await listening.caller(interaction)
    await interaction.tell(gettext("I'm sending you the file. Find it in the Messages tab."))
    file = await interaction.database.read(data_files.of_caller, by=by, now=interaction.now)
    await file_messages.send(
        interaction,
        file.content,
        file.name,
        gettext("Here is everything that Hiatus keeps about you."),
        data_files.url(
            interaction.services.base_url,
            interaction.database.secrets,
            by=by,
            now=interaction.now,
        ),
    )


def register(app: AsyncApp) -> None:
    app.action(NAME)(_open)
    app.view(f"{NAME}.form")(_send)


SCREEN: Final = Screen(gettext_noop("My data"), NAME, register)
