"""Countries and regions as options of a menu."""

from __future__ import annotations

from collections.abc import Iterable

from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import fields, text
from bot.blocks.fields import Option
from storage.base.calendar_values import Country


def country_options(countries: Iterable[Country], typed: str) -> list[Block]:
    """Countries and regions whose name or code contains the typed text; at most 100."""
    query = typed.casefold().strip()
    options = []
    for country in countries:
        labels = [(country.code, _national(country))]
        labels += [(code, f"{country.name}: {name} ({code})") for code, name in country.regions]
        options += [
            fields.option(Option(label=_fitting(label, code), value=code))
            for code, label in labels
            if query in label.casefold()
        ]
        if len(options) >= fields.MAX_OPTIONS:
            break
    return options[: fields.MAX_OPTIONS]


def country_option(code: str, name: str) -> Option:
    """The option for a country or region; ``name`` is as in ``holiday_calendar.country_name``."""
    return Option(label=_fitting(f"{name} ({code})", code), value=code)


def _national(country: Country) -> str:
    named = f"{country.name} ({country.code})"
    return gettext("{country}, national holidays only", country=named) if country.regions else named


def _fitting(label: str, code: str) -> str:
    """The label cut to Slack's limit; the code is kept."""
    if len(label) <= text.MAX_OPTION:
        return label
    return f"{text.cut(label, text.MAX_OPTION - len(code) - 3)} ({code})"
