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
    messages = [message for message in workspace.messages if message.channel == channel]
    messages += [
        message
        for message in workspace.ephemerals
        if (message.channel, message.user) == (channel, user_id)
    ]
    messages.sort(key=lambda message: [int(part) for part in message.ts.split(".")])
    return [_message(message) for message in messages[-MAX_MESSAGES:]]


def _message(message: Message) -> Payload:
    return {
        "channel": message.channel,
        "ts": message.ts,
        "text": message.text,
        "blocks": message.blocks,
        "ephemeral": message.ephemeral,
        "edited": bool(message.history),
        "thread_ts": message.thread_ts,
        "reply_broadcast": message.reply_broadcast,
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
