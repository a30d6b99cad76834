"""The Home tab: opened, paged through, and what is done from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bot.base import ids
from bot.interaction import errors, identity
from bot.interaction.listening import Listener, Visit
from bot.listeners import decisions, request_form
from bot.messages import home_tab
from bot.views import decline
from bot.views import home as views
from storage.base.errors import InvalidTransition, NotFound, Refusal
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.leave import leave_requests
from storage.leave.leave_requests import NotYourApproval
from storage.slack import home
from storage.slack.home import PageCursors
from storage.slack.provisioning import NotAMember


async def opened(visit: Visit) -> None:
    """Draw the tab whenever it is opened; whom Hiatus is not for reads why."""
    if visit.event.get("tab") != "home":
        return
    client = visit.client
    try:
        by = await identity.caller(visit)
    except NotAMember as refusal:
        view = views.closed(errors.sentence(refusal))
        await client.views_publish(user_id=visit.slack_user_id, view=view)
        return
    await visit.edge.database.write(home.open_anew, by=by, now=visit.now)
    await home_tab.show(visit, by)


async def request_leave(visit: Visit) -> None:
    """Open the form."""
    await request_form.open_form(visit)


async def leaf(visit: Visit) -> None:
    """Show another part of a list."""
    await visit.ack()
    by = await identity.caller(visit)
    cursors = PageCursors.unpacked(_value(visit))
    await visit.edge.database.write(home.leaf, cursors, by=by, now=visit.now)
    await home_tab.show(visit, by)


async def cancel(visit: Visit) -> None:
    """Cancel one's own leave; Slack has asked whether that is meant."""
    await _done(
        visit, lambda tx, by: leave_requests.cancel(tx, _value(visit), by=by, now=visit.now)
    )


async def approve(visit: Visit) -> None:
    """Approve what waits; who was overtaken is told by whom."""
    await _done(
        visit, lambda tx, by: leave_requests.approve(tx, _value(visit), by=by, now=visit.now)
    )


async def ask_reason(visit: Visit) -> None:
    """Open the form that declines, if there is still something to decide."""
    await visit.ack()
    by = await identity.caller(visit)
    try:
        card = await visit.edge.database.read(
            decisions.card_to_decide, _value(visit), by=by, now=visit.now
        )
        if card.request.status != "pending":
            raise InvalidTransition("declined", card.request.status, card.ended_by_name)
    except Refusal as refusal:
        await visit.tell(errors.sentence(refusal))
        await home_tab.show_again(visit, by)
        return
    await visit.open(decline.view_from_home(card))


async def decline_with_reason(visit: Visit) -> None:
    """Decline; the form makes room for a sentence when that is no longer possible."""
    by = await identity.caller(visit)
    request_id = visit.body["view"]["private_metadata"]
    reason = decline.reason_of(visit.values)
    try:
        await visit.edge.database.write(
            leave_requests.decline, request_id, reason=reason, by=by, now=visit.now
        )
    except (InvalidTransition, NotFound, NotYourApproval) as refusal:
        await visit.tell(errors.sentence(refusal))
    await visit.ack()
    await home_tab.show_again(visit, by)


async def _done(visit: Visit, act: Callable[[Transaction, Caller], object]) -> None:
    """Do something that a button stands for, say what stood against it, and draw what is now."""
    await visit.ack()
    by = await identity.caller(visit)
    try:
        await visit.edge.database.write(act, by)
    except Refusal as refusal:
        await visit.tell(errors.sentence(refusal))
    await home_tab.show_again(visit, by)


def _value(visit: Visit) -> str:
    return str(visit.body["actions"][0].get("value", ""))


LISTENERS: Final = (
    Listener(kind="event", name="app_home_opened", act=opened),
    Listener(kind="action", name=ids.HOME_REQUEST, act=request_leave),
    Listener(kind="action", name=ids.HOME_NEXT, act=leaf),
    Listener(kind="action", name=ids.HOME_FIRST, act=leaf),
    Listener(kind="action", name=ids.HOME_SCOPE, act=leaf),
    Listener(kind="action", name=ids.HOME_CANCEL, act=cancel),
    Listener(kind="action", name=ids.HOME_APPROVE, act=approve),
    Listener(kind="action", name=ids.HOME_DECLINE, act=ask_reason),
    Listener(kind="view", name=ids.HOME_DECLINE_FORM, act=decline_with_reason),
)
