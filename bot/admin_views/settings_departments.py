"""Settings of an admin: departments."""

from __future__ import annotations

from typing import Any

from bot.admin_views.settings_access import more
from bot.admin_views.settings_people import person_option
from bot.base import ids
from bot.base.language import say
from bot.views import fields, text
from storage.base.values import Department, User
from storage.db.pages import Page


def departments(page: Page[Department]) -> dict[str, Any]:
    """The departments, oldest first."""
    blocks = [fields.actions(fields.button(say("Add a department"), ids.DEPARTMENT_NEW))]
    for one in page.items:
        edit = fields.button(
            say("Edit"), ids.DEPARTMENT_EDIT, one.id, spoken=say("Edit {name}", name=one.name)
        )
        shown = text.verbatim(one.name)
        blocks.append({"type": "section", "text": shown, "accessory": edit})
    return fields.modal(say("Departments"), blocks + more(ids.DEPARTMENTS_MORE, page.next_cursor))


def department(one: Department | None, manager: User | None) -> dict[str, Any]:
    """The form of one department; of a new one where there is none yet."""
    allowance = None if one is None else one.default_leave_allowance_half_days
    blocks = [
        fields.field("name", say("Name"), fields.typed(one.name if one else None)),
        fields.field(
            "manager_id",
            say("Manager"),
            fields.search(ids.PERSON_SEARCH, person_option(manager) if manager else None),
            hint=say("Approves leave for people without their own manager."),
            is_optional=True,
        ),
        fields.field(
            "default_leave_allowance",
            say("Allowance (days per year)"),
            fields.days_a_year(allowance),
            hint=say("Leave empty to use the organisation's."),
            is_optional=True,
        ),
    ]
    if one is None:
        return fields.modal(
            say("Add a department"), blocks, ids.DEPARTMENT_FORM, say("Add"), say("Back")
        )
    delete = fields.button(say("Delete"), ids.DEPARTMENT_DELETE, one.id, "danger")
    delete["confirm"] = fields.confirm(
        say("Delete this department?"),
        say(
            "{name} will be deleted. This only works if no one belongs to it.",
            name=text.cut(one.name, text.LONGEST_NAME),
        ),
        say("Delete"),
        say("Keep it"),
    )
    blocks.append(fields.actions(delete))
    return fields.modal(
        say("Department"), blocks, ids.DEPARTMENT_FORM, say("Save"), say("Back"), one.id
    )
