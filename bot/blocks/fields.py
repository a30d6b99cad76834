"""Form fields, whose block id equals the name in InvalidInput, and the values of forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.base.payloads import Answer, Values
from bot.blocks import layout, words
from storage.base.allowance_values import Amount
from storage.base.values import days_or_none
from storage.rules.counted_days import WEEKDAYS

# For options in a menu, and for option groups.
MAX_OPTIONS: Final = 100
_MAX_PLACEHOLDER: Final = 150


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """``description`` is a second line below the label of a checkbox."""

    label: str
    value: str
    description: str = ""


def field(
    name: str, label: str, element: Block, *, hint: str = "", is_optional: bool = False
) -> Block:
    block: Block = {
        "type": "input",
        "block_id": name,
        "label": layout.plain(label, 2_000),
        "element": {"action_id": ids.ANSWER, **element},
        "optional": is_optional,
    }
    return block | {"hint": layout.plain(hint, 2_000)} if hint else block


def text_input(value: str | None = None, longest: int = 200, placeholder: str = "") -> Block:
    element: Block = {"type": "plain_text_input", "max_length": longest}
    if value:
        element["initial_value"] = value[:longest]
    return element | _placeholder(placeholder)


def code_field(code: str | None) -> Block:
    """The code of a thing that integrations name; None for a new one, which may leave it empty."""
    return field(
        "code",
        gettext("Code"),
        text_input(code, 64),
        hint=(
            gettext("A short name for integrations. Leave empty to create one from the name.")
            if code is None
            else gettext("A short name for integrations.")
        ),
        is_optional=code is None,
    )


def _placeholder(shown: str) -> Block:
    return {"placeholder": layout.plain(shown, _MAX_PLACEHOLDER)} if shown else {}


def number_input(value: float | None = None, *, least: int = 0, most: int) -> Block:
    element: Block = {
        "type": "number_input",
        "is_decimal_allowed": False,
        "min_value": str(least),
        "max_value": str(most),
    }
    return element if value is None else element | {"initial_value": f"{value:g}"}


def days_input(half_days: Amount | None) -> Block:
    """An input for days in half-day steps; ``half_days`` is the initial value."""
    element = number_input(days_or_none(half_days), most=366)
    return element | {"is_decimal_allowed": True}


def date_picker(value: date | None = None) -> Block:
    picker: Block = {"type": "datepicker"}
    return picker if value is None else picker | {"initial_date": value.isoformat()}


def from_when(first_day: date | None) -> Block:
    """From when a changed allowance counts; ``first_day`` by default.

    None: the first day of each person's present leave year.
    """
    hint = gettext("Leave empty to change it from each person's present leave year on.")
    if first_day is not None:
        day = words.plain_day(first_day)
        hint = gettext("Leave empty to change it from {day} on.", day=day)
    return field("effective_from", gettext("From"), date_picker(), hint=hint, is_optional=True)


def select(options: Sequence[Option], chosen: str | None = None, placeholder: str = "") -> Block:
    """A select menu of at most 10,000 options, in groups if there are more than 100."""
    element: Block = {"type": "static_select", **_options_of(options)}
    initial = next((choice for choice in options if choice.value == chosen), None)
    if initial is not None:
        element["initial_option"] = option(initial)
    return element | _placeholder(placeholder)


def multi_select(options: Sequence[Option], chosen: Sequence[str] = ()) -> Block:
    element: Block = {"type": "multi_static_select", **_options_of(options)}
    initial = [option(choice) for choice in options if choice.value in chosen]
    return element | {"initial_options": initial} if initial else element


def radio_buttons(options: Sequence[Option], chosen: str) -> Block:
    """At most ten choices, of which one is always chosen."""
    initial = next(choice for choice in options if choice.value == chosen)
    return {
        "type": "radio_buttons",
        "options": [option(choice) for choice in options],
        "initial_option": option(initial),
    }


def checkboxes(options: Sequence[Option], chosen: Sequence[str] = ()) -> Block:
    """At most ten checkboxes."""
    element: Block = {"type": "checkboxes", "options": [option(choice) for choice in options]}
    initial = [option(choice) for choice in options if choice.value in chosen]
    return element | {"initial_options": initial} if initial else element


def external_select(
    action_id: str, chosen: Option | None = None, placeholder: str = "", least: int = 0
) -> Block:
    """A menu that loads its options after at least ``least`` typed characters.

    The listener for ``action_id`` returns the options.
    """
    element: Block = {
        "type": "external_select",
        "action_id": action_id,
        "min_query_length": least,
    }
    if chosen is not None:
        element["initial_option"] = option(chosen)
    return element | _placeholder(placeholder)


def channel_select(channel: str | None) -> Block:
    """A menu of the channels that may have a digest."""
    menu: Block = {
        "type": "conversations_select",
        # No shared channels (Slack Connect): other organisations would see who is out.
        "filter": {"include": ["public", "private"], "exclude_external_shared_channels": True},
    }
    return menu if channel is None else menu | {"initial_conversation": channel}


def translated(options: Sequence[Option]) -> list[Option]:
    """The options with translated labels."""
    return [Option(label=gettext(choice.label), value=choice.value) for choice in options]


def option(choice: Option) -> Block:
    block: Block = {"text": layout.plain(choice.label, layout.MAX_OPTION), "value": choice.value}
    if choice.description:
        block["description"] = layout.plain(choice.description, layout.MAX_OPTION)
    return block


def _options_of(options: Sequence[Option]) -> Block:
    if len(options) <= MAX_OPTIONS:
        return {"options": [option(choice) for choice in options]}
    starts = range(0, min(len(options), MAX_OPTIONS**2), MAX_OPTIONS)
    return {"option_groups": [_group(options[at : at + MAX_OPTIONS]) for at in starts]}


def _group(options: Sequence[Option]) -> Block:
    half = layout.MAX_OPTION // 2 - 2
    label = f"{layout.cut(options[0].label, half)} – {layout.cut(options[-1].label, half)}"
    return {
        "label": layout.plain(label, layout.MAX_OPTION),
        "options": [option(choice) for choice in options],
    }


# Before a number at the end of a block id. Slack keeps what was chosen in a block of the same id:
# github.com/slackapi/bolt-python/issues/1064.
RESET: Final = "."


def field_of(block_id: str) -> str:
    """The field of a block; a suffix makes Slack forget what was chosen in it before."""
    return block_id.partition(RESET)[0]


def value_of(state_values: Values, name: str) -> str | None:
    """The value of a field in a view's ``state.values``; None if it is empty."""
    state = _state(state_values, name)
    chosen = state.get("selected_option")
    return (
        state.get("value")
        or state.get("selected_date")
        or state.get("selected_conversation")
        or state.get("selected_user")
        or (chosen and chosen["value"])
        or None
    )


