"""Settings: departments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import fields, layout
from bot.interaction.interaction import Interaction
from bot.screens import forms, screen, searches
from bot.screens.screen import Saving, Screen
from storage.admin import departments
from storage.base.values import Caller, Department, User, local_day
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.outbox import organisation_config
from storage.people import allowance_terms, department_rows, people_lists, people_rows

NAME: Final = "settings.departments"


def read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    page = department_rows.page(tx, screen.page_of(cursor), by=by)
    managers = {department.manager_id for department in page.items if department.manager_id}
    return list_view(
        page,
        people_rows.names(tx, by.organisation_id, managers),
        department_rows.sizes(tx, by.organisation_id, {each.id for each in page.items}),
    )


def list_view(
    page: Page[Department], managers: Mapping[str, str], sizes: Mapping[str, int]
) -> View:
    """``managers`` are names by id, ``sizes`` how many people belong to each."""
    blocks = [layout.actions(layout.button(gettext("Add a department"), f"{NAME}.new"))]
    options = [(gettext("Edit"), ids.MENU_EDIT), (gettext("Delete…"), ids.MENU_DELETE)]
    for department in page.items:
        manager = managers.get(department.manager_id or "")
        facts = [
            gettext("Manager: {name}", name=layout.name(manager))
            if manager
            else gettext("No manager"),
            ngettext("{count} person", "{count} people", sizes.get(department.id, 0)),
        ]
        menu = layout.menu(f"{NAME}.menu", options, department.id)
        blocks.append({**layout.row(department.name, facts), "accessory": menu})
    return screen.list_view(NAME, gettext("Departments"), blocks, page.next_cursor)


def read_form(tx: Transaction, interaction: Interaction, by: Caller, department_id: str) -> View:
    if not department_id:
        return form_view(None, None)
    department = department_rows.get(tx, department_id, by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(interaction.now, config.organisation.timezone)
    return form_view(
        allowance_terms.department_as_of(config, department, today),
        people_lists.option(tx, department.manager_id, by=by),
        forms.from_when(config, department.figures, today),
    )


def form_view(
    department: Department | None, manager: User | None, from_when: Block | None = None
) -> View:
    """The form of a department with today's allowance; ``department`` is None for a new one."""
    allowance = department.default_leave_allowance_half_days if department else None
    blocks: list[Block] = [
        fields.field(
            "name", gettext("Name"), fields.text_input(department.name if department else None)
        ),
        fields.field(
            "manager_id",
            gettext("Manager"),
            searches.person_select(manager),
            hint=gettext("Approves leave for people without their own manager."),
            is_optional=True,
        ),
        fields.field(
            "default_leave_allowance",
            gettext("Allowance (days per year)"),
            fields.days_input(allowance),
            hint=gettext("Leave empty to use the organisation's."),
            is_optional=True,
        ),
        *([] if from_when is None else [from_when]),
    ]
    title = gettext("Department") if department else gettext("Add a department")
    return screen.form_view(f"{NAME}.form", title, blocks, department.id if department else "")


def _save(tx: Transaction, saving: Saving) -> object:
    values: dict[str, object] = {
        "name": saving.form.text("name") or "",
        "manager_id": saving.form.chosen("manager_id"),
        "default_leave_allowance_half_days": saving.form.half_days("default_leave_allowance"),
    }
    if not saving.form.about:
        return departments.create(tx, values, by=saving.by, now=saving.now)
    return departments.update(
        tx,
        saving.form.about,
        values,
        effective_from=saving.form.day("effective_from"),
        by=saving.by,
        now=saving.now,
        recorder=saving.recorder,
    )


def _ask_deletion(
    tx: Transaction, interaction: Interaction, by: Caller, department_id: str
) -> View:
    return deletion_view(department_rows.get(tx, department_id, by=by))


def deletion_view(department: Department) -> View:
    sentence = gettext(
        "{name} will be deleted. This only works if no one belongs to it.",
        name=layout.cut(department.name, layout.MAX_NAME),
    )
    return layout.modal(
        gettext("Delete a department"),
        [layout.paragraph(sentence)],
        f"{NAME}.delete.form",
        gettext("Delete"),
        gettext("Keep it"),
        department.id,
    )


def _delete(tx: Transaction, saving: Saving) -> None:
    departments.delete(tx, saving.form.about, by=saving.by, now=saving.now)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(read_list))
    app.action(f"{NAME}.more")(screen.shows_more(read_list))
    app.action(f"{NAME}.new")(screen.opens(read_form))
    app.action(f"{NAME}.menu")(
        screen.chooses(
            {
                ids.MENU_EDIT: screen.opens(read_form),
                ids.MENU_DELETE: screen.opens(_ask_deletion),
            }
        )
    )
    forms.register(app, f"{NAME}.form", screen.confirms(_save, read_list))
    app.view(f"{NAME}.delete.form")(screen.saves(_delete, read_list))


SCREEN: Final = Screen(gettext_noop("Departments"), NAME, register)
