"""The request form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, text
from bot.blocks.fields import Option
from bot.views.request_values import Filled
from storage.base.values import LeaveType
from storage.leave.drafts import MAX_NOTE_LENGTH

_MAX_TYPES: Final = 1_000


def view(
    leave_types: Iterable[LeaveType],
    filled: Filled,
    live: Sequence[Block],
    asides: Sequence[Block] = (),
    *,
    edited_id: str = "",
) -> View:
    """The modal. ``live`` is shown under the dates, ``asides`` at the top.

    With ``edited_id`` it edits that request, whose leave type cannot be changed.
    """
    types = list(leave_types)
    return {
        "type": "modal",
        "callback_id": ids.EDIT_FORM if edited_id else ids.REQUEST_FORM,
        "private_metadata": edited_id,
        "title": text.plain(
            gettext("Edit request") if edited_id else gettext("Request leave"), text.MAX_TITLE
        ),
        "submit": text.plain(gettext("Save") if edited_id else gettext("Send")),
        "close": text.plain(gettext("Cancel")),
        "blocks": [
            *asides,
            _fixed_type(types, filled) if edited_id else _type_field(types, filled),
            _field(ids.FIRST_DAY, gettext("First day"), fields.date_picker(filled.start_date)),
            _field(ids.BEGINS, gettext("Starts"), _halves(_BEGINS, filled.begins_at_midday)),
            _field(
                ids.LAST_DAY,
                gettext("Last day"),
                fields.date_picker(filled.end_date),
                hint=gettext("Your last day off, not the day you're back."),
            ),
            _field(ids.ENDS, gettext("Ends"), _halves(_ENDS, filled.ends_at_midday)),
            *live,
            _field(ids.NOTE, gettext("Note"), _note(filled.note), is_optional=True),
        ],
    }


_BEGINS: Final = (
    gettext_noop("At the start of the first day"),
    gettext_noop("At midday on the first day"),
)
_ENDS: Final = (
    gettext_noop("At the end of the last day"),
    gettext_noop("At midday on the last day"),
)


def requestable(leave_types: Iterable[LeaveType]) -> list[LeaveType]:
    """The types that can be requested, by name."""
    return sorted(
        (leave_type for leave_type in leave_types if not leave_type.is_archived),
        key=lambda leave_type: (leave_type.name.casefold(), leave_type.id),
    )[:_MAX_TYPES]


def _field(
    block_id: str, label: str, element: Block, *, hint: str = "", is_optional: bool = False
) -> Block:
    # Selections refresh the total at once; typed text does not.
    is_picked = element["type"] != "plain_text_input"
    action_id = ids.RECOUNT if is_picked else ids.ANSWER
    block = fields.field(
        block_id, label, {"action_id": action_id, **element}, hint=hint, is_optional=is_optional
    )
    return block | {"dispatch_action": is_picked}


def _type_field(types: Sequence[LeaveType], filled: Filled) -> Block:
    return _field(ids.LEAVE_TYPE, gettext("Leave type"), _type_menu(types, filled.leave_type_id))


def _fixed_type(types: Sequence[LeaveType], filled: Filled) -> Block:
    name = next(
        (leave_type.name for leave_type in types if leave_type.id == filled.leave_type_id), ""
    )
    return text.section(f"*{text.name(name)}*")


def _type_menu(leave_types: Iterable[LeaveType], chosen_id: str | None) -> Block:
    types = requestable(leave_types)
    options = [Option(label=_label(leave_type), value=leave_type.id) for leave_type in types]
    chosen = types[0].id if len(types) == 1 else chosen_id
    return fields.select(options, chosen, gettext("Choose a type"))


def _label(leave_type: LeaveType) -> str:
    emoji = f":{leave_type.emoji}: " if leave_type.emoji and len(leave_type.emoji) < 50 else ""
    return emoji + leave_type.name


def _halves(labels: tuple[str, str], at_midday: bool) -> Block:
    values = (ids.WHOLE_DAY, ids.MIDDAY)
    options = [
        Option(label=gettext(label), value=value)
        for label, value in zip(labels, values, strict=True)
    ]
    return fields.select(options, values[at_midday])


def _note(typed: str | None) -> Block:
    field: Block = {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": MAX_NOTE_LENGTH,
        "placeholder": text.plain(gettext("Visible to your approver")),
    }
    return field | {"initial_value": typed} if typed else field