def date_of(state_values: Values, name: str) -> date | None:
    """The picked date of a field."""
    picked = _state(state_values, name).get("selected_date")
    return date.fromisoformat(picked) if picked else None


def values_of(state_values: Values, name: str) -> list[str]:
    """The values of all options that were chosen."""
    chosen = _state(state_values, name).get("selected_options") or []
    return [option["value"] for option in chosen]


def _state(state_values: Values, name: str) -> Answer:
    # Searches have their own action ids, so take the only element under any id.
    answers_of_block = next(
        (answers for block_id, answers in state_values.items() if field_of(block_id) == name), {}
    )
    return next(iter(answers_of_block.values()), None) or {}


# The names of the fields, from Monday.
WEEK_FIELDS: Final = tuple(f"working_days/{day}" for day in WEEKDAYS)


def week_fields(working_days: Sequence[str], hint: str = "") -> list[Block]:
    """The menus; their values are the entries of ``working_days``."""
    title = gettext("Working days")
    return [
        layout.quiet(f"*{title}*\n{hint}".strip()),
        *(_weekday_field(number, working_days) for number in range(len(WEEKDAYS))),
    ]


def _weekday_field(number: int, working_days: Sequence[str]) -> Block:
    day = WEEKDAYS[number]
    options = [
        Option(label=gettext("Works"), value=day),
        Option(label=gettext("Mornings only"), value=f"{day}:am"),
        Option(label=gettext("Afternoons only"), value=f"{day}:pm"),
        Option(label=gettext("Off"), value=ids.NOTHING),
    ]
    chosen = next((entry for entry in working_days if entry.startswith(day)), ids.NOTHING)
    return field(WEEK_FIELDS[number], words.weekday(number), select(options, chosen))
