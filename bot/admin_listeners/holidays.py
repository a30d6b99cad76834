"""Admin settings: public holidays and their overrides."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, Literal

from slack_bolt.async_app import AsyncApp

from bot.admin_views import holidays as views
from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext, gettext_noop, locale
from bot.base.payloads import UnexpectedPayload
from bot.interaction import forms, modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from bot.views import notice
from storage.admin import holiday_overrides, holiday_set_changes
from storage.admin.effects import EffectsRecorder
from storage.admin.holiday_overrides import NewOverride
from storage.base.calendar_values import HolidayOverride
from storage.base.clock import local_day
from storage.base.errors import AlreadyExists, InvalidInput
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import holiday_sets, public_holidays
from storage.events import organisation_config
from storage.rules import holiday_calendar

_SETS_SHOWN: Final = 40
_OVERRIDES_SHOWN: Final = 30


async def list_sets(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _sets(interaction, by))


async def more_sets(interaction: Interaction) -> None:
    """Show the next part of the list."""
    await interaction.ack()
    by = await modals.admin(interaction)
    await modals.refresh(interaction, await _sets(interaction, by, interaction.value))


async def new_set(interaction: Interaction) -> None:
    """Open the form that adds a country."""
    await interaction.ack()
    await modals.admin(interaction)
    await interaction.open(views.set_form())


async def add_set(interaction: Interaction) -> None:
    by = await modals.admin(interaction)
    code = Form(interaction).chosen("country_code") or ""
    added = await modals.run_once(
        interaction,
        lambda tx: holiday_set_changes.add(tx, code, by=by, now=interaction.now),
    )
    if added is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _sets(interaction, by))


async def remove_set(interaction: Interaction) -> None:
    """Remove an unused country; Slack has asked for confirmation."""
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.services.database.write(
        holiday_set_changes.remove, interaction.value, by=by, now=interaction.now
    )
    done = notice.view(gettext("Public holidays"), gettext("The country was removed."))
    await modals.refresh(interaction, done)
    await modals.refresh_below(interaction, await _sets(interaction, by))


async def choose_categories(interaction: Interaction) -> None:
    """Open the form that chooses which days of the country's calendar are days off."""
    await interaction.ack()
    by = await modals.admin(interaction)

    def read(tx: Transaction) -> View:
        config = organisation_config.of_organisation(tx, by.organisation_id)
        holiday_set = holiday_sets.get(config, interaction.value)
        today = local_day(interaction.now, config.organisation.timezone)
        added = holiday_calendar.days_by_category(
            holiday_set.country_code, today, today + timedelta(days=364)
        )
        return views.categories_form(holiday_set, added)

    await interaction.open(await interaction.services.database.read(read))


async def change_categories(interaction: Interaction) -> None:
    """Change the categories and recalculate leave."""
    by, form = await modals.admin(interaction), Form(interaction)

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        chosen = form.several("categories")
        return holiday_set_changes.change_categories(
            tx, form.about, chosen, by=by, now=interaction.now, recorder=recorder
        )

    if await forms.submit(interaction, form, save, by=by) is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _overrides(interaction, by, form.about))


async def list_overrides(interaction: Interaction) -> None:
    """Open the days on which a set differs from its country."""
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _overrides(interaction, by, interaction.value))


async def more_overrides(interaction: Interaction) -> None:
    """Show the next part of the list."""
    await interaction.ack()
    by = await modals.admin(interaction)
    shown = await _overrides(interaction, by, interaction.private_metadata, interaction.value)
    await modals.refresh(interaction, shown)


async def new_override(interaction: Interaction) -> None:
    """Open the form that changes a day."""
    await interaction.ack()
    await modals.admin(interaction)
    await interaction.open(views.override_form(interaction.value))


async def override_of_day(interaction: Interaction) -> None:
    """Open the form that changes a public holiday."""
    await interaction.ack()
    await modals.admin(interaction)
    set_id, _, day = interaction.value.partition(" ")
    try:
        await interaction.open(views.override_form(set_id, date.fromisoformat(day)))
    except ValueError as error:
        raise UnexpectedPayload(interaction.value) from error


async def add_override(interaction: Interaction) -> None:
    """Add an override and recalculate leave."""
    by, form = await modals.admin(interaction), Form(interaction)

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        return _add(tx, interaction, form, recorder, by=by)

    if await forms.submit(interaction, form, save, by=by) is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _overrides(interaction, by, form.about))


