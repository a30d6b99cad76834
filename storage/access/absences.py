"""Absences as the viewer may see them, for feeds and lists.

Privacy is decided here: callers may show everything that this module returns.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final, Literal

from peewee import Select, Tuple

from storage.access.feed_owners import FeedOwner
from storage.base.calendar_values import Absence, FeedScope
from storage.base.values import Organisation, User
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine, unindexed
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.rows import day, instant, with_names
from storage.db.tables import LeaveRequestRow, LeaveTypeRow, UserRow
from storage.directory import pending_approvals
from storage.directory.colleagues import team
from storage.rules import spans

# Pending leave in a list of absences: none, requests assigned to the viewer, or all.
Pending = Literal["none", "awaiting", "all"]

MAX_ABSENCES: Final = 50_000
# How long cancelled and declined leave stays in feeds that may have shown it.
CANCELLED_SHOWN_DAYS: Final = 30

_ABSENCE: Final = (
    LeaveRequestRow.id,
    LeaveRequestRow.user_id,
    UserRow.first_name,
    UserRow.last_name,
    UserRow.timezone,
    LeaveRequestRow.status,
    LeaveRequestRow.start_date,
    LeaveRequestRow.end_date,
    LeaveRequestRow.start_half_day,
    LeaveRequestRow.end_half_day,
    LeaveTypeRow.name.alias("type_name"),
    LeaveTypeRow.colour,
    LeaveTypeRow.is_private,
    LeaveRequestRow.version,
    LeaveRequestRow.updated_at,
)


def visible(
    tx: Transaction,
    owner: FeedOwner,
    scope: FeedScope,
    *,
    first_day: date,
    last_day: date,
    now: datetime,
) -> list[Absence]:
    """The absences in the owner's feed of that scope between two days, both included.

    Ordered by first day, then id; at most 50,000. Personal feeds show the owner's leave, pending
    included; team feeds (their department with its manager, their reports and themselves) and
    organisation feeds show approved leave. Leave that was cancelled or declined in the last 30 days
    is included where the feed may have shown it, so that calendars remove it.
    """
    leave = tx.all(
        _visible,
        organisation_id=owner.organisation_id,
        owner_id=owner.user_id,
        department_id=owner.department_id if scope == "team" else None,
        scope=scope,
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
        ends_until=spans.latest_end(last_day).isoformat(),
        cancelled_since=now - timedelta(days=CANCELLED_SHOWN_DAYS),
        limit=MAX_ABSENCES,
    )
    leave.sort(key=lambda row: (row.start_date, row.id))
    absences = (_absence(row, owner.user_id, owner.organisation_timezone) for row in leave)
    return [
        replace(
            absence,
            sequence=absence.sequence + owner.sequence,
            updated_at=max(absence.updated_at, owner.sequence_at),
        )
        for absence in absences
    ]


def away(
    tx: Transaction,
    page: PageOf,
    viewer: User,
    organisation: Organisation,
    scope: FeedScope,
    *,
    first_day: date,
    last_day: date,
    pending: Pending = "none",
    today: date | None = None,
) -> Page[Absence]:
    """Approved leave between two days, both included, as the viewer's feed of that scope shows it.

    ``pending`` adds leave that is not decided yet; "awaiting" needs ``today``. Ordered by first
    day, then id. Raises UnusableCursor.
    """
    bound_to = ("away", organisation.id, viewer.id, scope, str(first_day), str(last_day))
    after = position(tx, page, *bound_to)
    leave = tx.all(
        _away,
        organisation_id=organisation.id,
        viewer_id=viewer.id,
        department_id=viewer.department_id if scope == "team" else None,
        scope=scope,
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
        starts_from=spans.earliest_start(first_day).isoformat(),
        ends_until=spans.latest_end(last_day).isoformat(),
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        pending=pending,
        today=None if today is None else today.isoformat(),
        limit=page.limit + 1,
    )
    return page_of(
        tx,
        page,
        leave,
        lambda row: _absence(row, viewer.id, organisation.timezone),
        lambda row: [row.start_date, row.id],
        *bound_to,
    )


def _absence(row: Row, viewer_id: str, organisation_timezone: str) -> Absence:
    is_own = row.user_id == viewer_id
    is_hidden = row.is_private and not is_own
    return Absence(
        request_id=row.id,
        person_name=f"{row.first_name} {row.last_name}".strip(),
        is_own=is_own,
        status=row.status,
        start_date=day(row.start_date),
        end_date=day(row.end_date),
        start_half_day=row.start_half_day,
        end_half_day=row.end_half_day,
        summary_type=None if is_hidden else row.type_name,
        colour=None if is_hidden else row.colour,
        timezone=row.timezone or organisation_timezone,
        sequence=row.version,
        updated_at=instant(row.updated_at),
    )


@compiled_per_engine
def _visible(
    engine: Engine,
    organisation_id: Param[str],
    owner_id: Param[str],
    department_id: Param[str] | None,
    scope: FeedScope,
    first_day: Param[str],
    last_day: Param[str],
    ends_until: Param[str],
    cancelled_since: Param[datetime],
    limit: Param[int],
) -> Select:
    query = with_names(LeaveRequestRow.select(*_ABSENCE)).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.start_date <= last_day,
        LeaveRequestRow.end_date >= first_day,
        _is_shown(scope, cancelled_since),
    )
    if scope == "personal":
        # No order and no latest end: with either, SQLite would scan everyone's leave.
        return query.where(LeaveRequestRow.user_id == owner_id).limit(limit)
    query = query.where(LeaveRequestRow.end_date <= ends_until)
    if scope == "team":
        members = team(organisation_id, owner_id, department_id)
        query = query.where(LeaveRequestRow.user_id.in_(members))
    return query.order_by(unindexed(LeaveRequestRow.start_date, engine), LeaveRequestRow.id).limit(
        limit
    )


@compiled_per_engine
def _away(
    engine: Engine,
    organisation_id: Param[str],
    viewer_id: Param[str],
    department_id: Param[str] | None,
    scope: FeedScope,
    first_day: Param[str],
    last_day: Param[str],
    starts_from: Param[str],
    ends_until: Param[str],
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    pending: Pending,
    today: Param[str] | None,
    limit: Param[int],
) -> Select:
    is_shown = LeaveRequestRow.status == "approved"
    if pending != "none":
        is_pending = LeaveRequestRow.status == "pending"
        if pending == "awaiting":
            is_pending &= pending_approvals.is_assigned(
                organisation_id, viewer_id, today, for_each=False
            )
        is_shown = is_shown | is_pending
    query = with_names(LeaveRequestRow.select(*_ABSENCE)).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.start_date <= last_day,
        LeaveRequestRow.end_date >= first_day,
        is_shown,
    )
    query, order = _bounded(query, engine, starts_from, ends_until)
    if scope == "team":
        members = team(organisation_id, viewer_id, department_id)
        query = query.where(LeaveRequestRow.user_id.in_(members))
    if after_key is not None:
        query = query.where(Tuple(*order) > Tuple(after_key, after_id))
    return query.order_by(*order).limit(limit)


def _bounded(
    query: Select, engine: Engine, starts_from: Expr, ends_until: Expr
) -> tuple[Select, tuple[Expr, Expr]]:
    """The query with a redundant bound for an index scan, and its order by first day."""
    start_date, end_date = LeaveRequestRow.start_date, LeaveRequestRow.end_date
    if engine == "postgresql":
        return query.where(start_date >= starts_from), (start_date, LeaveRequestRow.id)
    # In the order of first days SQLite would look up a year of leave, row by row. Both dates are in
    # the index by last days, so that it finds the little leave that overlaps, which is then sorted.
    query = query.where(end_date <= ends_until)
    return query, (unindexed(start_date, engine), LeaveRequestRow.id)


def _is_shown(scope: FeedScope, cancelled_since: Param[datetime]) -> Expr:
    just_cancelled = (LeaveRequestRow.status == "cancelled") & (
        LeaveRequestRow.cancelled_at > cancelled_since
    )
    is_declined = LeaveRequestRow.status == "declined"
    if scope == "personal":
        just_declined = is_declined & (LeaveRequestRow.decided_at > cancelled_since)
        is_current = LeaveRequestRow.status.in_(("pending", "approved"))
        return is_current | just_cancelled | just_declined
    # Declined leave is never cancelled, so decided leave that was cancelled had been approved.
    was_approved = LeaveRequestRow.decided_at.is_null(False)
    # Most declined leave was never approved, so these feeds never showed it.
    just_reversed = is_declined & (LeaveRequestRow.approval_reversed_at > cancelled_since)
    is_approved = LeaveRequestRow.status == "approved"
    return is_approved | (just_cancelled & was_approved) | just_reversed
