"""The Home tab: open, paginate, cancel, approve and decline."""

from __future__ import annotations

from collections.abc import Callable

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.interaction import errors, listening, modals
from bot.interaction.interaction import Interaction
from bot.listeners import amendments, record_form, request_form, time_credits
from bot.listeners.decisions import card_to_decide, not_enough
from bot.messages import home_tab
from bot.screens import (
    calendar_feeds,
    digests,
    leave_types,
    opening_figures,
    organisation,
    people,
    screen,
)
from bot.views import decline, home_leave
from bot.views import home_tab as views
from storage.base.errors import DomainError, InsufficientAllowance, InvalidTransition, NotFound
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.leave import decisions, leave_requests
from storage.leave.decisions import NotYourApproval
from storage.notifications import approval_cards
from storage.workspaces import setup_checklist, slack_workspaces
from storage.workspaces.join_policy import NotAMember
from storage.workspaces.slack_workspaces import PageCursors


async def opened(interaction: Interaction) -> None:
    """Publish the tab when it is opened, or the reason why the person cannot use Hiatus."""
    if interaction.event.get("tab") != "home":
        return
    client = interaction.client
    try:
        by = await listening.caller(interaction)
    except NotAMember as refusal:
        view = views.closed(errors.sentence(refusal))
        await client.views_publish(user_id=interaction.slack_user_id, view=view)
        return
    await interaction.database.write(
        slack_workspaces.save_opened_home, PageCursors(), by=by, now=interaction.now
    )
    await home_tab.show(interaction, by)


async def paginate(interaction: Interaction) -> None:
    by = await listening.acknowledged(interaction)
    cursors = PageCursors.unpacked(interaction.value)
    await interaction.database.write(
        slack_workspaces.save_opened_home, cursors, by=by, now=interaction.now
    )
    await home_tab.show(interaction, by)


async def open_step(interaction: Interaction) -> None:
    """Open the settings in which a step of the checklist is done."""
    match interaction.value:
        case "country":
            await screen.show(interaction, organisation.read_form)
        case "allowance" | "leave_year" | "carry_over" as step:
            await screen.show(interaction, organisation.read_leave_year, step)
        case "opening_figures":
            await screen.show(interaction, opening_figures.read_form)
        case "digest":
            await screen.show(interaction, digests.read_form)
        case "leave_types":
            await screen.show(interaction, leave_types.read_list)
            await _check_off_leave_types(interaction)
        case "people" | "managers":
            await screen.show(interaction, people.read_list)
        case "feed":
            await calendar_feeds.open_list(interaction)


async def _check_off_leave_types(interaction: Interaction) -> None:
    """The list that was opened shows the rules of each type: there is no more to the step."""
    by = await listening.caller(interaction)
    await interaction.database.write(
        setup_checklist.check_off, "leave_types", by=by, now=interaction.now
    )
    modals.refresh_home(interaction)


async def hide_checklist(interaction: Interaction) -> None:
    """Hide the checklist; Slack has asked for confirmation."""
    await _act(interaction, lambda tx, by: setup_checklist.hide(tx, by=by, now=interaction.now))


async def ask_cancel(interaction: Interaction) -> None:
    """Ask to confirm that the caller's own leave is cancelled, if it still can be."""
    by = await listening.acknowledged(interaction)
    try:
        card = await interaction.database.read(
            approval_cards.visible_card, interaction.value, by=by, now=interaction.now
        )
        # Refused as the cancellation would be.
        await interaction.database.dry_run(
            leave_requests.cancel, interaction.value, by=by, now=interaction.now
        )
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        await home_tab.show_again(interaction, by)
        return
    await interaction.open(home_leave.cancel_view(card))


async def cancel(interaction: Interaction) -> None:
    """Cancel it; replace the question with a sentence if that is no longer possible."""
    by = await listening.caller(interaction)
    try:
        await interaction.database.write(
            leave_requests.cancel, interaction.private_metadata, by=by, now=interaction.now
        )
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
    await interaction.ack()
    await home_tab.show_again(interaction, by)


async def approve(interaction: Interaction) -> None:
    """Approve; if another approver was faster, say who."""
    by = await listening.acknowledged(interaction)
    request_id = interaction.value
    try:
        await interaction.database.write(
            decisions.approve, request_id, by=by, now=interaction.now, is_pending_only=True
        )
    except InsufficientAllowance as refusal:
        await not_enough(interaction, request_id, refusal, by, request_id)
    except DomainError as refusal:
        await interaction.tell(errors.not_approvable(refusal))
    await home_tab.show_again(interaction, by)


async def ask_reason(interaction: Interaction) -> None:
    """Open the decline form, if the request is still pending."""
    by = await listening.acknowledged(interaction)
    try:
        card = await interaction.database.read(
            card_to_decide, interaction.value, by=by, now=interaction.now
        )
        if card.request.status != "pending":
            raise InvalidTransition("declined", card.request.status, card.ended_by_name)
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        await home_tab.show_again(interaction, by)
        return
    await interaction.open(decline.view_from_home(card))


async def decline_with_reason(interaction: Interaction) -> None:
    """Decline; replace the form with a sentence if the request is no longer pending."""
    by = await listening.caller(interaction)
    request_id = interaction.private_metadata
    reason = decline.reason_of(interaction.values)
    try:
        await interaction.database.write(
            decisions.decline,
            request_id,
            reason=reason,
            by=by,
            now=interaction.now,
            is_pending_only=True,
        )
    except (InvalidTransition, NotFound, NotYourApproval) as refusal:
        await interaction.tell(errors.sentence(refusal))
    await interaction.ack()
    await home_tab.show_again(interaction, by)


async def _act(interaction: Interaction, act: Callable[[Transaction, Caller], object]) -> None:
    """Run a button's action, show an error, and refresh the tab."""
    by = await listening.acknowledged(interaction)
    await interaction.write_or_tell(errors.sentence, act, by)
    await home_tab.show_again(interaction, by)


def register(app: AsyncApp) -> None:
    listening.on_event(app, "app_home_opened", opened, may_repeat=True)
    app.action(ids.HOME_REQUEST)(request_form.open_form)
    app.action(ids.HOME_MORE)(
        screen.chooses(
            {
                ids.MENU_RECORD: record_form.open_form,
                ids.MENU_CLAIM: time_credits.open_form,
            }
        )
    )
    app.action(ids.HOME_LEAVE_MENU)(
        screen.chooses(
            {
                ids.MENU_EDIT: request_form.open_edit,
                ids.MENU_WITHDRAW: amendments.withdraw_on_home,
                ids.MENU_CANCEL: ask_cancel,
                ids.MENU_FELL_ILL: amendments.open_form,
            }
        )
    )
    app.view(ids.HOME_CANCEL_FORM)(cancel)
    app.action(ids.HOME_NEXT)(paginate)
    app.action(ids.HOME_FIRST)(paginate)
    app.action(ids.HOME_SCOPE)(paginate)
    app.action(ids.CHECKLIST_STEP)(open_step)
    app.action(ids.CHECKLIST_HIDE)(hide_checklist)
    app.action(ids.HOME_APPROVE)(approve)
    app.action(ids.HOME_DECLINE)(ask_reason)
    app.view(ids.HOME_DECLINE_FORM)(decline_with_reason)
