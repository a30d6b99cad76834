"""Other dates that an approver suggests for a pending request, which its requester accepts or not.

A suggestion is for the request as it was then: a decision, an edit or a cancellation ends it, and
so does a newer suggestion, of whichever approver. It changes nothing until it is accepted; then the
request is edited as by its requester, and checked again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, Literal

from storage.base.errors import DomainError, InvalidInput, NotFound
from storage.base.ids import is_id, new_id
from storage.base.leave_values import HalfDay, LeaveRequest, SuggestionStatus
from storage.base.values import Caller, User, local_day
from storage.db import rows
from storage.db.database import Transaction
from storage.db.tables import SuggestionRow
from storage.leave import decisions, drafts, leave_requests, leave_rows, request_steps
from storage.leave.drafts import Draft
from storage.leave.request_steps import Requester
from storage.outbox import audit, notification_outbox, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import colleagues, employment_by_date, people_rows
from storage.people.colleagues import ColleaguesOff
from storage.rules import counted_days


@dataclass(frozen=True, kw_only=True, slots=True)
class Dates:
    """The suggested dates, with halves as in a request."""

    start_date: date
    end_date: date
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """``request_version`` is that of the request for which it was made."""

    id: str
    leave_request_id: str
    request_version: int
    status: SuggestionStatus
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    suggested_by: str
    suggested_at: datetime
    ended_at: datetime | None = None


_FIELDS: Final = ("start_date", "end_date", "start_half_day", "end_half_day")
_suggestion: Final = rows.mapper(Suggestion)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What the dates would be: counted, with who else is off, and why they cannot be accepted."""

    half_days: int | None
    off: ColleaguesOff | None
    refusals: list[DomainError]


def current(tx: Transaction, organisation_id: str, request: LeaveRequest) -> Suggestion | None:
    """The newest suggestion for the pending request as it is: open, or declined."""
    if request.status != "pending":
        return None
    found = tx.select(
        SuggestionRow,
        organisation_id=organisation_id,
        leave_request_id=request.id,
        request_version=request.version,
        status=["open", "declined"],
    )
    suggestions = map(_suggestion, found)
    return max(suggestions, key=lambda each: (each.suggested_at, each.id), default=None)


def half_days(config: OrganisationConfig, user: User, suggestion: Suggestion) -> int:
    """The half-days that the suggested dates count for the person now."""
    span = counted_days.requested_span(*(getattr(suggestion, name) for name in _FIELDS))
    counted = employment_by_date.count(config, user, span)
    return counted_days.total_half_days(counted_days.counted_halves(counted))


