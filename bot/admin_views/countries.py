"""Countries and regions as options of a menu."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import fields, text
from bot.blocks.fields import Option
from storage.base import texts
from storage.base.calendar_values import Country, Region


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
