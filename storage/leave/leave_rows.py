"""Leave requests: read as values by those who may see them, and written with their audit entries.

``leave_lists.visible`` lists what ``get`` shows one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Final, Literal, get_args

from peewee import Select, Update, fn

from storage.base.errors import NotFound
from storage.base.event_values import AuditAction
from storage.base.ids import is_id
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, as_dict, days_of, local_day
from storage.db import rows
from storage.db.compiled import NOT_NULL, Param, any_of, compiled, update_each
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.leave import leave_amendments
from storage.outbox import audit, organisation_config
from storage.people import approvers, slack_status_rows


def find(tx: Transaction, organisation_id: str, request_id: str) -> LeaveRequest | None:
    row = tx.find(LeaveRequestRow, organisation_id=organisation_id, id=request_id)
    return None if row is None else rows.leave_request(row)


def add(tx: Transaction, request: LeaveRequest, *, by: Caller, now: datetime) -> None:
    """Write a new request and audit it."""
    tx.insert(LeaveRequestRow, organisation_id=by.organisation_id, **rows.columns(request))
    _record(tx, "leave_request.created", {}, request, by=by, now=now)


def add_approved(
    tx: Transaction, requests: Sequence[LeaveRequest], *, by: Caller, now: datetime, why: str
) -> None:
    """Write new requests that are approved at once, and audit both steps, in a few statements."""
    if not requests:
        return
    own = {"organisation_id": by.organisation_id}
    tx.insert_all(LeaveRequestRow, [own | rows.columns(request) for request in requests])
    pending = [(request.id, _audited(before_approval(request))) for request in requests]
    audit.record_created(tx, "leave_request.created", "leave_request", pending, by=by, now=now)
    approved = [
        (request.id, before, {**_audited(request), "why": why})
        for request, (_, before) in zip(requests, pending, strict=True)
    ]
    audit.record_all(tx, "leave_request.approved", "leave_request", approved, by=by, now=now)
    _count_feed_changes(tx, requests, by=by, now=now)


def add_pending(
    tx: Transaction, requests: Sequence[LeaveRequest], *, by: Caller, now: datetime
) -> None:
    """Write new pending requests and audit them, in a few statements."""
    if not requests:
        return
    own = {"organisation_id": by.organisation_id}
    tx.insert_all(LeaveRequestRow, [own | rows.columns(request) for request in requests])
    created = [(request.id, _audited(request)) for request in requests]
    audit.record_created(tx, "leave_request.created", "leave_request", created, by=by, now=now)
    _count_feed_changes(tx, requests, by=by, now=now)


def before_approval(request: LeaveRequest) -> LeaveRequest:
    """A request that is approved at once, as it was created."""
    return replace(request, status="pending", decided_at=None, version=1)


def save(
    tx: Transaction,
    action: AuditAction,
    before: LeaveRequest,
    after: LeaveRequest,
    *,
    by: Caller,
    now: datetime,
    why: str | None = None,
) -> bool:
    """Write and audit ``after``, if the request still is as ``before``; False if it is not.

    One statement checks and updates, so of two concurrent steps one updates no row. It sets only
    what differs: SQLite rewrites every index of a column that is set.
    """
    columns_before = rows.columns(before)
    changed = {
        name: value for name, value in rows.columns(after).items() if value != columns_before[name]
    }
    updated = tx.update(
        LeaveRequestRow,
        # Feeds show this version.
        changed | {"shown_updated_at": None},
        organisation_id=by.organisation_id,
        id=before.id,
        status=before.status,
        version=before.version,
    )
    if updated:
        _record(tx, action, _audited(before), after, by=by, now=now, why=why)
    return bool(updated)


def save_amendment_only(
    tx: Transaction,
    action: AuditAction,
    before: LeaveRequest,
    after: LeaveRequest,
    audited: tuple[Mapping[str, object], Mapping[str, object]],
    *,
    by: Caller,
    now: datetime,
) -> bool:
    """As ``save``, for a step of an amendment, of which calendar feeds show nothing.

    ``audited`` is the amendment before and after.
    """
    updated = tx.change(
        _save_amendment,
        organisation_id=by.organisation_id,
        request_id=before.id,
        version_before=before.version,
        amendment_id=after.amendment_id,
        first_approver_id=after.first_approver_id,
        second_approver_id=after.second_approver_id,
        version=after.version,
        updated_at=after.updated_at,
    )
    if updated:
        audit.record(
            tx,
            action,
            "leave_request",
            after.id,
            by=by,
            now=now,
            before=audited[0],
            after=audited[1],
        )
    return bool(updated)


def note_reversed_approval(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> None:
    """Note that leave which calendar feeds showed as approved is declined in this transaction."""
    tx.update(
        LeaveRequestRow,
        {"approval_reversed_at": now},
        organisation_id=by.organisation_id,
        id=request_id,
    )


def save_all(
    tx: Transaction,
    action: AuditAction,
    changes: Sequence[tuple[LeaveRequest, LeaveRequest]],
    *,
    by: Caller,
    now: datetime,
    why: Mapping[str, object],
) -> None:
    """Write and audit many requests, each before and after, in a few statements.

    The caller has locked their requesters. ``why`` goes into every audit entry.
    """
    columns = [
        rows.columns(after)
        | {"organisation_id": by.organisation_id, "version_before": before.version}
        for before, after in changes
    ]
    updated = tx.change(_save_all, columns=rows.json_text(columns))
    if updated != len(changes):
        raise RuntimeError("A leave request changed although its requester was locked.")
    ended = [
        before.amendment_id
        for before, after in changes
        if before.amendment_id is not None and after.amendment_id is None
    ]
    leave_amendments.end_all(tx, by.organisation_id, ended, by_id=by.user_id, now=now)
    audited = [
        (
            after.id,
            {**_audited(before), "counted_halves": before.counted_halves},
            {**_audited(after), "counted_halves": after.counted_halves, **why},
        )
        for before, after in changes
    ]
    audit.record_all(tx, action, "leave_request", audited, by=by, now=now)
    _count_feed_changes(tx, [after for _, after in changes], by=by, now=now)


def _count_feed_changes(
    tx: Transaction, changed: Iterable[LeaveRequest], *, by: Caller, now: datetime
) -> None:
    """Raise each of the 16 counters at most once (organisation_config.py)."""
    user_ids = {request.user_id for request in changed}
    for user_id in sorted({user_id[-1]: user_id for user_id in user_ids}.values()):
        organisation_config.count_feed_change(tx, by.organisation_id, user_id)
    slack_status_rows.check_soon(tx, by.organisation_id, user_ids, now=now)


def current_of(
    tx: Transaction, organisation_id: str, user_id: str, today: date
) -> list[LeaveRequest]:
    """A person's pending requests, and approved ones that end today or later, by first day."""
    request_rows = tx.all(
        _current, organisation_id=organisation_id, user_id=user_id, today=today.isoformat()
    )
    requests = [rows.leave_request(row) for row in request_rows]
    return sorted(requests, key=lambda request: (request.start_date, request.id))


