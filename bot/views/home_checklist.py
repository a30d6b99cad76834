"""The checklist at the top of Home, for admins of a new organisation."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext, locale, ngettext
from bot.blocks import layout, words
from storage.rules import holiday_calendar
from storage.workspaces.setup_checklist import MAX_COUNTED, Checklist, Step


def steps(checklist: Checklist | None) -> list[Block]:
    if checklist is None:
        return []
    hide = layout.button(gettext("Hide this list"), ids.CHECKLIST_HIDE)
    hide["confirm"] = layout.confirm(
        gettext("Hide this list?"),
        gettext("Admins won't see it again. Everything in it stays in the settings."),
        gettext("Hide"),
        gettext("Keep it"),
        "primary",
    )
    return [
        layout.header(gettext("Set up Hiatus")),
        layout.quiet(gettext("Each step disappears once it's done.")),
        *(_step(step, checklist) for step in checklist.steps),
        layout.actions(hide),
    ]


def _step(step: Step, checklist: Checklist) -> Block:
    title, why, label = _texts(step, checklist)
    return {
        **layout.section(f"*{title}*\n{why}"),
        "accessory": layout.button(label, ids.CHECKLIST_STEP, step),
    }


def _texts(step: Step, checklist: Checklist) -> tuple[str, str, str]:
    """The step's title, its reason and its button."""
    match step:
        case "country":
            country = holiday_calendar.country_name(checklist.country_code, locale())
            why = gettext(
                "You have the national holidays of {country}. Some regions have more.",
                country=country,
            )
            return gettext("Public holidays"), why, gettext("Choose a region")
        case "allowance":
            amount = words.amount(checklist.allowance_half_days)
            why = gettext("Everyone gets {amount} a year, unless you change it.", amount=amount)
            return gettext("Allowance"), why, gettext("Check the allowance")
        case "leave_year":
            why = gettext("It begins on 1 January for everyone.")
            return gettext("Leave year"), why, gettext("Check the leave year")
        case "carry_over":
            why = gettext("Days that are left at the end of a leave year are lost.")
            return gettext("Carry-over"), why, gettext("Check the carry-over")
        case "leave_types":
            why = gettext("Decide which need approval, use the allowance or are private.")
            return gettext("Leave types"), why, gettext("Check the leave types")
        case "people":
            why = (
                gettext(
                    "You're the only one so far. Colleagues join when they first use Hiatus, or "
                    "you add them."
                )
                if checklist.members_join
                else gettext("You're the only one so far. Colleagues can join once you add them.")
            )
            return gettext("People"), why, gettext("Add people")
        case "managers":
            return gettext("Managers"), _without_manager(checklist), gettext("Assign managers")
        case "opening_figures":
            title = gettext("How many days has everyone left?")
            return title, gettext("Paste a table of names and days."), gettext("Paste days left")
        case "digest":
            why = gettext("On days when someone is off, I post a list in the channel.")
            return gettext("Who's out"), why, gettext("Choose a channel")
        case "feed":
            why = gettext("See leave in Google Calendar, Outlook or Apple Calendar.")
            return gettext("Your calendar"), why, gettext("Add your calendar")


def _without_manager(checklist: Checklist) -> str:
    count = checklist.without_manager
    if count >= MAX_COUNTED:
        return gettext(
            "{count} people or more have no manager, so admins get their requests.", count=count
        )
    return ngettext(
        "{count} person has no manager, so admins get their requests.",
        "{count} people have no manager, so admins get their requests.",
        count,
    )
