"""The caller's own API keys."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import View
from bot.interaction import identity, modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from bot.views import api_keys as views
from storage.access import api_keys
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.events import organisation_config

_KEYS_SHOWN: Final = 20


async def keys(interaction: Interaction) -> None:
    """Open the list of the caller's keys."""
    await interaction.ack()
    by = await identity.caller(interaction)
    await interaction.open(await _keys(interaction, by))


async def more_keys(interaction: Interaction) -> None:
    """Show the next part of the list."""
    await interaction.ack()
    by = await identity.caller(interaction)
    await modals.refresh(interaction, await _keys(interaction, by, interaction.value))


async def ask_key(interaction: Interaction) -> None:
    """Open the form that creates a key."""
    await interaction.ack()
    await identity.caller(interaction)
    await interaction.open(views.key_form())


async def create_key(interaction: Interaction) -> None:
    """Create a key and show it once in place of the form."""
    by, form = await identity.caller(interaction), Form(interaction)
    name, last_day = form.text("name") or "", form.day("expires_at")
    # As in `hiatus keys create`: until the end of that day in UTC.
    expires_at = (
        None if last_day is None else datetime.combine(last_day, time(), UTC) + timedelta(days=1)
    )

    def create(tx: Transaction) -> str:
        _, secret = api_keys.create_key(
            tx,
            for_user=str(by.user_id),
            name=name,
            scopes=form.several("scopes"),
            variant=1,
            expires_at=expires_at,
            by=by,
            now=interaction.now,
        )
        return secret

    secret = await modals.run_once(interaction, create)
    if secret is not None:
        await interaction.ack(response_action="update", view=views.new_key(name, secret))
        await modals.refresh_below(interaction, await _keys(interaction, by))


async def revoke_key(interaction: Interaction) -> None:
    """Revoke a key; Slack has asked for confirmation."""
    await interaction.ack()
    by = await identity.caller(interaction)
    await interaction.services.database.write(
        api_keys.revoke, interaction.value, by=by, now=interaction.now
    )
    await modals.refresh(interaction, await _keys(interaction, by))


async def _keys(interaction: Interaction, by: Caller, cursor: str | None = None) -> View:
    def read(tx: Transaction) -> View:
        page = api_keys.page(
            tx, PageOf(limit=_KEYS_SHOWN, cursor=cursor), by=by, own_only=True, is_revoked=False
        )
        organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
        return views.keys(page, organisation.timezone, interaction.now)

    return await interaction.services.database.read(read)


def register(app: AsyncApp) -> None:
    app.action(ids.KEYS)(keys)
    app.action(ids.KEYS_MORE)(more_keys)
    app.action(ids.KEY_NEW)(ask_key)
    app.view(ids.KEY_FORM)(create_key)
    app.action(ids.KEY_REVOKE)(revoke_key)
