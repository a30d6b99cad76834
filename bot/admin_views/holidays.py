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
WHOLE: Final = "whole"
HOLIDAY: Final = "holiday"
WORK: Final = "work"
_HALVES: Final = (
    Option(label=gettext_noop("Whole day"), value=WHOLE),
    Option(label=gettext_noop("Morning"), value="am"),
    Option(label=gettext_noop("Afternoon"), value="pm"),
)
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


def overrides(
    holiday_set: HolidaySet,
    name: str,
    ahead: Sequence[HolidayOnDate],
    page: Page[HolidayOverride],
) -> View:
    """The public holidays ahead, each with a button that changes it, and all changed days."""
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
    blocks: list[Block] = [
        text.paragraph(name),
        layout.actions(
            layout.button(gettext("Change a day"), ids.OVERRIDE_NEW, holiday_set.id), remove
        ),
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
        text.quiet(
            gettext("Upcoming leave is recalculated, and people are told if theirs changes.")
        ),
    ]
    return layout.modal(
        gettext("Change a day"), blocks, ids.OVERRIDE_FORM, gettext("Save"), gettext("Back"), set_id
    )


def removal(
    holiday_set: HolidaySet, override: HolidayOverride, named_effects: NamedEffects
) -> View:
    """The effects of removing an override, before it is removed."""
    intro = gettext(
        "{day} ({name}) goes back to the country's standard.",
        day=words.day(override.date),
        name=_name(override, holiday_set),
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
