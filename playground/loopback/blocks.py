"""Block Kit as a person reads it, and the state of fields in views.

Shapes: docs.slack.dev/config/block-kit and /config/views. Limits are in `limits`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

# Any JSON object of Slack.
Payload = dict[str, Any]

# By stateful element: the field of `state.values` that has its value, and its first value.
_STATE_FIELDS: dict[str, tuple[str, object]] = {
    "static_select": ("selected_option", None),
    "external_select": ("selected_option", None),
    "radio_buttons": ("selected_option", None),
    "users_select": ("selected_user", None),
    "channels_select": ("selected_channel", None),
    "conversations_select": ("selected_conversation", None),
    "checkboxes": ("selected_options", []),
    "multi_static_select": ("selected_options", []),
    "multi_external_select": ("selected_options", []),
    "multi_users_select": ("selected_users", []),
    "multi_channels_select": ("selected_channels", []),
    "multi_conversations_select": ("selected_conversations", []),
    "datepicker": ("selected_date", None),
    "timepicker": ("selected_time", None),
    "datetimepicker": ("selected_date_time", None),
    "plain_text_input": ("value", None),
    "number_input": ("value", None),
    "email_text_input": ("value", None),
    "url_text_input": ("value", None),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Button:
    """A button as shown; `element` is its Block Kit object."""

    text: str
    action_id: str
    block_id: str
    value: str | None
    style: str | None
    url: str | None
    element: Payload = field(repr=False, compare=False)


def text_of(thing: object) -> str:
    """The text of a text object, or the string itself."""
    return str(thing.get("text", "")) if isinstance(thing, dict) else str(thing or "")


def elements_of(block: Payload) -> list[Payload]:
    """The interactive elements of a block, wherever it keeps them."""
    elements = list(block.get("elements") or []) if block.get("type") == "actions" else []
    elements += list(block.get("actions") or []) if block.get("type") == "card" else []
    elements += [block[key] for key in ("accessory", "element") if isinstance(block.get(key), dict)]
    return [element for element in elements if element.get("type") != "image"]


def located(blocks: list[Payload]) -> Iterator[tuple[Payload, Payload]]:
    """Every (block, interactive element), in order."""
    for block in blocks:
        for element in elements_of(block):
            yield block, element


def buttons(blocks: list[Payload]) -> list[Button]:
    """Every button, in order; overflow menus and selects are not among them."""
    return [
        Button(
            text=text_of(element.get("text")),
            action_id=str(element.get("action_id", "")),
            block_id=str(block.get("block_id", "")),
            value=element.get("value"),
            style=element.get("style"),
            url=element.get("url"),
            element=element,
        )
        for block, element in located(blocks)
        if element.get("type") == "button"
    ]


def visible_text(blocks: list[Payload]) -> str:
    """The words on the screen, one line each, as they were sent (`&amp;` stays `&amp;`).

    Labels, hints, button texts, chosen or first-set options and typed first values are part of it;
    options of a closed menu are not, those of radio buttons and checkboxes are.
    """
    lines: list[str] = []
    for block in blocks:
        lines += _block_lines(block)
    return "\n".join(line for line in lines if line)


def _block_lines(block: Payload) -> list[str]:
    kind = block.get("type")
    if kind == "input":
        lines = [text_of(block.get("label")), *_element_lines(block.get("element") or {})]
        return [*lines, text_of(block.get("hint"))]
    if kind == "rich_text":
        return ["".join(_rich_text(element)) for element in block.get("elements", [])]
    if kind == "context":
        return [
            text_of(element) or str(element.get("alt_text", ""))
            for element in block.get("elements", [])
        ]
    if kind == "table":
        return [" | ".join(cell_text(cell) for cell in row) for row in block.get("rows", [])]
    lines = [text_of(block.get(key)) for key in ("text", "title", "subtitle", "body")]
    lines += [text_of(field) for field in block.get("fields") or []]
    lines.append(str(block.get("alt_text", "")))
    for element in elements_of(block):
        lines += _element_lines(element)
    return lines


def cell_text(cell: Payload) -> str:
    """The text of a table's cell: raw_text, raw_number or rich_text."""
    return "".join(_rich_text(cell)) if cell.get("type") == "rich_text" else text_of(cell)


