"""A modal with one sentence."""

from __future__ import annotations

from bot.base.block_kit import View
from bot.base.language import gettext, gettext_noop
from bot.blocks import text

OUTDATED = gettext_noop(
    "This is from an older version of Hiatus, so nothing was changed. Please open it again."
)


def view(title: str, sentence: str) -> View:
    """A modal with one sentence in plain text."""
    return {
        "type": "modal",
        "title": text.plain(title, text.MAX_TITLE),
        "close": text.plain(gettext("Close")),
        "blocks": [text.paragraph(sentence)],
    }
