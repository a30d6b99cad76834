"""Suggest other dates for a pending request, and answer such a suggestion."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext
from bot.interaction import errors, listening
from bot.interaction.interaction import Interaction
from bot.listeners.decisions import card_to_decide, show_card
from bot.message_views import requester_messages
from bot.messages import home_tab
from bot.views import request_values, suggestion_form
from bot.views.request_values import NO_ALERTS, Alerts, Filled
from storage.base.errors import (
    Conflict,
    DomainError,
    InvalidInput,
    InvalidTransition,
    NotFound,
    OwnRequest,
)
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.leave import suggestions
from storage.leave.decisions import NotYourApproval, SecondApprovalAwaited
from storage.leave.suggestions import Answered
from storage.notifications import approval_cards, slack_messages
from storage.notifications.approval_cards import ApprovalCard

# Others decide, or no one does any more.
_STALE = (InvalidTransition, NotFound, NotYourApproval, OwnRequest, SecondApprovalAwaited)


async def open_form(interaction: Interaction) -> None:
    """Open the form with the requested dates, from a card or from Home."""
    by = await listening.acknowledged(interaction)
    is_on_home = interaction.body.get("view") is not None
    kept = interaction.value if is_on_home else interaction.clicked.packed()
    try:
        view = await interaction.database.read(
            _form, interaction.value, None, kept, by=by, now=interaction.now
        )
    except _STALE as refusal:
        await interaction.tell(errors.sentence(refusal))
        await _show_again(interaction, kept, by)
        return
    await interaction.open(view)


async def recount(interaction: Interaction) -> None:
    """Show the days that are chosen now: their number, and who else is off."""
    by = await listening.acknowledged(interaction)
    shown = interaction.body["view"]
    filled = request_values.after_selection(shown, interaction.body["actions"][0])
    kept = interaction.private_metadata

    async def render() -> View:
        return await interaction.database.read(
            _form, _request_id(kept), filled, kept, by=by, now=interaction.now
        )

    await interaction.services.refreshes.refresh(
        interaction.client, interaction.body, render, shows_one_form=True
    )


async def suggest(interaction: Interaction) -> None:
    """Suggest the dates; why they cannot be is shown in the form."""
    by = await listening.caller(interaction)
    kept = interaction.private_metadata
    filled = request_values.filled_of(interaction.values)
    dates = suggestion_form.dates_of(filled)
    if dates is None:
        await interaction.ack()
        return
    try:
        await interaction.database.write(
            suggestions.suggest, _request_id(kept), dates, by=by, now=interaction.now
        )
    except _STALE as refusal:
        await interaction.tell(errors.sentence(refusal))
    except (InvalidInput, Conflict) as refusal:
        view = await interaction.database.read(
            _form, _request_id(kept), filled, kept, refusal, by=by, now=interaction.now
        )
        await interaction.ack(response_action="update", view=view)
        return
    await interaction.ack()
    await _show_again(interaction, kept, by)


def _form(
    tx: Transaction,
    request_id: str,
    filled: Filled | None,
    private_metadata: str,
    refusal: DomainError | None = None,
    *,
    by: Caller,
    now: datetime,
) -> View:
    """``filled`` is None when the form is opened, ``refusal`` why it could not be sent."""
    card = card_to_decide(tx, request_id, by=by, now=now)
    if card.request.status != "pending":
        raise InvalidTransition("changed", card.request.status, card.ended_by_name)
    is_opened = filled is None
    shown = Filled.with_request(card.request) if filled is None else filled
    dates = suggestion_form.dates_of(shown)
    trial = None
    if dates is not None:
        trial = suggestions.trial(tx, request_id, dates, by=by, now=now)
    refusals = [] if trial is None or is_opened else trial.refusals
    if refusal is not None and not refusals:
        refusals = [refusal]
    problems = errors.before_sending(refusals, is_own=False)
    alerts = Alerts(problems=problems, is_sent=refusal is not None) if problems else NO_ALERTS
    return suggestion_form.view(card, shown, trial, alerts, private_metadata)


def _request_id(private_metadata: str) -> str:
    return private_metadata.partition(" ")[0]


async def _show_again(interaction: Interaction, kept: str, by: Caller) -> None:
    """Refresh the card that was clicked, or Home."""
    if " " not in kept:
        await home_tab.show_again(interaction, by)
        return
    clicked = interaction.clicked_before_form if interaction.is_submission else interaction.clicked
    card = await interaction.database.read(
        approval_cards.card,
        by.organisation_id,
        clicked.value,
        viewer_id=str(by.user_id),
        now=interaction.now,
    )
    if card is not None:
        await show_card(interaction, clicked, card, by)


async def accept(interaction: Interaction) -> None:
    """Edit the request to the suggested dates, if it is still the request of the suggestion."""
    by = await listening.acknowledged(interaction)
    await _answer(interaction, by, suggestions.accept, gettext("You took the suggested dates."))


async def keep(interaction: Interaction) -> None:
    """Keep the dates; the approver is told."""
    by = await listening.acknowledged(interaction)
    await _answer(interaction, by, suggestions.decline, gettext("You keep your dates."))


class _Act(Protocol):
    def __call__(
        self, tx: Transaction, suggestion_id: str, *, by: Caller, now: datetime
    ) -> Answered: ...


async def _answer(interaction: Interaction, by: Caller, act: _Act, done: str) -> None:
    """Answer, and replace the buttons by what happened. If it is refused, they stay."""
    sentence = done
    try:
        answered = await interaction.database.write(
            act, interaction.value, by=by, now=interaction.now
        )
        request = answered.request
        if not answered.is_done:
            sentence = gettext(
                "This suggestion is no longer open: your request has changed since, or you "
                "answered it, or there is a newer one."
            )
    except InvalidTransition as refusal:
        sentence = errors.sentence(refusal)
        request = await _request(interaction, by)
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        return
    if sentence != done:
        await interaction.tell(sentence)
    card, is_reply = await interaction.database.read(
        _own_card, request, interaction.clicked.ts, by=by, now=interaction.now
    )
    shown = requester_messages.own_request(card)
    await interaction.refresh(requester_messages.answered(sentence) if is_reply else shown)


async def _request(interaction: Interaction, by: Caller) -> LeaveRequest:
    return await interaction.database.read(
        suggestions.request_of, interaction.value, by=by, now=interaction.now
    )


def _own_card(
    tx: Transaction, request: LeaveRequest, clicked_ts: str, *, by: Caller, now: datetime
) -> tuple[ApprovalCard, bool]:
    """The requester's view, and whether a reply to their message was clicked."""
    card = approval_cards.visible_card(tx, request.id, by=by, now=now)
    stored = slack_messages.find(tx, by.organisation_id, request.id, str(by.user_id))
    return card, stored is not None and stored.ts != clicked_ts


def register(app: AsyncApp) -> None:
    app.action(ids.SUGGEST)(open_form)
    app.action(ids.SUGGEST_RECOUNT)(recount)
    app.view(ids.SUGGEST_FORM)(suggest)
    app.action(ids.SUGGESTION_ACCEPT)(accept)
    app.action(ids.SUGGESTION_DECLINE)(keep)
