"""Shared by settings modals: refresh, submit once, inline errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final, TypeVar

import structlog

from bot.base import payloads
from bot.base.block_kit import View
from bot.base.language import gettext
from bot.base.payloads import ShownView
from bot.client import slack_web
from bot.interaction import errors, listening
from bot.interaction.interaction import Interaction
from storage.base.errors import CodeTaken, DomainError, EmployeeNumberTaken, InvalidInput, NameTaken
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.rules import roles
from storage.workspaces import slack_events

T = TypeVar("T")

# The view was closed or is newer than the click, so no refresh is needed.
_OUTDATED: Final = frozenset({"hash_conflict", "not_found", "view_not_found"})

_log = structlog.stdlib.get_logger("hiatus.slack")


async def refresh(interaction: Interaction, view: View) -> None:
    """Update the clicked modal, unless it has changed since."""
    shown = interaction.body["view"]
    await _update(interaction, shown.get("id"), view, seen_hash=shown.get("hash"))


async def refresh_below(interaction: Interaction, view: View) -> None:
    """Update the modal below the submitted one, if there is one."""
    await _update(interaction, interaction.body["view"].get("previous_view_id"), view)


async def refresh_first(interaction: Interaction, view: View) -> None:
    """Update the modal at the bottom of the stack."""
    await _update(interaction, interaction.body["view"].get("root_view_id"), view)


async def _update(
    interaction: Interaction, view_id: str | None, view: View, *, seen_hash: str | None = None
) -> None:
    if not view_id:
        return
    try:
        await interaction.client.views_update(view=view, view_id=view_id, hash=seen_hash)
    except slack_web.FAILURES as failure:
        # The change was made; the list is current when it is opened again.
        if slack_web.error_code(failure) not in _OUTDATED:
            _log.warning("slack.modal_not_refreshed", reason=slack_web.summary(failure))


async def run_once(interaction: Interaction, act: Callable[[Transaction], T]) -> T | None:
    """Run ``act`` once even if the form is sent twice; None if it was refused or done before.

    An error is shown at its field, and the form stays open.
    """
    view = interaction.body["view"]
    try:
        database = interaction.database
        # A view that replaces another keeps its id.
        name = f"view:{view['id']}:{view['callback_id']}"
        done = await database.write(_once, name, act, now=interaction.now)
    except DomainError as refusal:
        await show_error(interaction, refusal)
        return None
    if interaction.is_answered:
        # The person was told to expect a message.
        await interaction.tell(gettext("Done. Your change was saved."))
    if done is None:
        await interaction.ack()
        return None
    refresh_home(interaction)
    return done[0]


def refresh_home(interaction: Interaction) -> None:
    """Refresh the caller's Home tab, from which settings are opened, if it was opened lately."""
    by = interaction.by
    if by is not None:
        interaction.services.refresh_home(by.organisation_id, str(by.user_id))


async def passes(interaction: Interaction, check: Awaitable[object]) -> bool:
    """Whether the values pass a check outside the transaction; errors are shown inline."""
    try:
        await check
    except DomainError as refusal:
        await show_error(interaction, refusal)
        return False
    return True


async def show_error(interaction: Interaction, refusal: DomainError) -> None:
    """Show the error at its field. Raises it if the form is acknowledged or has no field."""
    by_block = inline(refusal, interaction.body["view"])
    if interaction.is_answered or not by_block:
        raise refusal
    await interaction.ack(response_action="errors", errors=by_block)


async def replace_form(interaction: Interaction, view: View) -> None:
    """Replace the submitted form with a view, even if it is already acknowledged."""
    if interaction.is_answered:
        await _update(interaction, interaction.body["view"].get("id"), view)
    else:
        await interaction.ack(response_action="update", view=view)


def _once(
    tx: Transaction, name: str, act: Callable[[Transaction], T], *, now: datetime
) -> tuple[T] | None:
    """The result of ``act``; None if it ran before under that name. An error rolls back both."""
    if not slack_events.claim(tx, name, now=now):
        return None
    slack_events.finish(tx, name, now=now)
    return (act(tx),)


_FIELDS_OF_TAKEN: Final[Mapping[type[DomainError], str]] = {
    CodeTaken: "code",
    NameTaken: "name",
    EmployeeNumberTaken: "employee_number",
}


def inline(refusal: DomainError, view: ShownView) -> dict[str, str]:
    """The error as errors of a form; without a matching field, at the first one."""
    inputs = payloads.inputs(view)
    pointers = refusal.errors if isinstance(refusal, InvalidInput) else ()
    taken = _FIELDS_OF_TAKEN.get(type(refusal))
    if taken in inputs:
        return {taken: errors.sentence(refusal)}
    if not inputs or not pointers:
        return dict.fromkeys(inputs[:1], errors.sentence(refusal))
    by_block: dict[str, str] = {}
    for error in pointers:
        name = error.pointer.lstrip("/?").split("/")[0]
        # A list may have a field for each of its entries, such as "working_days/monday".
        parts = [block for block in inputs if block.partition("/")[0] == name]
        block = parts[0] if parts else inputs[0]
        sentence = errors.translated(error.detail)
        by_block[block] = f"{by_block[block]} {sentence}" if block in by_block else sentence
    return by_block


async def admin(interaction: Interaction) -> Caller:
    """The caller, who must be an admin or owner. Raises InsufficientRole."""
    by = await listening.caller(interaction)
    roles.check_role(by.role, "admin")
    return by
