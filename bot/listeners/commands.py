"""Slash commands."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot import ids
from bot.listeners import request_form
from bot.listening import Edge, Visit, listening
from bot.views import replies


def register(app: AsyncApp, edge: Edge) -> None:
    for name in ids.COMMANDS:
        app.command(name)(listening(edge, timeoff))


async def timeoff(visit: Visit) -> None:
    """Open the form for ``/timeoff`` and ``/timeoff request``; every other word gets help."""
    words = str(visit.body.get("text") or "").strip()
    if words.casefold() in ("", "request"):
        await request_form.open_form(visit)
        return
    command = str(visit.body["command"])
    unknown = "" if words.casefold() == "help" else words
    await visit.ack(response_type="ephemeral", text=replies.help_text(command, unknown))
