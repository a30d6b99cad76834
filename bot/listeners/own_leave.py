"""One's own leave: listed, and cancelled by a button wherever one stands."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.base import ids
from bot.base.language import say
from bot.interaction import errors, identity
from bot.interaction.listening import Listener, Visit
from bot.views import answers, replies
from bot.views.answers import OwnLeave
from storage.base.clock import local_day
from storage.base.errors import Refusal
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import people_rows
from storage.events import organisation_config
from storage.leave import leave_requests, own_leave
from storage.slack import approval_cards


async def show(visit: Visit) -> None:
    """What the person has before him and waits for."""
    await visit.ack()
    found = await _found(visit, await identity.caller(visit))
    await visit.reply(answers.own_leave(found))


async def show_to_cancel(visit: Visit) -> None:
    """The same, each with a button that cancels it."""
    await visit.ack()
    found = await _found(visit, await identity.caller(visit))
    await visit.reply(answers.own_leave_to_cancel(found))


async def cancel_listed(visit: Visit) -> None:
    """Cancel a request of the list, and show what is left of the list."""
    await visit.ack()
    by = await identity.caller(visit)
    told = await _cancelled(visit, by)
    found = await _found(visit, by)
    await visit.redraw(answers.own_leave_to_cancel(found, told))


async def cancel(visit: Visit) -> None:
    """Cancel the request of one's message, and show in the message what became of it."""
    await visit.ack()
    by = await identity.caller(visit)
    await _cancelled(visit, by)
    card = await visit.edge.database.read(
        approval_cards.card,
        by.organisation_id,
        visit.value,
        viewer_id=str(by.user_id),
        now=visit.now,
    )
    if card is not None and card.request.user_id == by.user_id:
        await visit.redraw(replies.own_request(card))


async def _cancelled(visit: Visit, by: Caller) -> str:
    """Cancel what the button stands for; what there is to say of it, if that was refused."""
    try:
        await visit.edge.database.write(leave_requests.cancel, visit.value, by=by, now=visit.now)
    except Refusal as refusal:
        told = errors.sentence(refusal)
        await visit.tell(told)
        return ""
    return say("Cancelled.")


async def _found(visit: Visit, by: Caller) -> OwnLeave:
    return await visit.edge.database.read(_own, by=by, now=visit.now)


def _own(tx: Transaction, *, by: Caller, now: datetime) -> OwnLeave:
    known = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    today = local_day(now, user.timezone or known.organisation.timezone)
    page = own_leave.page(tx, PageOf(limit=answers.MOST_OWN), by=by, today=today)
    return OwnLeave(page=page, leave_types=known.leave_types)


LISTENERS: Final = (
    Listener(kind="action", name=ids.CANCEL, act=cancel),
    Listener(kind="action", name=ids.CANCEL_LISTED, act=cancel_listed),
)
