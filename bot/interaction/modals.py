"""Modals that lists and forms of the settings share: drawn again, sent once, refused inline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, TypeVar

import structlog

from bot.base.block_kit import View
from bot.base.language import gettext
from bot.base.payloads import ShownView
from bot.client import slack_web
from bot.interaction import errors, identity
from bot.interaction.interaction import Interaction
from storage.base.errors import CodeTaken, InvalidInput, NameTaken, Refusal
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.rules import request_rules
from storage.slack import slack_events

T = TypeVar("T")

# The view is gone or newer than what was clicked: nobody misses what we would have drawn.
_OUTDATED: Final = frozenset({"hash_conflict", "not_found", "view_not_found"})

_log = structlog.stdlib.get_logger("hiatus.slack")


def clicked(interaction: Interaction) -> str:
    """The value of the button or option that was clicked or picked."""
    action = interaction.body["actions"][0]
    chosen = action.get("selected_option")
    return action.get("value") or (chosen and chosen["value"]) or ""


def kept(interaction: Interaction) -> str:
    """What the view keeps: an id, or nothing."""
    return str(interaction.body["view"].get("private_metadata") or "")


async def refresh(interaction: Interaction, view: View) -> None:
    """Replace the modal that was clicked, unless it has changed since."""
    shown = interaction.body["view"]
    await _update(interaction, {"view_id": shown["id"], "hash": shown["hash"]}, view)


async def refresh_below(interaction: Interaction, view: View) -> None:
    """Replace the modal below the one that was sent, if there is one."""
    below = interaction.body["view"].get("previous_view_id")
    if below:
        await _update(interaction, {"view_id": below}, view)


async def refresh_first(interaction: Interaction, view: View) -> None:
    """Replace the modal at the bottom of the stack: the list from which everything was opened."""
    await _update(interaction, {"view_id": interaction.body["view"]["root_view_id"] or ""}, view)


async def _update(interaction: Interaction, which: dict[str, str], view: View) -> None:
    try:
        await interaction.client.views_update(view=view, **which)
    except slack_web.FAILURES as failure:
        # What was asked for is done; the list is right when it is opened again.
        if slack_web.error_code(failure) not in _OUTDATED:
            _log.warning("slack.modal_not_redrawn", reason=slack_web.summary(failure))


async def sent(
    interaction: Interaction, act: Callable[[Transaction], T], *, is_long: bool = False
) -> T | None:
    """Do what the form asks for, once however often it is sent; None if that was refused or done.

    ``is_long`` where leave may have to be counted anew. A refusal stands beside the field at fault,
    and the form stays open.
    """
    view = interaction.body["view"]
    try:
        database = interaction.services.database
        write = database.write_long if is_long else database.write
        # A view that takes another's place keeps its id.
        name = f"view:{view['id']}:{view['callback_id']}"
        done = await write(_once, name, act, now=interaction.now)
    except Refusal as refusal:
        await refuse(interaction, refusal)
        return None
    if interaction.is_answered:
        # He was told that a message would come.
        await interaction.tell(gettext("Done. Your change was saved."))
    if done is None:
        await interaction.ack()
        return None
    return done[0]


async def passed(interaction: Interaction, check: Awaitable[object]) -> bool:
    """Whether what was filled in passes a check that is made beforehand; else it is said inline."""
    try:
        await check
    except Refusal as refusal:
        await refuse(interaction, refusal)
        return False
    return True


async def refuse(interaction: Interaction, refusal: Refusal) -> None:
    """Say it beside the field at fault. Raises it where that can no longer, or never could be."""
    found = inline(refusal, interaction.body["view"])
    if interaction.is_answered or not found:
        raise refusal
    await interaction.ack(response_action="errors", errors=found)


async def answer_with(interaction: Interaction, view: View) -> None:
    """Show a view in place of the form that was sent, also when Slack was answered meanwhile."""
    if interaction.is_answered:
        await _update(interaction, {"view_id": interaction.body["view"]["id"]}, view)
    else:
        await interaction.ack(response_action="update", view=view)


def _once(
    tx: Transaction, name: str, act: Callable[[Transaction], T], *, now: datetime
) -> tuple[T] | None:
    """What ``act`` gives; None where it was done before under that name. A refusal undoes both."""
    if not slack_events.claim(tx, name, now=now):
        return None
    slack_events.finish(tx, name, now=now)
    return (act(tx),)


def inline(refusal: Refusal, view: ShownView) -> dict[str, str]:
    """The refusal as errors of a form: by the field that it names, else by the first."""
    inputs = [block["block_id"] for block in view["blocks"] if block["type"] == "input"]
    pointers = refusal.errors if isinstance(refusal, InvalidInput) else ()
    if isinstance(refusal, CodeTaken) and "code" in inputs:
        return {"code": errors.sentence(refusal)}
    if isinstance(refusal, NameTaken) and "name" in inputs:
        return {"name": errors.sentence(refusal)}
    if not inputs or not pointers:
        return dict.fromkeys(inputs[:1], errors.sentence(refusal))
    found: dict[str, str] = {}
    for error in pointers:
        name = error.pointer.lstrip("/?").split("/")[0]
        block = name if name in inputs else inputs[0]
        told = errors.said(error.detail)
        found[block] = f"{found[block]} {told}" if block in found else told
    return found


async def admin(interaction: Interaction) -> Caller:
    """Whoever did something that only admins and owners may do. Raises InsufficientRole."""
    by = await identity.caller(interaction)
    request_rules.check_role(by.role, "admin")
    return by
