"""Publishes Home tabs: when they are opened, and again when their content changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from bot.base.language import using_locale
from bot.client import slack_web
from bot.client.workspaces import Workspace
from bot.interaction import listening
from bot.interaction.interaction import Interaction, Services
from bot.views import home_tab
from storage.base.errors import DatabaseUnavailable, DomainError
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.outbox import organisation_config
from storage.people import people_rows
from storage.workspaces import home, slack_workspaces
from storage.workspaces.home import Home

# Slack takes 100 a minute from one workspace (docs.slack.dev, "Rate limits", tier 4).
PAUSE_SECONDS: Final = 0.7
# Per workspace; further people see the change when they open the tab again.
MAX_WAITING: Final = 1_000
# Workspaces in the queue, and workspaces refreshed concurrently.
MAX_QUEUES: Final = 1_000
MAX_CONCURRENT: Final = 8
# A longer Retry-After is ignored: few people keep the tab open that long.
MAX_PAUSE_SECONDS: Final = 60

_log = structlog.stdlib.get_logger("hiatus.slack")


async def show(interaction: Interaction, by: Caller) -> None:
    """Publish the caller's Home tab. Raises the errors in ``slack_web.FAILURES``."""
    content = await interaction.database.read(home.load, by=by, now=interaction.now)
    await interaction.client.views_publish(
        user_id=interaction.slack_user_id, view=home_tab.view(content)
    )


async def show_again(interaction: Interaction, by: Caller) -> None:
    """As ``show`` after an action; errors are only logged, because the action was done."""
    try:
        await show(interaction, by)
    except slack_web.FAILURES as failure:
        _log.warning("slack.home_not_refreshed", reason=slack_web.summary(failure))


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenHome:
    """The content of a Home tab that may be open, and its location in Slack."""

    home: Home
    team_id: str
    slack_user_id: str
    locale: str | None


class Homes:
    """Refreshes the Home tabs of people for whom something changed, one after the other.

    Each organisation, and so each workspace, has its own queue, because Slack's rate limits are
    per workspace. Queues are not stored: after a restart, a tab is current once it is reopened.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        # By organisation, the people in their order, each once.
        self._queues: dict[str, dict[str, None]] = {}
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)

    def enqueue(self, organisation_id: str, user_id: str) -> None:
        """Queue a refresh of the person's Home tab."""
        queue = self._queues.get(organisation_id)
        if queue is None:
            if len(self._queues) >= MAX_QUEUES:
                return
            self._queues[organisation_id] = {user_id: None}
            self._start_refreshing(organisation_id)
        elif len(queue) < MAX_WAITING:
            queue[user_id] = None

    def _start_refreshing(self, organisation_id: str) -> None:
        work = asyncio.create_task(self._refresh_all(organisation_id))
        self._services.interactions.add(work)
        work.add_done_callback(self._services.interactions.discard)

    async def _refresh_all(self, organisation_id: str) -> None:
        """Process one queue until it is empty or Slack asks to wait."""
        queue = self._queues[organisation_id]
        while queue:
            user_id = next(iter(queue))
            del queue[user_id]
            try:
                async with self._slots:
                    pause = await self._refresh(organisation_id, user_id)
            except slack_web.FAILURES as failure:
                pause = 0.0
                _log.warning("slack.home_not_refreshed", reason=slack_web.summary(failure))
                if slack_web.is_rate_limit(failure):
                    queue.setdefault(user_id)
                    seconds = slack_web.retry_after_seconds(failure) or MAX_PAUSE_SECONDS
                    # A timer instead of a sleep, so that a shutdown does not wait for it.
                    asyncio.get_running_loop().call_later(
                        min(seconds, MAX_PAUSE_SECONDS), self._start_refreshing, organisation_id
                    )
                    return
            except (DatabaseUnavailable, DomainError) as failure:
                pause = 0.0
                _log.warning("slack.home_not_refreshed", reason=type(failure).__name__)
            except Exception:  # noqa: BLE001  # continue with the next person
                pause = 0.0
                _log.exception("slack.home_not_refreshed")
            if queue:
                await asyncio.sleep(pause)
        del self._queues[organisation_id]

    async def _refresh(self, organisation_id: str, user_id: str) -> float:
        """Refresh one tab; returns the seconds to wait afterwards."""
        services = self._services
        now = services.clock()
        open_home = await services.database.read(_load_open_home, organisation_id, user_id, now=now)
        if open_home is None:
            return 0.0
        workspace: Workspace | None = await services.workspaces.for_delivery(open_home.team_id)
        if workspace is not None:
            with using_locale(open_home.locale):
                view = home_tab.view(open_home.home)
            await workspace.client.views_publish(user_id=open_home.slack_user_id, view=view)
        return PAUSE_SECONDS


def _load_open_home(
    tx: Transaction, organisation_id: str, user_id: str, *, now: datetime
) -> OpenHome | None:
    organisation = organisation_config.of_organisation(tx, organisation_id).organisation
    user = people_rows.find(tx, organisation_id, user_id)
    if user is None or user.status != "active" or user.slack_user_id is None:
        return None
    by = listening.as_caller(organisation, user)
    if organisation.slack_team_id is None or not slack_workspaces.home_viewers(
        tx, [(organisation_id, user_id)], now=now
    ):
        return None
    content = home.load(tx, by=by, now=now)
    locale = people_rows.locale_of(tx, organisation_id, user_id)
    return OpenHome(
        home=content,
        team_id=organisation.slack_team_id,
        slack_user_id=user.slack_user_id,
        locale=locale,
    )
