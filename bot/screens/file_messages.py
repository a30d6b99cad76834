"""A message with a file, or with a link to it where the app may send no files."""

from __future__ import annotations

from typing import Final

import structlog

from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout
from bot.client import slack_web
from bot.interaction.interaction import Interaction

# More than the payroll file of 50,000 people has; a larger file is a link.
MAX_BYTES: Final = 16_000_000

_log = structlog.stdlib.get_logger("hiatus.slack")


async def send(
    interaction: Interaction, content: bytes | None, file_name: str, sentence: str, url: str
) -> None:
    """Send the file to the person, or ``url``, which works once; ``content`` None is too large."""
    posted = await interaction.client.chat_postMessage(
        channel=interaction.slack_user_id, text=sentence
    )
    if content is not None and len(content) <= MAX_BYTES:
        try:
            await interaction.client.files_upload_v2(
                channel=posted["channel"], filename=file_name, content=content
            )
        except slack_web.FAILURES as failure:
            # Most often the optional scope is missing.
            _log.info("slack.file_not_sent", reason=slack_web.summary(failure))
        else:
            return
    await interaction.client.chat_update(
        channel=posted["channel"], ts=posted["ts"], **_link_message(sentence, url)
    )


def _link_message(sentence: str, url: str) -> Message:
    text = f"{sentence} {gettext('The link works once, within a day.')}"
    button = layout.button(gettext("Download"), "file.download", style="primary")
    button["url"] = url
    blocks: list[Block] = [layout.section(text), layout.actions(button)]
    return {"text": text, "blocks": blocks}
