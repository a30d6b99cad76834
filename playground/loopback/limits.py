"""Slack's limits on views and messages. Every function returns problems as sentences.

Sources: @slack/types 3.2.0, docs.slack.dev/config/block-kit, docs.slack.dev/blocks.json for the
surfaces of each block, and the validation of `slack_sdk.models`.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block
from slack_sdk.models.blocks.block_elements import BlockElement
from slack_sdk.models.views import View

from playground.loopback.blocks import Payload, cell_text, elements_of, located, options_of

VIEW_BYTES = 250_000
UPDATE_TEXT_LENGTH = 4_000
# Of a status (docs.slack.dev/reference/methods/users.profile.set).
MAX_STATUS_LENGTH = 100
MESSAGE_TEXT_LENGTH = 40_000
_MESSAGE_BLOCKS = 50
_VIEW_BLOCKS = 100

_VIEW_KEYS = {
    "type",
    "title",
    "submit",
    "close",
    "blocks",
    "private_metadata",
    "callback_id",
    "external_id",
    "clear_on_close",
    "notify_on_close",
    "submit_disabled",
}
# Blocks that are not in the table are for every surface.
_SURFACES = {
    "alert": {"modal"},
    "card": {"message", "modal", "home"},
    "carousel": {"message", "home"},
    "container": {"message"},
    "context_actions": {"message"},
    "file": {"message"},
    "markdown": {"message"},
    "plan": {"message"},
    "table": {"message", "home"},
    "task_card": {"message"},
}
_TABLE_CHARACTERS = 10_000
_INPUT_ONLY = {
    "plain_text_input",
    "number_input",
    "email_text_input",
    "url_text_input",
    "rich_text_input",
    "file_input",
}
_ALSO_IN_INPUTS = {"radio_buttons", "checkboxes", "datepicker", "timepicker", "datetimepicker"}


def problems_of_message(text: str, blocks: list[Payload]) -> list[str]:
    """Problems of a message's blocks; the Web API checks its text."""
    problems = _problems_of_blocks(blocks, "message", _MESSAGE_BLOCKS)
    if blocks and not text.strip():
        problems.append("text is missing: it is all that a screen reader or notification says")
    return problems


def problems_of_view(view: Payload) -> list[str]:
    """Problems of a modal or Home view."""
    problems = [f"view.{key}: unknown" for key in sorted(set(view) - _VIEW_KEYS)]
    kind = view.get("type")
    if kind not in {"modal", "home"}:
        return [*problems, f"view.type: {kind!r}"]
    blocks = view.get("blocks")
    if not isinstance(blocks, list) or not blocks:
        return [*problems, "view.blocks: none"]
    if kind == "modal":
        problems += _plain(view.get("title"), "view.title", 24)
        for key in ("submit", "close"):
            if view.get(key) is not None:
                problems += _plain(view[key], f"view.{key}", 24)
        if view.get("submit") is None and any(block.get("type") == "input" for block in blocks):
            problems.append("view.submit: required because there is an input block")
    elif any(view.get(key) is not None for key in ("submit", "close")):
        problems.append("view: a Home tab has neither submit nor close")
    problems += _length(view.get("private_metadata"), "view.private_metadata", 3000)
    problems += _length(view.get("callback_id"), "view.callback_id", 255)
    problems += _problems_of_blocks(blocks, kind, _VIEW_BLOCKS)
    return problems or _sdk_problems_of_view(view)


def is_too_large(view: Payload) -> bool:
    return len(json.dumps(view).encode()) > VIEW_BYTES


def _sdk_problems_of_view(view: Payload) -> list[str]:
    try:
        View(**view).to_dict()
    except (SlackObjectFormationError, TypeError, ValueError) as error:
        return [f"slack_sdk: {error}"]
    return []


def _problems_of_blocks(blocks: list[Payload], surface: str, limit: int) -> list[str]:
    if not all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in blocks):
        return ["blocks: each must be an object with a type"]
    problems = []
    if len(blocks) > limit:
        problems.append(f"blocks: {len(blocks)}, at most {limit}")
    block_ids = Counter(block["block_id"] for block in blocks if block.get("block_id"))
    problems += [f"block_id {name!r} is used {n} times" for name, n in block_ids.items() if n > 1]
    for number, block in enumerate(blocks):
        problems += _problems_of_block(block, f"blocks/{number} ({block['type']})", surface)
    problems += _problems_of_tables(blocks, surface)
    if sum(bool(element.get("focus_on_load")) for _, element in located(blocks)) > 1:
        problems.append("focus_on_load is set on more than one element")
    return problems


