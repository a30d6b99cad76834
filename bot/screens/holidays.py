"""Settings: public holidays, and the days on which an organisation differs from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final, Literal

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, locale
from bot.base.payloads import UnexpectedPayload
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.screens import consequences, forms, screen, searches
from bot.screens.consequences import NamedEffects
from bot.screens.screen import Saving, Screen
from storage.admin import holiday_overrides, holiday_set_changes
from storage.admin.holiday_overrides import NewOverride
from storage.base.calendar_values import HolidayOnDate, HolidayOverride, HolidaySet
from storage.base.errors import AlreadyExists, InvalidInput
from storage.base.values import Caller, local_day
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.outbox import organisation_config
from storage.people import employment_by_date, holiday_sets
from storage.rules import holiday_calendar

NAME: Final = "settings.holidays"
OVERRIDES: Final = "settings.overrides"
# With thirty changed days, a modal still has room for them.
_MAX_AHEAD: Final = 50
_RECALCULATED: Final = gettext_noop(
    "Upcoming leave is recalculated, and people are told if theirs changes."
)
_WHOLE: Final = "whole"
_HOLIDAY: Final = "holiday"
_WORK: Final = "work"
_HALVES: Final = (
    Option(label=gettext_noop("Whole day"), value=_WHOLE),
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
    Option(label=gettext_noop("Public holiday"), value=_HOLIDAY),
    Option(label=gettext_noop("Not a public holiday"), value=_WORK),
)


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    page = holiday_sets.page(tx, screen.page_of(cursor), by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(interaction.now, config.organisation.timezone)
    codes = [holiday_set.country_code for holiday_set in page.items]
    ahead = {code: employment_by_date.holidays_ahead(config, code, today) for code in codes}
    names = {code: holiday_calendar.country_name(code, locale()) for code in codes}
    coming = {
        code: next(day for day in days if day.is_holiday)
        for code, days in ahead.items()
        if any(day.is_holiday for day in days)
    }
    return list_view(page, names, coming)


def list_view(
    page: Page[HolidaySet], names: Mapping[str, str], coming: Mapping[str, HolidayOnDate]
) -> View:
    """The countries and regions of the organisation; ``names`` and the next holiday by code."""
    blocks: list[Block] = [
        layout.section(
            gettext(
                "Without a region, only national holidays apply. Add one for regional holidays."
            )
        ),
        layout.actions(layout.button(gettext("Add a country"), f"{NAME}.new")),
    ]
    for holiday_set in page.items:
        name = f"{names[holiday_set.country_code]} ({holiday_set.country_code})"
        change = layout.button(
            gettext("See days"),
            OVERRIDES,
            holiday_set.id,
            spoken=gettext("See days: {name}", name=name),
        )
        facts = []
        if next_one := coming.get(holiday_set.country_code):
            facts.append(gettext("Next holiday: {day}", day=words.day(next_one.date)))
        blocks.append({**layout.row(name, facts), "accessory": change})
    return screen.list_view(NAME, gettext("Public holidays"), blocks, page.next_cursor)


def form_view() -> View:
    country = fields.field(
        "country_code", gettext("Country or region"), searches.country_select(least=1)
    )
    return screen.form_view(f"{NAME}.form", gettext("Add a country"), [country])


def _add(tx: Transaction, saving: Saving) -> object:
    code = saving.form.chosen("country_code") or ""
    return holiday_set_changes.add(tx, code, by=saving.by, now=saving.now)


def _read_categories(tx: Transaction, interaction: Interaction, by: Caller, set_id: str) -> View:
    """Which days of the country's calendar are days off."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    holiday_set = holiday_sets.get(config, set_id)
    today = local_day(interaction.now, config.organisation.timezone)
    added = holiday_calendar.days_by_category(
        holiday_set.country_code, today, today + timedelta(days=364)
    )
    return categories_view(holiday_set, added)


