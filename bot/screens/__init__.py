"""The screens of settings, which a button of Home lists: a module for each, with its views and
listeners.

``screen`` has what they share. A new screen needs its module and a line below.
"""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext, gettext_noop
from bot.blocks import layout
from bot.interaction import listening
from bot.interaction.interaction import Interaction
from bot.screens import (
    absence_limits,
    allowances,
    api_keys,
    calendar_feeds,
    closures,
    departments,
    digests,
    display_links,
    holidays,
    leave_types,
    my_data,
    opening_figures,
    organisation,
    payroll,
    people,
    searches,
    slack_status,
    webhooks,
)

OWN: Final = (calendar_feeds.SCREEN, api_keys.SCREEN, my_data.SCREEN)
# Where workspaces install the app by OAuth.
OF_OAUTH: Final = (slack_status.SCREEN,)
OF_ADMINS: Final = (
    (
        gettext_noop("People"),
        (people.SCREEN, departments.SCREEN, opening_figures.SCREEN, payroll.SCREEN),
    ),
    (
        gettext_noop("Leave"),
        (
            leave_types.SCREEN,
            allowances.SCREEN,
            holidays.SCREEN,
            closures.SCREEN,
            absence_limits.SCREEN,
        ),
    ),
    (
        gettext_noop("Organisation"),
        (*organisation.SCREENS, digests.SCREEN, display_links.SCREEN, webhooks.SCREEN),
    ),
)


def register(app: AsyncApp) -> None:
    for screen in (*OWN, *OF_OAUTH, *(screen for _, group in OF_ADMINS for screen in group)):
        screen.register(app)
    searches.register(app)
    app.action(ids.SETTINGS)(open_menu)


async def open_menu(interaction: Interaction) -> None:
    by = await listening.acknowledged(interaction)
    is_oauth = interaction.services.install_url is not None
    await interaction.open(menu(is_admin=by.is_admin, is_oauth=is_oauth))


def menu(*, is_admin: bool, is_oauth: bool) -> View:
    """A button for each screen, in groups for admins. A screen that it opens replaces it.

    ``is_oauth``: workspaces install the app by OAuth, and people can connect their Slack status.
    """
    own = (*OWN, *OF_OAUTH) if is_oauth else OWN
    groups = ((gettext_noop("Yours"), own), *OF_ADMINS) if is_admin else (("", own),)
    blocks = []
    for title, screens in groups:
        if title:
            blocks.append(layout.header(gettext(title)))
        buttons = [layout.button(gettext(screen.label), screen.name) for screen in screens]
        blocks.append(layout.actions(*buttons))
    return layout.modal(gettext("Settings"), blocks, ids.SETTINGS)
