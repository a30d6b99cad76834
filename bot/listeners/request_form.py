"""Asking for leave: the form is opened, filled in and sent."""

from __future__ import annotations

from typing import Final

from bot import errors, identity, ids
from bot.language import say
from bot.listening import Listener, Visit
from bot.views import request_form
from storage import leave, reference
from storage.clock import local_day
from storage.errors import Refusal


async def open_form(visit: Visit) -> None:
    """Show the form with the organisation's leave types."""
    # The form comes by its own call; what Slack waits for is this.
    await visit.ack()
    by = await identity.caller(visit)
    known = await visit.edge.database.read(reference.of_organisation, by.organisation_id)
    if not request_form.offered(known.leave_types.values()):
        await visit.tell(say("Your organisation has no type of leave to ask for yet."))
        return
    today = local_day(visit.now, known.organisation.timezone)
    await visit.open(request_form.view(known.leave_types.values(), today))


async def submitted(visit: Visit) -> None:
    """Ask for the leave; what a rule refuses stands beside the field at fault."""
    by = await identity.caller(visit)
    try:
        draft = request_form.draft_of(visit.values)
        await visit.edge.database.write(leave.submit, by=by, draft=draft, now=visit.now)
    except Refusal as refusal:
        if visit.is_answered:
            raise  # Too late for the form: the sentence goes where it still can.
        await visit.ack(response_action="errors", errors=errors.inline(refusal))


LISTENERS: Final = (Listener("view", ids.REQUEST_FORM, submitted),)
