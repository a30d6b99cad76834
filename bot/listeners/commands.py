"""Slash commands."""

from __future__ import annotations

from bot import identity, ids
from bot.listeners import request_form
from bot.listening import Listener, Visit
from bot.views import replies


def listeners(command: str) -> tuple[Listener, ...]:
    """The command under the operator's name for it, and under Slack's own, where Slack lets go."""
    names = dict.fromkeys((command, ids.LEAVE_COMMAND))
    return tuple(Listener("command", name, timeoff) for name in names)


async def timeoff(visit: Visit) -> None:
    """Open the form for ``/timeoff`` and ``/timeoff request``; every other word gets help."""
    words = str(visit.body.get("text") or "").strip()
    if words.casefold() in ("", "request"):
        await request_form.open_form(visit)
        return
    await identity.greet(visit)
    command = str(visit.body["command"])
    unknown = "" if words.casefold() == "help" else words
    await visit.ack(response_type="ephemeral", text=replies.help_text(command, unknown))
