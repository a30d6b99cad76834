"""The operations that are measured: use cases as the REST API, Slack and the jobs call them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import product
from typing import Any, Final

from storage.access import absences, feed_owners
from storage.access.feed_owners import FeedOwner
from storage.base.calendar_values import FeedScope
from storage.base.values import Caller
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import LeaveRequestRow
from storage.directory import people_lists, people_rows
from storage.events import audit, organisation_config
from storage.leave import decisions, leave_lists, leave_requests, ledgers, previews, recorded_leave
from storage.leave.drafts import Draft
from storage.notifications import (
    approval_cards,
    digests,
    reminder_checks,
    reminders,
)
from storage.notifications.digests import DigestKey
from storage.slack import home
from storage.slack.home import PageCursors
from tests.bench.filling import DAYS_AHEAD, Filled

_FEED_PAST: Final = timedelta(days=90)
_FEED_AHEAD: Final = timedelta(days=365)
_SCOPES: Final[tuple[FeedScope, ...]] = ("personal", "team", "org")


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where operations run: a filled organisation, and a feed of its member."""

    database: Database
    filled: Filled
    feed_token: str
    now: datetime

    @property
    def today(self) -> date:
        return self.now.date()

    @property
    def owner(self) -> Caller:
        return self.filled.caller(self.filled.owner_id, "owner")

    @property
    def manager(self) -> Caller:
        return self.filled.caller(self.filled.manager_id)

    @property
    def member(self) -> Caller:
        return self.filled.caller(self.filled.member_id)

    def read(self, use_case: Callable[..., Any], *args: Any, **params: Any) -> Any:
        return self.database.read_now(use_case, *args, **params)

    def write(self, use_case: Callable[..., Any], *args: Any, **params: Any) -> Any:
        return self.database.write_now(use_case, *args, **params)


