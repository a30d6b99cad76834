"""Headers, buttons, dialogues and form fields that several views are made of, and their answers.

A field is an input block: its block id is the name by which the domain refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.base.payloads import Answer, Values
from bot.views import text

LONGEST_LABEL: Final = 75
# Of a menu; of groups in a menu as well.
MOST_OPTIONS: Final = 100
_LONGEST_PLACEHOLDER: Final = 150


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One of a menu's options; ``value`` comes back."""

    label: str
    value: str


def header(title: str) -> Block:
    return {"type": "header", "text": text.plain(title, 150)}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def button(label: str, action_id: str, value: str = "", style: str = "", spoken: str = "") -> Block:
    """A button. ``spoken`` is what a screen reader says, where the label alone is not enough."""
    made: Block = {"type": "button", "action_id": action_id, "text": text.plain(label)}
    if value:
        made["value"] = value
    if style:
        made["style"] = style
    if spoken:
        made["accessibility_label"] = text.cut(spoken, LONGEST_LABEL)
    return made


def confirm(title: str, sentence: str, yes: str, no: str) -> Block:
    """The dialogue that asks before a button does what cannot be taken back; plain text."""
    return {
        "title": text.plain(title, 100),
        "text": text.verbatim(sentence, 300),
        "confirm": text.plain(yes, 30),
        "deny": text.plain(no, 30),
    }


def modal(
    title: str,
    blocks: Sequence[Block],
    callback_id: str = "",
    submit: str = "",
    close: str = "",
    kept: str = "",
) -> View:
    """A modal; with ``submit`` it can be sent. ``kept`` comes back: ids, or what was filled in."""
    view: View = {
        "type": "modal",
        "title": text.plain(title, text.LONGEST_TITLE),
        "close": text.plain(close or gettext("Close"), text.LONGEST_TITLE),
        "blocks": list(blocks),
        "private_metadata": kept,
    }
    if callback_id:
        view["callback_id"] = callback_id
    if submit:
        view["submit"] = text.plain(submit, text.LONGEST_TITLE)
    return view


def field(
    name: str, label: str, element: Block, *, hint: str = "", is_optional: bool = False
) -> Block:
    block: Block = {
        "type": "input",
        "block_id": name,
        "label": text.plain(label, 2_000),
        "element": {"action_id": ids.ANSWER, **element},
        "optional": is_optional,
    }
    return block | {"hint": text.plain(hint, 2_000)} if hint else block


def typed(value: str | None = None, longest: int = 200, placeholder: str = "") -> Block:
    """A line of text."""
    element: Block = {"type": "plain_text_input", "max_length": longest}
    if value:
        element["initial_value"] = value[:longest]
    if placeholder:
        element["placeholder"] = text.plain(placeholder, _LONGEST_PLACEHOLDER)
    return element


def number(value: float | None = None, *, least: int = 0, most: int) -> Block:
    element: Block = {
        "type": "number_input",
        "is_decimal_allowed": False,
        "min_value": str(least),
        "max_value": str(most),
    }
    return element if value is None else element | {"initial_value": f"{value:g}"}


def days_a_year(half_days: int | None) -> Block:
    """Days in steps of a half, as every allowance is asked for; ``half_days`` stand there."""
    shown = number(None if half_days is None else half_days / 2, most=366)
    return shown | {"is_decimal_allowed": True}


def day(value: date | None = None) -> Block:
    picker: Block = {"type": "datepicker"}
    return picker if value is None else picker | {"initial_date": value.isoformat()}


def menu(options: Sequence[Option], chosen: str | None = None, placeholder: str = "") -> Block:
    """A menu of at most 10,000 options, in groups where there are more than 100."""
    element: Block = {"type": "static_select", **_offered(options)}
    first = [one for one in options if one.value == chosen][:1]
    if first:
        element["initial_option"] = option(first[0])
    if placeholder:
        element["placeholder"] = text.plain(placeholder, _LONGEST_PLACEHOLDER)
    return element


def several(options: Sequence[Option], chosen: Sequence[str] = ()) -> Block:
    """A menu of which several can be chosen."""
    element: Block = {"type": "multi_static_select", **_offered(options)}
    first = [option(one) for one in options if one.value in chosen]
    return element | {"initial_options": first} if first else element


def boxes(options: Sequence[Option], chosen: Sequence[str] = ()) -> Block:
    """At most ten boxes to tick."""
    element: Block = {"type": "checkboxes", "options": [option(one) for one in options]}
    first = [option(one) for one in options if one.value in chosen]
    return element | {"initial_options": first} if first else element


def search(
    action_id: str, chosen: Option | None = None, placeholder: str = "", least: int = 0
) -> Block:
    """A menu whose options are looked up while one types; at least ``least`` characters.

    Who looks them up is told by its ``action_id``.
    """
    element: Block = {
        "type": "external_select",
        "action_id": action_id,
        "min_query_length": least,
    }
    if chosen is not None:
        element["initial_option"] = option(chosen)
    if placeholder:
        element["placeholder"] = text.plain(placeholder, _LONGEST_PLACEHOLDER)
    return element


def said(options: Sequence[Option]) -> list[Option]:
    """Options whose labels are ours, in the language spoken."""
    return [Option(label=gettext(one.label), value=one.value) for one in options]


def option(one: Option) -> Block:
    return {"text": text.plain(one.label, text.LONGEST_OPTION), "value": one.value}


def answer(values: Values, name: str) -> str | None:
    """What was typed or chosen in a field, from a view's ``state.values``; None if nothing was."""
    found = _state(values, name)
    chosen = found.get("selected_option")
    return (
        found.get("value")
        or found.get("selected_date")
        or found.get("selected_conversation")
        or found.get("selected_user")
        or (chosen and chosen["value"])
        or None
    )


def picked_day(values: Values, name: str) -> date | None:
    """The picked date of a field."""
    picked = _state(values, name).get("selected_date")
    return date.fromisoformat(picked) if picked else None


def answers(values: Values, name: str) -> list[str]:
    """The values of all options that were chosen."""
    found = _state(values, name)
    return [one["value"] for one in found.get("selected_options") or []]


def _state(values: Values, name: str) -> Answer:
    # Searches have action ids of their own, so the one element goes by any.
    answers_of_block = values.get(name) or {}
    return next(iter(answers_of_block.values()), None) or {}


def _offered(options: Sequence[Option]) -> Block:
    if len(options) <= MOST_OPTIONS:
        return {"options": [option(one) for one in options]}
    starts = range(0, min(len(options), MOST_OPTIONS**2), MOST_OPTIONS)
    return {"option_groups": [_group(options[at : at + MOST_OPTIONS]) for at in starts]}


def _group(options: Sequence[Option]) -> Block:
    half = text.LONGEST_OPTION // 2 - 2
    label = f"{text.cut(options[0].label, half)} – {text.cut(options[-1].label, half)}"
    return {
        "label": text.plain(label, text.LONGEST_OPTION),
        "options": [option(one) for one in options],
    }
