"""The form in which somebody asks for leave: its blocks, and what was filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Final

from bot import ids
from bot.language import say
from bot.views import text
from bot.views.text import Block
from storage.drafts import LONGEST_NOTE, Draft
from storage.errors import FieldError, InvalidInput
from storage.values import LeaveType

# Slack takes 100 options in a menu, or 100 groups of 100.
_MOST_IN_GROUP: Final = 100
_MOST_TYPES: Final = 1_000

FIELDS: Final = (
    ids.LEAVE_TYPE,
    ids.FIRST_DAY,
    ids.BEGINS,
    ids.LAST_DAY,
    ids.ENDS,
    ids.NOTE,
)


def view(leave_types: Iterable[LeaveType], today: date) -> dict[str, Any]:
    """The modal, with the types that can be asked for by name; both days start out as today."""
    return {
        "type": "modal",
        "callback_id": ids.REQUEST_FORM,
        "title": text.plain(say("Request leave"), text.LONGEST_TITLE),
        "submit": text.plain(say("Send")),
        "close": text.plain(say("Cancel")),
        "blocks": [
            _field(ids.LEAVE_TYPE, say("Type of leave"), _menu_of_types(leave_types)),
            _field(ids.FIRST_DAY, say("First day"), _day(today)),
            _field(
                ids.BEGINS,
                say("Begins"),
                _halves(say("At the start of the first day"), say("At midday of the first day")),
            ),
            _field(
                ids.LAST_DAY,
                say("Last day"),
                _day(today),
                hint=say("The last day off is included."),
            ),
            _field(
                ids.ENDS,
                say("Ends"),
                _halves(say("At the end of the last day"), say("At midday of the last day")),
            ),
            _field(ids.NOTE, say("Note"), _note(), is_optional=True),
        ],
    }


def offered(leave_types: Iterable[LeaveType]) -> list[LeaveType]:
    """The types that can be asked for, by name."""
    return sorted(
        (one for one in leave_types if not one.is_archived),
        key=lambda one: (one.name.casefold(), one.id),
    )[:_MOST_TYPES]


def draft_of(values: Mapping[str, Any]) -> Draft:
    """What was filled in, from a view's ``state.values``.

    Raises InvalidInput ``required``, which Slack's own client lets nobody send.
    """
    start, end = _picked_day(values, ids.FIRST_DAY), _picked_day(values, ids.LAST_DAY)
    leave_type_id = _chosen(values, ids.LEAVE_TYPE)
    missing = [
        FieldError(f"/{field}", "required", say("Choose one."))
        for field, value in (
            (ids.LEAVE_TYPE, leave_type_id),
            (ids.FIRST_DAY, start),
            (ids.LAST_DAY, end),
        )
        if value is None
    ]
    if missing or start is None or end is None or leave_type_id is None:
        raise InvalidInput(missing)
    return Draft(
        leave_type_id,
        start,
        end,
        "pm" if _chosen(values, ids.BEGINS) == ids.MIDDAY else None,
        "am" if _chosen(values, ids.ENDS) == ids.MIDDAY else None,
        _answer(values, ids.NOTE).get("value"),
    )


def _field(
    block_id: str, label: str, element: Block, *, hint: str = "", is_optional: bool = False
) -> Block:
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": text.plain(label),
        "element": {"action_id": ids.ANSWER, **element},
        "optional": is_optional,
    }
    return block | {"hint": text.plain(hint)} if hint else block


def _menu_of_types(leave_types: Iterable[LeaveType]) -> Block:
    types = offered(leave_types)
    menu: Block = {"type": "static_select", "placeholder": text.plain(say("Choose a type"))}
    if len(types) <= _MOST_IN_GROUP:
        menu["options"] = [_option(_label(one), one.id) for one in types]
    else:
        groups = range(0, len(types), _MOST_IN_GROUP)
        menu["option_groups"] = [_group(types[at : at + _MOST_IN_GROUP]) for at in groups]
    if len(types) == 1:
        menu["initial_option"] = menu["options"][0]
    return menu


def _group(types: Sequence[LeaveType]) -> Block:
    half = text.LONGEST_OPTION // 2 - 2
    label = f"{text.cut(types[0].name, half)} – {text.cut(types[-1].name, half)}"
    options = [_option(_label(one), one.id) for one in types]
    return {"label": text.plain(label, text.LONGEST_OPTION), "options": options}


def _label(leave_type: LeaveType) -> str:
    emoji = f":{leave_type.emoji}: " if leave_type.emoji and len(leave_type.emoji) < 50 else ""
    return emoji + leave_type.name


def _option(label: str, value: str) -> Block:
    return {"text": text.plain(label, text.LONGEST_OPTION), "value": value}


def _day(today: date) -> Block:
    return {"type": "datepicker", "initial_date": today.isoformat()}


def _halves(whole: str, midday: str) -> Block:
    options = [_option(whole, ids.WHOLE_DAY), _option(midday, ids.MIDDAY)]
    return {"type": "static_select", "options": options, "initial_option": options[0]}


def _note() -> Block:
    return {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": LONGEST_NOTE,
        "placeholder": text.plain(say("Whoever decides can read it")),
    }


def _answer(values: Mapping[str, Any], block_id: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (values.get(block_id) or {}).get(ids.ANSWER) or {}
    return found


def _chosen(values: Mapping[str, Any], block_id: str) -> str | None:
    option = _answer(values, block_id).get("selected_option") or {}
    value: str | None = option.get("value")
    return value


def _picked_day(values: Mapping[str, Any], block_id: str) -> date | None:
    picked = _answer(values, block_id).get("selected_date")
    return date.fromisoformat(picked) if picked else None
