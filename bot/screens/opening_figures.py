"""Settings: how many days everyone has left, pasted as a table.

The first submit checks the table and shows what it says; the second one saves it, unless it was
changed meanwhile: then it is checked again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import fields, layout, words
from bot.interaction import errors, modals
from bot.interaction.interaction import Interaction
from bot.screens import screen
from bot.screens.forms import Form
from bot.screens.screen import Screen
from storage.base.allowance_values import Amount
from storage.base.errors import DomainError
from storage.base.values import Caller, local_day
from storage.db.database import Transaction
from storage.leave import opening_figures
from storage.leave.opening_figures import BadLine, Figure, Table
from storage.outbox import organisation_config
from storage.workspaces import setup_checklist

NAME: Final = "settings.opening_figures"
# The most that Slack takes in a text field.
MAX_TEXT: Final = 3_000
_MAX_SHOWN: Final = 20
_MAX_LINE: Final = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Pasted:
    """The form's values. ``version`` changes with them."""

    text: str
    on: date

    @property
    def version(self) -> str:
        return hashlib.sha256(f"{self.on} {self.text}".encode()).hexdigest()[:32]


def read_form(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
    return form_view(local_day(interaction.now, organisation.timezone))


def form_view(on: date, text: str = "", shown: Sequence[Block] = (), part: int = 0) -> View:
    """The empty form, or that of the lines that were not saved. ``part`` numbers the pastes."""
    return layout.modal(
        gettext("Days left"),
        [*shown, *_fields(Pasted(text=text, on=on), part)],
        f"{NAME}.form",
        gettext("Check"),
        gettext("Close"),
        f"{part}",
    )


def _fields(pasted: Pasted, part: int) -> list[Block]:
    table = fields.text_input(
        pasted.text, MAX_TEXT, placeholder=f"Sam Rivera; {words.number(12.5)}\nkim@example.com; 8"
    )
    return [
        fields.field(
            # A number makes Slack forget the table that was saved.
            f"table{fields.RESET}{part}",
            gettext("Who has how many days left?"),
            table | {"multiline": True},
            hint=gettext(
                "A line for each person: name or e-mail address, then the days, as you copy them "
                "from a spreadsheet. Leave that is booked in Hiatus is already taken off. Slack "
                "takes 3,000 characters at once, so paste a longer table in parts. Leave empty if "
                "everyone has what Home shows."
            ),
            is_optional=True,
        ),
        fields.field("on", gettext("On which day?"), fields.date_picker(pasted.on)),
        layout.quiet(
            gettext(
                "Is leave booked already? Import it from a CSV file, with `hiatus import` or "
                "`POST /api/v1/imports`. Leave before this day isn't taken off a second time."
            )
        ),
    ]


def checked_view(pasted: Pasted, table: Table, part: int) -> View:
    """What the table says, above the table, before anything is saved."""
    return layout.modal(
        gettext("Days left"),
        [*_findings(table), *_fields(pasted, part)],
        f"{NAME}.form",
        gettext("Save") if table.figures else gettext("Check"),
        gettext("Close"),
        f"{part} {pasted.version if table.figures else ''}".strip(),
    )


def _findings(table: Table) -> list[Block]:
    matched, unknown = len(table.figures), len(table.bad_lines)
    found = gettext("{matched} matched, {unknown} unknown", matched=matched, unknown=unknown)
    blocks = [layout.section(f"*{found}*")]
    if table.changed:
        lines = _some([_changed_line(each) for each in table.changed], len(table.changed))
        blocks.append(layout.paragraph("\n".join(lines)))
    same = matched - len(table.changed)
    if same:
        blocks.append(
            layout.quiet(
                ngettext(
                    "{count} person has these days already.",
                    "{count} people have these days already.",
                    same,
                )
            )
        )
    return [*blocks, *_bad(table.bad_lines)]


def _changed_line(figure: Figure) -> str:
    name = layout.one_line(layout.cut(figure.user.name, layout.MAX_NAME))
    before, after = (words.number(each / 2) for each in (figure.left_half_days, figure.half_days))
    return gettext("{name}: {before} → {after} days", name=name, before=before, after=after)


def _bad(bad_lines: Sequence[BadLine]) -> list[Block]:
    if not bad_lines:
        return []
    lines = [
        gettext(
            "Line {number}, “{text}”: {cure}",
            number=each.number,
            text=layout.cut(layout.one_line(each.text), _MAX_LINE),
            cure=errors.translated(each.cure),
        )
        for each in bad_lines
    ]
    return [layout.paragraph("\n".join(_some(lines, len(lines))))]


def _some(lines: Sequence[str], count: int) -> list[str]:
    shown = list(lines[:_MAX_SHOWN])
    if count > len(shown):
        rest = count - len(shown)
        shown.append(ngettext("… and {count} more", "… and {count} more", rest))
    return shown


def _saved(table: Table) -> list[Block]:
    sentence = ngettext(
        "Saved for {count} person. Paste the next part, or close.",
        "Saved for {count} people. Paste the next part, or close.",
        len(table.figures),
    )
    blocks = [layout.section(f"*{sentence}*")]
    if table.bad_lines:
        blocks.append(layout.quiet(gettext("These lines are not saved yet:")))
    return [*blocks, *_bad(table.bad_lines)]


def reason_of(on: date) -> opening_figures.ReasonOf:
    """The reason of each adjustment, which the person reads in their ledger."""

    def reason(half_days: Amount) -> str:
        amount = words.amount(half_days)
        return gettext("{amount} left on {day}", amount=amount, day=words.plain_day(on))

    return reason


async def _submitted(interaction: Interaction) -> None:
    by, form = await modals.admin(interaction), Form(interaction)
    pasted = Pasted(text=form.text("table") or "", on=form.day("on") or interaction.now.date())
    part, _, checked_version = interaction.private_metadata.partition(" ")
    number = int(part) if part.isdecimal() else 0
    try:
        if not pasted.text.strip():
            await _check_off(interaction, by)
        elif checked_version == pasted.version:
            await _save(interaction, pasted, number, by)
        else:
            await _check(interaction, pasted, number, by)
    except DomainError as refusal:
        await modals.show_error(interaction, refusal)


async def _check(interaction: Interaction, pasted: Pasted, part: int, by: Caller) -> None:
    table = await interaction.database.read(
        opening_figures.check,
        opening_figures.entries_of(pasted.text),
        pasted.on,
        reason_of=reason_of(pasted.on),
        by=by,
        now=interaction.now,
    )
    await modals.replace_form(interaction, checked_view(pasted, table, part))


async def _save(interaction: Interaction, pasted: Pasted, part: int, by: Caller) -> None:
    def save(tx: Transaction) -> Table:
        table = opening_figures.save(
            tx,
            opening_figures.entries_of(pasted.text),
            pasted.on,
            reason_of=reason_of(pasted.on),
            by=by,
            now=interaction.now,
        )
        setup_checklist.check_off(tx, "opening_figures", by=by, now=interaction.now)
        return table

    table = await interaction.database.write(save)
    left_over = "\n".join(bad.text for bad in table.bad_lines)
    after = form_view(pasted.on, left_over, _saved(table), part + 1)
    await modals.replace_form(interaction, after)
    modals.refresh_home(interaction)


async def _check_off(interaction: Interaction, by: Caller) -> None:
    """Nothing was pasted: the step of the checklist is done, and everyone keeps their days."""
    await interaction.database.write(
        setup_checklist.check_off, "opening_figures", by=by, now=interaction.now
    )
    await interaction.ack()
    modals.refresh_home(interaction)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(read_form))
    app.view(f"{NAME}.form")(_submitted)


SCREEN: Final = Screen(gettext_noop("Days left"), NAME, register)
