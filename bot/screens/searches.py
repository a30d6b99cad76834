"""Menus whose options are searched: people, departments, countries and time zones."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Final
from zoneinfo import available_timezones

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext, locale
from bot.blocks import fields, layout
from bot.blocks.fields import Option
from bot.interaction import listening, modals
from bot.interaction.interaction import Interaction
from storage.base import texts
from storage.base.calendar_values import Country, Region
from storage.base.values import Department, User
from storage.outbox import organisation_config
from storage.people import people_lists
from storage.rules import holiday_calendar

# One of the people, who is then edited; and a person in a form, who may be no one.
PEOPLE_PICK: Final = "settings.people.pick"
PERSON: Final = "settings.search.person"
_DEPARTMENT: Final = "settings.search.department"
_COUNTRY: Final = "settings.search.country"
_TIMEZONE: Final = "settings.search.timezone"


def person_select(chosen: User | None) -> Block:
    return fields.external_select(PERSON, person_option(chosen) if chosen else None)


def person_option(user: User) -> Option:
    name = user.name or user.email
    return Option(label=f"{layout.cut(name, 40)} ({user.email})", value=user.id)


def person_options(users: Sequence[User], *, with_no_one: bool) -> list[Block]:
    no_one = [Option(label=gettext("No one"), value=ids.NOTHING)] if with_no_one else []
    return [fields.option(option) for option in (*no_one, *map(person_option, users))]


def department_select(departments: Iterable[Department], chosen: str | None, none: str) -> Block:
    """A menu, or a search if there are more options than a menu can have.

    ``none`` is the option without a department.
    """
    options = [Option(label=none, value=ids.NOTHING), *_department_options(departments)]
    if len(options) <= fields.MAX_OPTIONS:
        return fields.select(options, chosen or ids.NOTHING)
    first = [option for option in options if option.value == (chosen or ids.NOTHING)]
    return fields.external_select(_DEPARTMENT, first[0] if first else None)


def department_options(departments: Iterable[Department], typed: str) -> list[Block]:
    """Departments whose name contains the typed text, by name; at most 99, plus "none"."""
    query = typed.casefold().strip()
    none = Option(label=gettext("No department"), value=ids.NOTHING)
    matching = [each for each in _department_options(departments) if query in each.label.casefold()]
    return [fields.option(option) for option in [none, *matching[: fields.MAX_OPTIONS - 1]]]


def _department_options(departments: Iterable[Department]) -> list[Option]:
    by_name = sorted(
        departments, key=lambda department: (department.name.casefold(), department.id)
    )
    return [Option(label=department.name, value=department.id) for department in by_name]


def country_select(chosen: tuple[str, str] | None = None, least: int = 0) -> Block:
    """``chosen`` are a code and its name, as in ``holiday_calendar.country_name``."""
    option = None
    if chosen is not None:
        code, name = chosen
        option = Option(label=_fitting(f"{name} ({code})", code), value=code)
    return fields.external_select(_COUNTRY, option, least=least)


def country_options(countries: Iterable[Country], typed: str) -> list[Block]:
    """Countries and regions whose names or code contain each typed word; at most 100."""
    typed_words = texts.search_key(re.sub(r"[:,()]", " ", typed)).split()
    options = []
    for country in countries:
        labels: list[tuple[Country | Region, str]] = [(country, _national(country))]
        labels += [
            (region, f"{country.name}: {region.name} ({region.code})") for region in country.regions
        ]
        options += [
            fields.option(Option(label=_fitting(label, place.code), value=place.code))
            for place, label in labels
            if all(word in place.search_key for word in typed_words)
        ]
        if len(options) >= fields.MAX_OPTIONS:
            break
    return options[: fields.MAX_OPTIONS]


def _national(country: Country) -> str:
    named = f"{country.name} ({country.code})"
    return gettext("{country}, national holidays only", country=named) if country.regions else named


def _fitting(label: str, code: str) -> str:
    """The label cut to Slack's limit; the code is kept."""
    if len(label) <= layout.MAX_OPTION:
        return label
    return f"{layout.cut(label, layout.MAX_OPTION - len(code) - 3)} ({code})"


def timezone_select(chosen: str) -> Block:
    return fields.external_select(_TIMEZONE, Option(label=chosen, value=chosen), least=2)


def timezone_options(timezones: Iterable[str], typed: str) -> list[Block]:
    """Time zones that contain the typed text; at most 100."""
    query = typed.casefold().strip().replace(" ", "_")
    matching = [timezone for timezone in timezones if query in timezone.casefold()]
    return [
        fields.option(Option(label=timezone, value=timezone))
        for timezone in sorted(matching)[: fields.MAX_OPTIONS]
    ]


async def offer_people(interaction: Interaction) -> None:
    by = await modals.admin(interaction)
    users = await interaction.database.read(people_lists.find, _typed(interaction), by=by)
    with_no_one = interaction.body["action_id"] == PERSON
    await interaction.ack(options=person_options(users, with_no_one=with_no_one))


async def offer_departments(interaction: Interaction) -> None:
    by = await modals.admin(interaction)
    config = await interaction.database.read(
        organisation_config.of_organisation, by.organisation_id
    )
    departments = config.departments.values()
    await interaction.ack(options=department_options(departments, _typed(interaction)))


async def offer_countries(interaction: Interaction) -> None:
    await listening.greet(interaction)
    # Loading the countries takes a second, once per process.
    countries = await asyncio.to_thread(holiday_calendar.all_countries, locale())
    await interaction.ack(options=country_options(countries, _typed(interaction)))


async def offer_timezones(interaction: Interaction) -> None:
    timezones = await asyncio.to_thread(available_timezones)
    await interaction.ack(options=timezone_options(timezones, _typed(interaction)))


def _typed(interaction: Interaction) -> str:
    return str(interaction.body.get("value") or "")


def register(app: AsyncApp) -> None:
    app.options(PEOPLE_PICK)(offer_people)
    app.options(PERSON)(offer_people)
    app.options(_DEPARTMENT)(offer_departments)
    app.options(_COUNTRY)(offer_countries)
    app.options(_TIMEZONE)(offer_timezones)
