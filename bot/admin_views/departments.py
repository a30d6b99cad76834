"""Admin settings: departments."""

from __future__ import annotations

from collections.abc import Mapping

from bot.admin_views.people import person_option
from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext, ngettext
from bot.blocks import fields, layout, text
from storage.base.values import Department, User
from storage.db.pages import Page


def departments(
    page: Page[Department], managers: Mapping[str, str], sizes: Mapping[str, int]
) -> View:
    """The list. ``managers`` are names by id, ``sizes`` how many people belong to each."""
    blocks = [layout.actions(layout.button(gettext("Add a department"), ids.DEPARTMENT_NEW))]
    for department in page.items:
        options = [(gettext("Edit"), ids.MENU_EDIT), (gettext("Delete…"), ids.MENU_DELETE)]
        menu = layout.menu(ids.DEPARTMENT_MENU, options, department.id)
        manager = managers.get(department.manager_id or "")
        facts = [
            gettext("Manager: {name}", name=text.name(manager))
            if manager
            else gettext("No manager"),
            ngettext("{count} person", "{count} people", sizes.get(department.id, 0)),
        ]
        blocks.append({**layout.row(department.name, facts), "accessory": menu})
    return layout.modal(
        gettext("Departments"), blocks + layout.show_more(ids.DEPARTMENTS_MORE, page.next_cursor)
    )


def department(department: Department | None, manager: User | None) -> View:
    """The form of a department; ``department`` is None for a new one."""
    allowance = None if department is None else department.default_leave_allowance_half_days
    blocks = [
        fields.field(
            "name", gettext("Name"), fields.text_input(department.name if department else None)
        ),
        fields.field(
            "manager_id",
            gettext("Manager"),
            fields.external_select(ids.PERSON_SEARCH, person_option(manager) if manager else None),
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
    ]
    if department is None:
        return layout.modal(
            gettext("Add a department"),
            blocks,
            ids.DEPARTMENT_FORM,
            gettext("Add"),
            gettext("Back"),
        )
    return layout.modal(
        gettext("Department"),
        blocks,
        ids.DEPARTMENT_FORM,
        gettext("Save"),
        gettext("Back"),
        department.id,
    )


def deletion(department: Department) -> View:
    """Asks to confirm the deletion."""
    sentence = gettext(
        "{name} will be deleted. This only works if no one belongs to it.",
        name=text.cut(department.name, text.MAX_NAME),
    )
    return layout.modal(
        gettext("Delete a department"),
        [text.paragraph(sentence)],
        ids.DEPARTMENT_DELETE_FORM,
        gettext("Delete"),
        gettext("Keep it"),
        department.id,
    )
