"""Approve the requests of the inbox that meet nothing: a confirmation, then each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.language import gettext
from bot.base.payloads import UnexpectedPayload
from bot.interaction import errors, listening, modals
from bot.interaction.interaction import Clicked, Interaction
from bot.message_views import inbox as views
from bot.messages import home_tab
from storage.base.errors import DomainError
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.leave import decision_inbox
from storage.leave.decision_inbox import Inbox
from storage.people import people_rows


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the form keeps: the message that was clicked, none on Home, and what it names."""

    message: Clicked | None
    requests: Sequence[tuple[str, int]]

    def packed(self) -> str:
        at = "home home" if self.message is None else f"{self.message.channel} {self.message.ts}"
        return " ".join((at, *(f"{request_id}:{version}" for request_id, version in self.requests)))

    @classmethod
    def unpacked(cls, text: str) -> _Kept:
        try:
            channel, ts, *named = text.split(" ")
            pairs = [each.split(":") for each in named]
            requests = [(request_id, int(version)) for request_id, version in pairs]
        except ValueError as error:
            raise UnexpectedPayload("private_metadata") from error
        message = None if channel == "home" else Clicked(value="", channel=channel, ts=ts)
        return cls(message, requests)


async def ask(interaction: Interaction) -> None:
    """Name what would be approved now, which may be less than what the message shows."""
    by = await listening.acknowledged(interaction)
    is_on_home = interaction.body.get("view") is not None
    message = None if is_on_home else interaction.clicked
    inbox = await interaction.database.read(_load, by=by, now=interaction.now)
    if not inbox.clear:
        await interaction.tell(gettext("None of these requests is without a conflict any more."))
        await _show_again(interaction, by, message)
        return
    kept = _Kept(message, [(each.request.id, each.request.version) for each in inbox.clear])
    await interaction.open(views.confirmation(inbox, kept.packed()))


async def approve(interaction: Interaction) -> None:
    """Approve each in a transaction of its own, and say which could not be approved, and why.

    If that takes longer than Slack waits, the form says so until the outcome replaces it.
    """
    by = await listening.caller(interaction)
    kept = _Kept.unpacked(interaction.private_metadata)
    approved, refused = 0, []
    for request_id, version in kept.requests[: decision_inbox.MAX_WAITING]:
        why = await _approve(interaction, request_id, version, by)
        if why is None:
            approved += 1
        else:
            refused.append((request_id, why))
    names = await interaction.database.read(
        decision_inbox.names_of, by.organisation_id, [request_id for request_id, _ in refused]
    )
    listed = [(names.get(request_id, ""), why) for request_id, why in refused]
    await modals.replace_form(interaction, views.outcome(approved, listed))
    await _show_again(interaction, by, kept.message)


async def _approve(
    interaction: Interaction, request_id: str, version: int, by: Caller
) -> str | None:
    """Approve one; else why not, as a sentence."""
    try:
        result = await interaction.database.write(
            decision_inbox.approve, request_id, version, by=by, now=interaction.now
        )
    except DomainError as refusal:
        return errors.not_approvable(refusal)
    match result:
        case "changed":
            return gettext("The request was edited meanwhile.")
        case "not_clear":
            return gettext("It meets other leave or a limit now.")
    return None


async def open_home(interaction: Interaction) -> None:
    """Slack opens the Home tab itself."""
    await interaction.ack()


async def _show_again(interaction: Interaction, by: Caller, message: Clicked | None) -> None:
    """What waits now, where the person clicked."""
    if message is None:
        await home_tab.show_again(interaction, by)
        return
    inbox = await interaction.database.read(_load, by=by, now=interaction.now)
    await interaction.refresh_clicked(message, views.message(inbox, interaction.home_url))


def _load(tx: Transaction, *, by: Caller, now: datetime) -> Inbox:
    user = people_rows.get(tx, str(by.user_id), by=by)
    return decision_inbox.load(tx, user, organisation_id=by.organisation_id, now=now)


def register(app: AsyncApp) -> None:
    app.action(ids.INBOX_APPROVE)(ask)
    app.view(ids.INBOX_FORM)(approve)
    app.action(ids.INBOX_HOME)(open_home)
