"""News about a request: its first message is updated, and a reply in its thread tells the change.

Slack sends no notification for an update, and a screen reader does not read it again.
"""

from __future__ import annotations

from typing import Final

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.block_kit import Message
from bot.client import slack_web
from storage.notifications.slack_messages import PostedMessage

# The message was deleted, belongs to an earlier installation of the app, or is too old to edit.
_GONE: Final = frozenset(
    {
        "cant_delete_message",
        "cant_update_message",
        "channel_not_found",
        "edit_window_closed",
        "message_not_found",
    }
)


async def update(client: AsyncWebClient, message: PostedMessage, content: Message) -> bool:
    """Update a first message; False if there is none to update any more."""
    try:
        await client.chat_update(channel=message.channel, ts=message.ts, **content)
    except SlackApiError as failure:
        if slack_web.error_code(failure) not in _GONE:
            raise
        return False
    return True


async def delete(client: AsyncWebClient, message: PostedMessage) -> None:
    """Delete a message, if it is still there."""
    try:
        await client.chat_delete(channel=message.channel, ts=message.ts)
    except SlackApiError as failure:
        if slack_web.error_code(failure) not in _GONE:
            raise


async def tell(
    client: AsyncWebClient,
    message: PostedMessage,
    content: Message,
    news: Message,
    *,
    is_broadcast: bool,
) -> str | None:
    """Update a first message and reply with the news; returns the time stamp of the reply.

    None if the message is gone, and nothing was told.
    ``is_broadcast``: the reply is shown in the conversation too. The update comes first, because
    it shows whether the message is still there. After an error in between, both are repeated.
    """
    if not await update(client, message, content):
        return None
    return await reply(client, message, news, is_broadcast=is_broadcast)


async def reply(
    client: AsyncWebClient, message: PostedMessage, news: Message, *, is_broadcast: bool
) -> str:
    """Reply to a first message; returns the time stamp of the reply."""
    response = await client.chat_postMessage(
        channel=message.channel, thread_ts=message.ts, reply_broadcast=is_broadcast, **news
    )
    return str(response["ts"])