def _element_lines(element: Payload) -> list[str]:
    lines = [text_of(element.get("text"))]
    if element.get("type") in {"radio_buttons", "checkboxes"}:
        for option in element.get("options", []):
            lines += [text_of(option.get("text")), text_of(option.get("description"))]
        return lines
    if isinstance(element.get("initial_option"), dict):
        lines.append(text_of(element["initial_option"].get("text")))
    lines += [str(element[key]) for key in ("initial_date", "initial_value") if element.get(key)]
    return lines


def _rich_text(element: Payload) -> Iterator[str]:
    if "elements" in element:
        for inner in element["elements"]:
            yield from _rich_text(inner)
    else:
        named = element.get("user_id") or element.get("name") or element.get("url", "")
        yield str(element.get("text") or named)


def options_of(element: Payload) -> list[Payload]:
    """The options of a select, menu or group of boxes, groups flattened."""
    groups = [group.get("options", []) for group in element.get("option_groups") or []]
    return [*(element.get("options") or []), *(option for group in groups for option in group)]


def with_ids(blocks: list[Payload]) -> list[Payload]:
    """The blocks with a block_id and action_ids wherever the app gave none, as Slack does."""
    for block in blocks:
        block.setdefault("block_id", secrets.token_urlsafe(4))
        for element in elements_of(block):
            element.setdefault("action_id", secrets.token_urlsafe(4))
    return blocks


def is_stateful(element: Payload) -> bool:
    return element.get("type") in _STATE_FIELDS


def first_state(blocks: list[Payload]) -> dict[str, dict[str, Payload]]:
    """`state.values` of a view as it opens."""
    values: dict[str, dict[str, Payload]] = {}
    for block, element in located(blocks):
        if is_stateful(element):
            name, untouched = _STATE_FIELDS[element["type"]]
            state = {"type": element["type"], name: element.get(_initial_name(name), untouched)}
            values.setdefault(block["block_id"], {})[element["action_id"]] = state
    return values


def _initial_name(state_name: str) -> str:
    return "initial_" + state_name.removeprefix("selected_")


def carried_over(
    old: dict[str, dict[str, Payload]], blocks: list[Payload]
) -> dict[str, dict[str, Payload]]:
    """`state.values` of the new blocks. Fields with equal block_id and action_id keep their value.

    Source: bolt-js #290 and bolt-python #1064.
    """
    fresh = first_state(blocks)
    for block_id, actions in fresh.items():
        for action_id, state in actions.items():
            previous = old.get(block_id, {}).get(action_id)
            if previous is not None and previous["type"] == state["type"]:
                actions[action_id] = previous
    return fresh


def state_of(element: Payload, value: object) -> Payload:
    """The entry of `state.values` after a person gave `value`; None empties it.

    `value` is an option's value (or the option), a list of them for several, an id, a date or text.
    Raises KeyError for an option that the element does not have.
    """
    name, untouched = _STATE_FIELDS[element["type"]]
    if value is None:
        return {"type": element["type"], name: untouched}
    if name == "selected_option":
        value = _option(element, value)
    elif name == "selected_options":
        assert isinstance(value, Sequence)
        value = [_option(element, chosen) for chosen in value]
    elif name in {"selected_date", "value"}:
        value = str(value)
    return {"type": element["type"], name: value}


def is_empty(state: Payload) -> bool:
    """Whether an entry of `state.values` counts as not filled in."""
    return state[_STATE_FIELDS[state["type"]][0]] in (None, [], "")


def _option(element: Payload, value: object) -> Payload:
    if isinstance(value, dict):
        return value
    for option in options_of(element):
        if option.get("value") == value:
            return {key: option[key] for key in ("text", "value", "description") if key in option}
    offered = [option.get("value") for option in options_of(element)]
    raise KeyError(f"{value!r} is not among {offered}")


def chosen_option(element: Payload, value: object) -> Payload:
    """The option of an overflow menu with this value; KeyError if it is not there."""
    return _option(element, value)
