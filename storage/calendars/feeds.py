"""Calendar feeds: the personal one that every person has, and those that people create.

Each has a token of its own, stored as a SHA-256 for the look-up, and encrypted, because its owner
may see it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Final

from peewee import Select

from storage.base import texts
from storage.base.calendar_values import CalendarFeed
from storage.base.errors import Conflict, Forbidden, NotFound
from storage.base.event_values import AuditAction
from storage.base.ids import is_id, new_id
from storage.base.secrets import InvalidToken, fingerprint, new_token
from storage.base.values import Caller, User
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import CalendarFeedRow, UserRow
from storage.outbox import audit
from storage.people import people_rows

MAX_FEEDS: Final = 50


class TooManyFeeds(Conflict):
    """The person has reached the limit for calendar feeds."""

    code = "too_many_feeds"
    title = "There are too many calendar feeds."
    cure = "Delete one that is no longer used."

    def __init__(self) -> None:
        super().__init__(
            "A person can have at most {most} calendar feeds. Delete one first.", most=MAX_FEEDS
        )


class FeedTokenUnreadable(Conflict):
    """The server lost the secret key that the token was encrypted with, and the operator accepted
    the loss. Calendars that have the token still work.
    """

    code = "feed_token_unreadable"
    title = "The feed token cannot be shown any more."
    cure = "Create a new token with `POST /calendar-feeds/regenerate`, which revokes the old one."

    def __init__(self) -> None:
        super().__init__(
            "The server lost the secret key that the token was encrypted with. Calendars that "
            "know the token go on working. To see a token, make a new one, which ends the old: "
            "POST /api/v1/calendar-feeds/regenerate."
        )


def default_name(owner_name: str) -> str:
    return f"Leave: {owner_name}"


def create(tx: Transaction, name: str | None, *, by: Caller, now: datetime) -> CalendarFeed:
    """Create a feed of the caller's calendar with its own token.

    Raises InvalidInput or TooManyFeeds.
    """
    name = None if name is None else texts.name(name, "name")
    owner = _lock_owner(tx, by)
    active = _active(tx, by.organisation_id, owner.id)
    if sum(not row.is_personal_token for row in active) >= MAX_FEEDS:
        raise TooManyFeeds
    feed = _insert(tx, name, owner, is_personal=False, by=by, now=now)
    after = {"user_id": by.user_id, "name": name}
    _record(tx, "calendar_feed.created", feed.id, after, by=by, now=now)
    return feed


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[CalendarFeed]:
    """The caller's own feeds, newest first, without the personal one and those revoked."""
    bound_to = ("calendar_feeds", by.organisation_id, by.user_id)
    after = position(tx, page, *bound_to)
    page_rows = tx.all(
        _page,
        organisation_id=by.organisation_id,
        user_id=by.user_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, page_rows, partial(_feed, tx), lambda row: [row.id], *bound_to)


def get(tx: Transaction, feed_id: str, *, by: Caller) -> CalendarFeed:
    """One of the caller's own feeds that is not revoked. Raises NotFound."""
    row = None
    if is_id(feed_id):
        row = tx.first(
            _feed_by_id, organisation_id=by.organisation_id, user_id=by.user_id, feed_id=feed_id
        )
    if row is None:
        raise NotFound("calendar feed")
    return _feed(tx, row)


def revoke(tx: Transaction, feed_id: str, *, by: Caller, now: datetime) -> None:
    """Revoke one of the caller's own feeds: its token no longer works.

    Raises NotFound, also for a feed that is already revoked.
    """
    get(tx, feed_id, by=by)
    if not _revoke(tx, feed_id, by=by, now=now):
        raise NotFound("calendar feed")
    _record(tx, "calendar_feed.revoked", feed_id, {"revoked_at": now}, by=by, now=now)


def count(tx: Transaction, organisation_id: str, user_id: str) -> int:
    """How many feeds of a person are not revoked, the personal one included."""
    return len(_active(tx, organisation_id, user_id))


