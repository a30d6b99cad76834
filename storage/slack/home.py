"""The contents of a person's App Home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final, TypeVar

from storage.access import absences
from storage.base.calendar_values import Absence
from storage.base.clock import end_of_week, local_day
from storage.base.errors import NotFound, UnusableCursor
from storage.base.values import Caller, LeaveRequest, LeaveType, Organisation, User
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.directory import people_rows
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import caller_leave, ledgers
from storage.leave.ledgers import Balance
from storage.slack import home_pages
from storage.slack.home_pages import PageCursors

# Items on a page of each list.
MAX_OWN: Final = 8
MAX_WAITING: Final = 10
MAX_AWAY: Final = 12
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A request with its requester's name and its type."""

    request: LeaveRequest
    person_name: str
    leave_type: LeaveType


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """``own``: pending leave, and approved leave that has not ended, earliest first.

    ``waiting``: requests that await the viewer's decision, oldest first. ``away``: leave between
    ``today`` and ``last_day``, by first day: approved, or pending if the viewer could decide on it.
    ``cursors`` has the pages that are shown, and their scope, which is never None.
    """

    user: User
    organisation: Organisation
    today: date
    last_day: date
    balance: Balance
    own: Page[Item]
    waiting: Page[Item]
    away: Page[Absence]
    cursors: PageCursors


def load(tx: Transaction, *, by: Caller, now: datetime) -> Home:
    """The caller's Home. A list whose cursor is no longer valid starts at its first page.

    ``away`` ends with the week; at a weekend, with the next week.
    """
    cursors = home_pages.find(tx, by=by, now=now) or PageCursors()
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.find(tx, by.organisation_id, str(by.user_id))
    if user is None:
        raise NotFound("user")
    today = local_day(now, user.timezone or config.organisation.timezone)
    last_day = end_of_week(today)
    scope = cursors.scope or ("team" if user.department_id else "org")
    cursors = replace(cursors, scope=scope)
    waiting, waiting_cursor = _page_after(
        cursors.waiting, MAX_WAITING, lambda page: caller_leave.assigned(tx, page, by=by, now=now)
    )
    own, own_cursor = _page_after(
        cursors.own, MAX_OWN, lambda page: caller_leave.own(tx, page, by=by, today=today)
    )
    away, away_cursor = _page_after(
        cursors.away,
        MAX_AWAY,
        lambda page: absences.away(
            tx,
            page,
            user,
            config.organisation,
            scope,
            first_day=today,
            last_day=last_day,
            pending=_pending_shown(by, waiting),
            today=local_day(now, config.organisation.timezone),
        ),
    )
    return Home(
        user=user,
        organisation=config.organisation,
        today=today,
        last_day=last_day,
        balance=ledgers.balance(tx, user.id, on=None, by=by, now=now),
        own=_items(tx, config, own),
        waiting=_items(tx, config, waiting),
        away=away,
        cursors=PageCursors(own=own_cursor, waiting=waiting_cursor, away=away_cursor, scope=scope),
    )


def _pending_shown(by: Caller, waiting: Page[LeaveRequest]) -> absences.Pending:
    """Which pending absences are shown: only those that the viewer could approve or decline."""
    if by.is_admin:
        return "all"
    return "awaiting" if waiting.items else "none"


def _page_after(
    cursor: str | None, limit: int, read: Callable[[PageOf], Page[T]]
) -> tuple[Page[T], str | None]:
    """The page after the cursor and the cursor; the first page and None if that page is empty."""
    if cursor is not None:
        try:
            page = read(PageOf(limit=limit, cursor=cursor))
        except UnusableCursor:
            page = None
        if page is not None and page.items:
            return page, cursor
    return read(PageOf(limit=limit)), None


def _items(tx: Transaction, config: OrganisationConfig, page: Page[LeaveRequest]) -> Page[Item]:
    user_ids = {request.user_id for request in page.items}
    names = people_rows.names(tx, config.organisation.id, user_ids)
    items = [
        Item(
            request=request,
            person_name=names[request.user_id],
            leave_type=config.leave_types[request.leave_type_id],
        )
        for request in page.items
    ]
    return Page(items=items, next_cursor=page.next_cursor)
