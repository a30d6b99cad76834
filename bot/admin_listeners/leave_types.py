"""Admin settings: leave types."""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.admin_views import leave_types as views
from bot.base import ids
from bot.base.block_kit import View
from bot.base.payloads import UnexpectedPayload
from bot.interaction import forms, modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from storage.admin import leave_type_changes
from storage.admin.effects import EffectsRecorder
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.leave import leave_types

_TYPES_SHOWN: Final = 40


async def list_leave_types(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _leave_types(interaction, by))


async def more_leave_types(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await modals.refresh(interaction, await _leave_types(interaction, by, interaction.value))


async def new_leave_type(interaction: Interaction) -> None:
    await interaction.ack()
    await modals.admin(interaction)
    await interaction.open(views.leave_type(None))


async def act_on_leave_type(interaction: Interaction) -> None:
    """What was chosen in the menu of a type in the list."""
    match interaction.choice:
        case ids.MENU_EDIT:
            await edit_leave_type(interaction)
        case ids.MENU_ARCHIVE:
            await ask_archiving(interaction)
        case ids.MENU_RESTORE:
            await restore_leave_type(interaction)
        case unknown:
            raise UnexpectedPayload(unknown)


async def edit_leave_type(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    leave_type = await interaction.services.database.read(leave_types.get, interaction.value, by=by)
    await interaction.open(views.leave_type(leave_type))


async def save_leave_type(interaction: Interaction) -> None:
    """Add the type, or change the one that the form is about."""
    by, form = await modals.admin(interaction), Form(interaction)

    def values() -> dict[str, object]:
        ticked = {*form.several("flags"), *form.several("shown_to_others")}
        code = form.text("code")
        return {
            "name": form.text("name") or "",
            **({"code": code} if code else {}),
            "colour": form.text("colour") or "",
            "emoji": form.text("emoji"),
            "min_notice_days": form.whole("min_notice_days"),
            "max_consecutive_days": form.whole("max_consecutive_days"),
            **{flag: flag in ticked for flag in views.FLAGS},
        }

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        if not form.about:
            return leave_types.create(tx, values(), by=by, now=interaction.now)
        return leave_type_changes.update(
            tx, form.about, values(), by=by, now=interaction.now, recorder=recorder
        )

    if await forms.submit(interaction, form, save, by=by) is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _leave_types(interaction, by))


async def ask_archiving(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    leave_type = await interaction.services.database.read(leave_types.get, interaction.value, by=by)
    await interaction.open(views.archiving(leave_type))


async def archive_leave_type(interaction: Interaction) -> None:
    """Archive the leave type, or delete it if it was never used."""
    by = await modals.admin(interaction)
    await interaction.services.database.write(
        leave_types.delete, interaction.private_metadata, by=by, now=interaction.now
    )
    await interaction.ack()
    await modals.refresh_below(interaction, await _leave_types(interaction, by))


async def restore_leave_type(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.services.database.write(
        leave_types.update,
        interaction.value,
        {"is_archived": False},
        by=by,
        now=interaction.now,
    )
    await modals.refresh(interaction, await _leave_types(interaction, by))


async def _leave_types(interaction: Interaction, by: Caller, cursor: str | None = None) -> View:
    page = await interaction.services.database.read(
        leave_types.page, PageOf(limit=_TYPES_SHOWN, cursor=cursor), by=by
    )
    return views.leave_types(page)


def register(app: AsyncApp) -> None:
    app.action(ids.LEAVE_TYPES)(list_leave_types)
    app.action(ids.LEAVE_TYPES_MORE)(more_leave_types)
    app.action(ids.LEAVE_TYPE_NEW)(new_leave_type)
    app.action(ids.LEAVE_TYPE_MENU)(act_on_leave_type)
    forms.register(app, ids.LEAVE_TYPE_FORM, save_leave_type)
    app.view(ids.LEAVE_TYPE_ARCHIVE_FORM)(archive_leave_type)
