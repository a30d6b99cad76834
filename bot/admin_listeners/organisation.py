"""Admin settings: the organisation."""

from __future__ import annotations

import asyncio
from zoneinfo import available_timezones

from slack_bolt.async_app import AsyncApp

from bot.admin_views import countries
from bot.admin_views import organisation as views
from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext_noop, locale
from bot.interaction import forms, identity, modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from storage.admin import organisation_settings, organisations
from storage.admin.effects import EffectsRecorder
from storage.base.errors import InvalidInput
from storage.db.database import Transaction
from storage.rules import holiday_calendar
from storage.slack import setup_checklist


async def organisation(interaction: Interaction) -> None:
    """Open the organisation's settings."""
    await interaction.ack()
    by = await modals.admin(interaction)

    def read(tx: Transaction) -> View:
        settings = organisations.get(tx, by=by)
        name = holiday_calendar.country_name(settings.country_code, locale())
        return views.organisation(settings, name)

    # Loading the countries takes a second, once per process.
    await interaction.open(await interaction.services.database.read(read))


async def save_organisation(interaction: Interaction) -> None:
    by, form = await modals.admin(interaction), Form(interaction)

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        saved = organisation_settings.update(
            tx, _settings(form), by=by, now=interaction.now, recorder=recorder
        )
        # A country that an admin saves without a region is right as it is.
        setup_checklist.check_off(tx, "country", by=by, now=interaction.now)
        return saved

    if await forms.submit(interaction, form, save, by=by) is not None:
        await interaction.ack()


def _settings(form: Form) -> dict[str, object]:
    """Raises InvalidInput."""
    ticked = form.several("slack")
    channel = form.chosen("digest_channel")
    if views.DIGEST in ticked and channel is None:
        raise InvalidInput.of(
            "digest_channel", "required", gettext_noop("Choose the channel to post in.")
        )
    return {
        "name": form.text("name") or "",
        "country_code": form.chosen("country_code") or "",
        "timezone": form.chosen("timezone") or "",
        "working_days": form.working_days(),
        "leave_year_type": form.chosen("leave_year_type"),
        "leave_year_start_month": form.whole("leave_year_start_month"),
        "leave_year_start_day": form.whole("leave_year_start_day"),
        "default_leave_allowance_half_days": form.half_days("default_leave_allowance"),
        "carry_over_half_days": form.half_days("carry_over"),
        "carry_over_expiry_month": form.whole("carry_over_expiry_month"),
        "slack_members_join": views.JOIN in ticked,
        "digest_channel": channel if views.DIGEST in ticked else None,
    }


async def offer_countries(interaction: Interaction) -> None:
    """The countries and regions that match the typed text."""
    await identity.greet(interaction)
    typed = str(interaction.body.get("value") or "")
    # Loading the countries takes a second, once per process.
    every_country = await asyncio.to_thread(holiday_calendar.all_countries, locale())
    await interaction.ack(options=countries.country_options(every_country, typed))


async def offer_timezones(interaction: Interaction) -> None:
    """The time zones that match the typed text."""
    typed = str(interaction.body.get("value") or "")
    timezones = await asyncio.to_thread(available_timezones)
    await interaction.ack(options=views.timezone_options(timezones, typed))


def register(app: AsyncApp) -> None:
    app.action(ids.ORGANISATION)(organisation)
    forms.register(app, ids.ORGANISATION_FORM, save_organisation)
    app.options(ids.COUNTRY_SEARCH)(offer_countries)
    app.options(ids.TIMEZONE_SEARCH)(offer_timezones)
