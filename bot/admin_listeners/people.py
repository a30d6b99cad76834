"""Admin settings: add, edit, deactivate and archive people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Final, Protocol

from slack_bolt.async_app import AsyncApp

from bot.admin_views import people as views
from bot.admin_views import person_balance as balance_views
from bot.admin_views.consequences import NamedEffects
from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext, gettext_noop, locale
from bot.base.payloads import UnexpectedPayload
from bot.client import slack_web
from bot.interaction import forms, identity, modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from bot.views import notice
from storage.admin import people, people_status
from storage.admin.effects import EffectsRecorder
from storage.base.amounts import adjustment_half_days_of
from storage.base.clock import local_day
from storage.base.errors import EmailTaken, FieldError, InvalidInput
from storage.base.values import Caller, User
from storage.db.database import Transaction
from storage.directory import people_lists, people_rows
from storage.directory.slack_accounts import SlackProfile
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import adjustments, leave_balances, ledgers, people_facts
from storage.rules import holiday_calendar, leave_years
from storage.slack import slack_profiles
from storage.slack.join_policy import NotAMember

_NEEDED: Final = gettext_noop("Required unless you choose a person in Slack.")


async def search(interaction: Interaction) -> None:
    """Open the search for a person, with the first people by name."""
    await interaction.ack()
    by = await modals.admin(interaction)
    listed = await interaction.services.database.read(
        people_facts.first_by_name, by=by, now=interaction.now
    )
    await interaction.open(views.people(listed))


async def act_on_person(interaction: Interaction) -> None:
    """What was chosen in the menu of a person in the list."""
    match interaction.choice:
        case ids.MENU_EDIT:
            await person(interaction)
        case ids.MENU_BALANCE:
            await person_balance(interaction)
        case ids.MENU_DEACTIVATE:
            await ask_deactivation(interaction)
        case ids.MENU_ARCHIVE:
            await ask_archiving(interaction)
        case unknown:
            raise UnexpectedPayload(unknown)


async def person_balance(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    user_id = interaction.value

    def read(tx: Transaction) -> View:
        user = people_rows.get(tx, user_id, by=by)
        balance = ledgers.balance(tx, user_id, on=None, by=by, now=interaction.now)
        return balance_views.balance(user, balance)

    await interaction.open(await interaction.services.database.read(read))


async def adjust(interaction: Interaction) -> None:
    """Adjust the balance, and say in place of the form what is left."""
    by, form = await modals.admin(interaction), Form(interaction)

    def save(tx: Transaction) -> View:
        adjustments.add(
            tx,
            form.about,
            half_days=adjustment_half_days_of(form.number("days") or 0, "days"),
            reason=form.text("reason") or "",
            leave_year=form.whole("leave_year") or 0,
            by=by,
            now=interaction.now,
        )
        user = people_rows.get(tx, form.about, by=by)
        balance = ledgers.balance(tx, user.id, on=None, by=by, now=interaction.now)
        return balance_views.adjusted(user, balance)

    done = await modals.run_once(interaction, save)
    if done is not None:
        await modals.replace_form(interaction, done)


async def offer_people(interaction: Interaction) -> None:
    """The people that match the typed text."""
    by = await modals.admin(interaction)
    typed = str(interaction.body.get("value") or "")
    users = await interaction.services.database.read(people_lists.find, typed, by=by)
    with_no_one = interaction.body["action_id"] == ids.PERSON_SEARCH
    await interaction.ack(options=views.person_options(users, with_no_one=with_no_one))


async def offer_departments(interaction: Interaction) -> None:
    """The departments that match the typed text."""
    by = await modals.admin(interaction)
    typed = str(interaction.body.get("value") or "")
    config = await interaction.services.database.read(
        organisation_config.of_organisation, by.organisation_id
    )
    await interaction.ack(options=views.department_options(config.departments.values(), typed))


async def person(interaction: Interaction) -> None:
    """Open the form of the person who was picked."""
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _person(interaction, by, interaction.value))


async def save_person(interaction: Interaction) -> None:
    by, form = await modals.admin(interaction), Form(interaction)

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        changes = _changes(tx, form, by=by, now=interaction.now)
        return people.update(tx, form.about, changes, by=by, now=interaction.now, recorder=recorder)

    if await forms.submit(interaction, form, save, by=by) is not None:
        await interaction.ack()


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
    values |= dated | {"start_date": start_date, "end_date": form.day("end_date")}
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
    rule = leave_balances.leave_year_rule(config, user)
    first_day = leave_years.leave_year_containing(rule, today).first_day
    return min(user.start_date or first_day, today)


async def new_person(interaction: Interaction) -> None:
    """Open the form that adds a person."""
    await interaction.ack()
    by = await modals.admin(interaction)
    config = await interaction.services.database.read(
        organisation_config.of_organisation, by.organisation_id
    )
    await interaction.open(views.new_person(list(config.departments.values())))


async def add_person(interaction: Interaction) -> None:
    """Add a person and show their other settings in place of the form."""
    by, form = await modals.admin(interaction), Form(interaction)
    profile, values = None, _identity(form) | _role_values(form)
    if slack_user_id := form.chosen("slack_user_id"):
        try:
            member = await identity.full_member(interaction, slack_user_id)
        except NotAMember as refusal:
            await modals.show_error(interaction, refusal)
            return
        profile = slack_web.profile_of(member)
    added = await modals.run_once(
        interaction,
        lambda tx: _add(tx, profile, values, by=by, interaction=interaction),
    )
    if added is not None:
        await modals.replace_form(interaction, await _person(interaction, by, added.id))


def _identity(form: Form) -> dict[str, object]:
    typed = {name: form.text(name) for name in ("email", "first_name", "last_name")}
    return {name: value for name, value in typed.items() if value is not None}


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


async def ask_deactivation(interaction: Interaction) -> None:
    """Show the effects and ask to confirm."""
    await _ask(interaction, people_status.deactivate, views.deactivation)


async def deactivate(interaction: Interaction) -> None:
    by, form = await modals.admin(interaction), Form(interaction)
    done = await modals.run_once(
        interaction,
        lambda tx: people_status.deactivate(tx, form.about, by=by, now=interaction.now),
    )
    if done is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _person(interaction, by, done.id))


async def reactivate(interaction: Interaction) -> None:
    """Reactivate the person; Slack has asked for confirmation."""
    await _change(interaction, people_status.reactivate)


async def unlink(interaction: Interaction) -> None:
    """Separate the person from their Slack account; Slack has asked for confirmation."""
    await _change(interaction, slack_profiles.unlink)


async def _change(interaction: Interaction, change: _PersonChange) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    user_id = interaction.value
    await interaction.services.database.write(change, user_id, by=by, now=interaction.now)
    await modals.refresh(interaction, await _person(interaction, by, user_id))


async def ask_archiving(interaction: Interaction) -> None:
    """Show the effects and ask to confirm."""
    await _ask(interaction, people_status.archive, views.archiving)


async def archive(interaction: Interaction) -> None:
    by, form = await modals.admin(interaction), Form(interaction)
    done = await modals.run_once(
        interaction,
        lambda tx: people_status.archive(tx, form.about, by=by, now=interaction.now),
    )
    if done is not None:
        await interaction.ack()
        sentence = gettext("{name} was archived.", name=done.name)
        await modals.refresh_below(interaction, notice.view(gettext("Person"), sentence))


class _PersonChange(Protocol):
    """Reactivate or unlink a person."""

    def __call__(self, tx: Transaction, user_id: str, /, *, by: Caller, now: datetime) -> User: ...


class _StatusChange(Protocol):
    """Archive or deactivate a person."""

    def __call__(
        self,
        tx: Transaction,
        user_id: str,
        *,
        by: Caller,
        now: datetime,
        recorder: EffectsRecorder | None,
    ) -> User: ...


async def _ask(
    interaction: Interaction,
    change: _StatusChange,
    question: Callable[[User, NamedEffects], View],
) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    user_id = interaction.value

    def dry_run(tx: Transaction) -> View:
        user = people_rows.get(tx, user_id, by=by)
        named_effects = forms.effects_of(
            tx,
            lambda tx, recorder: change(tx, user_id, by=by, now=interaction.now, recorder=recorder),
            by=by,
        )
        return question(user, named_effects)

    await interaction.open(await interaction.services.database.dry_run(dry_run))


async def _person(interaction: Interaction, by: Caller, user_id: str) -> View:
    def read(tx: Transaction) -> View:
        user = people_rows.get(tx, user_id, by=by)
        config = organisation_config.of_organisation(tx, by.organisation_id)
        manager = people_lists.option(tx, user.manager_id, by=by)
        code = user.public_holiday_country_code
        country = holiday_calendar.country_name(code, locale()) if code else None
        proposed = _proposed_day(config, user, interaction.now)
        return views.person(
            user,
            manager,
            list(config.departments.values()),
            country,
            proposed,
            config.organisation.working_days,
        )

    # Loading the countries takes a second, once per process.
    return await interaction.services.database.read(read)


def register(app: AsyncApp) -> None:
    app.action(ids.PEOPLE)(search)
    app.options(ids.PEOPLE_PICK)(offer_people)
    app.options(ids.PERSON_SEARCH)(offer_people)
    app.options(ids.DEPARTMENT_SEARCH)(offer_departments)
    app.action(ids.PEOPLE_PICK)(person)
    app.action(ids.PERSON_MENU)(act_on_person)
    app.action(ids.PERSON_BALANCE)(person_balance)
    app.view(ids.ADJUSTMENT_FORM)(adjust)
    forms.register(app, ids.PERSON_FORM, save_person)
    app.action(ids.PERSON_NEW)(new_person)
    app.view(ids.PERSON_NEW_FORM)(add_person)
    app.action(ids.PERSON_DEACTIVATE)(ask_deactivation)
    app.view(ids.PERSON_DEACTIVATE_FORM)(deactivate)
    app.action(ids.PERSON_REACTIVATE)(reactivate)
    app.action(ids.PERSON_UNLINK)(unlink)
    app.action(ids.PERSON_ARCHIVE)(ask_archiving)
    app.view(ids.PERSON_ARCHIVE_FORM)(archive)
