"""Calendar feeds: the personal one that every person has, and those that people create.

Each has a token of its own, stored as a SHA-256 for the look-up, and encrypted, because its owner
may see it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Final

from storage.base import texts
from storage.base.calendar_values import CalendarFeed
from storage.base.errors import Conflict, Forbidden, NotFound, Sentence
from storage.base.event_values import AuditAction
from storage.base.ids import is_id, new_id
from storage.base.secrets import fingerprint, new_token
from storage.base.values import Caller, User
from storage.db import pages, rows
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import CalendarFeedRow
from storage.outbox import audit
from storage.people import people_rows

MAX_FEEDS: Final = 50
# Feeds that people create, unless they are revoked.
_OWN: Final[dict[str, object]] = {"is_personal_token": False, "revoked_at": None}


class TooManyFeeds(Conflict):
    """The person has reached the limit for calendar feeds."""

    code = "too_many_feeds"
    title = "There are too many calendar feeds."
    cure = "Delete one that is no longer used."
    sentence = Sentence(
        "A person can have at most {most} calendar feeds. Delete one first.", most=MAX_FEEDS
    )


class FeedTokenUnreadable(Conflict):
    """The server lost the secret key that the token was encrypted with, and the operator accepted
    the loss. Calendars that have the token still work.
    """

    code = "feed_token_unreadable"
    title = "The feed token cannot be shown any more."
    cure = "Create a new token with `POST /calendar-feeds/regenerate`, which revokes the old one."
    sentence = Sentence(
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
    return pages.by_id(
        tx,
        page,
        CalendarFeedRow,
        partial(_feed, tx, _default_name(tx, by)),
        "calendar_feeds",
        by.organisation_id,
        descends=True,
        where=_OWN | {"user_id": by.user_id or ""},
    )


def get(tx: Transaction, feed_id: str, *, by: Caller) -> CalendarFeed:
    """One of the caller's own feeds that is not revoked. Raises NotFound."""
    if is_id(feed_id):
        key = {"organisation_id": by.organisation_id, "user_id": by.user_id, "id": feed_id}
        row = tx.find(CalendarFeedRow, **_OWN, **key)
        if row is not None:
            return _feed(tx, _default_name(tx, by), row)
    raise NotFound("calendar feed")


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
    key = {"organisation_id": by.organisation_id, "user_id": by.user_id}
    row = tx.find(CalendarFeedRow, **key, is_personal_token=True, revoked_at=None)
    return None if row is None else _feed(tx, _default_name(tx, by), row)


def _default_name(tx: Transaction, by: Caller) -> str:
    names = people_rows.names(tx, by.organisation_id, [by.user_id] if by.user_id else [])
    return default_name(names.get(by.user_id or "", ""))


def _feed(tx: Transaction, name: str, row: Row) -> CalendarFeed:
    return CalendarFeed(
        id=row.id,
        name=row.name or name,
        token=tx.secrets.decrypt_or_empty(row.token_encrypted),
        created_at=rows.instant(row.created_at),
        last_fetched_at=rows.instant_or_none(row.last_fetched_at),
        last_fetched_by=row.last_fetched_by,
    )


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