def trial(tx: Transaction, request_id: str, dates: Dates, *, by: Caller, now: datetime) -> Trial:
    """Count and check the dates; nothing is stored. Raises NotFound."""
    request = leave_rows.get(tx, request_id, by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.of_ids(tx, by.organisation_id, [request.user_id])[request.user_id]
    today = local_day(now, config.organisation.timezone)
    draft = _draft(request, dates)
    assessment, refusals = drafts.check_all(tx, config, user, draft, today=today, replaces=request)
    if assessment is None:
        return Trial(half_days=None, off=None, refusals=refusals)
    span = counted_days.requested_span(*(getattr(dates, name) for name in _FIELDS))
    return Trial(
        half_days=counted_days.total_half_days(assessment.counted_halves),
        off=colleagues.off_with(tx, by.organisation_id, user, span, includes_pending=True),
        refusals=refusals,
    )


def suggest(
    tx: Transaction, request_id: str, dates: Dates, *, by: Caller, now: datetime
) -> Suggestion:
    """Suggest other dates for a pending request, as one who may approve it.

    Raises the errors of ``decisions.approve``, and those of an edit for dates that could not be
    accepted; then nothing has changed.
    """
    requester, request = request_steps.lock_unchecked(
        tx, request_id, by=by, now=now, is_counting=True
    )
    decisions.check_decider(tx, requester, request, "approve", by=by)
    request_steps.check_transition(tx, "edit", request, by)
    draft = _draft(request, dates)
    if all(getattr(dates, name) == getattr(request, name) for name in _FIELDS):
        raise InvalidInput.of("start_date", "same_dates", "These dates are requested already.")
    drafts.check(
        tx, requester.config, requester.user, draft, today=requester.today, replaces=request
    )
    suggestion = Suggestion(
        id=new_id(now),
        leave_request_id=request.id,
        request_version=request.version,
        status="open",
        suggested_by=str(by.user_id),
        suggested_at=now,
        **{name: getattr(dates, name) for name in _FIELDS},
    )
    # Before the new one: the database allows one open suggestion.
    tx.update(
        SuggestionRow,
        {"status": "replaced", "ended_at": now},
        organisation_id=by.organisation_id,
        leave_request_id=request.id,
        status="open",
    )
    tx.insert(SuggestionRow, organisation_id=by.organisation_id, **rows.columns(suggestion))
    _record(tx, "leave_request.dates_suggested", request, suggestion, by=by, now=now)
    notification_outbox.notify_all(
        tx,
        "leave_request.dates_suggested",
        [request],
        notified=[request],
        config=requester.config,
        now=now,
    )
    return suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """The request as it is then. ``is_done``: False if the suggestion had ended before."""

    request: LeaveRequest
    is_done: bool


def accept(tx: Transaction, suggestion_id: str, *, by: Caller, now: datetime) -> Answered:
    """Edit the caller's own request to the suggested dates.

    Raises NotFound, InvalidTransition for a request that is no longer pending, and the errors of an
    edit; then nothing has changed.
    """
    suggestion, _, request = _locked(tx, suggestion_id, by=by, now=now)
    if not _is_open(suggestion, request):
        return Answered(request=request, is_done=False)
    changes = {name: getattr(suggestion, name) for name in _FIELDS}
    after = leave_requests.edit(tx, request.id, changes, by=by, now=now)
    _end(tx, suggestion, "accepted", by=by, now=now)
    _record(tx, "leave_request.suggestion_accepted", request, suggestion, by=by, now=now)
    return Answered(request=after, is_done=True)


def decline(tx: Transaction, suggestion_id: str, *, by: Caller, now: datetime) -> Answered:
    """Keep the dates of the caller's own request; its approvers are told. As ``accept``."""
    suggestion, requester, request = _locked(tx, suggestion_id, by=by, now=now)
    if not _is_open(suggestion, request):
        return Answered(request=request, is_done=False)
    _end(tx, suggestion, "declined", by=by, now=now)
    _record(tx, "leave_request.suggestion_declined", request, suggestion, by=by, now=now)
    notification_outbox.notify_all(
        tx, "leave_request.suggestion_declined", [request], config=requester.config, now=now
    )
    if requester.config.is_in_slack:
        notification_outbox.refresh_own_message(
            tx, request, by.organisation_id, due_at=now, now=now
        )
    return Answered(request=request, is_done=True)


def _locked(
    tx: Transaction, suggestion_id: str, *, by: Caller, now: datetime
) -> tuple[Suggestion, Requester, LeaveRequest]:
    """The suggestion and its request, locked, if it is the caller's own and pending."""
    known = _find(tx, suggestion_id, by)
    requester, request = request_steps.lock_request(
        tx, known.leave_request_id, by=by, now=now, is_counting=True
    )
    if request.user_id != by.user_id:
        raise NotFound("leave request")
    request_steps.check_transition(tx, "edit", request, by)
    # Read again: another answer may have come first.
    return _find(tx, suggestion_id, by), requester, request


def _find(tx: Transaction, suggestion_id: str, by: Caller) -> Suggestion:
    row = None
    if is_id(suggestion_id):
        row = tx.find(SuggestionRow, organisation_id=by.organisation_id, id=suggestion_id)
    if row is None:
        raise NotFound("leave request")
    return _suggestion(row)


def request_of(tx: Transaction, suggestion_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """The request of a suggestion. Raises NotFound."""
    known = _find(tx, suggestion_id, by)
    return leave_rows.get(tx, known.leave_request_id, by=by, now=now)


def _is_open(suggestion: Suggestion, request: LeaveRequest) -> bool:
    return suggestion.status == "open" and suggestion.request_version == request.version


def _draft(request: LeaveRequest, dates: Dates) -> Draft:
    return Draft(
        leave_type_id=request.leave_type_id,
        note=request.note,
        cover_user_id=request.cover_user_id,
        **{name: getattr(dates, name) for name in _FIELDS},
    )


def _end(
    tx: Transaction,
    suggestion: Suggestion,
    status: SuggestionStatus,
    *,
    by: Caller,
    now: datetime,
) -> None:
    tx.update(
        SuggestionRow,
        {"status": status, "ended_at": now},
        organisation_id=by.organisation_id,
        id=suggestion.id,
    )


def _record(
    tx: Transaction,
    action: Literal[
        "leave_request.dates_suggested",
        "leave_request.suggestion_accepted",
        "leave_request.suggestion_declined",
    ],
    request: LeaveRequest,
    suggestion: Suggestion,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """The audit entry, with the requested and the suggested dates."""
    audit.record(
        tx,
        action,
        "leave_request",
        request.id,
        by=by,
        now=now,
        before={name: getattr(request, name) for name in _FIELDS},
        after={name: getattr(suggestion, name) for name in _FIELDS},
    )
