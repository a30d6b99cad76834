"""Calendar feeds that people create, each with its own name and token; all feeds revoked.

``personal_feeds`` has the personal one.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Final

from peewee import Select

from storage.access import feed_rows
from storage.base import fields, texts
from storage.base.calendar_values import CalendarFeed
from storage.base.errors import Conflict, NotFound
from storage.base.values import Caller
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import CalendarFeedRow
from storage.events import audit

MAX_FEEDS: Final = 50


class TooManyFeeds(Conflict):
    """The person has reached the limit of calendar feeds."""

    code = "too_many_feeds"
    title = "There are too many calendar feeds."

    def __init__(self) -> None:
        super().__init__(
            "A person can have at most {most} calendar feeds. Delete one first.", most=MAX_FEEDS
        )


def create(tx: Transaction, name: str | None, *, by: Caller, now: datetime) -> CalendarFeed:
    """Create a feed of the caller's calendar with its own token.

    Raises InvalidInput or TooManyFeeds.
    """
    name = None if name is None else texts.name(name, "name")
    owner = feed_rows.lock_owner(tx, by)
    active = tx.all(_active_feeds, organisation_id=by.organisation_id, user_id=owner.id)
    if sum(not row.is_personal_token for row in active) >= MAX_FEEDS:
        raise TooManyFeeds
    feed = feed_rows.insert(tx, name, owner, by=by, now=now)
    audit.record(
        tx,
        "calendar_feed.created",
        "calendar_feed",
        feed.id,
        by=by,
        now=now,
        after={"user_id": by.user_id, "name": name},
    )
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
    return page_of(
        tx, page, page_rows, partial(feed_rows.value, tx), lambda row: [row.id], *bound_to
    )


def get(tx: Transaction, feed_id: str, *, by: Caller) -> CalendarFeed:
    """One of the caller's own feeds that is not revoked. Raises NotFound."""
    row = None
    if fields.is_id(feed_id):
        row = tx.first(
            _feed_by_id, organisation_id=by.organisation_id, user_id=by.user_id, feed_id=feed_id
        )
    if row is None:
        raise NotFound("calendar feed")
    return feed_rows.value(tx, row)


def revoke(tx: Transaction, feed_id: str, *, by: Caller, now: datetime) -> None:
    """Revoke one of the caller's own feeds: its token no longer works.

    Raises NotFound, also for a feed that is already revoked.
    """
    if not fields.is_id(feed_id) or not feed_rows.revoke(
        tx, feed_id, user_id=by.user_id, is_personal_token=False, by=by, now=now
    ):
        raise NotFound("calendar feed")
    _record_revoked(tx, feed_id, by=by, now=now)


def count(tx: Transaction, organisation_id: str, user_id: str) -> int:
    """How many feeds of a person are not revoked, the personal one included."""
    return len(tx.all(_active_feeds, organisation_id=organisation_id, user_id=user_id))


def revoke_all(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> int:
    """Revoke every feed of a person, the personal one included; returns how many there were."""
    feeds = tx.all(_active_feeds, organisation_id=by.organisation_id, user_id=user_id)
    for feed_id, is_personal_token in feeds:
        feed_rows.revoke(
            tx,
            feed_id,
            user_id=user_id,
            is_personal_token=bool(is_personal_token),
            by=by,
            now=now,
        )
        _record_revoked(tx, feed_id, by=by, now=now)
    return len(feeds)


def _record_revoked(tx: Transaction, feed_id: str, *, by: Caller, now: datetime) -> None:
    after = {"revoked_at": now}
    audit.record(tx, "calendar_feed.revoked", "calendar_feed", feed_id, by=by, now=now, after=after)


@compiled
def _page(
    organisation_id: Param[str],
    user_id: Param[str | None],
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = feed_rows.select(organisation_id, user_id, is_personal_token=False)
    if after_id is not None:
        query = query.where(CalendarFeedRow.id < after_id)
    # Ids are in chronological order.
    return query.order_by(CalendarFeedRow.id.desc()).limit(limit)


@compiled
def _feed_by_id(
    organisation_id: Param[str], user_id: Param[str | None], feed_id: Param[str]
) -> Select:
    query = feed_rows.select(organisation_id, user_id, is_personal_token=False)
    return query.where(CalendarFeedRow.id == feed_id)


@compiled
def _active_feeds(organisation_id: Param[str], user_id: Param[str]) -> Select:
    return CalendarFeedRow.select(CalendarFeedRow.id, CalendarFeedRow.is_personal_token).where(
        *feed_rows.is_active(organisation_id, user_id)
    )
