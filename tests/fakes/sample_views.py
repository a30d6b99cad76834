"""A form and a message, as an app sends them to the loopback Slack."""

from __future__ import annotations

from typing import Any

Payload = dict[str, Any]


def plain(text: str) -> Payload:
    return {"type": "plain_text", "text": text}


def form(note: str = "") -> Payload:
    """A modal with a date, a type that dispatches changes, and a note."""
    options = [{"text": plain(name.title()), "value": name} for name in ("annual", "sick")]
    element = {"type": "static_select", "action_id": "pick_type", "options": options}
    blocks: list[Payload] = [
        {"type": "input", "block_id": "type", "label": plain("Type"), "element": element},
        {
            "type": "input",
            "block_id": "first_day",
            "label": plain("First day"),
            "element": {"type": "datepicker", "action_id": "pick"},
        },
        {
            "type": "input",
            "block_id": "note",
            "optional": True,
            "label": plain("Note"),
            "element": {"type": "plain_text_input", "action_id": "typed", "max_length": 20},
        },
    ]
    blocks[0]["dispatch_action"] = True
    if note:
        blocks.append({"type": "section", "block_id": "live", "text": plain(note)})
    return {
        "type": "modal",
        "callback_id": "form",
        "title": plain("Time off"),
        "submit": plain("Send"),
        "blocks": blocks,
    }


def question(requester_id: str, day: str) -> Payload:
    """A message with one button."""
    text = f"<@{requester_id}> asks for {day}"
    button = {"type": "button", "action_id": "approve", "value": day, "text": plain("Approve")}
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    return {"text": text, "blocks": [section, {"type": "actions", "elements": [button]}]}
