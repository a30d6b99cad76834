"""Admin settings: display links, the wallcharts for screens. Links are secrets, only in modals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.admin_views.people import department_select
from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import fields, layout, text
from bot.interaction import modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from storage.access import display_links, wallchart
from storage.access.display_links import DisplayLink
from storage.base.values import Caller, Department
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.events import organisation_config

_SHOWN: Final = 20


async def list_links(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _links(interaction, by))


async def more_links(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await modals.refresh(interaction, await _links(interaction, by, interaction.value))


async def new_link(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    config = await interaction.services.database.read(
        organisation_config.of_organisation, by.organisation_id
    )
    await interaction.open(_form(config.departments.values()))


async def add_link(interaction: Interaction) -> None:
    by, form = await modals.admin(interaction), Form(interaction)
    values = {"name": form.text("name"), "department_id": form.chosen("department_id")}
    added = await modals.run_once(
        interaction, lambda tx: display_links.create(tx, values, by=by, now=interaction.now)
    )
    if added is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _links(interaction, by))


async def remove_link(interaction: Interaction) -> None:
    """Remove a link; Slack has asked for confirmation."""
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.services.database.write(
        display_links.revoke, interaction.value, by=by, now=interaction.now
    )
    await modals.refresh(interaction, await _links(interaction, by))


async def _links(interaction: Interaction, by: Caller, cursor: str | None = None) -> View:
    def read(tx: Transaction) -> View:
        config = organisation_config.of_organisation(tx, by.organisation_id)
        page = display_links.page(tx, PageOf(limit=_SHOWN, cursor=cursor), by=by)
        return _list(interaction.services.base_url, page, config.departments)

    return await interaction.services.database.read(read)


def _list(base_url: str, page: Page[DisplayLink], departments: Mapping[str, Department]) -> View:
    blocks: list[Block] = [
        text.section(
            gettext(
                "A display link shows who's out in the next five weeks, for a screen in the "
                "kitchen or a page of your wiki. Anyone with the link can see it. Private leave "
                "is “Away”, and pending leave isn't shown."
            )
        ),
        text.quiet(
            gettext("The page reloads itself. Add `.png` to the link to embed it as a picture.")
        ),
        layout.actions(layout.button(gettext("Add a display link"), ids.DISPLAY_LINK_NEW)),
    ]
    blocks += [_link(base_url, link, departments) for link in page.items]
    return layout.modal(
        gettext("Display links"),
        blocks + layout.show_more(ids.DISPLAY_LINKS_MORE, page.next_cursor),
    )


def _link(base_url: str, link: DisplayLink, departments: Mapping[str, Department]) -> Block:
    remove = layout.button(
        gettext("Remove"),
        ids.DISPLAY_LINK_REMOVE,
        link.id,
        "danger",
        spoken=gettext("Remove {name}", name=link.name),
    )
    remove["confirm"] = layout.confirm(
        gettext("Remove this link?"),
        gettext(
            "The link for {name} will stop working right away.",
            name=text.cut(link.name, text.MAX_NAME),
        ),
        gettext("Remove"),
        gettext("Keep it"),
    )
    department = departments.get(link.department_id or "")
    who = gettext("Everyone") if department is None else text.name(department.name)
    shown = gettext("This link can no longer be shown. Remove it and add a new one.")
    if link.token:
        url = text.escaped(wallchart.url(base_url, link.token))
        shown = f"```{url}```<{url}|{gettext('Open')}>"
    return {**text.section(f"*{text.name(link.name)}* · {who}\n{shown}"), "accessory": remove}


def _form(departments: Iterable[Department]) -> View:
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
            department_select(list(departments), None, gettext("Everyone")),
        ),
    ]
    return layout.modal(
        gettext("Add a display link"),
        blocks,
        ids.DISPLAY_LINK_FORM,
        gettext("Add"),
        gettext("Back"),
    )


def register(app: AsyncApp) -> None:
    app.action(ids.DISPLAY_LINKS)(list_links)
    app.action(ids.DISPLAY_LINKS_MORE)(more_links)
    app.action(ids.DISPLAY_LINK_NEW)(new_link)
    app.view(ids.DISPLAY_LINK_FORM)(add_link)
    app.action(ids.DISPLAY_LINK_REMOVE)(remove_link)
