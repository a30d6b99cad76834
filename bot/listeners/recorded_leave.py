"""Leave that was recorded for another person: object to it, and cancel it."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.language import gettext
from bot.interaction import errors, identity, modals
from bot.interaction.interaction import Interaction
from bot.message_views import approver_messages, requester_messages
from bot.views import notice
from storage.base.errors import AlreadyObjected, InvalidTransition
from storage.base.values import Caller
from storage.leave import leave_requests, recorded_leave
from storage.notifications import approval_cards
from storage.notifications.approval_cards import ApprovalCard


async def object_to(interaction: Interaction) -> None:
    """Tell the recorder and the admins; Slack has asked for confirmation."""
    await interaction.ack()
    by = await identity.caller(interaction)
    try:
        await interaction.services.database.write(
            recorded_leave.object_to, interaction.value, by=by, now=interaction.now
        )
    except (AlreadyObjected, InvalidTransition) as refusal:
        await interaction.tell(errors.sentence(refusal))
    card = await _card(interaction, by)
    await interaction.refresh(requester_messages.own_request(card))


async def cancel(interaction: Interaction) -> None:
    """Cancel it as its recorder or an admin, and refresh the clicked message or modal."""
    await interaction.ack()
    by = await identity.caller(interaction)
    try:
        await interaction.services.database.write(
            leave_requests.cancel, interaction.value, by=by, now=interaction.now
        )
    except InvalidTransition as refusal:
        await interaction.tell(errors.sentence(refusal))
    card = await _card(interaction, by)
    if "view" in interaction.body:
        await modals.refresh(
            interaction, notice.view(gettext("Record leave"), gettext("Cancelled."))
        )
    else:
        await interaction.refresh(approver_messages.objection(card, str(by.user_id)))


async def _card(interaction: Interaction, by: Caller) -> ApprovalCard:
    return await interaction.services.database.read(
        approval_cards.visible_card, interaction.value, by=by, now=interaction.now
    )


def register(app: AsyncApp) -> None:
    app.action(ids.OBJECT)(object_to)
    app.action(ids.CANCEL_RECORDED)(cancel)
