"""The personal calendar feed that every person has: created when first read, regenerated."""

from __future__ import annotations

from datetime import datetime

from peewee import Select

from storage.access import feed_rows
from storage.base.calendar_values import CalendarFeed
from storage.base.errors import Conflict
from storage.base.values import Caller
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.events import audit


class FeedTokenUnreadable(Conflict):
    """No key of this deployment decrypts the token; calendars that know it go on working."""

    code = "feed_token_unreadable"
    title = "The feed token cannot be shown any more."

    def __init__(self) -> None:
        super().__init__(
            "The server lost the secret key that the token was encrypted with. Calendars that "
            "know the token go on working. To see a token, make a new one, which ends the old: "
            "POST /api/v1/calendar-feeds/regenerate."
        )


def find(tx: Transaction, *, by: Caller) -> CalendarFeed | None:
    """The caller's personal feed, if it was created."""
    row = tx.first(_personal, organisation_id=by.organisation_id, user_id=by.user_id)
    return None if row is None else feed_rows.value(tx, row)


def readable_token(feed: CalendarFeed) -> str:
    """The personal feed's token. Raises FeedTokenUnreadable."""
    if not feed.token:
        raise FeedTokenUnreadable
    return feed.token


def get_or_create(tx: Transaction, *, by: Caller, now: datetime) -> CalendarFeed:
    """The caller's personal feed, created at the first read: run it as a write."""
    feed = find(tx, by=by)
    if feed is not None:
        return feed
    # The second of two concurrent first reads waits for this lock, then finds the first's feed.
    owner = feed_rows.lock_owner(tx, by)
    feed = find(tx, by=by)
    if feed is not None:
        return feed
    feed = feed_rows.insert(tx, None, owner, is_personal_token=True, by=by, now=now)
    audit.record(tx, "calendar_feed.token_created", "calendar_feed", feed.id, by=by, now=now)
    return feed


def regenerate(tx: Transaction, *, by: Caller, now: datetime) -> str:
    """Replace the caller's personal token and return the new one. Other feeds stay."""
    owner = feed_rows.lock_owner(tx, by)
    row = tx.first(_personal, organisation_id=by.organisation_id, user_id=by.user_id)
    if row is not None:
        feed_rows.revoke(tx, row.id, user_id=by.user_id, is_personal_token=True, by=by, now=now)
    feed = feed_rows.insert(tx, None, owner, is_personal_token=True, by=by, now=now)
    audit.record(tx, "calendar_feed.token_regenerated", "calendar_feed", feed.id, by=by, now=now)
    return feed.token


@compiled
def _personal(organisation_id: Param[str], user_id: Param[str | None]) -> Select:
    return feed_rows.select(organisation_id, user_id, is_personal_token=True)
