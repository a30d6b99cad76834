"""Admin settings: people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from bot.admin_views import consequences
from bot.admin_views.consequences import NamedEffects
from bot.admin_views.countries import country_option
from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text, words
from bot.blocks.fields import Option
from storage.base.values import ROLES, Department, User
from storage.leave.people_facts import People, PersonFacts
from storage.rules import employment_terms

_STATUSES: Final[Mapping[str, str]] = {
    "pending": gettext_noop("Hasn't used Hiatus yet"),
    "active": gettext_noop("Active"),
    "deactivated": gettext_noop("Deactivated"),
    "archived": gettext_noop("Archived"),
}


def people(listed: People) -> View:
    """A search, and the first people: an organisation may have thousands of them."""
    add = layout.button(gettext("Add a person"), ids.PERSON_NEW)
    pick = fields.external_select(ids.PEOPLE_PICK, placeholder=gettext("Name or e-mail address"))
    blocks = [
        layout.actions(add),
        text.quiet(
            gettext(
                "To add many people at once, ask the people who run Hiatus to import a CSV file "
                "with `hiatus import`."
            )
        ),
        text.section(gettext("Find someone to edit")),
        layout.actions(pick),
        *map(_listed, listed.people),
    ]
    if listed.has_more:
        blocks.append(text.quiet(gettext("Search above to find everyone else.")))
    return layout.modal(gettext("People"), blocks)


def _listed(person: PersonFacts) -> Block:
    user = person.user
    facts = [words.role(user.role)]
    if user.status != "active":
        facts.append(gettext(_STATUSES[user.status]))
    if person.department_name is not None:
        facts.append(text.name(person.department_name))
    facts.append(
        gettext("Manager: {name}", name=text.name(person.manager_name))
        if person.manager_name
        else gettext("No manager")
    )
    left = words.amount(person.remaining_half_days)
    facts.append(gettext("{amount} left in {year}", amount=left, year=person.year_name))
    options = [
        (gettext("Edit"), ids.MENU_EDIT),
        (gettext("Balance"), ids.MENU_BALANCE),
        *([] if user.status == "deactivated" else [(gettext("Deactivate…"), ids.MENU_DEACTIVATE)]),
        (gettext("Archive…"), ids.MENU_ARCHIVE),
    ]
    menu = layout.menu(ids.PERSON_MENU, options, user.id)
    return {**layout.row(user.name or user.email, facts), "accessory": menu}


def person_options(users: Sequence[User], *, with_no_one: bool) -> list[Block]:
    no_one = (
        [fields.option(Option(label=gettext("No one"), value=ids.NOTHING))] if with_no_one else []
    )
    return no_one + [fields.option(person_option(user)) for user in users]


def person_option(user: User) -> Option:
    name = user.name or user.email
    return Option(label=f"{text.cut(name, 40)} ({user.email})", value=user.id)


def person(
    user: User,
    manager: User | None,
    departments: Sequence[Department],
    country_name: str | None,
    effective_from: date,
    organisation_days: Sequence[str],
) -> View:
    """The form; ``country_name`` is that of the person's own public holidays, if any.

    ``effective_from`` is the day that is proposed for changes.
    """
    head = f"{text.cut(user.name, 200)}\n{user.email}\n{gettext(_STATUSES[user.status])}"
    allowance = user.leave_allowance_half_days
    country = user.public_holiday_country_code
    blocks: list[Block] = [
        text.paragraph(head),
        *_account(user),
        *_role_fields(departments, user, manager),
        *fields.week_fields(
            user.working_days or organisation_days,
            gettext("As long as they match the organisation's, they follow its changes."),
        ),
        fields.field(
            "leave_allowance",
            gettext("Allowance (days per year)"),
            fields.days_input(allowance),
            hint=gettext("Leave empty to use the department's or organisation's."),
            is_optional=True,
        ),
        fields.field(
            "public_holiday_country_code",
            gettext("Public holidays"),
            fields.external_select(
                ids.COUNTRY_SEARCH,
                country_option(country, country_name) if country and country_name else None,
            ),
            hint=gettext(
                "Leave empty to use the organisation's. Without a region, only national "
                "holidays apply."
            ),
            is_optional=True,
        ),
        fields.field(
            "effective_from",
            gettext("From when?"),
            fields.date_picker(effective_from),
            hint=gettext(
                "For changes of department, working days, allowance and public holidays. If only "
                "the allowance changes today, it counts for the whole leave year."
            ),
        ),
        *_planned(user, effective_from),
        fields.field(
            "start_date",
            gettext("First day of work"),
            fields.date_picker(user.start_date),
            is_optional=True,
        ),
        fields.field(
            "end_date",
            gettext("Last day of work"),
            fields.date_picker(user.end_date),
            hint=gettext(
                "Leave after this day is cancelled, and the person is archived the day after."
            ),
            is_optional=True,
        ),
    ]
    if buttons := _status_buttons(user):
        blocks.append(layout.actions(*buttons))
    return layout.modal(
        gettext("Person"), blocks, ids.PERSON_FORM, gettext("Save"), gettext("Back"), user.id
    )


def _planned(user: User, today: date) -> list[Block]:
    """The days on which changes are planned."""
    days = [
        record.valid_from
        for record in employment_terms.records_of(user)
        if record.valid_from is not None and record.valid_from > today
    ]
    if not days:
        return []
    shown = words.names([words.day(day) for day in days])
    return [text.quiet(gettext("Changes are already planned from {days}.", days=shown))]


def deactivation(user: User, named_effects: NamedEffects) -> View:
    """The effects of deactivating a person, before it is confirmed."""
    intro = gettext(
        "{name} can't use Hiatus or approve leave until they are reactivated. Their requests "
        "stay as they are.",
        name=text.cut(user.name, 200),
    )
    return consequences.confirmation(
        gettext("Deactivate"),
        intro,
        named_effects,
        ids.PERSON_DEACTIVATE_FORM,
        gettext("Deactivate"),
        user.id,
    )


def archiving(user: User, named_effects: NamedEffects) -> View:
    """The effects of archiving a person, before it is confirmed."""
    intro = gettext(
        "{name} will be removed from Hiatus. Upcoming leave is cancelled, and past leave is "
        "kept for your records. You can restore the person through the API, but not their "
        "leave.",
        name=text.cut(user.name, 200),
    )
    return consequences.confirmation(
        gettext("Archive"),
        intro,
        named_effects,
        ids.PERSON_ARCHIVE_FORM,
        gettext("Archive"),
        user.id,
    )


def new_person(departments: Sequence[Department]) -> View:
    """The form for a new person, from Slack or by e-mail address."""
    blocks = [
        fields.field(
            "slack_user_id",
            gettext("Person in Slack"),
            {"type": "users_select"},
            hint=gettext("Name and e-mail address come from Slack unless you enter them below."),
            is_optional=True,
        ),
        fields.field(
            "email",
            gettext("E-mail address"),
            fields.text_input(longest=254),
            is_optional=True,
        ),
        fields.field("first_name", gettext("First name"), fields.text_input(), is_optional=True),
        fields.field("last_name", gettext("Last name"), fields.text_input(), is_optional=True),
        *_role_fields(departments),
    ]
    return layout.modal(
        gettext("Add a person"), blocks, ids.PERSON_NEW_FORM, gettext("Add"), gettext("Back")
    )


def department_options(departments: Iterable[Department], typed: str) -> list[Block]:
    """Departments whose name contains the typed text, by name; at most 99, plus "none"."""
    query = typed.casefold().strip()
    matching = [
        option for option in _department_options(departments) if query in option.label.casefold()
    ]
    return [
        fields.option(option) for option in [_no_department(), *matching[: fields.MAX_OPTIONS - 1]]
    ]


def _role_fields(
    departments: Sequence[Department], user: User | None = None, manager: User | None = None
) -> list[Block]:
    roles = [Option(label=words.role(role), value=role) for role in ROLES]
    return [
        fields.field(
            "role", gettext("Role"), fields.select(roles, user.role if user else ROLES[0])
        ),
        fields.field(
            "department_id",
            gettext("Department"),
            department_select(
                departments, user.department_id if user else None, gettext("No department")
            ),
        ),
        fields.field(
            "manager_id",
            gettext("Manager"),
            fields.external_select(ids.PERSON_SEARCH, person_option(manager) if manager else None),
            hint=gettext("Approves this person's leave. If empty, the department's manager does."),
            is_optional=True,
        ),
    ]


def department_select(departments: Sequence[Department], chosen: str | None, none: str) -> Block:
    """A menu, or a search if there are more options than a menu can have.

    ``none`` is the option without a department.
    """
    options = [Option(label=none, value=ids.NOTHING), *_department_options(departments)]
    if len(options) <= fields.MAX_OPTIONS:
        return fields.select(options, chosen or ids.NOTHING)
    first = [option for option in options if option.value == (chosen or ids.NOTHING)]
    return fields.external_select(ids.DEPARTMENT_SEARCH, first[0] if first else None)


def _no_department() -> Option:
    return Option(label=gettext("No department"), value=ids.NOTHING)


def _department_options(departments: Iterable[Department]) -> list[Option]:
    by_name = sorted(
        departments, key=lambda department: (department.name.casefold(), department.id)
    )
    return [Option(label=department.name, value=department.id) for department in by_name]


def _status_buttons(user: User) -> list[Block]:
    archive = layout.button(gettext("Archive…"), ids.PERSON_ARCHIVE, user.id, "danger")
    if user.status == "archived":
        return []
    balance = layout.button(gettext("Balance"), ids.PERSON_BALANCE, user.id)
    buttons = [balance, layout.button(gettext("Deactivate…"), ids.PERSON_DEACTIVATE, user.id)]
    if user.status == "deactivated":
        back = layout.button(gettext("Reactivate"), ids.PERSON_REACTIVATE, user.id)
        back["confirm"] = layout.confirm(
            gettext("Reactivate this person?"),
            gettext(
                "Their API keys and calendar links will work again, and they'll get approval "
                "requests again."
            ),
            gettext("Reactivate"),
            gettext("Not now"),
        )
        buttons = [balance, back]
    if user.slack_user_id is not None:
        buttons.append(_unlink(user))
    return [*buttons, archive]


def _account(user: User) -> list[Block]:
    """The linked Slack account, as a mention that Slack shows with its name."""
    if user.slack_user_id is None:
        return []
    account = f"<@{user.slack_user_id}>"
    return [text.section(gettext("Slack account: {account}", account=account))]


def _unlink(user: User) -> Block:
    button = layout.button(gettext("Unlink from Slack"), ids.PERSON_UNLINK, user.id)
    button["confirm"] = layout.confirm(
        gettext("Unlink this Slack account?"),
        gettext(
            "This Slack account can no longer act for this person. The next account with "
            "their confirmed e-mail address will be linked instead."
        ),
        gettext("Unlink"),
        gettext("Not now"),
    )
    return button
