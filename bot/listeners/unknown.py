"""What nobody listens to: answered all the same, because Slack shows an error otherwise.

Buttons and forms outlive the version that drew them.
"""

from __future__ import annotations

import re
from typing import Final

from bot.base.language import say
from bot.interaction import identity
from bot.interaction.listening import Listener, Visit
from bot.views import replies

_ANYTHING: Final = re.compile("")


async def unknown_command(visit: Visit) -> None:
    await identity.greet(visit)
    await visit.ack(
        response_type="ephemeral", text=replies.unknown_command(str(visit.body.get("command")))
    )


async def unknown_action(visit: Visit) -> None:
    """Buttons are answered; links, and fields that are read when their form is sent, are not."""
    action = visit.body["actions"][0]
    if action.get("type") == "button" and not action.get("url"):
        await outdated(visit)


async def outdated(visit: Visit) -> None:
    await identity.greet(visit)
    await visit.tell(say(replies.OUTDATED))


async def ignored(visit: Visit) -> None:
    """Acknowledged, and nothing else."""


LISTENERS: Final = (
    Listener("command", _ANYTHING, unknown_command),
    Listener("action", _ANYTHING, unknown_action),
    Listener("shortcut", _ANYTHING, outdated),
    Listener("view", _ANYTHING, outdated),
    Listener("view_closed", _ANYTHING, ignored),
    Listener("options", _ANYTHING, ignored),
    Listener("event", _ANYTHING, ignored),
)