def _problems_of_block(block: Payload, where: str, surface: str) -> list[str]:
    kind = block["type"]
    problems = _length(block.get("block_id"), f"{where}.block_id", 255)
    try:
        parsed = Block.parse(block)
        if parsed is None:
            return [*problems, f"{where}: unknown block"]
        attributes = parsed.attributes
        parsed.to_dict()
    except (SlackObjectFormationError, TypeError, ValueError, AttributeError, KeyError) as error:
        return [*problems, f"{where}: slack_sdk: {error}"]
    problems += [f"{where}.{key}: unknown" for key in sorted(set(block) - attributes)]
    if kind in _SURFACES and surface not in _SURFACES[kind]:
        problems.append(f"{where}: not in a {surface}")
    problems += _problems_by_kind(kind, block, where)
    elements = elements_of(block)
    action_ids = Counter(element["action_id"] for element in elements if element.get("action_id"))
    problems += [
        f"{where}: action_id {name!r} is used twice" for name, n in action_ids.items() if n > 1
    ]
    for element in elements:
        problems += _problems_of_element(element, f"{where}/{element.get('type')}", kind)
    return problems


def _problems_of_tables(blocks: list[Payload], surface: str) -> list[str]:
    """Limits that hold for all tables of a message or view together."""
    tables = [block for block in blocks if block["type"] == "table"]
    cells = [cell for table in tables for row in table.get("rows") or [] for cell in row]
    characters = sum(len(cell_text(cell)) for cell in cells)
    problems = []
    if len(tables) > 1 and surface == "message":
        problems.append(f"blocks: {len(tables)} tables, at most 1 in a message")
    if characters > _TABLE_CHARACTERS:
        problems.append(f"tables: {characters} characters, at most {_TABLE_CHARACTERS}")
    return problems


def _problems_of_table(block: Payload, where: str) -> list[str]:
    problems = _count(block.get("rows"), f"{where}.rows", 100)
    for number, row in enumerate(block.get("rows") or []):
        problems += _count(row, f"{where}.rows/{number}", 20)
        problems += [
            f"{where}.rows/{number}: a cell is {cell.get('type')!r}, or empty"
            for cell in row
            if cell.get("type") not in {"raw_text", "raw_number", "rich_text"}
            or not cell_text(cell)
        ]
    if block.get("column_settings") is not None:
        problems += _count(block["column_settings"], f"{where}.column_settings", 20)
    return problems


def _problems_by_kind(kind: str, block: Payload, where: str) -> list[str]:
    if kind == "header":
        return _plain(block.get("text"), f"{where}.text", 150)
    if kind == "section":
        problems = _text(block["text"], f"{where}.text", 3000) if block.get("text") else []
        if block.get("fields") is not None:
            problems += _count(block["fields"], f"{where}.fields", 10)
            for field in block["fields"]:
                problems += _text(field, f"{where}.fields", 2000)
        return problems
    if kind == "context":
        problems = _count(block.get("elements"), f"{where}.elements", 10)
        for element in block.get("elements") or []:
            if element.get("type") != "image":
                problems += _text(element, f"{where}.elements", 3000)
        return problems
    if kind == "alert":
        return _text(block.get("text"), f"{where}.text", 200)
    if kind == "card":
        return _problems_of_card(block, where)
    if kind == "table":
        return _problems_of_table(block, where)
    if kind == "actions":
        return _count(block.get("elements"), f"{where}.elements", 25)
    if kind == "input":
        problems = _plain(block.get("label"), f"{where}.label", 2000)
        if block.get("hint") is not None:
            problems += _plain(block["hint"], f"{where}.hint", 2000)
        if not isinstance(block.get("element"), dict):
            problems.append(f"{where}.element: required")
        return problems
    if kind == "markdown":
        return _length(block.get("text"), f"{where}.text", 12_000)
    return []


def _problems_of_card(card: Payload, where: str) -> list[str]:
    problems = []
    for key, limit in (("title", 150), ("subtitle", 150), ("body", 200)):
        if card.get(key) is not None:
            problems += _mrkdwn(card[key], f"{where}.{key}", limit)
    if card.get("actions") is not None:
        problems += _count(card["actions"], f"{where}.actions", 3)
    strays = {str(element.get("type")) for element in elements_of(card)} - {"button"}
    return problems + [f"{where}.actions: no {kind}" for kind in sorted(strays)]


def _problems_of_element(element: Payload, where: str, block_kind: str) -> list[str]:
    kind = str(element.get("type"))
    parsed = BlockElement.parse(element)
    if parsed is None:
        return [f"{where}: unknown element"]
    problems = [f"{where}.{key}: unknown" for key in sorted(set(element) - parsed.attributes)]
    if block_kind == "input" and kind not in _INPUT_ONLY | _ALSO_IN_INPUTS and "select" not in kind:
        problems.append(f"{where}: not in an input block")
    if block_kind != "input" and kind in _INPUT_ONLY:
        problems.append(f"{where}: only in an input block")
    problems += _length(element.get("action_id"), f"{where}.action_id", 255)
    if element.get("placeholder") is not None:
        problems += _plain(element["placeholder"], f"{where}.placeholder", 150)
    if element.get("confirm") is not None:
        problems += _problems_of_confirm(element["confirm"], f"{where}.confirm")
    if kind == "button":
        problems += _problems_of_button(element, where)
    problems += _problems_of_options(element, kind, where)
    problems += _problems_of_initial_value(element, kind, where)
    return problems


