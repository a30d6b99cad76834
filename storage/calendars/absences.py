"""Absences as the viewer may see them, for feeds and lists.

Privacy is decided here: callers may show everything that this module returns. So is who is away:
leave of types without ``is_away``, such as home office, is listed by ``elsewhere`` only, and marked
in feeds and charts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final, Literal

from peewee import Select, Tuple

from storage.base.calendar_values import Absence, FeedScope
from storage.base.leave_values import LeaveType
from storage.base.values import Organisation, User
from storage.calendars.feed_owners import FeedOwner
from storage.db.compiled import (
    Expr,
    Param,
    any_of,
    compiled,
)
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.rows import day, instant
from storage.db.tables import LeaveRequestRow
from storage.people import approvers, colleagues, people_rows
from storage.rules import counted_days

# Pending leave in a list of absences: none, requests assigned to the viewer, or all.
Pending = Literal["none", "awaiting", "all"]

MAX_ABSENCES: Final = 50_000
# How many people at work elsewhere are named; one more is read, to say that there are others.
MAX_ELSEWHERE: Final = 10
# How long cancelled and declined leave stays in feeds that may have shown it.
CANCELLED_SHOWN_DAYS: Final = 30

_FRIDAY: Final = 4
_SUNDAY: Final = 6

_ABSENCE: Final = (
    LeaveRequestRow.id,
    LeaveRequestRow.user_id,
    LeaveRequestRow.status,
    LeaveRequestRow.start_date,
    LeaveRequestRow.end_date,
    LeaveRequestRow.start_half_day,
    LeaveRequestRow.end_half_day,
    LeaveRequestRow.leave_type_id,
    LeaveRequestRow.version,
    LeaveRequestRow.updated_at,
    LeaveRequestRow.hidden_versions,
    LeaveRequestRow.shown_updated_at,
    LeaveRequestRow.cover_user_id,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CountedLeave:
    """Leave with the halves that count on each of its dates (``storage/rules/counted_days.py``).

    ``leave_type_id`` is None where the viewer may not know it.
    """

    leave_type_id: str | None
    is_away: bool
    is_pending: bool
    start_date: date
    counted_halves: str


def end_of_week(today: date) -> date:
    """The Sunday on which "who is out this week" ends.

    At weekends that is the Sunday of the next week.
    """
    sunday = today + timedelta(days=_SUNDAY - today.weekday())
    return sunday + timedelta(weeks=1) if today.weekday() > _FRIDAY else sunday


def visible(
    tx: Transaction,
    owner: FeedOwner,
    scope: FeedScope,
    leave_types: Mapping[str, LeaveType],
    *,
    first_day: date,
    last_day: date,
    now: datetime,
) -> list[Absence]:
    """The absences in the owner's feed of that scope between two days, both included.

    Ordered by first day, then id; at most 50,000. Personal feeds show the owner's leave, pending
    included; team feeds (their department with its manager, their reports and themselves) and
    organisation feeds show approved leave. Leave that was cancelled or declined in the last 30 days
    is included where the feed may have shown it, so that calendars remove it. ``leave_types`` are
    all of the organisation, by id.
    """
    leave = tx.all(
        _visible,
        organisation_id=owner.organisation_id,
        owner_id=owner.user_id,
        department_id=owner.department_id if scope == "team" else None,
        scope=scope,
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
        starts_from=counted_days.earliest_start(first_day).isoformat(),
        cancelled_since=now - timedelta(days=CANCELLED_SHOWN_DAYS),
        limit=MAX_ABSENCES,
    )
    people = _people(tx, owner.organisation_id, leave)
    timezone = owner.organisation_timezone
    return [
        _absence(row, owner.user_id, timezone, people, leave_types[row.leave_type_id], owner)
        for row in leave
    ]


def away(
    tx: Transaction,
    page: PageOf,
    viewer: User,
    organisation: Organisation,
    scope: FeedScope,
    leave_types: Mapping[str, LeaveType],
    *,
    first_day: date,
    last_day: date,
    pending: Pending = "none",
    today: date | None = None,
) -> Page[Absence]:
    """Approved absences between two days, both included, as the viewer's feed of that scope has it.

    ``leave_types`` are all of the organisation, by id. ``pending`` adds leave that is not decided
    yet; "awaiting" needs ``today``. Ordered by first day, then id. Raises UnusableCursor.
    """
    bound_to = ("away", organisation.id, viewer.id, scope, str(first_day), str(last_day))
    after = position(tx, page, *bound_to)
    leave = _approved(
        tx,
        viewer,
        organisation,
        scope,
        (first_day, last_day),
        is_away=True,
        after=after,
        pending=pending,
        today=today,
        limit=page.limit + 1,
    )
    people = _people(tx, organisation.id, leave)
    return page_of(
        tx,
        page,
        leave,
        lambda row: _absence(
            row, viewer.id, organisation.timezone, people, leave_types[row.leave_type_id]
        ),
        lambda row: [row.start_date, row.id],
        *bound_to,
    )


def elsewhere(
    tx: Transaction,
    viewer: User,
    organisation: Organisation,
    scope: FeedScope,
    leave_types: Mapping[str, LeaveType],
    *,
    first_day: date,
    last_day: date,
) -> list[Absence]:
    """As ``away``, approved leave of people who are at work elsewhere: the first 11."""
    if all(leave_type.is_away for leave_type in leave_types.values()):
        return []
    leave = _approved(
        tx,
        viewer,
        organisation,
        scope,
        (first_day, last_day),
        is_away=False,
        limit=MAX_ELSEWHERE + 1,
    )
    people = _people(tx, organisation.id, leave)
    return [
        _absence(row, viewer.id, organisation.timezone, people, leave_types[row.leave_type_id])
        for row in leave
    ]


def _approved(
    tx: Transaction,
    viewer: User,
    organisation: Organisation,
    scope: FeedScope,
    days: tuple[date, date],
    *,
    is_away: bool,
    after: list[Any] | None = None,
    pending: Pending = "none",
    today: date | None = None,
    limit: int,
) -> list[Row]:
    first_day, last_day = days
    return tx.all(
        _away,
        organisation_id=organisation.id,
        viewer_id=viewer.id,
        department_id=viewer.department_id if scope == "team" else None,
        scope=scope,
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
        starts_from=counted_days.earliest_start(first_day).isoformat(),
        is_away=is_away,
        after_key=after[0] if after else None,
        after_id=after[1] if after else None,
        pending=pending,
        today=None if today is None else today.isoformat(),
        limit=limit,
    )


def of_people(
    tx: Transaction,
    organisation_id: str,
    leave_types: Mapping[str, LeaveType],
    viewer_id: str | None,
    user_ids: Collection[str],
    *,
    first_day: date,
    last_day: date,
    pending: Pending = "none",
    today: date | None = None,
    hides_own: bool = False,
) -> dict[str, list[CountedLeave]]:
    """The approved leave of these people between two days, both included.

    By the people's ids, earliest first; ``leave_types`` are all of the organisation, by id. Pending
    leave of the viewer is always included, that of others as in ``away``. ``hides_own``: the
    viewer's private types are hidden too, because others look at what the viewer opens. Without a
    viewer, no pending leave is included and all private types are hidden.
    """
    sees_own = viewer_id is not None and not hides_own
    leave = tx.all(
        _of_people,
        organisation_id=organisation_id,
        viewer_id=viewer_id,
        user_ids=sorted(user_ids),
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
        pending=pending,
        today=None if today is None else today.isoformat(),
        limit=MAX_ABSENCES,
    )
    by_person: dict[str, list[CountedLeave]] = {}
    for row in leave:
        is_own = sees_own and row.user_id == viewer_id
        leave_type = leave_types[row.leave_type_id]
        is_hidden = leave_type.is_private and not is_own
        counted = CountedLeave(
            leave_type_id=None if is_hidden else row.leave_type_id,
            is_away=leave_type.is_away,
            is_pending=row.status == "pending",
            start_date=day(row.start_date),
            counted_halves=row.counted_halves,
        )
        by_person.setdefault(row.user_id, []).append(counted)
    return by_person


def _people(tx: Transaction, organisation_id: str, leave: Sequence[Row]) -> dict[str, User]:
    """Those who are off and their covers, by id.

    Not joined: a person has much leave, and a page is a small part of what is sorted for it.
    """
    ids = {row.user_id for row in leave} | {row.cover_user_id for row in leave}
    return people_rows.of_ids(tx, organisation_id, ids - {None})


def _absence(
    row: Row,
    viewer_id: str,
    organisation_timezone: str,
    people: Mapping[str, User],
    leave_type: LeaveType,
    feed: FeedOwner | None = None,
) -> Absence:
    updated_at = instant(row.shown_updated_at or row.updated_at)
    version = row.version - (row.hidden_versions or 0)
    is_own = row.user_id == viewer_id
    is_hidden = leave_type.is_private and not is_own
    person, cover = people[row.user_id], people.get(row.cover_user_id)
    return Absence(
        request_id=row.id,
        person_name=person.name,
        is_own=is_own,
        status=row.status,
        start_date=day(row.start_date),
        end_date=day(row.end_date),
        start_half_day=row.start_half_day,
        end_half_day=row.end_half_day,
        summary_type=None if is_hidden else leave_type.type_name,
        colour=None if is_hidden else leave_type.colour,
        timezone=person.timezone or organisation_timezone,
        sequence=version + (feed.sequence if feed else 0),
        updated_at=max(updated_at, feed.sequence_at) if feed else updated_at,
        cover_name=None if cover is None else cover.name,
        leave_type_id=None if is_hidden else row.leave_type_id,
        user_id=row.user_id,
        is_away=leave_type.is_away,
    )


@compiled
def _of_people(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
    pending: Pending,
    today: Param[str] | None,
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    is_pending = leave.status == "pending"
    others = _is_pending_shown(organisation_id, viewer_id, pending, today)
    is_shown = leave.status == "approved"
    if viewer_id is not None:
        is_shown = is_shown | (is_pending & (leave.user_id == viewer_id))
    # Without their people and types, which callers have: before its first ANALYZE, PostgreSQL joins
    # every request with every person.
    return (
        leave.select(
            leave.user_id,
            leave.leave_type_id,
            leave.status,
            leave.start_date,
            leave.counted_halves,
        )
        .where(
            leave.organisation_id == organisation_id,
            any_of(leave.user_id, user_ids),
            colleagues.overlaps(first_day, last_day),
            is_shown if others is None else is_shown | others,
        )
        .order_by(leave.start_date, leave.id)
        .limit(limit)
    )


@compiled
def _visible(
    organisation_id: Param[str],
    owner_id: Param[str],
    department_id: Param[str] | None,
    scope: FeedScope,
    first_day: Param[str],
    last_day: Param[str],
    starts_from: Param[str],
    cancelled_since: Param[datetime],
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    query = leave.select(*_ABSENCE).where(
        leave.organisation_id == organisation_id, _is_shown(scope, cancelled_since)
    )
    if scope == "org":
        query = query.where(colleagues.overlaps(first_day, last_day, starts_from))
    else:
        query = query.where(
            colleagues.overlaps(first_day, last_day),
            leave.user_id == owner_id
            if scope == "personal"
            else leave.user_id.in_(colleagues.team(organisation_id, owner_id, department_id)),
        )
    return query.order_by(leave.start_date, leave.id).limit(limit)


@compiled
def _away(
    organisation_id: Param[str],
    viewer_id: Param[str],
    department_id: Param[str] | None,
    scope: FeedScope,
    first_day: Param[str],
    last_day: Param[str],
    starts_from: Param[str],
    is_away: bool,
    after_key: Param[str] | None,
    after_id: Param[str] | None,
    pending: Pending,
    today: Param[str] | None,
    limit: Param[int],
) -> Select:
    is_shown = LeaveRequestRow.status == "approved"
    is_pending = _is_pending_shown(organisation_id, viewer_id, pending, today)
    if is_pending is not None:
        is_shown = is_shown | is_pending
    leave = LeaveRequestRow
    is_absence = colleagues.is_absence(leave)
    query = leave.select(*_ABSENCE).where(
        leave.organisation_id == organisation_id, is_shown, is_absence if is_away else ~is_absence
    )
    if scope == "team":
        members = colleagues.team(organisation_id, viewer_id, department_id)
        query = query.where(leave.user_id.in_(members), colleagues.overlaps(first_day, last_day))
    else:
        query = query.where(colleagues.overlaps(first_day, last_day, starts_from))
    order = (leave.start_date, leave.id)
    if after_key is not None:
        query = query.where(Tuple(*order) > Tuple(after_key, after_id))
    return query.order_by(*order).limit(limit)


def _is_pending_shown(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    pending: Pending,
    today: Param[str] | None,
) -> Expr | None:
    if pending == "none" or viewer_id is None:
        return None
    is_pending = LeaveRequestRow.status == "pending"
    if pending == "awaiting":
        is_pending &= approvers.is_assigned(organisation_id, viewer_id, today, for_each=False)
    return is_pending


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