def _category(name: str) -> str:
    known = CATEGORIES.get(name)
    # A new version of the library may have others.
    return gettext(known) if known else name.replace("_", " ").capitalize()


def categories_view(holiday_set: HolidaySet, added: Mapping[str, Sequence[date]]) -> View:
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
        layout.section(
            gettext("Public holidays are always days off. Choose which other days are, too.")
        ),
        fields.field("categories", gettext("Other days off"), chosen, is_optional=True),
        layout.quiet(gettext(_RECALCULATED)),
    ]
    return screen.form_view(
        f"{NAME}.categories.form", gettext("Other days off"), blocks, holiday_set.id
    )


def _save_categories(tx: Transaction, saving: Saving) -> object:
    chosen = saving.form.several("categories")
    return holiday_set_changes.change_categories(
        tx, saving.form.about, chosen, by=saving.by, now=saving.now, recorder=saving.recorder
    )


def _read_overrides(
    tx: Transaction, interaction: Interaction, by: Caller, set_id: str, cursor: str = ""
) -> View:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    holiday_set = holiday_sets.get(config, set_id)
    today = local_day(interaction.now, config.organisation.timezone)
    return overrides_view(
        holiday_set,
        holiday_calendar.country_name(holiday_set.country_code, locale()),
        employment_by_date.holidays_ahead(config, holiday_set.country_code, today),
        holiday_overrides.page(tx, set_id, screen.page_of(cursor, 30), by=by),
        has_categories=len(holiday_calendar.categories(holiday_set.country_code)) > 1,
    )


