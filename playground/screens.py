"""What people see in a `Workspace`, as JSON for the page."""

from __future__ import annotations

from playground.loopback.blocks import Payload
from playground.loopback.records import Message, View
from playground.loopback.workspace import Workspace

# A screen that grows without end is slow to render. Slack loads older messages by scrolling.
MAX_MESSAGES = 40


def screen(workspace: Workspace, team_id: str, user_id: str) -> Payload:
    """One person's modal, Home tab, DM with the app, and the channels."""
    with workspace.changed:
        stack = workspace.stack(team_id, user_id)
        home = workspace.homes.get((team_id, user_id))
        dm = workspace.dm_channel(team_id, user_id)
        return {
            "modal": _view(stack[-1], len(stack)) if stack else None,
            "home": _view(workspace.views[home], 0) if home is not None else None,
            "messages": _messages(workspace, dm, user_id),
            "channels": [
                {
                    "id": channel.id,
                    "name": channel.name,
                    "messages": _messages(workspace, channel.id, user_id),
                }
                for channel in workspace.channels.values()
                if channel.team_id == team_id
            ],
        }


def _messages(workspace: Workspace, channel: str, user_id: str) -> list[Payload]:
    """A conversation, oldest first. Replies are below the first message of their thread.

    A reply that was sent to the conversation too is also a message of its own, as in Slack.
    """
    messages = [message for message in workspace.messages if message.channel == channel]
    by_ts = {message.ts: message for message in messages}
    threads: dict[str, list[Message]] = {}
    for message in messages:
        if message.thread_ts is not None:
            threads.setdefault(message.thread_ts, []).append(message)
    # Slack keeps the place of a deleted message that has replies.
    first = [
        message for message in messages if message.thread_ts is None or message.reply_broadcast
    ]
    first += [message for message in workspace.deleted if message.ts in threads]
    first += [
        message
        for message in workspace.ephemerals
        if (message.channel, message.user) == (channel, user_id)
    ]
    first.sort(key=_position)
    return [
        _message(message, by_ts)
        | {"replies": [_message(reply, by_ts) for reply in threads.get(message.ts, [])]}
        for message in first[-MAX_MESSAGES:]
    ]


def _position(message: Message) -> list[int]:
    return [int(part) for part in message.ts.split(".")]


def _message(message: Message, by_ts: dict[str, Message]) -> Payload:
    is_deleted = not message.ephemeral and message.ts not in by_ts
    root = by_ts.get(message.thread_ts or "")
    return {
        "channel": message.channel,
        "ts": message.ts,
        "text": "This message was deleted." if is_deleted else message.text,
        "blocks": [] if is_deleted else message.blocks,
        "ephemeral": message.ephemeral,
        "edited": bool(message.history) and not is_deleted,
        "deleted": is_deleted,
        "thread_ts": message.thread_ts,
        "reply_broadcast": message.reply_broadcast,
        "replied_to": root.text if root is not None else None,
    }


def _view(view: View, depth: int) -> Payload:
    body: Payload = view.body
    return {
        "id": view.id,
        "hash": view.hash,
        "title": view.title,
        "submit": (body.get("submit") or {}).get("text"),
        "close": (body.get("close") or {}).get("text"),
        "blocks": view.blocks,
        "values": view.values,
        "depth": depth,
    }
