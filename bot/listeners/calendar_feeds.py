"""The caller's own calendar feeds."""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import View
from bot.interaction import identity, modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from bot.views import calendar_feeds as views
from storage.access import feeds
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.events import organisation_config

_FEEDS_SHOWN: Final = 20


async def calendar_feeds(interaction: Interaction) -> None:
    """Open the links of the caller's calendars."""
    await interaction.ack()
    by = await identity.caller(interaction)
    await interaction.open(await _feeds(interaction, by))
    if by.is_admin:
        # The first feed was created, which is a step of the checklist.
        modals.refresh_home(interaction)


async def more_feeds(interaction: Interaction) -> None:
    """Show the next part of the list."""
    await interaction.ack()
    by = await identity.caller(interaction)
    await modals.refresh(interaction, await _feeds(interaction, by, interaction.value))


async def regenerate(interaction: Interaction) -> None:
    """Regenerate the links; Slack has asked for confirmation."""
    await interaction.ack()
    by = await identity.caller(interaction)
    await interaction.services.database.write(feeds.regenerate_personal, by=by, now=interaction.now)
    await modals.refresh(interaction, await _feeds(interaction, by))


async def ask_feed(interaction: Interaction) -> None:
    """Open the form that adds a feed."""
    await interaction.ack()
    await identity.caller(interaction)
    await interaction.open(views.feed_form())


async def create_feed(interaction: Interaction) -> None:
    """Add a feed and show its link in the list."""
    by = await identity.caller(interaction)
    name = Form(interaction).text("name")
    added = await modals.run_once(
        interaction, lambda tx: feeds.create(tx, name, by=by, now=interaction.now)
    )
    if added is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _feeds(interaction, by))


async def remove_feed(interaction: Interaction) -> None:
    """Remove a feed; Slack has asked for confirmation."""
    await interaction.ack()
    by = await identity.caller(interaction)
    await interaction.services.database.write(
        feeds.revoke, interaction.value, by=by, now=interaction.now
    )
    await modals.refresh(interaction, await _feeds(interaction, by))


async def _feeds(interaction: Interaction, by: Caller, cursor: str | None = None) -> View:
    base_url = interaction.services.base_url

    def read(tx: Transaction) -> View:
        # The token is created on first use.
        own = feeds.get_or_create_personal(tx, by=by, now=interaction.now)
        page = feeds.page(tx, PageOf(limit=_FEEDS_SHOWN, cursor=cursor), by=by)
        organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
        return views.feeds(base_url, own, page, organisation.timezone)

    return await interaction.services.database.write(read)


def register(app: AsyncApp) -> None:
    app.action(ids.FEEDS)(calendar_feeds)
    app.action(ids.FEEDS_MORE)(more_feeds)
    app.action(ids.FEEDS_REGENERATE)(regenerate)
    app.action(ids.FEED_NEW)(ask_feed)
    app.view(ids.FEED_FORM)(create_feed)
    app.action(ids.FEED_REMOVE)(remove_feed)
