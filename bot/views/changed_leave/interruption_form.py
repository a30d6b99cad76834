"""The form of a person who fell ill on leave."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import fields, layout, text, words
from bot.blocks.fields import Option
from bot.views import request_form
from bot.views.request_values import Filled
from storage.base.values import LeaveRequest, LeaveType


def view(
    request: LeaveRequest, leave_type: LeaveType, offered: Sequence[LeaveType], filled: Filled
) -> View:
    """The modal about the leave ``request``. ``offered`` are the types that can replace it."""
    when = words.span(
        request.start_date, request.end_date, request.start_half_day, request.end_half_day
    )
    intro = gettext("Which days of this leave were you ill? You get them back.")
    return layout.modal(
        gettext("I fell ill"),
        [
            text.section(f"*{text.name(leave_type.name)}*, {when}\n{intro}"),
            *_type_field(offered, filled),
            fields.field(
                ids.FIRST_DAY, gettext("First day"), fields.date_picker(filled.start_date)
            ),
            fields.field(
                ids.BEGINS,
                gettext("Starts"),
                request_form.halves(request_form.BEGINS, filled.begins_at_midday),
            ),
            fields.field(ids.LAST_DAY, gettext("Last day"), fields.date_picker(filled.end_date)),
            fields.field(
                ids.ENDS,
                gettext("Ends"),
                request_form.halves(request_form.ENDS, filled.ends_at_midday),
            ),
            fields.field(
                ids.NOTE, gettext("Note"), request_form.note(filled.note, True), is_optional=True
            ),
        ],
        ids.INTERRUPTION_FORM,
        gettext("Save"),
        gettext("Cancel"),
        request.id,
    )


def _type_field(offered: Sequence[LeaveType], filled: Filled) -> list[Block]:
    options = [Option(label=leave_type.name, value=leave_type.id) for leave_type in offered]
    chosen = filled.leave_type_id or offered[0].id
    menu = fields.select(options, chosen, gettext("Choose a type"))
    return [fields.field(ids.LEAVE_TYPE, gettext("Leave type"), menu)]
