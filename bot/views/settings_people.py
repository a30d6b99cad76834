"""Settings of an admin: people and departments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot import ids
from bot.language import later, say, say_count
from bot.views import fields, text, words
from bot.views.fields import Option
from bot.views.settings_access import more
from bot.views.text import Block
from storage.effects import Effects
from storage.pages import Page
from storage.values import ROLES, Department, User

_WEEK: Final = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
_ROLES: Final[Mapping[str, str]] = {
    "member": later("Member"),
    "approver": later("Approver"),
    "admin": later("Admin"),
    "owner": later("Owner"),
}
_STATUSES: Final[Mapping[str, str]] = {
    "pending": later("Has not used Hiatus yet"),
    "active": later("Active"),
    "deactivated": later("Switched off"),
    "archived": later("Archived"),
}


def working_days() -> list[Option]:
    """Every whole and half day of a week."""
    found = []
    for number, day in enumerate(_WEEK):
        name = words.weekday(number)
        found += [
            Option(name, day),
            Option(say("{weekday}, morning", weekday=name), f"{day}:am"),
            Option(say("{weekday}, afternoon", weekday=name), f"{day}:pm"),
        ]
    return found


def people() -> dict[str, Any]:
    """The search for a person; nobody lists five thousand of them."""
    pick = fields.search(ids.PEOPLE_PICK, placeholder=say("Name or e-mail address"))
    return fields.modal(
        say("People"),
        [text.section(say("Whom do you want to change?")), fields.actions(pick)],
    )


def person_options(found: Sequence[User], *, with_nobody: bool) -> list[Block]:
    """What the search offers."""
    nobody = [fields.option(say("Nobody"), ids.NOTHING)] if with_nobody else []
    return nobody + [fields.option(*person_option(user)) for user in found]


def person_option(user: User) -> Option:
    name = user.name or user.email
    return Option(f"{text.cut(name, 40)} ({user.email})", user.id)


def person(user: User, manager: User | None, departments: Sequence[Department]) -> dict[str, Any]:
    """Everything of one person that an admin sets."""
    head = f"{text.cut(user.name, 200)}\n{user.email}\n{say(_STATUSES[user.status])}"
    department = fields.menu(
        [Option(say("No department"), ids.NOTHING), *_departments(departments)],
        user.department_id or ids.NOTHING,
    )
    allowance = user.leave_allowance_half_days
    country = user.public_holiday_country_code
    blocks = [
        {"type": "section", "text": text.verbatim(head)},
        fields.field(
            "role",
            say("Role"),
            fields.menu([Option(say(_ROLES[role]), role) for role in ROLES], user.role),
        ),
        fields.field("department_id", say("Department"), department),
        fields.field(
            "manager_id",
            say("Manager"),
            fields.search(ids.PERSON_SEARCH, manager and person_option(manager)),
            hint=say("Decides on this person's leave. Without one, the department's manager does."),
            is_optional=True,
        ),
        fields.field(
            "working_days",
            say("Working days"),
            fields.several(working_days(), user.working_days or ()),
            hint=say("Empty: the organisation's."),
            is_optional=True,
        ),
        fields.field(
            "leave_allowance",
            say("Allowance in days a year"),
            fields.number(None if allowance is None else allowance / 2, most=366, has_halves=True),
            hint=say("Empty: the department's, else the organisation's."),
            is_optional=True,
        ),
        fields.field(
            "start_date", say("First day of work"), fields.day(user.start_date), is_optional=True
        ),
        fields.field(
            "public_holiday_country_code",
            say("Public holidays"),
            fields.search(ids.COUNTRY_SEARCH, Option(country, country) if country else None),
            hint=say(
                "Empty: the organisation's. A country alone means its national holidays only."
            ),
            is_optional=True,
        ),
        fields.actions(_switch(user)),
    ]
    return fields.modal(say("Person"), blocks, ids.PERSON_FORM, say("Save"), say("Back"), user.id)


def deactivation(user: User, effects: Effects) -> dict[str, Any]:
    """What follows when the person is switched off, asked before it is done."""
    lines = [
        say(
            "{name} can neither use Hiatus nor decide on leave until switched on again. Requests "
            "stay as they are.",
            name=text.cut(user.name, 200),
        ),
        *effects_lines(effects),
    ]
    shown: Block = {"type": "section", "text": text.verbatim("\n".join(lines))}
    return fields.modal(
        say("Deactivate"),
        [shown],
        ids.PERSON_DEACTIVATE_FORM,
        say("Deactivate"),
        say("Back"),
        user.id,
    )


def effects_lines(effects: Effects) -> list[str]:
    """What else follows from a change, a line each; nothing that does not happen."""
    lines = [
        say_count("{count} request changes.", "{count} requests change.", len(effects.leave)),
        say_count(
            "{count} request then awaits others.",
            "{count} requests then await others.",
            len(effects.rerouted),
        ),
        say_count(
            "{count} API key stops working.", "{count} API keys stop working.", effects.api_keys
        ),
        say_count(
            "{count} calendar link stops working.",
            "{count} calendar links stop working.",
            effects.calendar_feeds,
        ),
    ]
    numbers = (
        len(effects.leave),
        len(effects.rerouted),
        effects.api_keys,
        effects.calendar_feeds,
    )
    return [f"• {line}" for number, line in zip(numbers, lines, strict=True) if number]


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
        fields.field("name", say("Name"), fields.typed(one and one.name)),
        fields.field(
            "manager_id",
            say("Manager"),
            fields.search(ids.PERSON_SEARCH, manager and person_option(manager)),
            hint=say("Decides on the leave of those who have no manager of their own."),
            is_optional=True,
        ),
        fields.field(
            "default_leave_allowance",
            say("Allowance in days a year"),
            fields.number(None if allowance is None else allowance / 2, most=366, has_halves=True),
            hint=say("Empty: the organisation's."),
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
            "{name} is deleted, unless somebody still belongs to it.",
            name=text.cut(one.name, text.LONGEST_NAME),
        ),
        say("Delete"),
        say("Keep it"),
    )
    blocks.append(fields.actions(delete))
    return fields.modal(
        say("Department"), blocks, ids.DEPARTMENT_FORM, say("Save"), say("Back"), one.id
    )


def _departments(departments: Sequence[Department]) -> list[Option]:
    named = sorted(departments, key=lambda one: (one.name.casefold(), one.id))
    return [Option(one.name, one.id) for one in named]


def _switch(user: User) -> Block:
    if user.status != "deactivated":
        return fields.button(say("Deactivate…"), ids.PERSON_DEACTIVATE, user.id, "danger")
    back = fields.button(say("Reactivate"), ids.PERSON_REACTIVATE, user.id)
    back["confirm"] = fields.confirm(
        say("Switch this person on again?"),
        say("Keys and calendar links answer again, and approvals come again."),
        say("Reactivate"),
        say("Not now"),
    )
    return back