# One run, by its number.
Run = Callable[[Place, int], object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """Of operations with one name the slowest is reported, with its ``details``.

    ``is_short``: on SQLite it runs on the event loop.
    """

    name: str
    run: Run
    details: str = ""
    is_short: bool = True


def operations() -> Iterator[Operation]:
    """In the order in which they run: creations precede approvals."""
    yield Operation(name="preview", run=_preview)
    yield Operation(name="create", run=_create, is_short=False)
    yield Operation(name="approve", run=_approve, is_short=False)
    yield Operation(name="balance", run=_balance)
    yield from _lists()
    for name in ("owner", "manager", "member"):
        yield from _visible_leave(name)
    for name in ("owner", "manager"):
        yield Operation(
            name=f"pending approvals, {name}", run=_pending_approvals(name), is_short=False
        )
        for scope in _SCOPES[1:]:
            yield Operation(name=f"Home, {name}, {scope}", run=_home(name, scope), is_short=False)
    yield Operation(name="Slack: who is out", run=_out, is_short=False)
    yield Operation(name="Slack: own leave", run=_own_leave)
    yield Operation(name="Slack: approval card", run=_card)
    yield from _users()
    yield Operation(name="search for people", run=_search, is_short=False)
    for name in ("owner", "manager"):
        yield Operation(
            name=f"people to record leave for, {name}", run=_recordable(name), is_short=False
        )
    yield from _audit()
    yield Operation(name="feed, unchanged", run=_unchanged_feed)
    for scope in _SCOPES:
        yield Operation(name=f"feed, {scope}", run=_feed(scope), is_short=False)
    yield Operation(name="digest", run=_digest, is_short=False)
    yield Operation(name="reminders, due", run=_due_reminders, is_short=False)
    yield Operation(name="reminders, a batch", run=_reminders, is_short=False)


def _lists() -> Iterator[Operation]:
    """Every combination of filters and sorts."""
    for sort, status, by, days in product(
        ("-created_at", "created_at", "-start_date", "start_date"),
        (None, "pending", "approved", "declined"),
        ("", "user_id", "leave_type_id", "department_id", "leave_type_id department_id"),
        ("", "from", "to", "from to", "from to long ago"),
    ):
        yield Operation(
            name=f"list by {sort.removeprefix('-')}",
            run=_list(sort, status, by.split(), days.split()),
            details=" ".join(filter(None, (sort, status, by, days))),
            is_short=not (days or "start_date" in sort or "department_id" in by),
        )


def _list(sort: str, status: str | None, columns: list[str], days: list[str]) -> Run:
    def run(place: Place, _: int) -> object:
        ids = {
            "user_id": place.filled.member_id,
            "leave_type_id": place.filled.leave_type_id,
            "department_id": place.filled.department_id,
        }
        first_day = place.today - timedelta(days=2_000 if "ago" in days else 7)
        filters: Any = {
            "sort": sort,
            "status": status,
            "first_day": first_day if "from" in days else None,
            "last_day": first_day + timedelta(days=14) if "to" in days else None,
            **{column: ids[column] for column in columns},
        }
        return place.read(leave_lists.filtered, PageOf(), by=place.owner, **filters)

    return run


def _users() -> Iterator[Operation]:
    filters: list[dict[str, Any]] = [
        {},
        {"status": "active"},
        {"status": "archived"},
        {"role": "approver"},
        {"email": "person.7@example.com"},
        {"status": "deactivated", "role": "member"},
    ]
    for chosen, sort in product(filters, ("created_at", "-created_at")):
        yield Operation(
            name="users", run=_page_of_users(chosen | {"sort": sort}), details=f"{chosen} {sort}"
        )


def _page_of_users(filters: dict[str, Any]) -> Run:
    return lambda place, _: place.read(people_lists.page, PageOf(), by=place.owner, **filters)


def _audit() -> Iterator[Operation]:
    """Every combination of filters; members never approve, so that some find nothing."""
    for action, actor, days in product(
        (None, "leave_request.created", "leave_request.approved", "webhook.deleted"),
        (None, "owner", "manager", "member"),
        ("", "from", "to", "from to"),
    ):
        yield Operation(
            name="audit",
            run=_page_of_audit(action, actor, days.split()),
            details=" ".join(filter(None, (action, actor, days))),
        )


def _page_of_audit(action: str | None, actor: str | None, days: list[str]) -> Run:
    def run(place: Place, _: int) -> object:
        first_day = place.today - timedelta(days=400)
        return place.read(
            audit.entries,
            PageOf(),
            by=place.owner,
            action=action,
            actor_id=None if actor is None else getattr(place, actor).user_id,
            first_day=first_day if "from" in days else None,
            last_day=first_day + timedelta(days=30) if "to" in days else None,
        )

    return run


def _preview(place: Place, _: int) -> object:
    return place.read(previews.preview, by=place.member, draft=_draft(place, 0), now=place.now)


def _create(place: Place, number: int) -> object:
    draft = _draft(place, number)
    return place.write(leave_requests.submit, by=place.member, draft=draft, now=place.now)


def _approve(place: Place, number: int) -> object:
    """Approve what ``_create`` created in the same run."""
    request_id = place.read(_created, place.filled, _draft(place, number).start_date)
    return place.write(decisions.approve, request_id, by=place.manager, now=place.now)


def _draft(place: Place, number: int) -> Draft:
    """Three days after all other leave, in another week for each run."""
    tuesday = place.today + timedelta(days=DAYS_AHEAD + 15 - place.today.weekday(), weeks=number)
    # Never public holidays alone.
    return Draft(
        leave_type_id=place.filled.leave_type_id,
        start_date=tuesday,
        end_date=tuesday + timedelta(days=2),
    )


def _balance(place: Place, _: int) -> object:
    member_id = place.filled.member_id
    return place.read(ledgers.balance, member_id, on=None, by=place.manager, now=place.now)


def _visible_leave(name: str) -> Iterator[Operation]:
    """Every combination of filters of ``GET /leave``."""
    for status, person, days in product(
        (None, "pending", "approved"),
        (None, "member"),
        ("", "starts_after", "starts_before", "starts_after starts_before"),
    ):
        yield Operation(
            name=f"/leave of {name}",
            run=_page_of_visible_leave(name, status, person, days.split()),
            details=" ".join(filter(None, (status, person, days))),
            is_short=False,
        )


def _page_of_visible_leave(
    name: str, status: str | None, person: str | None, days: list[str]
) -> Run:
    def run(place: Place, _: int) -> object:
        filters: Any = {
            "status": status,
            "user_id": None if person is None else place.filled.member_id,
            "starts_after": place.today - timedelta(days=7) if "starts_after" in days else None,
            "starts_before": place.today + timedelta(days=7) if "starts_before" in days else None,
        }
        by = getattr(place, name)
        return place.read(leave_lists.visible, PageOf(), by=by, now=place.now, **filters)

    return run


def _pending_approvals(name: str) -> Run:
    return lambda place, _: place.read(
        leave_lists.assigned, PageOf(), by=getattr(place, name), now=place.now
    )


def _home(name: str, scope: FeedScope) -> Run:
    def run(place: Place, number: int) -> object:
        by = getattr(place, name)
        if not number:
            place.write(home.save, PageCursors(scope=scope), by=by, now=place.now)
        return place.read(home.load, by=by, now=place.now)

    return run


def _out(place: Place, _: int) -> object:
    return place.read(_away, place)


def _away(tx: Transaction, place: Place) -> object:
    config = organisation_config.of_organisation(tx, place.filled.organisation_id)
    user = people_rows.get(tx, place.filled.member_id, by=place.member)
    days: dict[str, Any] = {"first_day": place.today, "last_day": place.today}
    return [
        absences.away(tx, PageOf(), user, config.organisation, scope, config.leave_types, **days)
        for scope in _SCOPES[1:]
    ]


def _own_leave(place: Place, _: int) -> object:
    return place.read(leave_lists.own, PageOf(), by=place.member, today=place.today)


def _card(place: Place, _: int) -> object:
    request_id = place.read(_created, place.filled, _draft(place, 0).start_date)
    return place.read(
        approval_cards.card,
        place.filled.organisation_id,
        request_id,
        viewer_id=place.filled.manager_id,
        now=place.now,
    )


def _search(place: Place, _: int) -> object:
    return place.read(people_lists.find, "number 1", by=place.owner)


def _recordable(name: str) -> Run:
    return lambda place, _: place.read(
        recorded_leave.find_recordable, "", by=getattr(place, name), now=place.now
    )


def _unchanged_feed(place: Place, _: int) -> object:
    return place.read(feed_owners.find_by_token, place.feed_token)


def _visible(tx: Transaction, owner: FeedOwner, scope: FeedScope, **days: Any) -> object:
    config = organisation_config.of_organisation(tx, owner.organisation_id)
    return absences.visible(tx, owner, scope, config.leave_types, **days)


def _feed(scope: FeedScope) -> Run:
    def run(place: Place, _: int) -> object:
        owner = place.read(feed_owners.find_by_token, place.feed_token)
        first_day, last_day = place.today - _FEED_PAST, place.today + _FEED_AHEAD
        return place.read(
            _visible, owner, scope, first_day=first_day, last_day=last_day, now=place.now
        )

    return run


def _digest(place: Place, _: int) -> object:
    key = DigestKey(organisation_id=place.filled.organisation_id)
    return place.database.dry_run_now(digests.load, key, now=_noon_on_a_working_day(place))


def _noon_on_a_working_day(place: Place) -> datetime:
    noon = place.now.replace(hour=12, minute=0)
    return noon - timedelta(days=max(noon.weekday() - 4, 0))


def _due_reminders(place: Place, _: int) -> object:
    return place.read(reminders.due_organisations, now=place.now)


def _reminders(place: Place, _: int) -> object:
    return place.database.dry_run_now(
        reminder_checks.run, place.filled.organisation_id, now=place.now
    )


def _created(tx: Transaction, filled: Filled, day: date) -> str:
    """The id of the member's request that begins on that day."""
    row = tx.first(
        _request_of_day,
        organisation_id=filled.organisation_id,
        user_id=filled.member_id,
        day=day.isoformat(),
    )
    assert row is not None
    return str(row.id)


@compiled
def _request_of_day(organisation_id: Param[str], user_id: Param[str], day: Param[str]) -> Any:
    return LeaveRequestRow.select(LeaveRequestRow.id).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.user_id == user_id,
        LeaveRequestRow.start_date == day,
        LeaveRequestRow.end_date >= day,
    )
