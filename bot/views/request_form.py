"""The request form: its blocks and its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.base.payloads import Values
from bot.blocks import fields, form_values, text, words
from bot.blocks.fields import Option
from bot.typed.problems import Problem, ProblemKind
from storage.base.errors import FieldError, InvalidInput
from storage.base.values import LeaveRequest, LeaveType
from storage.leave.drafts import MAX_NOTE_LENGTH, Draft
from storage.rules.spans import Span

# Slack takes 100 options in a menu, or 100 groups of 100.
_MAX_IN_GROUP: Final = 100
_MAX_TYPES: Final = 1_000
_MAX_PROBLEMS: Final = 8

FIELDS: Final = (
    ids.LEAVE_TYPE,
    ids.FIRST_DAY,
    ids.BEGINS,
    ids.LAST_DAY,
    ids.ENDS,
    ids.NOTE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """The form's values. None if nothing was chosen yet."""

    leave_type_id: str | None
    start_date: date | None
    end_date: date | None
    begins_at_midday: bool = False
    ends_at_midday: bool = False
    note: str | None = None

    @classmethod
    def with_request(cls, request: LeaveRequest) -> Filled:
        span = Span(
            start_date=request.start_date,
            end_date=request.end_date,
            start_half_day=request.start_half_day,
            end_half_day=request.end_half_day,
        )
        return cls(
            leave_type_id=request.leave_type_id,
            start_date=request.start_date,
            end_date=request.end_date,
            begins_at_midday=span.first_slot % 2 == 1,
            ends_at_midday=span.last_slot % 2 == 0,
            note=request.note,
        )

    def draft(self) -> Draft | None:
        """None while a required value is missing."""
        if self.leave_type_id is None or self.start_date is None or self.end_date is None:
            return None
        return Draft(
            leave_type_id=self.leave_type_id,
            start_date=self.start_date,
            end_date=self.end_date,
            start_half_day="pm" if self.begins_at_midday else None,
            end_half_day="am" if self.ends_at_midday else None,
            note=self.note,
        )


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
            _kept_type(types, filled) if edited_id else _type_field(types, filled),
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


def asides(problems: Sequence[Problem]) -> list[Block]:
    """The words typed after the command that were not understood, as sentences."""
    if not problems:
        return []
    lines = [_problem_sentence(problem) for problem in problems[:_MAX_PROBLEMS]]
    block = text.paragraph("\n".join(lines))
    return [{"block_id": ids.ASIDES, **block}]


def _problem_sentence(problem: Problem) -> str:
    typed = text.cut(problem.typed, text.MAX_NAME)
    choices = words.names([text.cut(choice, text.MAX_NAME) for choice in problem.choices])
    return gettext(_PROBLEM_SENTENCES[problem.kind], typed=typed, choices=choices)


_PROBLEM_SENTENCES: Final[Mapping[ProblemKind, str]] = {
    "unknown": gettext_noop("Sorry, I didn't understand “{typed}”. Please choose the days below."),
    "which_day": gettext_noop("“{typed}” could mean more than one day. Please choose below."),
    "which_month": gettext_noop("Which month is “{typed}” in? Please choose the days below."),
    "which_year": gettext_noop("“{typed}” could be in more than one year. Please choose below."),
    "which_half": gettext_noop(
        "“{typed}” could mean the first or the last day. Please choose when your leave "
        "starts and ends."
    ),
    "half_of_which_day": gettext_noop("“{typed}” on which day? Please choose below."),
    "impossible_day": gettext_noop("There's no “{typed}”. Please choose the days below."),
    "several_days": gettext_noop(
        "“{typed}” is more than one period. Type something like “3-7 aug”, or choose below."
    ),
    "which_first_day": gettext_noop("“{typed}” starting on which day? Please choose below."),
    "which_last_day": gettext_noop("“{typed}” until when? Please choose below."),
    "which_length": gettext_noop(
        "“{typed}” could mean working days or calendar days. Please choose the days below."
    ),
    "which_type": gettext_noop("“{typed}” could mean {choices}. Please choose below."),
    "several_types": gettext_noop(
        "A request has one leave type, but you named {choices}. Please choose below."
    ),
}


