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
    Listener(kind="command", name=_ANYTHING, act=unknown_command),
    Listener(kind="action", name=_ANYTHING, act=unknown_action),
    Listener(kind="shortcut", name=_ANYTHING, act=outdated),
    Listener(kind="view", name=_ANYTHING, act=outdated),
    Listener(kind="view_closed", name=_ANYTHING, act=ignored),
    Listener(kind="options", name=_ANYTHING, act=ignored),
    Listener(kind="event", name=_ANYTHING, act=ignored),
)
