"""Typed words that were not understood: one line, and a button that opens the form."""

from __future__ import annotations

from typing import Final

from bot.base import ids
from bot.interaction import identity
from bot.interaction.interaction import Interaction
from bot.interaction.listening import Listener
from bot.listeners import request_form
from bot.message_views import replies
from bot.typed.typed_leave import ParsedLeave
from bot.views import request_values
from bot.views.request_values import Filled
from storage.db.database import Transaction
from storage.events import organisation_config


async def reply(interaction: Interaction, typed: str, leave: ParsedLeave) -> None:
    """Say which words were not understood; the button's form has the rest."""
    by = await identity.caller(interaction)
    understood = Filled(
        leave_type_id=leave.leave_type_id,
        start_date=leave.otherwise.start_date,
        end_date=leave.otherwise.end_date,
        begins_at_midday=leave.otherwise.start_half_day == "pm",
        ends_at_midday=leave.otherwise.end_half_day == "am",
    )
    name = await interaction.services.database.read(
        _type_name, by.organisation_id, leave.leave_type_id
    )
    await interaction.reply(
        replies.not_understood(
            str(interaction.body["command"]),
            leave.unknown_words if leave.is_about_leave else typed,
            name,
            leave.otherwise,
            request_values.packed(understood),
        )
    )


def _type_name(tx: Transaction, organisation_id: str, leave_type_id: str | None) -> str | None:
    types = organisation_config.of_organisation(tx, organisation_id).leave_types
    return None if leave_type_id is None else types[leave_type_id].name


async def open_rest(interaction: Interaction) -> None:
    """Open the form with what was understood."""
    await request_form.open_filled_in(interaction, request_values.unpacked(interaction.value))


LISTENERS: Final = (Listener(kind="action", name=ids.OPEN_UNDERSTOOD, act=open_rest),)
