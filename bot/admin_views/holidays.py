"""Admin settings: public holidays and their overrides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from bot.admin_views import consequences
from bot.admin_views.consequences import NamedEffects
from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text, words
from bot.blocks.fields import Option
from storage.base.calendar_values import HolidayOnDate, HolidayOverride, HolidaySet
from storage.db.pages import Page

# With thirty changed days, a modal still has room for them.
_MAX_AHEAD: Final = 50
_RECALCULATED: Final = gettext_noop(
    "Upcoming leave is recalculated, and people are told if theirs changes."
)
WHOLE: Final = "whole"
HOLIDAY: Final = "holiday"
WORK: Final = "work"
_HALVES: Final = (
    Option(label=gettext_noop("Whole day"), value=WHOLE),
    Option(label=gettext_noop("Morning"), value="am"),
    Option(label=gettext_noop("Afternoon"), value="pm"),
)
EVERY_YEAR: Final = "every_year"
_REPEATED: Final = (Option(label=gettext_noop("Every year"), value=EVERY_YEAR),)
# The library's categories of holidays.
CATEGORIES: Final[Mapping[str, str]] = {
    "albanian": gettext_noop("Albanian holidays"),
    "armed_forces": gettext_noop("Armed forces' holidays"),
    "armenian": gettext_noop("Armenian holidays"),
    "bank": gettext_noop("Bank holidays"),
    "bosnian": gettext_noop("Bosnian holidays"),
    "catholic": gettext_noop("Catholic holidays"),
    "christian": gettext_noop("Christian holidays"),
    "de_facto": gettext_noop("Customary days off"),
    "government": gettext_noop("Public service holidays"),
    "half_day": gettext_noop("Afternoons off"),
    "hebrew": gettext_noop("Jewish holidays"),
    "hindu": gettext_noop("Hindu holidays"),
    "islamic": gettext_noop("Islamic holidays"),
    "optional": gettext_noop("Optional holidays"),
    "optional_women": gettext_noop("Optional holidays of women"),
    "orthodox": gettext_noop("Orthodox holidays"),
    "protestant": gettext_noop("Protestant holidays"),
    "roma": gettext_noop("Roma holidays"),
    "sabian": gettext_noop("Sabian holidays"),
    "serbian": gettext_noop("Serbian holidays"),
    "turkish": gettext_noop("Turkish holidays"),
    "unofficial": gettext_noop("Unofficial holidays"),
    "vlach": gettext_noop("Vlach holidays"),
    "yazidi": gettext_noop("Yazidi holidays"),
}
_KINDS: Final = (
    Option(label=gettext_noop("Public holiday"), value=HOLIDAY),
    Option(label=gettext_noop("Not a public holiday"), value=WORK),
)


def sets(
    page: Page[HolidaySet], names: Mapping[str, str], coming: Mapping[str, HolidayOnDate]
) -> View:
    """The countries and regions of the organisation; ``names`` and the next holiday by code."""
    blocks: list[Block] = [
        text.section(
            gettext(
                "Without a region, only national holidays apply. Add one for regional holidays."
            )
        ),
        layout.actions(layout.button(gettext("Add a country"), ids.HOLIDAYS_NEW)),
    ]
    for holiday_set in page.items:
        name = f"{names[holiday_set.country_code]} ({holiday_set.country_code})"
        change = layout.button(
            gettext("See days"),
            ids.OVERRIDES,
            holiday_set.id,
            spoken=gettext("See days: {name}", name=name),
        )
        facts = []
        if next_one := coming.get(holiday_set.country_code):
            facts.append(gettext("Next holiday: {day}", day=words.day(next_one.date)))
        blocks.append({**layout.row(name, facts), "accessory": change})
    return layout.modal(
        gettext("Public holidays"), blocks + layout.show_more(ids.HOLIDAYS_MORE, page.next_cursor)
    )


def set_form() -> View:
    search = fields.external_select(ids.COUNTRY_SEARCH, least=1)
    country = fields.field("country_code", gettext("Country or region"), search)
    return layout.modal(
        gettext("Add a country"), [country], ids.HOLIDAYS_FORM, gettext("Add"), gettext("Back")
    )


def _category(name: str) -> str:
    known = CATEGORIES.get(name)
    # A new version of the library may have others.
    return gettext(known) if known else name.replace("_", " ").capitalize()


def categories_form(holiday_set: HolidaySet, added: Mapping[str, Sequence[date]]) -> View:
    """The form that chooses categories; ``added`` are the days of each in the year ahead."""
    options = [
        Option(
            label=_category(name),
            value=name,
            description=words.few_days(list(map(words.short_day, days))),
        )
        for name, days in added.items()
    ]
    chosen = fields.checkboxes(options, holiday_set.categories)
    blocks = [
        text.section(
            gettext("Public holidays are always days off. Choose which other days are, too.")
        ),
        fields.field("categories", gettext("Other days off"), chosen, is_optional=True),
        text.quiet(gettext(_RECALCULATED)),
    ]
    return layout.modal(
        gettext("Other days off"),
        blocks,
        ids.HOLIDAY_CATEGORIES_FORM,
        gettext("Save"),
        gettext("Back"),
        holiday_set.id,
    )


def overrides(
    holiday_set: HolidaySet,
    name: str,
    ahead: Sequence[HolidayOnDate],
    page: Page[HolidayOverride],
    *,
    has_categories: bool,
) -> View:
    """The public holidays ahead, each with a button that changes it, and all changed days.

    ``has_categories``: there are categories to choose from.
    """
    remove = layout.button(
        gettext("Remove this country"), ids.HOLIDAYS_REMOVE, holiday_set.id, "danger"
    )
    remove["confirm"] = layout.confirm(
        gettext("Remove this country?"),
        gettext(
            "Its holidays and changed days will be removed. This only works if no one uses them."
        ),
        gettext("Remove"),
        gettext("Keep it"),
    )
    change = layout.button(gettext("Change a day"), ids.OVERRIDE_NEW, holiday_set.id)
    choose = layout.button(gettext("Other days off"), ids.HOLIDAY_CATEGORIES, holiday_set.id)
    others = [_category(each) for each in holiday_set.categories if each != "public"]
    also = gettext("Also days off: {categories}", categories=words.names(others))
    blocks: list[Block] = [
        text.paragraph(f"{name}\n{also}" if others else name),
        layout.actions(change, *((choose,) if has_categories else ()), remove),
    ]
    blocks += [_ahead(on_date, holiday_set) for on_date in ahead[:_MAX_AHEAD]]
    blocks.append(layout.header(gettext("Changed days")))
    if not page.items:
        blocks.append(text.section(gettext("No changes to the standard holidays.")))
    blocks += [_override(override, holiday_set) for override in page.items]
    return layout.modal(
        gettext("Public holidays"),
        blocks + layout.show_more(ids.OVERRIDES_MORE, page.next_cursor),
        private_metadata=holiday_set.id,
    )


def override_form(set_id: str, day: date | None = None) -> View:
    """The form that changes a day; ``day`` is a public holiday, which it proposes to remove."""
    kind = HOLIDAY if day is None else WORK
    blocks = [
        fields.field("date", gettext("Day"), fields.date_picker(day)),
        fields.field(
            "is_holiday", gettext("This day is"), fields.select(fields.translated(_KINDS), kind)
        ),
        fields.field(
            "half", gettext("Part of the day"), fields.select(fields.translated(_HALVES), WHOLE)
        ),
        fields.field(
            "name",
            gettext("Name"),
            fields.text_input(),
            hint=gettext("Required for a public holiday."),
            is_optional=True,
        ),
        fields.field(
            EVERY_YEAR,
            gettext("Repeat"),
            fields.checkboxes(fields.translated(_REPEATED)),
            is_optional=True,
        ),
        text.quiet(gettext(_RECALCULATED)),
    ]
    return layout.modal(
        gettext("Change a day"), blocks, ids.OVERRIDE_FORM, gettext("Save"), gettext("Back"), set_id
    )


def removal(
    holiday_set: HolidaySet, override: HolidayOverride, named_effects: NamedEffects
) -> View:
    """The effects of removing an override, before it is removed."""
    name = _name(override, holiday_set)
    if override.every_year:
        intro = gettext(
            "Every {day} ({name}) goes back to the country's standard.",
            day=words.day_of_year(override.date),
            name=name,
        )
    else:
        intro = gettext(
            "{day} ({name}) goes back to the country's standard.",
            day=words.day(override.date),
            name=name,
        )
    if not named_effects.effects.affects_others:
        intro += " " + gettext("No one's leave changes.")
    return consequences.confirmation(
        gettext("Remove the change"),
        intro,
        named_effects,
        ids.OVERRIDE_REMOVE_FORM,
        gettext("Remove"),
        f"{holiday_set.id} {override.id}",
    )


def _name(day: HolidayOnDate | HolidayOverride, holiday_set: HolidaySet) -> str:
    """An override without a name of its own has the country's, in English."""
    return words.holiday(day.name, holiday_set.country_code, day.date)


