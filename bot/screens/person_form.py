"""Settings: the form of a person, and of a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, locale
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.client import slack_web
from bot.interaction import listening, modals
from bot.interaction.interaction import Interaction
from bot.screens import forms, screen, searches
from bot.screens import opening_figures as opening_figures_screen
from bot.screens.forms import Form
from bot.screens.screen import Saving
from storage.admin import people
from storage.base import texts
from storage.base.allowance_values import Amount
from storage.base.errors import EmailTaken, FieldError, InvalidInput
from storage.base.values import ROLES, Caller, Department, User, local_day
from storage.db.database import Transaction
from storage.leave import opening_figures
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, people_lists, people_rows
from storage.people.people_rows import SlackProfile
from storage.rules import employment_terms, holiday_calendar, leave_years
from storage.workspaces import slack_profiles
from storage.workspaces.join_policy import NotAMember

# Also that of what follows: the list of people, and what is done with a person.
NAME: Final = "settings.people"
STATUSES: Final[Mapping[str, str]] = {
    "pending": gettext_noop("Hasn't used Hiatus yet"),
    "active": gettext_noop("Active"),
    "deactivated": gettext_noop("Deactivated"),
    "archived": gettext_noop("Archived"),
}


_NEEDED: Final = gettext_noop("Required unless you choose a person in Slack.")


def read_form(tx: Transaction, interaction: Interaction, by: Caller, user_id: str) -> View:
    user = people_rows.get(tx, user_id, by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    code = user.public_holiday_country_code
    return form_view(
        user,
        people_lists.option(tx, user.manager_id, by=by),
        list(config.departments.values()),
        holiday_calendar.country_name(code, locale()) if code else None,
        _proposed_day(config, user, interaction.now),
        config.organisation.working_days,
    )


def form_view(
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
    head = f"{layout.cut(user.name, 200)}\n{user.email}\n{gettext(STATUSES[user.status])}"
    country = user.public_holiday_country_code
    blocks: list[Block] = [
        layout.paragraph(head),
        *_account(user),
        *_role_fields(departments, user, manager),
        _number_field(user.employee_number),
        *fields.week_fields(
            user.working_days or organisation_days,
            gettext("As long as they match the organisation's, they follow its changes."),
        ),
        _allowance_field(user.leave_allowance_half_days),
        fields.field(
            "public_holiday_country_code",
            gettext("Public holidays"),
            searches.country_select((country, country_name) if country and country_name else None),
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
    return screen.form_view(f"{NAME}.form", gettext("Person"), blocks, user.id)


def _number_field(number: str | None) -> Block:
    return fields.field(
        "employee_number",
        gettext("Employee number"),
        fields.text_input(number, longest=texts.MAX_EMPLOYEE_NUMBER_LENGTH),
        hint=gettext("As your payroll writes it. Reports show it."),
        is_optional=True,
    )


def _allowance_field(half_days: Amount | None) -> Block:
    return fields.field(
        "leave_allowance",
        gettext("Allowance (days per year)"),
        fields.days_input(half_days),
        hint=gettext("Leave empty to use the department's or organisation's."),
        is_optional=True,
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
    return [layout.quiet(gettext("Changes are already planned from {days}.", days=shown))]


def _status_buttons(user: User) -> list[Block]:
    archive = layout.button(gettext("Archive…"), f"{NAME}.archive", user.id, "danger")
    if user.status == "archived":
        return []
    balance = layout.button(gettext("Balance"), f"{NAME}.balance", user.id)
    buttons = [balance, layout.button(gettext("Deactivate…"), f"{NAME}.deactivate", user.id)]
    if user.status == "deactivated":
        back = layout.button(gettext("Reactivate"), f"{NAME}.reactivate", user.id)
        back["confirm"] = layout.confirm(
            gettext("Reactivate this person?"),
            gettext(
                "Their API keys and calendar links will work again, and they'll get approval "
                "requests again."
            ),
            gettext("Reactivate"),
            gettext("Not now"),
            "primary",
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
    return [layout.section(gettext("Slack account: {account}", account=account))]


def _unlink(user: User) -> Block:
    button = layout.button(gettext("Unlink from Slack"), f"{NAME}.unlink", user.id)
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


def _save(tx: Transaction, saving: Saving) -> object:
    changes = _changes(tx, saving.form, by=saving.by, now=saving.now)
    return people.update(
        tx, saving.form.about, changes, by=saving.by, now=saving.now, recorder=saving.recorder
    )


def _changes(tx: Transaction, form: Form, *, by: Caller, now: datetime) -> dict[str, object]:
    """The form's values; of the dated ones those that differ from today's.

    A planned record keeps its other values that way.
    """
    user = people_rows.get(tx, form.about, by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    values = _role_values(form)
    dated: dict[str, object] = {
        "department_id": values.pop("department_id"),
        "working_days": _own_days(form, user, config),
        "leave_allowance_half_days": form.half_days("leave_allowance"),
        "public_holiday_country_code": form.chosen("public_holiday_country_code"),
    }
    dated = {name: value for name, value in dated.items() if getattr(user, name) != value}
    start_date = form.day("start_date")
    values |= dated | {
        "employee_number": form.text("employee_number"),
        "start_date": start_date,
        "end_date": form.day("end_date"),
    }
    day = form.day("effective_from")
    if dated and day is not None and day != local_day(now, config.organisation.timezone):
        values["effective_from"] = max(day, start_date or day)
    return values


def _own_days(form: Form, user: User, config: OrganisationConfig) -> tuple[str, ...] | None:
    """The person's own working days; None if they are the organisation's.

    Own days that equal the organisation's stay own until they are changed.
    """
    chosen = tuple(form.working_days())
    if chosen == user.working_days:
        return chosen
    return None if chosen == config.organisation.working_days else chosen


def _proposed_day(config: OrganisationConfig, user: User, now: datetime) -> date:
    """Today; for a person who was added today, the first day of their work or leave year."""
    timezone = config.organisation.timezone
    today = local_day(now, timezone)
    if local_day(user.created_at, timezone) != today or user.employment is not None:
        return today
    rule = allowance_terms.leave_year_rule(config, user)
    first_day = leave_years.leave_year_containing(rule, today).first_day
    return min(user.start_date or first_day, today)


def _read_new(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return new_view(list(config.departments.values()))


def new_view(departments: Sequence[Department]) -> View:
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
        _number_field(None),
        fields.field(
            "start_date",
            gettext("First day of work"),
            fields.date_picker(),
            hint=gettext("Leave empty if they have worked here for the whole leave year."),
            is_optional=True,
        ),
        _allowance_field(None),
        fields.field(
            "days_left",
            gettext("Days left today"),
            fields.days_input(None),
            hint=gettext(
                "If they took leave before Hiatus. Leave empty if they have their whole allowance."
            ),
            is_optional=True,
        ),
    ]
    return screen.form_view(f"{NAME}.new.form", gettext("Add a person"), blocks)


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
            searches.department_select(
                departments, user.department_id if user else None, gettext("No department")
            ),
        ),
        fields.field(
            "manager_id",
            gettext("Manager"),
            searches.person_select(manager),
            hint=gettext("Approves this person's leave. If empty, the department's manager does."),
            is_optional=True,
        ),
    ]


async def _add_person(interaction: Interaction) -> None:
    """Add a person and show their other settings in place of the form."""
    by, form = await modals.admin(interaction), Form(interaction)
    profile, values = None, _identity(form) | _role_values(form) | _figures(form)
    days_left = form.half_days("days_left")
    if slack_user_id := form.chosen("slack_user_id"):
        try:
            member = await listening.full_member(interaction, slack_user_id)
        except NotAMember as refusal:
            await modals.show_error(interaction, refusal)
            return
        profile = slack_web.profile_of(member)
    added = await modals.run_once(
        interaction,
        lambda tx: _add(tx, profile, values, days_left, by=by, interaction=interaction),
    )
    if added is not None:
        await modals.replace_form(
            interaction, await screen.view(interaction, read_form, by, added.id)
        )


def _identity(form: Form) -> dict[str, object]:
    typed = {name: form.text(name) for name in ("email", "first_name", "last_name")}
    return {name: value for name, value in typed.items() if value is not None}


def _figures(form: Form) -> dict[str, object]:
    values = {
        "employee_number": form.text("employee_number"),
        "start_date": form.day("start_date"),
        "leave_allowance_half_days": form.half_days("leave_allowance"),
    }
    return {name: value for name, value in values.items() if value is not None}


def _role_values(form: Form) -> dict[str, object]:
    return {
        "role": form.chosen("role"),
        "department_id": form.chosen("department_id"),
        "manager_id": form.chosen("manager_id"),
    }


def _add(
    tx: Transaction,
    profile: SlackProfile | None,
    values: dict[str, object],
    days_left: Amount | None,
    *,
    by: Caller,
    interaction: Interaction,
) -> User:
    """Add the person, and adjust their allowance if they have other days left than it says."""
    user = _create(tx, profile, values, by=by, interaction=interaction)
    if days_left is not None:
        opening_figures.save_of(
            tx,
            user,
            days_left,
            reason_of=opening_figures_screen.reason_of,
            by=by,
            now=interaction.now,
        )
    return user


def _create(
    tx: Transaction,
    profile: SlackProfile | None,
    values: dict[str, object],
    *,
    by: Caller,
    interaction: Interaction,
) -> User:
    if profile is not None:
        return slack_profiles.add_member(tx, profile, values, by=by, now=interaction.now)
    missing = [name for name in ("email", "first_name", "last_name") if name not in values]
    if missing:
        raise InvalidInput(
            [FieldError(pointer=f"/{name}", code="required", detail=_NEEDED) for name in missing]
        )
    try:
        return people.create(tx, values, by=by, now=interaction.now)
    except EmailTaken as refusal:
        raise InvalidInput.of("email", refusal.code, refusal.detail) from refusal


def register(app: AsyncApp) -> None:
    app.action(searches.PEOPLE_PICK)(screen.opens(read_form))
    app.action(ids.OPEN_PERSON)(screen.opens(read_form))
    forms.register(app, f"{NAME}.form", screen.confirms(_save))
    app.action(f"{NAME}.new")(screen.opens(_read_new))
    app.view(f"{NAME}.new.form")(_add_person)