async def _more_overrides(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    shown = await interaction.database.read(
        _read_overrides, interaction, by, interaction.private_metadata, interaction.value
    )
    await modals.refresh(interaction, shown)


def overrides_view(
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
        gettext("Remove this country"), f"{NAME}.remove", holiday_set.id, "danger"
    )
    remove["confirm"] = layout.confirm(
        gettext("Remove this country?"),
        gettext(
            "Its holidays and changed days will be removed. This only works if no one uses them."
        ),
        gettext("Remove"),
        gettext("Keep it"),
    )
    change = layout.button(gettext("Change a day"), f"{OVERRIDES}.new", holiday_set.id)
    choose = layout.button(gettext("Other days off"), f"{NAME}.categories", holiday_set.id)
    others = [_category(each) for each in holiday_set.categories if each != "public"]
    also = gettext("Also days off: {categories}", categories=words.names(others))
    blocks: list[Block] = [
        layout.paragraph(f"{name}\n{also}" if others else name),
        layout.actions(change, *((choose,) if has_categories else ()), remove),
    ]
    blocks += [_ahead(on_date, holiday_set) for on_date in ahead[:_MAX_AHEAD]]
    blocks.append(layout.header(gettext("Changed days")))
    if not page.items:
        blocks.append(layout.section(gettext("No changes to the standard holidays.")))
    blocks += [_override(override, holiday_set) for override in page.items]
    return layout.modal(
        gettext("Public holidays"),
        blocks + layout.show_more(f"{OVERRIDES}.more", page.next_cursor),
        private_metadata=holiday_set.id,
    )


def _read_override_form(tx: Transaction, interaction: Interaction, by: Caller, value: str) -> View:
    """The value is the id of a set; with a day, which is a public holiday."""
    set_id, _, day = value.partition(" ")
    try:
        return override_form_view(set_id, date.fromisoformat(day) if day else None)
    except ValueError as error:
        raise UnexpectedPayload(value) from error


def override_form_view(set_id: str, day: date | None = None) -> View:
    """The form that changes a day; ``day`` is a public holiday, which it proposes to remove."""
    kind = _HOLIDAY if day is None else _WORK
    blocks = [
        fields.field("date", gettext("Day"), fields.date_picker(day)),
        fields.field(
            "is_holiday", gettext("This day is"), fields.select(fields.translated(_KINDS), kind)
        ),
        fields.field(
            "half", gettext("Part of the day"), fields.select(fields.translated(_HALVES), _WHOLE)
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
        layout.quiet(gettext(_RECALCULATED)),
    ]
    return screen.form_view(f"{OVERRIDES}.form", gettext("Change a day"), blocks, set_id)


def _save_override(tx: Transaction, saving: Saving) -> object:
    day = saving.form.day("date")
    if day is None:
        raise InvalidInput.of("date", "required", gettext_noop("Choose a day."))
    new = NewOverride(
        date=day,
        name=saving.form.text("name"),
        is_holiday=saving.form.chosen("is_holiday") != _WORK,
        half=_half(saving.form.chosen("half")),
        every_year=EVERY_YEAR in saving.form.several(EVERY_YEAR),
    )
    try:
        return holiday_overrides.add(
            tx, saving.form.about, new, by=saving.by, now=saving.now, recorder=saving.recorder
        )
    except AlreadyExists as refusal:
        raise InvalidInput.of("date", "already_exists", refusal.detail) from refusal


def _half(value: str | None) -> Literal["am", "pm"] | None:
    return "am" if value == "am" else "pm" if value == "pm" else None


async def _ask_removal(interaction: Interaction) -> None:
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
        return removal_view(holiday_sets.get(config, set_id), override, named_effects)

    await interaction.open(await interaction.database.dry_run(dry_run))


def removal_view(
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
        f"{OVERRIDES}.remove.form",
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
        return layout.paragraph(f"{when}: {name}\n{what}")
    change = layout.button(
        gettext("Change"),
        f"{OVERRIDES}.day",
        f"{holiday_set.id} {on_date.date.isoformat()}",
        spoken=gettext("Change {name}", name=when),
    )
    return {**layout.paragraph(f"{when}: {name}"), "accessory": change}


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
        f"{OVERRIDES}.remove",
        override.id,
        "danger",
        gettext("Remove {name}", name=when),
    )
    lines = layout.verbatim(f"{when}: {_name(override, holiday_set)}\n{what}")
    return {"type": "section", "text": lines, "accessory": remove}


async def _remove_override(interaction: Interaction) -> None:
    by = await modals.admin(interaction)
    set_id, _, override_id = interaction.private_metadata.partition(" ")
    removed = await modals.run_once(
        interaction,
        lambda tx: holiday_overrides.remove(tx, set_id, override_id, by=by, now=interaction.now),
    )
    if removed is not None:
        await interaction.ack()
        shown = await screen.view(interaction, _read_overrides, by, set_id)
        await modals.refresh_below(interaction, shown)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(_read_list))
    app.action(f"{NAME}.more")(screen.shows_more(_read_list))
    app.action(f"{NAME}.new")(screen.opens(lambda *_: form_view()))
    app.view(f"{NAME}.form")(screen.saves(_add, _read_list))
    removed = (gettext_noop("Public holidays"), gettext_noop("The country was removed."))
    app.action(f"{NAME}.remove")(
        screen.deletes(holiday_set_changes.remove, _read_list, done=removed)
    )
    app.action(f"{NAME}.categories")(screen.opens(_read_categories))
    save_categories = screen.confirms(_save_categories, _read_overrides, is_below_about=True)
    forms.register(app, f"{NAME}.categories.form", save_categories)
    app.action(OVERRIDES)(screen.opens(_read_overrides))
    app.action(f"{OVERRIDES}.more")(_more_overrides)
    app.action(f"{OVERRIDES}.new")(screen.opens(_read_override_form))
    app.action(f"{OVERRIDES}.day")(screen.opens(_read_override_form))
    save_override = screen.confirms(_save_override, _read_overrides, is_below_about=True)
    forms.register(app, f"{OVERRIDES}.form", save_override)
    app.action(f"{OVERRIDES}.remove")(_ask_removal)
    app.view(f"{OVERRIDES}.remove.form")(_remove_override)


SCREEN: Final = Screen(gettext_noop("Public holidays"), NAME, register)