def revoke_all(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> int:
    """Revoke every feed of a person, the personal one included; returns how many there were."""
    feeds = _active(tx, by.organisation_id, user_id)
    for row in feeds:
        _revoke(tx, row.id, by=by, now=now)
        _record(tx, "calendar_feed.revoked", row.id, {"revoked_at": now}, by=by, now=now)
    return len(feeds)


def find_personal(tx: Transaction, *, by: Caller) -> CalendarFeed | None:
    """The caller's personal feed, if it was created."""
    row = tx.first(_personal, organisation_id=by.organisation_id, user_id=by.user_id)
    return None if row is None else _feed(tx, row)


def readable_token(feed: CalendarFeed) -> str:
    """The personal feed's token. Raises FeedTokenUnreadable."""
    if not feed.token:
        raise FeedTokenUnreadable
    return feed.token


def get_or_create_personal(tx: Transaction, *, by: Caller, now: datetime) -> CalendarFeed:
    """The caller's personal feed, created at the first read: run it as a write."""
    feed = find_personal(tx, by=by)
    if feed is not None:
        return feed
    # The second of two concurrent first reads waits for this lock, then finds the first's feed.
    owner = _lock_owner(tx, by)
    feed = find_personal(tx, by=by)
    if feed is not None:
        return feed
    feed = _insert(tx, None, owner, is_personal=True, by=by, now=now)
    _record(tx, "calendar_feed.token_created", feed.id, {}, by=by, now=now)
    return feed


def regenerate_personal(tx: Transaction, *, by: Caller, now: datetime) -> str:
    """Replace the caller's personal token and return the new one. Other feeds stay."""
    owner = _lock_owner(tx, by)
    old = find_personal(tx, by=by)
    if old is not None:
        _revoke(tx, old.id, by=by, now=now)
    feed = _insert(tx, None, owner, is_personal=True, by=by, now=now)
    _record(tx, "calendar_feed.token_regenerated", feed.id, {}, by=by, now=now)
    return feed.token


def _lock_owner(tx: Transaction, by: Caller) -> User:
    """The caller, locked, so that their feeds change one at a time. Raises Forbidden."""
    if by.user_id is None:
        raise Forbidden("Only people have calendar feeds. Use the API key of a person.")
    return people_rows.get(tx, by.user_id, by=by, for_update=True)


def _insert(
    tx: Transaction,
    name: str | None,
    owner: User,
    *,
    is_personal: bool,
    by: Caller,
    now: datetime,
) -> CalendarFeed:
    token = new_token()
    feed_id = new_id(now)
    tx.insert(
        CalendarFeedRow,
        organisation_id=by.organisation_id,
        id=feed_id,
        user_id=by.user_id,
        name=name,
        is_personal_token=is_personal,
        token_sha256=fingerprint(token),
        token_encrypted=tx.secrets.encrypt(token),
        created_at=now,
    )
    return CalendarFeed(
        id=feed_id, name=name or default_name(owner.name), token=token, created_at=now
    )


def _revoke(tx: Transaction, feed_id: str, *, by: Caller, now: datetime) -> bool:
    """False if it was revoked already."""
    where = {"organisation_id": by.organisation_id, "id": feed_id, "revoked_at": None}
    return bool(tx.update(CalendarFeedRow, {"revoked_at": now}, **where))


def _active(tx: Transaction, organisation_id: str, user_id: str) -> list[Row]:
    """A person's feeds that are not revoked, the personal one included."""
    return tx.select(
        CalendarFeedRow, organisation_id=organisation_id, user_id=user_id, revoked_at=None
    )


def _record(
    tx: Transaction,
    action: AuditAction,
    feed_id: str,
    after: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
) -> None:
    audit.record(tx, action, "calendar_feed", feed_id, by=by, now=now, after=after)


def _feed(tx: Transaction, row: Row) -> CalendarFeed:
    """Its token is empty where no key decrypts it."""
    try:
        token = tx.secrets.decrypt(row.token_encrypted)
    except InvalidToken:
        token = ""
    return CalendarFeed(
        id=row.id,
        name=row.name or default_name(f"{row.first_name} {row.last_name}".strip()),
        token=token,
        created_at=rows.instant(row.created_at),
        last_fetched_at=rows.instant_or_none(row.last_fetched_at),
        last_fetched_by=row.last_fetched_by,
    )


def _select(organisation_id: Expr, user_id: Expr, *, is_personal: bool) -> Select:
    """A person's active feeds of one kind, as ``_feed`` needs them."""
    return (
        CalendarFeedRow.select(
            CalendarFeedRow.id,
            CalendarFeedRow.name,
            CalendarFeedRow.token_encrypted,
            CalendarFeedRow.created_at,
            CalendarFeedRow.last_fetched_at,
            CalendarFeedRow.last_fetched_by,
            UserRow.first_name,
            UserRow.last_name,
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == CalendarFeedRow.organisation_id)
            & (UserRow.id == CalendarFeedRow.user_id),
        )
        .where(
            *_is_active(organisation_id, user_id), CalendarFeedRow.is_personal_token == is_personal
        )
    )


def _is_active(organisation_id: Expr, user_id: Expr) -> tuple[Expr, ...]:
    return (
        CalendarFeedRow.organisation_id == organisation_id,
        CalendarFeedRow.user_id == user_id,
        CalendarFeedRow.revoked_at.is_null(),
    )


@compiled
def _page(
    organisation_id: Param[str],
    user_id: Param[str | None],
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = _select(organisation_id, user_id, is_personal=False)
    if after_id is not None:
        query = query.where(CalendarFeedRow.id < after_id)
    # Ids are in chronological order.
    return query.order_by(CalendarFeedRow.id.desc()).limit(limit)


@compiled
def _feed_by_id(
    organisation_id: Param[str], user_id: Param[str | None], feed_id: Param[str]
) -> Select:
    query = _select(organisation_id, user_id, is_personal=False)
    return query.where(CalendarFeedRow.id == feed_id)


@compiled
def _personal(organisation_id: Param[str], user_id: Param[str | None]) -> Select:
    return _select(organisation_id, user_id, is_personal=True)
