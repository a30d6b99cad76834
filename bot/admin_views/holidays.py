"""Admin settings: public holidays and their overrides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.admin_views import consequences
from bot.admin_views.consequences import NamedEffects
from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text, words
from bot.blocks.fields import Option
from storage.base.calendar_values import HolidayOverride, HolidaySet
from storage.db.pages import Page

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


def sets(page: Page[HolidaySet], names: Mapping[str, str]) -> View:
    """The countries and regions of the organisation; ``names`` are by code."""
    blocks: list[Block] = [
        text.section(
            gettext(
                "A country on its own has only its national holidays. Add a region for "
                "regional ones."
            )
        ),
        layout.actions(layout.button(gettext("Add a country"), ids.HOLIDAYS_NEW)),
    ]
    for holiday_set in page.items:
        name = f"{names[holiday_set.country_code]} ({holiday_set.country_code})"
        change = layout.button(
            gettext("Change days"),
            ids.OVERRIDES,
            holiday_set.id,
            spoken=gettext("Change days: {name}", name=name),
        )
        shown = text.verbatim(name)
        blocks.append({"type": "section", "text": shown, "accessory": change})
    return layout.modal(
        gettext("Public holidays"), blocks + layout.show_more(ids.HOLIDAYS_MORE, page.next_cursor)
    )


def set_form() -> View:
    search = fields.external_select(ids.COUNTRY_SEARCH, least=1)
    country = fields.field("country_code", gettext("Country or region"), search)
    return layout.modal(
        gettext("Add a country"), [country], ids.HOLIDAYS_FORM, gettext("Add"), gettext("Back")
    )


def overrides(holiday_set: HolidaySet, name: str, page: Page[HolidayOverride]) -> View:
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
    if not page.items:
        blocks.append(text.section(gettext("No changes to the standard holidays.")))
    blocks += [_override(override) for override in page.items]
    return layout.modal(
        gettext("Changed days"),
        blocks + layout.show_more(ids.OVERRIDES_MORE, page.next_cursor),
        private_metadata=holiday_set.id,
    )


def override_form(set_id: str) -> View:
    blocks = [
        fields.field("date", gettext("Day"), fields.date_picker()),
        fields.field(
            "is_holiday", gettext("This day is"), fields.select(fields.translated(_KINDS), HOLIDAY)
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


def removal(set_id: str, override: HolidayOverride, named_effects: NamedEffects) -> View:
    """The effects of removing an override, before it is removed."""
    intro = gettext(
        "{day} ({name}) goes back to the country's standard.",
        day=words.day(override.date),
        name=override.name,
    )
    if not named_effects.effects.affects_others:
        intro += " " + gettext("No one's leave changes.")
    return consequences.confirmation(
        gettext("Remove the change"),
        intro,
        named_effects,
        ids.OVERRIDE_REMOVE_FORM,
        gettext("Remove"),
        f"{set_id} {override.id}",
    )


def _override(override: HolidayOverride) -> Block:
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
    lines = text.verbatim(f"{when}: {override.name}\n{what}")
    return {"type": "section", "text": lines, "accessory": remove}