def offered(leave_types: Iterable[LeaveType]) -> list[LeaveType]:
    """The types that can be requested, by name."""
    return sorted(
        (leave_type for leave_type in leave_types if not leave_type.is_archived),
        key=lambda leave_type: (leave_type.name.casefold(), leave_type.id),
    )[:_MAX_TYPES]


def filled_of(values: Values, leave_type_id: str | None = None) -> Filled:
    """The values in a view's ``state.values``; ``leave_type_id`` overrides the chosen type."""
    return Filled(
        leave_type_id=leave_type_id or form_values.value(values, ids.LEAVE_TYPE),
        start_date=form_values.date_value(values, ids.FIRST_DAY),
        end_date=form_values.date_value(values, ids.LAST_DAY),
        begins_at_midday=form_values.value(values, ids.BEGINS) == ids.MIDDAY,
        ends_at_midday=form_values.value(values, ids.ENDS) == ids.MIDDAY,
        note=form_values.value(values, ids.NOTE),
    )


def draft_of(filled: Filled) -> Draft:
    """Raises InvalidInput ``required``, which Slack's clients prevent."""
    draft = filled.draft()
    if draft is None:
        required = {
            ids.LEAVE_TYPE: filled.leave_type_id,
            ids.FIRST_DAY: filled.start_date,
            ids.LAST_DAY: filled.end_date,
        }
        raise InvalidInput(
            [
                FieldError(pointer=f"/{field}", code="required", detail=gettext("Choose one."))
                for field, value in required.items()
                if value is None
            ]
        )
    return draft


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
    return _field(
        ids.LEAVE_TYPE, gettext("Leave type"), _menu_of_types(types, filled.leave_type_id)
    )


def _kept_type(types: Sequence[LeaveType], filled: Filled) -> Block:
    name = next(
        (leave_type.name for leave_type in types if leave_type.id == filled.leave_type_id), ""
    )
    return text.section(f"*{text.name(name)}*")


def _menu_of_types(leave_types: Iterable[LeaveType], chosen_id: str | None) -> Block:
    types = offered(leave_types)
    menu: Block = {"type": "static_select", "placeholder": text.plain(gettext("Choose a type"))}
    if len(types) <= _MAX_IN_GROUP:
        menu["options"] = [_option(leave_type) for leave_type in types]
    else:
        groups = range(0, len(types), _MAX_IN_GROUP)
        menu["option_groups"] = [_group(types[at : at + _MAX_IN_GROUP]) for at in groups]
    for leave_type in types:
        if leave_type.id == chosen_id or len(types) == 1:
            menu["initial_option"] = _option(leave_type)
    return menu


def _group(types: Sequence[LeaveType]) -> Block:
    half = text.MAX_OPTION // 2 - 2
    label = f"{text.cut(types[0].name, half)} – {text.cut(types[-1].name, half)}"
    options = [_option(leave_type) for leave_type in types]
    return {"label": text.plain(label, text.MAX_OPTION), "options": options}


def _option(leave_type: LeaveType) -> Block:
    return fields.option(Option(label=_label(leave_type), value=leave_type.id))


def _label(leave_type: LeaveType) -> str:
    emoji = f":{leave_type.emoji}: " if leave_type.emoji and len(leave_type.emoji) < 50 else ""
    return emoji + leave_type.name


def _halves(labels: tuple[str, str], at_midday: bool) -> Block:
    options = [
        fields.option(Option(label=gettext(labels[0]), value=ids.WHOLE_DAY)),
        fields.option(Option(label=gettext(labels[1]), value=ids.MIDDAY)),
    ]
    return {"type": "static_select", "options": options, "initial_option": options[at_midday]}


def _note(typed: str | None) -> Block:
    field: Block = {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": MAX_NOTE_LENGTH,
        "placeholder": text.plain(gettext("Visible to your approver")),
    }
    return field | {"initial_value": typed} if typed else field
