"""The Home tab's settings: a button for each, in groups."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import layout, text
from storage.base.values import User


def blocks(user: User) -> list[Block]:
    yours = (
        layout.button(gettext("Calendar feeds and wallchart"), ids.FEEDS),
        layout.button(gettext("API keys"), ids.KEYS),
    )
    shown = [layout.header(gettext("Settings"))]
    if user.role not in ("admin", "owner"):
        return [*shown, layout.actions(*yours)]
    return [
        *shown,
        *_group(gettext("Yours"), *yours),
        *_group(
            gettext("People"),
            layout.button(gettext("People"), ids.PEOPLE),
            layout.button(gettext("Departments"), ids.DEPARTMENTS),
        ),
        *_group(
            gettext("Leave"),
            layout.button(gettext("Leave types"), ids.LEAVE_TYPES),
            layout.button(gettext("Public holidays"), ids.HOLIDAYS),
        ),
        *_group(
            gettext("Organisation"),
            layout.button(gettext("Organisation"), ids.ORGANISATION),
            layout.button(gettext("Digests"), ids.DIGESTS),
            layout.button(gettext("Display links"), ids.DISPLAY_LINKS),
            layout.button(gettext("Webhooks"), ids.WEBHOOKS),
        ),
    ]


def _group(title: str, *buttons: Block) -> list[Block]:
    return [text.quiet(f"*{title}*"), layout.actions(*buttons)]