def standing_before(
    tx: Transaction, organisation_id: str, user_id: str, first_day: date
) -> list[LeaveRequest]:
    """A person's pending and approved requests that begin before a day, by first day."""
    request_rows = tx.all(
        _standing_before,
        organisation_id=organisation_id,
        user_id=user_id,
        first_day=first_day.isoformat(),
    )
    requests = [rows.leave_request(row) for row in request_rows]
    return sorted(requests, key=lambda request: (request.start_date, request.id))


def standing_between(
    tx: Transaction,
    organisation_id: str,
    user_ids: Collection[str],
    first_day: date,
    last_day: date,
    *,
    with_cancelled: bool = False,
) -> list[LeaveRequest]:
    """These people's pending and approved leave with any day in the period, in no order."""
    found = tx.all(
        _between,
        with_cancelled=with_cancelled,
        organisation_id=organisation_id,
        user_ids=list(user_ids),
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
    )
    return [*map(rows.leave_request, found)]


def amended_of(tx: Transaction, organisation_id: str, user_id: str) -> list[LeaveRequest]:
    request_rows = tx.select(
        LeaveRequestRow, organisation_id=organisation_id, user_id=user_id, amendment_id=NOT_NULL
    )
    return [rows.leave_request(row) for row in request_rows]


def pending_of(
    tx: Transaction,
    organisation_id: str,
    *,
    user_id: str | None = None,
    department_id: str | None = None,
    limit: int,
) -> list[LeaveRequest]:
    """What awaits a decision, of a person or a department's members; up to a limit."""
    request_rows = tx.all(
        _pending,
        organisation_id=organisation_id,
        user_id=user_id,
        department_id=department_id,
        limit=limit,
    )
    return [rows.leave_request(row) for row in request_rows]


def _record(
    tx: Transaction,
    action: AuditAction,
    before: Mapping[str, object],
    after: LeaveRequest,
    *,
    by: Caller,
    now: datetime,
    why: str | None = None,
) -> None:
    audited = _audited(after)
    if why is not None:
        audited["why"] = why
    audit.record(
        tx, action, "leave_request", after.id, by=by, now=now, before=before, after=audited
    )
    organisation_config.count_feed_change(tx, by.organisation_id, after.user_id)
    slack_status_rows.check_soon(tx, by.organisation_id, [after.user_id], now=now)


def _audited(request: LeaveRequest) -> dict[str, object]:
    shown = {name: value for name, value in as_dict(request).items() if name not in _NOT_AUDITED}
    if not request.approvals:
        del shown["approvals"]
    return shown | {"total_days": days_of(request.total_half_days)}


# Those that the entry itself has, and those that follow from others.
_NOT_AUDITED: Final = frozenset(
    {
        *("id", "version", "created_at", "updated_at", "decided_by", "decided_at", "cancelled_at"),
        *("counted_halves", "total_half_days"),
        *("first_approver_id", "second_approver_id"),
    }
)


