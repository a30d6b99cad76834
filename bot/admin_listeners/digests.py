"""Admin settings: digests, the messages about who is out."""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.admin_views import digests as views
from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext, locale
from bot.interaction import modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from bot.views import notice
from storage.admin import channel_digests
from storage.base.values import Caller, ChannelDigest
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.events import organisation_config

_SHOWN: Final = 40


async def list_digests(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _digests(interaction, by))


async def more_digests(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await modals.refresh(interaction, await _digests(interaction, by, interaction.value))


async def new_digest(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _form(interaction, by, None))


async def edit_digest(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _form(interaction, by, interaction.value))


async def save_digest(interaction: Interaction) -> None:
    """Add the digest, or change the one that the form is about."""
    by, form = await modals.admin(interaction), Form(interaction)
    values = {name: form.chosen(name) for name in ("channel", "department_id")}
    values |= {name: form.chosen(name) for name in ("frequency", "locale")}

    def save(tx: Transaction) -> ChannelDigest:
        if form.about:
            return channel_digests.update(tx, form.about, values, by=by, now=interaction.now)
        return channel_digests.create(tx, values, by=by, now=interaction.now)

    if await modals.run_once(interaction, save) is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _digests(interaction, by))


async def delete_digest(interaction: Interaction) -> None:
    """Delete a digest; Slack has asked for confirmation."""
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.services.database.write(
        channel_digests.delete, interaction.value, by=by, now=interaction.now
    )
    deleted = notice.view(gettext("Digest"), gettext("The digest was deleted."))
    await modals.refresh(interaction, deleted)
    await modals.refresh_below(interaction, await _digests(interaction, by))


async def _form(interaction: Interaction, by: Caller, digest_id: str | None) -> View:
    def read(tx: Transaction) -> View:
        digest = None if digest_id is None else channel_digests.get(tx, digest_id, by=by)
        config = organisation_config.of_organisation(tx, by.organisation_id)
        return views.digest(digest, config.departments.values(), locale().language)

    return await interaction.services.database.read(read)


async def _digests(interaction: Interaction, by: Caller, cursor: str | None = None) -> View:
    def read(tx: Transaction) -> View:
        config = organisation_config.of_organisation(tx, by.organisation_id)
        page = channel_digests.page(tx, PageOf(limit=_SHOWN, cursor=cursor), by=by)
        return views.digests(config.organisation, page, config.departments)

    return await interaction.services.database.read(read)


def register(app: AsyncApp) -> None:
    app.action(ids.DIGESTS)(list_digests)
    app.action(ids.DIGESTS_MORE)(more_digests)
    app.action(ids.DIGEST_NEW)(new_digest)
    app.action(ids.DIGEST_EDIT)(edit_digest)
    app.view(ids.DIGEST_FORM)(save_digest)
    app.action(ids.DIGEST_DELETE)(delete_digest)
