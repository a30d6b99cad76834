"""Reads the values of fields from a view's ``state.values``."""

from __future__ import annotations

from datetime import date
from typing import Final

from bot.base.payloads import Answer, Values

# Before a number at the end of a block id. Slack keeps what was chosen in a block of the same id:
# github.com/slackapi/bolt-python/issues/1064.
RESET: Final = "."


def field_of(block_id: str) -> str:
    """The field of a block; a suffix makes Slack forget what was chosen in it before."""
    return block_id.partition(RESET)[0]


def value(state_values: Values, name: str) -> str | None:
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


def date_value(state_values: Values, name: str) -> date | None:
    """The picked date of a field."""
    picked = _state(state_values, name).get("selected_date")
    return date.fromisoformat(picked) if picked else None


def values(state_values: Values, name: str) -> list[str]:
    """The values of all options that were chosen."""
    chosen = _state(state_values, name).get("selected_options") or []
    return [option["value"] for option in chosen]


def _state(state_values: Values, name: str) -> Answer:
    # Searches have their own action ids, so take the only element under any id.
    answers_of_block = next(
        (answers for block_id, answers in state_values.items() if field_of(block_id) == name), {}
    )
    return next(iter(answers_of_block.values()), None) or {}
