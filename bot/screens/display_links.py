"""Settings: display links, the wallcharts for screens. Links are secrets, only in modals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout
from bot.interaction.interaction import Interaction
from bot.screens import screen, searches
from bot.screens.screen import Saving, Screen
from storage.base.values import Caller, Department
from storage.calendars import display_links, wallchart
from storage.calendars.display_links import DisplayLink
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.outbox import organisation_config

NAME: Final = "settings.display_links"


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    page = display_links.page(tx, screen.page_of(cursor, 20), by=by)
    return _list_view(interaction.services.base_url, page, config.departments)


def _list_view(
    base_url: str, page: Page[DisplayLink], departments: Mapping[str, Department]
) -> View:
    blocks: list[Block] = [
        layout.section(
            gettext(
                "A display link shows who's out in the next five weeks, for a screen in the "
                "kitchen or a page of your wiki. Anyone with the link can see it. Private leave "
                "is “Away”, and pending leave isn't shown."
            )
        ),
        layout.quiet(
            gettext("The page reloads itself. Add `.png` to the link to embed it as a picture.")
        ),
        layout.actions(layout.button(gettext("Add a display link"), f"{NAME}.new")),
    ]
    blocks += [_link(base_url, link, departments) for link in page.items]
    return screen.list_view(NAME, gettext("Display links"), blocks, page.next_cursor)


def _link(base_url: str, link: DisplayLink, departments: Mapping[str, Department]) -> Block:
    remove = layout.button(
        gettext("Remove"),
        f"{NAME}.remove",
        link.id,
        "danger",
        spoken=gettext("Remove {name}", name=link.name),
    )
    remove["confirm"] = layout.confirm(
        gettext("Remove this link?"),
        gettext(
            "The link for {name} will stop working right away.",
            name=layout.cut(link.name, layout.MAX_NAME),
        ),
        gettext("Remove"),
        gettext("Keep it"),
    )
    department = departments.get(link.department_id or "")
    who = gettext("Everyone") if department is None else layout.name(department.name)
    shown = gettext("This link can no longer be shown. Remove it and add a new one.")
    if link.token:
        url = layout.escaped(wallchart.url(base_url, link.token))
        shown = f"```{url}```<{url}|{gettext('Open')}>"
    return {**layout.section(f"*{layout.name(link.name)}* · {who}\n{shown}"), "accessory": remove}


def _read_form(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    departments = organisation_config.of_organisation(tx, by.organisation_id).departments
    blocks = [
        fields.field(
            "name",
            gettext("Name"),
            fields.text_input(placeholder=gettext("For example, kitchen")),
            hint=gettext("Only admins see it."),
        ),
        fields.field(
            "department_id",
            gettext("Who"),
            searches.department_select(departments.values(), None, gettext("Everyone")),
        ),
    ]
    return screen.form_view(f"{NAME}.form", gettext("Add a display link"), blocks)


def _add(tx: Transaction, saving: Saving) -> object:
    values = {
        "name": saving.form.text("name"),
        "department_id": saving.form.chosen("department_id"),
    }
    return display_links.create(tx, values, by=saving.by, now=saving.now)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(_read_list))
    app.action(f"{NAME}.more")(screen.shows_more(_read_list))
    app.action(f"{NAME}.new")(screen.opens(_read_form))
    app.view(f"{NAME}.form")(screen.saves(_add, _read_list))
    app.action(f"{NAME}.remove")(screen.deletes(display_links.revoke, _read_list))


SCREEN: Final = Screen(gettext_noop("Display links"), NAME, register)
