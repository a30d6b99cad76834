"""The App Home of a person: what it shows, and who is viewing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final, TypeVar

from peewee import Select

from storage.access import absences
from storage.base.calendar_values import Absence, FeedScope
from storage.base.clock import end_of_week, local_day
from storage.base.errors import NotFound, UnusableCursor
from storage.base.values import Caller, LeaveRequest, LeaveType, Organisation, User
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import SlackHomeRow
from storage.directory import people_rows
from storage.events import organisation_config
from storage.events.organisation_config import Reference
from storage.leave import caller_leave, ledgers
from storage.leave.ledgers import Balance

# Slack reports every time the tab is opened. A person who opened it longer ago is not viewing it.
WATCHED: Final = timedelta(days=7)
# Items on a page of each list.
MAX_OWN: Final = 8
MAX_WAITING: Final = 10
MAX_AWAY: Final = 12

_NOTHING: Final = "-"
# How many parts packed cursors have.
_PARTS: Final = 4

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class PageCursors:
    """The page that the viewer sees of each list, and whose absences are shown.

    ``scope`` None is the viewer's team, or everyone for a viewer without a department.
    """

    own: str | None = None
    waiting: str | None = None
    away: str | None = None
    scope: FeedScope | None = None

    def packed(self) -> str:
        """As a button carries it: cursors and a word, nothing else."""
        return " ".join(
            part or _NOTHING for part in (self.own, self.waiting, self.away, self.scope)
        )

    @classmethod
    def unpacked(cls, packed: str) -> PageCursors:
        """As it was packed; where each list begins for anything else."""
        parts = [None if part == _NOTHING else part for part in packed.split(" ")]
        if len(parts) != _PARTS:
            return cls()
        own, waiting, away, scope = parts
        return cls(
            own=own,
            waiting=waiting,
            away=away,
            scope="team" if scope == "team" else "org" if scope else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A request, whose it is, and its type."""

    request: LeaveRequest
    person_name: str
    leave_type: LeaveType


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """``own``: pending leave, and what was approved and is not over, earliest first.

    ``waiting``: what awaits the viewer's decision, oldest first. ``away``: leave between ``today``
    and ``last_day``, by first day: approved, and what the viewer could decide on. ``cursors`` is
    what is shown, its scope settled.
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


def open_first_pages(tx: Transaction, *, by: Caller, now: datetime) -> None:
    """Save that the caller views Home, on the first page of its lists."""
    paginate(tx, PageCursors(), by=by, now=now)


def paginate(tx: Transaction, cursors: PageCursors, *, by: Caller, now: datetime) -> None:
    """Save the pages that the caller views; ``load`` shows them from now on."""
    _save(tx, by.organisation_id, str(by.user_id), cursors.packed(), now=now)


def is_watched(tx: Transaction, *, by: Caller, now: datetime) -> bool:
    """Whether the caller opened Home recently, so that it has to be kept up to date."""
    return _watched_lists(tx, by.organisation_id, str(by.user_id), now=now) is not None


def load(tx: Transaction, *, by: Caller, now: datetime) -> Home:
    """The caller's Home. A list whose cursor is no longer valid starts at its first page.

    Who is away: today and until the end of the week; at a weekend, of the week to come.
    """
    packed = _watched_lists(tx, by.organisation_id, str(by.user_id), now=now)
    cursors = PageCursors.unpacked(packed or "")
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.find(tx, by.organisation_id, str(by.user_id))
    if user is None:
        raise NotFound("user")
    today = local_day(now, user.timezone or reference.organisation.timezone)
    last_day = end_of_week(today)
    scope = cursors.scope or ("team" if user.department_id else "org")
    cursors = replace(cursors, scope=scope)
    waiting, at_waiting = _from(
        cursors.waiting, MAX_WAITING, lambda page: caller_leave.assigned(tx, page, by=by, now=now)
    )
    own, at_own = _from(
        cursors.own, MAX_OWN, lambda page: caller_leave.own(tx, page, by=by, today=today)
    )
    away, at_away = _from(
        cursors.away,
        MAX_AWAY,
        lambda page: absences.away(
            tx,
            page,
            user,
            reference.organisation,
            scope,
            first_day=today,
            last_day=last_day,
            pending=_pending_shown(by, waiting),
            today=local_day(now, reference.organisation.timezone),
        ),
    )
    return Home(
        user=user,
        organisation=reference.organisation,
        today=today,
        last_day=last_day,
        balance=ledgers.balance(tx, user.id, on=None, by=by, now=now),
        own=_items(tx, reference, own),
        waiting=_items(tx, reference, waiting),
        away=away,
        cursors=PageCursors(own=at_own, waiting=at_waiting, away=at_away, scope=scope),
    )


def _pending_shown(by: Caller, waiting: Page[LeaveRequest]) -> absences.Pending:
    """Pending leave among who is out: only what the viewer could approve or decline."""
    if by.is_admin:
        return "all"
    return "awaiting" if waiting.items else "none"


def _from(
    cursor: str | None, most: int, read: Callable[[PageOf], Page[T]]
) -> tuple[Page[T], str | None]:
    """A page and the cursor that it begins after; the first page where there is none there."""
    if cursor is not None:
        try:
            page = read(PageOf(limit=most, cursor=cursor))
        except UnusableCursor:
            page = None
        if page is not None and page.items:
            return page, cursor
    return read(PageOf(limit=most)), None


def _items(tx: Transaction, reference: Reference, page: Page[LeaveRequest]) -> Page[Item]:
    user_ids = {request.user_id for request in page.items}
    names = people_rows.names(tx, reference.organisation.id, user_ids)
    items = [
        Item(
            request=request,
            person_name=names[request.user_id],
            leave_type=reference.leave_types[request.leave_type_id],
        )
        for request in page.items
    ]
    return Page(items=items, next_cursor=page.next_cursor)


def _save(
    tx: Transaction, organisation_id: str, user_id: str, cursors: str, *, now: datetime
) -> None:
    """Save that the person views Home, with the pages of its lists."""
    tx.change(
        _save_home, organisation_id=organisation_id, user_id=user_id, cursors=cursors, now=now
    )


def _watched_lists(
    tx: Transaction, organisation_id: str, user_id: str, *, now: datetime
) -> str | None:
    """What ``_save`` saved in the last seven days; None for a person who is not viewing Home."""
    since = now - WATCHED
    row = tx.first(_opened_since, organisation_id=organisation_id, user_id=user_id, since=since)
    return None if row is None else row.leafed


@compiled
def _save_home(
    organisation_id: Param[str], user_id: Param[str], cursors: Param[str], now: Param[datetime]
) -> Any:
    kept = {"opened_at": now, "leafed": cursors}
    return SlackHomeRow.insert(
        organisation_id=organisation_id, user_id=user_id, **kept
    ).on_conflict(conflict_target=(SlackHomeRow.organisation_id, SlackHomeRow.user_id), update=kept)


@compiled
def _opened_since(
    organisation_id: Param[str], user_id: Param[str], since: Param[datetime]
) -> Select:
    return SlackHomeRow.select(SlackHomeRow.leafed).where(
        SlackHomeRow.organisation_id == organisation_id,
        SlackHomeRow.user_id == user_id,
        SlackHomeRow.opened_at > since,
    )