@compiled
def _save_all(columns: Param[str]) -> Update:
    names = (
        *("status", "start_date", "start_half_day", "end_date", "end_half_day", "total_half_days"),
        *("counted_halves", "cancelled_at", "amendment_id", "cover_user_id"),
        *("leave_type_id", "updated_at", "version"),
    )
    before = {"version_before": "version"}
    return update_each(LeaveRequestRow, columns, names, before, {"shown_updated_at": None})


@compiled
def _save_amendment(
    organisation_id: Param[str],
    request_id: Param[str],
    version_before: Param[int],
    amendment_id: Param[str | None],
    first_approver_id: Param[str | None],
    second_approver_id: Param[str | None],
    version: Param[int],
    updated_at: Param[datetime],
) -> Update:
    leave = LeaveRequestRow
    return leave.update(
        {
            leave.amendment_id: amendment_id,
            leave.first_approver_id: first_approver_id,
            leave.second_approver_id: second_approver_id,
            leave.version: version,
            leave.updated_at: updated_at,
            leave.hidden_versions: fn.COALESCE(leave.hidden_versions, 0) + 1,
            leave.shown_updated_at: fn.COALESCE(leave.shown_updated_at, leave.updated_at),
        }
    ).where(
        leave.organisation_id == organisation_id,
        leave.id == request_id,
        leave.status == "approved",
        leave.version == version_before,
    )


@compiled
def _current(organisation_id: Param[str], user_id: Param[str], today: Param[str]) -> Select:
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.user_id == user_id,
        (LeaveRequestRow.status == "pending")
        | ((LeaveRequestRow.status == "approved") & (LeaveRequestRow.end_date >= today)),
    )


@compiled
def _standing_before(
    organisation_id: Param[str], user_id: Param[str], first_day: Param[str]
) -> Select:
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.user_id == user_id,
        LeaveRequestRow.start_date < first_day,
        LeaveRequestRow.status.in_(("pending", "approved")),
    )


@compiled
def _between(
    with_cancelled: bool,
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
) -> Select:
    statuses = ("pending", "approved", *(["cancelled"] if with_cancelled else []))
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        any_of(LeaveRequestRow.user_id, user_ids),
        LeaveRequestRow.end_date >= first_day,
        LeaveRequestRow.start_date <= last_day,
        LeaveRequestRow.status.in_(statuses),
    )


@compiled
def _pending(
    organisation_id: Param[str],
    user_id: Param[str] | None,
    department_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        rows.is_undecided(LeaveRequestRow),
    )
    if user_id is not None:
        query = query.where(LeaveRequestRow.user_id == user_id)
    if department_id is not None:
        members = UserRow.select(UserRow.id).where(
            UserRow.organisation_id == organisation_id, UserRow.department_id == department_id
        )
        query = query.where(LeaveRequestRow.user_id.in_(members))
    return query.limit(limit)


# Sick leave took its last day, employment was changed to end before or start after it, it was not
# decided, or the requester had asked an approver for it.
CancellationCause = Literal[
    "interrupted", "employment_ends", "employment_starts", "lapsed", "amendment_approved"
]


def get(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """One request, for its requester, its approvers, its decider, admins and owners.

    Raises NotFound for all others, as for a request that does not exist.
    """
    request = find(tx, by.organisation_id, request_id) if is_id(request_id) else None
    if request is None:
        raise NotFound("leave request")
    if not is_always_visible(request, by):
        config = organisation_config.of_organisation(tx, by.organisation_id)
        today = local_day(now, config.organisation.timezone)
        check_visible(tx, request, by=by, today=today)
    return request


def is_always_visible(request: LeaveRequest, by: Caller) -> bool:
    """Whether the caller sees the request without being one of its approvers."""
    return by.is_admin or by.user_id in (request.user_id, request.decided_by)


def check_visible(tx: Transaction, request: LeaveRequest, *, by: Caller, today: date) -> None:
    """Raises NotFound for a caller to whom ``get`` does not show the request."""
    if not is_always_visible(request, by) and not approvers.may_decide(
        tx, by.organisation_id, request.id, by.user_id, is_admin=False, today=today
    ):
        raise NotFound("leave request")


def cancelled_by(tx: Transaction, organisation_id: str, request: LeaveRequest) -> str | None:
    """The id of the person who cancelled the request; None if not cancelled, or by the system."""
    if request.status != "cancelled":
        return None
    return audit.last_actor(tx, organisation_id, "leave_request.cancelled", request.id)


def cancelled_because(
    tx: Transaction, organisation_id: str, request: LeaveRequest
) -> CancellationCause | None:
    """What cancelled the request; None if not cancelled, or by a person who meant to."""
    if request.status != "cancelled" or request.cancelled_at is None:
        return None
    changes = audit.changes_at(
        tx, organisation_id, "leave_request.cancelled", request.id, request.cancelled_at
    )
    why = (changes or {}).get("why", {}).get("after")
    return next((cause for cause in get_args(CancellationCause) if cause == why), None)
