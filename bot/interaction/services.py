"""What every listener may use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from slack_sdk.web.async_client import AsyncWebClient

from bot.client.modal_updates import ModalRefreshes
from bot.client.workspaces import Workspaces
from storage.db.database import Database

# Of the three seconds that Slack waits, this leaves 0.5 s for the network.
ANSWER_SECONDS: Final = 2.5
# Stopping the process waits this long for unfinished interactions.
FINISH_SECONDS: Final = 10.0

CheckUrl = Callable[[str], Awaitable[object]]


@dataclass
class Services:
    """What every listener may use; ``interactions`` are the running ones.

    ``slack`` has no token, but the session of all clients. ``base_url`` is the public URL, without
    a trailing slash. ``check_webhook_url`` raises InvalidInput for forbidden addresses, as in REST.
    After ``answer_seconds`` a slow interaction is acknowledged; ``open_seconds`` is the limit for
    opening a modal. ``install_url`` is the page that installs the app, None with one bot token.
    ``support_contact`` is an e-mail address or a URL, "" if there is none.
    ``refresh_home`` takes the ids of an organisation and a person whose Home tab may be open.
    """

    database: Database
    slack: AsyncWebClient
    workspaces: Workspaces
    clock: Callable[[], datetime]
    base_url: str
    check_webhook_url: CheckUrl
    install_url: str | None = None
    support_contact: str = ""
    refresh_home: Callable[[str, str], None] = lambda organisation_id, user_id: None
    interactions: set[asyncio.Task[object]] = field(default_factory=set)
    refreshes: ModalRefreshes = field(default_factory=ModalRefreshes)
    answer_seconds: float = ANSWER_SECONDS
    open_seconds: float = ANSWER_SECONDS

    async def finish(self) -> None:
        """Wait for running interactions, which Slack believes to be handled."""
        if self.interactions:
            await asyncio.wait(self.interactions, timeout=FINISH_SECONDS)
