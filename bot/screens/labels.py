"""Settings: labels for people."""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text
from bot.interaction.interaction import Interaction
from bot.screens import screen
from bot.screens.forms import Form
from bot.screens.screen import Screen
from storage.admin import labels
from storage.admin.labels import Label
from storage.base.values import Caller
from storage.db.database import Transaction

NAME: Final = "settings.labels"
_COLOUR: Final = "#4a7fb5"


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    page = labels.page(tx, screen.page_of(cursor), by=by)
    blocks = [layout.actions(layout.button(gettext("Add a label"), f"{NAME}.new"))]
    blocks += [_row(label) for label in page.items]
    return screen.list_view(NAME, gettext("Labels"), blocks, page.next_cursor)


def _row(label: Label) -> Block:
    spoken = gettext("Edit {name}", name=label.name)
    edit = layout.button(gettext("Edit"), f"{NAME}.edit", label.id, spoken=spoken)
    return {**layout.row(label.name, [label.colour]), "accessory": edit}


def _read_form(tx: Transaction, interaction: Interaction, by: Caller, label_id: str) -> View:
    label = labels.get(tx, label_id, by=by) if label_id else None
    blocks = [
        fields.field("name", gettext("Name"), fields.text_input(label.name if label else None)),
        fields.field(
            "colour",
            gettext("Colour"),
            fields.text_input(label.colour if label else _COLOUR, 7),
        ),
    ]
    if label is None:
        return screen.form_view(f"{NAME}.form", gettext("Add a label"), blocks)
    delete = layout.button(gettext("Delete"), f"{NAME}.delete", label.id, "danger")
    delete["confirm"] = layout.confirm(
        gettext("Delete this label?"),
        gettext("{name} will be deleted.", name=text.cut(label.name, text.MAX_NAME)),
        gettext("Delete"),
        gettext("Keep it"),
    )
    blocks.append(layout.actions(delete))
    return screen.form_view(f"{NAME}.form", gettext("Label"), blocks, label.id)


def _save(tx: Transaction, interaction: Interaction, by: Caller, form: Form) -> object:
    values = {"name": form.text("name") or "", "colour": form.text("colour") or ""}
    if form.about:
        return labels.update(tx, form.about, values, by=by, now=interaction.now)
    return labels.create(tx, values, by=by, now=interaction.now)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(_read_list))
    app.action(f"{NAME}.more")(screen.shows_more(_read_list))
    app.action(f"{NAME}.new")(screen.opens(_read_form))
    app.action(f"{NAME}.edit")(screen.opens(_read_form))
    app.view(f"{NAME}.form")(screen.saves(_save, _read_list))
    deleted = (gettext_noop("Label"), gettext_noop("The label was deleted."))
    app.action(f"{NAME}.delete")(screen.deletes(labels.delete, _read_list, done=deleted))


SCREEN: Final = Screen(gettext_noop("Labels"), NAME, register)
