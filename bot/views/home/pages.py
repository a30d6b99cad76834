"""The Home tab's buttons for further pages."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import layout
from storage.slack.home_pages import PageCursors


def page_buttons(
    at: str | None, cursor: str | None, first: PageCursors, following: PageCursors
) -> list[Block]:
    buttons = []
    if at is not None:
        buttons.append(layout.button(gettext("Back to start"), ids.HOME_FIRST, first.packed()))
    if cursor is not None:
        buttons.append(layout.button(gettext("Show more"), ids.HOME_NEXT, following.packed()))
    return [layout.actions(*buttons)] if buttons else []