def _add(
    tx: Transaction,
    interaction: Interaction,
    form: Form,
    recorder: EffectsRecorder | None,
    *,
    by: Caller,
) -> HolidayOverride:
    """Raises InvalidInput and the errors of ``holiday_overrides.add``."""
    day = form.day("date")
    if day is None:
        raise InvalidInput.of("date", "required", gettext_noop("Choose a day."))
    is_holiday = form.chosen("is_holiday") != views.WORK
    new = NewOverride(
        date=day,
        name=form.text("name"),
        is_holiday=is_holiday,
        half=_half(form.chosen("half")),
        every_year=views.EVERY_YEAR in form.several(views.EVERY_YEAR),
    )
    try:
        return holiday_overrides.add(
            tx, form.about, new, by=by, now=interaction.now, recorder=recorder
        )
    except AlreadyExists as refusal:
        raise InvalidInput.of("date", "already_exists", refusal.detail) from refusal


async def ask_removal(interaction: Interaction) -> None:
    """Show the effects of removing an override and ask to confirm."""
    await interaction.ack()
    by = await modals.admin(interaction)
    set_id, override_id = interaction.private_metadata, interaction.value

    def dry_run(tx: Transaction) -> View:
        config = organisation_config.of_organisation(tx, by.organisation_id)
        override = holiday_overrides.get(tx, set_id, override_id, by=by)
        named_effects = forms.effects_of(
            tx,
            lambda tx, recorder: holiday_overrides.remove(
                tx, set_id, override_id, by=by, now=interaction.now, recorder=recorder
            ),
            by=by,
        )
        return views.removal(holiday_sets.get(config, set_id), override, named_effects)

    await interaction.open(await interaction.services.database.dry_run(dry_run))


async def remove_override(interaction: Interaction) -> None:
    by = await modals.admin(interaction)
    set_id, _, override_id = interaction.private_metadata.partition(" ")
    removed = await modals.run_once(
        interaction,
        lambda tx: holiday_overrides.remove(tx, set_id, override_id, by=by, now=interaction.now),
    )
    if removed is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _overrides(interaction, by, set_id))


def _half(value: str | None) -> Literal["am", "pm"] | None:
    return "am" if value == "am" else "pm" if value == "pm" else None


async def _sets(interaction: Interaction, by: Caller, cursor: str | None = None) -> View:
    def read(tx: Transaction) -> View:
        page = holiday_sets.page(tx, PageOf(limit=_SETS_SHOWN, cursor=cursor), by=by)
        config = organisation_config.of_organisation(tx, by.organisation_id)
        today = local_day(interaction.now, config.organisation.timezone)
        codes = [holiday_set.country_code for holiday_set in page.items]
        ahead = {code: public_holidays.ahead_of(config, code, today) for code in codes}
        names = {code: holiday_calendar.country_name(code, locale()) for code in codes}
        coming = {
            code: next(day for day in days if day.is_holiday)
            for code, days in ahead.items()
            if any(day.is_holiday for day in days)
        }
        return views.sets(page, names, coming)

    # Loading the countries takes a second, once per process.
    return await interaction.services.database.read(read)


async def _overrides(
    interaction: Interaction, by: Caller, set_id: str, cursor: str | None = None
) -> View:
    def read(tx: Transaction) -> View:
        config = organisation_config.of_organisation(tx, by.organisation_id)
        holiday_set = holiday_sets.get(config, set_id)
        today = local_day(interaction.now, config.organisation.timezone)
        ahead = public_holidays.ahead_of(config, holiday_set.country_code, today)
        page = holiday_overrides.page(
            tx, set_id, PageOf(limit=_OVERRIDES_SHOWN, cursor=cursor), by=by
        )
        return views.overrides(
            holiday_set,
            holiday_calendar.country_name(holiday_set.country_code, locale()),
            ahead,
            page,
            has_categories=len(holiday_calendar.categories(holiday_set.country_code)) > 1,
        )

    return await interaction.services.database.read(read)


def register(app: AsyncApp) -> None:
    app.action(ids.HOLIDAYS)(list_sets)
    app.action(ids.HOLIDAYS_MORE)(more_sets)
    app.action(ids.HOLIDAYS_NEW)(new_set)
    app.view(ids.HOLIDAYS_FORM)(add_set)
    app.action(ids.HOLIDAYS_REMOVE)(remove_set)
    app.action(ids.HOLIDAY_CATEGORIES)(choose_categories)
    forms.register(app, ids.HOLIDAY_CATEGORIES_FORM, change_categories)
    app.action(ids.OVERRIDES)(list_overrides)
    app.action(ids.OVERRIDES_MORE)(more_overrides)
    app.action(ids.OVERRIDE_NEW)(new_override)
    app.action(ids.OVERRIDE_OF_DAY)(override_of_day)
    forms.register(app, ids.OVERRIDE_FORM, add_override)
    app.action(ids.OVERRIDE_REMOVE)(ask_removal)
    app.view(ids.OVERRIDE_REMOVE_FORM)(remove_override)