def _ahead(on_date: HolidayOnDate, holiday_set: HolidaySet) -> Block:
    when, name = words.day(on_date.date), _name(on_date, holiday_set)
    if on_date.override_id is not None:
        what = gettext("Changed: see below")
        return text.paragraph(f"{when}: {name}\n{what}")
    change = layout.button(
        gettext("Change"),
        ids.OVERRIDE_OF_DAY,
        f"{holiday_set.id} {on_date.date.isoformat()}",
        spoken=gettext("Change {name}", name=when),
    )
    return {**text.paragraph(f"{when}: {name}"), "accessory": change}


def _override(override: HolidayOverride, holiday_set: HolidaySet) -> Block:
    when = words.day(override.date)
    if override.every_year:
        when = gettext("Every {day}", day=words.day_of_year(override.date))
    what = gettext("Public holiday") if override.is_holiday else gettext("Not a public holiday")
    if override.half is not None:
        half = gettext("morning") if override.half == "am" else gettext("afternoon")
        what += f" ({half})"
    remove = layout.button(
        gettext("Remove"),
        ids.OVERRIDE_REMOVE,
        override.id,
        "danger",
        gettext("Remove {name}", name=when),
    )
    lines = text.verbatim(f"{when}: {_name(override, holiday_set)}\n{what}")
    return {"type": "section", "text": lines, "accessory": remove}
