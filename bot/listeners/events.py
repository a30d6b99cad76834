"""Slack events: a user changed, the app was uninstalled, tokens were revoked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import structlog
from slack_bolt.async_app import AsyncApp

from bot.client import slack_web
from bot.interaction import listening
from bot.interaction.interaction import Interaction
from storage.db.database import Transaction
from storage.people.people_rows import SlackProfile
from storage.workspaces import (
    slack_installations,
    slack_profiles,
    slack_statuses,
    slack_workspaces,
)
from storage.workspaces.slack_profiles import Synced

_log = structlog.stdlib.get_logger("hiatus.slack")


async def user_change(interaction: Interaction) -> None:
    """Update a person from Slack; guests, bots and strangers are ignored."""
    user = interaction.event.get("user")
    if not isinstance(user, dict) or not slack_web.is_own(user, interaction.workspace.team_id):
        return
    try:
        profile = slack_web.profile_of(user)
    except slack_web.MalformedProfile as malformed:
        # A resent event would be malformed, too.
        _log.warning("slack.member_skipped", malformed_field=malformed.field)
        return
    # Deactivating or reactivating a person may reassign very many approvals.
    synced = await interaction.database.write(
        _keep_in_step, interaction.team_id, profile, now=interaction.now
    )
    if synced is not None and synced.is_last_owner:
        _log.warning("slack.last_owner_switched_off", user_id=synced.user.id)


async def app_uninstalled(interaction: Interaction) -> None:
    """Delete the workspace's token, unless the app was reinstalled in the meantime."""
    ended = await interaction.database.write(
        slack_installations.uninstall,
        interaction.team_id,
        at=_happened_at(interaction),
        now=interaction.now,
    )
    if ended:
        _log.warning("slack.installation_ended", team_id=interaction.team_id)


async def tokens_revoked(interaction: Interaction) -> None:
    """As ``app_uninstalled`` if the bot's token was revoked; else of people's Slack statuses."""
    tokens = interaction.event.get("tokens") or {}
    if tokens.get("bot"):
        await app_uninstalled(interaction)
        return
    accounts = [account for account in tokens.get("oauth") or () if isinstance(account, str)]
    if accounts:
        await interaction.database.write(
            slack_statuses.revoked, interaction.team_id, accounts, now=interaction.now
        )


def _keep_in_step(
    tx: Transaction, team_id: str, profile: SlackProfile, *, now: datetime
) -> Synced | None:
    organisation = slack_workspaces.find(tx, team_id)
    if organisation is None:
        return None
    return slack_profiles.sync(tx, organisation.id, profile, now=now)


def _happened_at(interaction: Interaction) -> datetime:
    """The end of the second in ``event_time``, which has no fraction."""
    seconds = interaction.body.get("event_time")
    if not isinstance(seconds, int):
        return interaction.now
    return datetime.fromtimestamp(seconds, UTC) + timedelta(milliseconds=999)


def register(app: AsyncApp) -> None:
    listening.on_event(app, "user_change", user_change)
    listening.on_event(app, "app_uninstalled", app_uninstalled)
    listening.on_event(app, "tokens_revoked", tokens_revoked)
