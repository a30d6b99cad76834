"""Sick leave that goes on: its person extends it by a working day, without a form."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from storage.base.errors import NotFound
from storage.base.values import Caller, LeaveRequest, User
from storage.db.database import Transaction
from storage.directory.employment import by_date
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import leave_requests, request_steps
from storage.rules.counted_days import NOTHING
from storage.rules.spans import Span

# Later, people book new leave.
_CONTINUED_FOR: Final = timedelta(days=7)
# The next working day is looked for in so many days.
_LOOKED_AHEAD: Final = timedelta(days=31)


@dataclass(frozen=True, kw_only=True, slots=True)
class Continued:
    """The leave as it is now; ``is_extended``: this call has extended it."""

    request: LeaveRequest
    is_extended: bool


def next_end(
    config: OrganisationConfig, user: User, request: LeaveRequest, today: date
) -> date | None:
    """The last day of sick leave that goes on: the person's next working day, at least until today.

    None for other leave, before it begins, and a week after it ended.
    """
    leave_type = config.leave_types[request.leave_type_id]
    if (
        request.status != "approved"
        or request.interrupts is not None
        or request.amendment_id is not None
        or not leave_type.may_interrupt
        or leave_type.requires_approval
        or not request.start_date <= today <= request.end_date + _CONTINUED_FOR
    ):
        return None
    first_day = request.end_date + timedelta(days=1)
    span = Span(start_date=first_day, end_date=max(first_day, today) + _LOOKED_AHEAD)
    worked = [day.date for day in by_date.count(config, user, span) if day.counted != NOTHING]
    passed = [day for day in worked if day <= today]
    return passed[-1] if passed else next(iter(worked), None)


def extend(
    tx: Transaction, request_id: str, known_end: str, *, by: Caller, now: datetime
) -> Continued:
    """Extend the caller's own sick leave to ``next_end``, if it still ends on ``known_end``.

    A repeated or late call changes nothing. Raises NotFound and the errors of an edit.
    """
    subject, before = request_steps.lock_request(tx, request_id, by=by, now=now, is_counting=True)
    if before.user_id != by.user_id:
        raise NotFound("leave request")
    config = organisation_config.of_organisation(tx, by.organisation_id)
    end_date = next_end(config, subject.user, before, subject.today)
    if end_date is None or before.end_date.isoformat() != known_end:
        return Continued(request=before, is_extended=False)
    changes: dict[str, object] = {"end_date": end_date, "end_half_day": None}
    if before.start_half_day == "am":
        # A morning becomes the whole first day.
        changes["start_half_day"] = None
    after = leave_requests.edit(tx, request_id, changes, by=by, now=now)
    return Continued(request=after, is_extended=True)
