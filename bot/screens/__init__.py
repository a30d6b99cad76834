"""The screens of settings, which Home offers: a module for each, with its views and listeners.

``screen`` has what they share. A new screen needs its module and a line below.
"""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block
from bot.base.language import gettext, gettext_noop
from bot.blocks import layout
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
    organisation,
    people,
    searches,
    webhooks,
)

OWN: Final = (calendar_feeds.SCREEN, api_keys.SCREEN)
OF_ADMINS: Final = (
    (gettext_noop("People"), (people.SCREEN, departments.SCREEN)),
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
        (organisation.SCREEN, digests.SCREEN, display_links.SCREEN, webhooks.SCREEN),
    ),
)


def register(app: AsyncApp) -> None:
    for screen in (*OWN, *(screen for _, group in OF_ADMINS for screen in group)):
        screen.register(app)
    searches.register(app)


def menu(*, is_admin: bool) -> list[Block]:
    """The settings on Home: a button for each screen, in groups for admins."""
    groups = ((gettext_noop("Yours"), OWN), *OF_ADMINS) if is_admin else (("", OWN),)
    blocks = [layout.header(gettext("Settings"))]
    for title, screens in groups:
        if title:
            blocks.append(layout.quiet(f"*{gettext(title)}*"))
        buttons = [layout.button(gettext(screen.label), screen.name) for screen in screens]
        blocks.append(layout.actions(*buttons))
    return blocks
