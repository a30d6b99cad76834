"""Settings: closures, the days on which the company is closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.screens import consequences, forms, screen, searches
from bot.screens.consequences import NamedEffects
from bot.screens.forms import Form
from bot.screens.screen import Saving, Screen
from bot.views import request_form
from storage.admin import closures
from storage.base.leave_values import Closure, LeaveType
from storage.base.values import Caller, Department
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import counted_days

NAME: Final = "settings.closures"
_WHEN_SHORT: Final = (
    Option(label=gettext_noop("Book it anyway, below zero"), value="overdraft"),
    Option(label=gettext_noop("Book nothing for them"), value="skip"),
)


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return list_view(config, closures.page(tx, screen.page_of(cursor), by=by))


def list_view(config: OrganisationConfig, page: Page[Closure]) -> View:
    blocks: list[Block] = [
        layout.section(
            gettext(
                "When the company is closed, I book leave for everyone who works then and isn't "
                "off already."
            )
        ),
        layout.actions(layout.button(gettext("Add a closure"), f"{NAME}.new")),
    ]
    blocks += [_row(closure, config.departments, config.leave_types) for closure in page.items]
    return screen.list_view(NAME, gettext("Closures"), blocks, page.next_cursor)


def _row(
    closure: Closure, departments: Mapping[str, Department], leave_types: Mapping[str, LeaveType]
) -> Block:
    department = departments.get(closure.department_id or "")
    who = gettext("Everyone") if department is None else layout.name(department.name)
    leave_type = layout.name(words.leave_type(leave_types[closure.leave_type_id]))
    edit = layout.button(
        gettext("Edit"),
        f"{NAME}.edit",
        closure.id,
        spoken=gettext("Edit {name}", name=closure.name),
    )
    facts = [words.dates(closure), who, leave_type]
    if closure.skipped_people:
        skipped = ngettext(
            "{count} person skipped", "{count} people skipped", closure.skipped_people
        )
        facts.append(skipped)
    return {**layout.row(closure.name, facts), "accessory": edit}


def _read_form(tx: Transaction, interaction: Interaction, by: Caller, closure_id: str) -> View:
    closure = closures.get(tx, closure_id, by=by) if closure_id else None
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return form_view(closure, config.leave_types.values(), config.departments.values())


def form_view(
    closure: Closure | None, leave_types: Iterable[LeaveType], departments: Iterable[Department]
) -> View:
    """The form of a closure; None for a new one."""
    types = [
        Option(label=words.leave_type(leave_type), value=leave_type.id)
        for leave_type in leave_types
        if not leave_type.is_archived or (closure and leave_type.id == closure.leave_type_id)
    ]
    span = None if closure is None else counted_days.span_of(closure)
    blocks = [
        fields.field(
            "name",
            gettext("Name"),
            fields.text_input(
                closure.name if closure else None, placeholder=gettext("For example, Christmas")
            ),
        ),
        fields.field(
            "start_date",
            gettext("First day"),
            fields.date_picker(closure.start_date if closure else None),
        ),
        fields.field(
            ids.BEGINS,
            gettext("Starts"),
            request_form.halves(request_form.BEGINS, span is not None and span.first_slot % 2 == 1),
        ),
        fields.field(
            "end_date",
            gettext("Last day"),
            fields.date_picker(closure.end_date if closure else None),
        ),
        fields.field(
            ids.ENDS,
            gettext("Ends"),
            request_form.halves(request_form.ENDS, span is not None and span.last_slot % 2 == 0),
        ),
        fields.field(
            "leave_type_id",
            gettext("Leave type"),
            fields.select(
                sorted(types, key=lambda option: (option.label.casefold(), option.value)),
                closure.leave_type_id if closure else None,
            ),
        ),
        fields.field(
            "department_id",
            gettext("Who"),
            searches.department_select(
                departments, closure.department_id if closure else None, gettext("Everyone")
            ),
        ),
        fields.field(
            "when_short",
            gettext("If someone has too few days left"),
            fields.select(
                fields.translated(_WHEN_SHORT), closure.when_short if closure else "overdraft"
            ),
        ),
    ]
    if closure is None:
        return screen.form_view(f"{NAME}.form", gettext("Add a closure"), blocks)
    delete = layout.button(gettext("Delete"), f"{NAME}.delete", closure.id, "danger")
    blocks.append(layout.actions(delete))
    return screen.form_view(f"{NAME}.form", gettext("Closure"), blocks, closure.id)


def _values(form: Form) -> dict[str, object]:
    return {
        "name": form.text("name"),
        "start_date": form.day("start_date"),
        "end_date": form.day("end_date"),
        "start_half_day": "pm" if form.chosen(ids.BEGINS) == ids.MIDDAY else None,
        "end_half_day": "am" if form.chosen(ids.ENDS) == ids.MIDDAY else None,
        "leave_type_id": form.chosen("leave_type_id"),
        "department_id": form.chosen("department_id"),
        "when_short": form.chosen("when_short"),
    }


def _save(tx: Transaction, saving: Saving) -> object:
    values, by, now, recorder = _values(saving.form), saving.by, saving.now, saving.recorder
    if saving.form.about:
        return closures.update(tx, saving.form.about, values, by=by, now=now, recorder=recorder)
    return closures.create(tx, values, by=by, now=now, recorder=recorder)


async def _ask_deletion(interaction: Interaction) -> None:
    """Show whose leave is taken back, in place of the form, and ask to confirm."""
    await interaction.ack()
    by = await modals.admin(interaction)
    closure_id = interaction.value

    def dry_run(tx: Transaction) -> View:
        closure = closures.get(tx, closure_id, by=by)
        named_effects = forms.effects_of(
            tx,
            lambda tx, recorder: closures.delete(
                tx, closure_id, by=by, now=interaction.now, recorder=recorder
            ),
            by=by,
        )
        return deletion_view(closure, named_effects)

    await modals.refresh(interaction, await interaction.database.dry_run(dry_run))


def deletion_view(closure: Closure, named_effects: NamedEffects) -> View:
    intro = gettext(
        "{name}: people get back the days from today onwards. Days that have passed stay booked.",
        name=layout.cut(closure.name, layout.MAX_NAME),
    )
    return consequences.confirmation(
        gettext("Delete the closure?"),
        intro,
        named_effects,
        f"{NAME}.delete.form",
        gettext("Delete"),
        closure.id,
    )


async def _delete(interaction: Interaction) -> None:
    by = await modals.admin(interaction)

    def delete(tx: Transaction) -> bool:
        closures.delete(tx, interaction.private_metadata, by=by, now=interaction.now)
        return True

    if await modals.run_once(interaction, delete):
        await interaction.ack()
        await modals.refresh_below(interaction, await screen.view(interaction, _read_list, by))


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(_read_list))
    app.action(f"{NAME}.more")(screen.shows_more(_read_list))
    app.action(f"{NAME}.new")(screen.opens(_read_form))
    app.action(f"{NAME}.edit")(screen.opens(_read_form))
    forms.register(app, f"{NAME}.form", screen.confirms(_save, _read_list))
    app.action(f"{NAME}.delete")(_ask_deletion)
    app.view(f"{NAME}.delete.form")(_delete)


SCREEN: Final = Screen(gettext_noop("Closures"), NAME, register)
