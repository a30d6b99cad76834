"""A leave request that awaits a decision, as a card: in messages, reminders and on Home."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import layout, text, words

# Two names fit in a title.
_MAX_NAME = 60


def block(
    *,
    requester_name: str,
    leave_type_name: str,
    dates: str,
    half_days: int,
    facts: Sequence[str] = (),
    buttons: Sequence[Block] = (),
    kind: Literal["request", "change", "cancellation"] = "request",
) -> Block:
    """The card; all texts are plain. ``facts`` are lines of its body: 200 characters in all.

    ``kind``: a request, or what is asked about approved leave.
    """
    requester = text.cut(requester_name, _MAX_NAME)
    leave_type = text.cut(leave_type_name, _MAX_NAME)
    what = leave_type
    if kind == "change":
        what = gettext("change of {leave_type}", leave_type=leave_type)
    elif kind == "cancellation":
        what = gettext("cancellation of {leave_type}", leave_type=leave_type)
    return layout.card(
        f"{requester} · {what}",
        f"{dates} · {words.amount(half_days)}",
        "\n".join(facts),
        buttons,
    )


def decision_buttons(approve: str, decline: str, value: str, requester_name: str) -> list[Block]:
    """Approve and Decline, with these action ids; screen readers also say whose request it is."""
    return [
        layout.button(
            gettext("Approve"),
            approve,
            value,
            "primary",
            gettext("Approve: {who}", who=requester_name),
        ),
        layout.button(
            gettext("Decline"),
            decline,
            value,
            "danger",
            gettext("Decline: {who}", who=requester_name),
        ),
    ]