def _problems_of_button(button: Payload, where: str) -> list[str]:
    problems = _plain(button.get("text"), f"{where}.text", 75)
    problems += _length(button.get("value"), f"{where}.value", 2000)
    problems += _length(button.get("url"), f"{where}.url", 3000)
    problems += _length(button.get("accessibility_label"), f"{where}.accessibility_label", 75)
    if button.get("style") not in {None, "primary", "danger"}:
        problems.append(f"{where}.style: {button['style']!r}")
    return problems


def _problems_of_confirm(confirm: Payload, where: str) -> list[str]:
    problems = []
    for key, limit in (("title", 100), ("confirm", 30), ("deny", 30)):
        problems += _plain(confirm.get(key), f"{where}.{key}", limit)
    return problems + _text(confirm.get("text"), f"{where}.text", 300)


def _problems_of_options(element: Payload, kind: str, where: str) -> list[str]:
    limit = {"radio_buttons": 10, "checkboxes": 10, "overflow": 5}.get(kind)
    is_static = kind in {"static_select", "multi_static_select"}
    if limit is None and not is_static:
        return []
    problems = []
    if element.get("option_groups") is not None:
        problems += _count(element["option_groups"], f"{where}.option_groups", 100)
        for group in element["option_groups"]:
            problems += _plain(group.get("label"), f"{where}.label", 75)
            problems += _count(group.get("options"), f"{where}.options", 100)
    else:
        problems += _count(element.get("options"), f"{where}.options", limit or 100)
    for option in options_of(element):
        if kind in {"radio_buttons", "checkboxes"}:
            problems += _text(option.get("text"), f"{where} option text", 75)
        else:
            problems += _plain(option.get("text"), f"{where} option text", 75)
        problems += _length(option.get("value"), f"{where} option value", 75, required=True)
        if option.get("description") is not None:
            problems += _text(option["description"], f"{where} option description", 75)
    initial = [element["initial_option"]] if element.get("initial_option") else []
    for option in [*initial, *(element.get("initial_options") or [])]:
        if option not in options_of(element):
            problems.append(
                f"{where}: initial option {option.get('value')!r} is not among the options"
            )
    return problems


def _problems_of_initial_value(element: Payload, kind: str, where: str) -> list[str]:
    problems = []
    day = element.get("initial_date")
    if day is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", str(day)):
        problems.append(f"{where}.initial_date: {day!r} is not YYYY-MM-DD")
    if kind == "plain_text_input":
        limit = element.get("max_length", 3000)
        if not 1 <= limit <= 3000 or not 0 <= element.get("min_length", 0) <= limit:
            problems.append(f"{where}: min_length and max_length within 3000")
        problems += _length(element.get("initial_value"), f"{where}.initial_value", limit)
    return problems


def _count(things: object, where: str, limit: int) -> list[str]:
    if not isinstance(things, list) or not 1 <= len(things) <= limit:
        number = len(things) if isinstance(things, list) else "none"
        return [f"{where}: {number}, needs 1 to {limit}"]
    return []


def _length(text: object, where: str, limit: int, *, required: bool = False) -> list[str]:
    if text is None and not required:
        return []
    if not isinstance(text, str):
        return [f"{where}: must be a string, not {text!r}"]
    if required and not text:
        return [f"{where}: empty"]
    return [f"{where}: {len(text)} characters, at most {limit}"] if len(text) > limit else []


def _text(thing: object, where: str, limit: int) -> list[str]:
    if not isinstance(thing, dict) or thing.get("type") not in {"plain_text", "mrkdwn"}:
        return [f"{where}: must be a text object"]
    allowed = {"type", "text", "emoji"} if thing["type"] == "plain_text" else {"type", "text"}
    allowed |= {"verbatim"} if thing["type"] == "mrkdwn" else set()
    problems = [f"{where}.{key}: unknown" for key in sorted(set(thing) - allowed)]
    return problems + _length(thing.get("text"), where, limit, required=True)


def _mrkdwn(thing: object, where: str, limit: int) -> list[str]:
    if isinstance(thing, dict) and thing.get("type") == "plain_text":
        return [f"{where}: must be mrkdwn"]
    return _text(thing, where, limit)


def _plain(thing: object, where: str, limit: int) -> list[str]:
    if isinstance(thing, dict) and thing.get("type") == "mrkdwn":
        return [f"{where}: must be plain_text"]
    return _text(thing, where, limit)
