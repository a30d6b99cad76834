"""Admin settings: departments."""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.admin_views import departments as views
from bot.base import ids
from bot.base.block_kit import View
from bot.base.payloads import UnexpectedPayload
from bot.interaction import forms, modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from storage.admin import departments
from storage.admin.effects import EffectsRecorder
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import department_rows, people_lists, people_rows

_SHOWN: Final = 40


async def list_departments(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _departments(interaction, by))


async def more_departments(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await modals.refresh(interaction, await _departments(interaction, by, interaction.value))


async def new_department(interaction: Interaction) -> None:
    await interaction.ack()
    await modals.admin(interaction)
    await interaction.open(views.department(None, None))


async def act_on_department(interaction: Interaction) -> None:
    """What was chosen in the menu of a department in the list."""
    match interaction.choice:
        case ids.MENU_EDIT:
            await edit_department(interaction)
        case ids.MENU_DELETE:
            await ask_deletion(interaction)
        case unknown:
            raise UnexpectedPayload(unknown)


async def edit_department(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)

    def read(tx: Transaction) -> View:
        department = department_rows.get(tx, interaction.value, by=by)
        return views.department(department, people_lists.option(tx, department.manager_id, by=by))

    await interaction.open(await interaction.services.database.read(read))


async def save_department(interaction: Interaction) -> None:
    """Add the department, or change the one that the form is about."""
    by, form = await modals.admin(interaction), Form(interaction)

    def values() -> dict[str, object]:
        return {
            "name": form.text("name") or "",
            "manager_id": form.chosen("manager_id"),
            "default_leave_allowance_half_days": form.half_days("default_leave_allowance"),
        }

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        if not form.about:
            return departments.create(tx, values(), by=by, now=interaction.now)
        return departments.update(
            tx, form.about, values(), by=by, now=interaction.now, recorder=recorder
        )

    if await forms.submit(interaction, form, save, by=by) is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _departments(interaction, by))


async def ask_deletion(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    department = await interaction.services.database.read(
        department_rows.get, interaction.value, by=by
    )
    await interaction.open(views.deletion(department))


async def delete_department(interaction: Interaction) -> None:
    by = await modals.admin(interaction)
    # Any number of archived people may have to be updated.
    await interaction.services.database.write(
        departments.delete, interaction.private_metadata, by=by, now=interaction.now
    )
    await interaction.ack()
    await modals.refresh_below(interaction, await _departments(interaction, by))


async def _departments(interaction: Interaction, by: Caller, cursor: str | None = None) -> View:
    def read(tx: Transaction) -> View:
        page = department_rows.page(tx, PageOf(limit=_SHOWN, cursor=cursor), by=by)
        managers = {department.manager_id for department in page.items if department.manager_id}
        return views.departments(
            page,
            people_rows.names(tx, by.organisation_id, managers),
            department_rows.sizes(tx, by.organisation_id, {each.id for each in page.items}),
        )

    return await interaction.services.database.read(read)


def register(app: AsyncApp) -> None:
    app.action(ids.DEPARTMENTS)(list_departments)
    app.action(ids.DEPARTMENTS_MORE)(more_departments)
    app.action(ids.DEPARTMENT_NEW)(new_department)
    app.action(ids.DEPARTMENT_MENU)(act_on_department)
    forms.register(app, ids.DEPARTMENT_FORM, save_department)
    app.view(ids.DEPARTMENT_DELETE_FORM)(delete_department)
