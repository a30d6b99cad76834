"""Calendar feeds: who subscribed, and which token opens whose calendar.

Tokens are looked up by SHA-256 and kept encrypted as well, because their owner may see them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from peewee import JOIN, Select, Update, fn

from storage.base import fields
from storage.base.errors import Conflict, Forbidden, NotFound
from storage.base.ids import new_id
from storage.base.secrets import InvalidToken, fingerprint, new_token
from storage.base.values import CalendarFeed, Caller, User
from storage.db import rows
from storage.db.compiled import Engine, Param, compiled, compiled_per_engine, server
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import CalendarFeedRow, FeedSequenceRow, OrganisationRow, UserRow
from storage.directory import people_rows
from storage.events import audit, feed_changes

MAX_FEEDS: Final = 50
# Programs ask every few minutes; the feed's owner wants to know whether they still do.
FETCHES_KEPT_EVERY: Final = timedelta(hours=1)


class TooManyFeeds(Conflict):
    """The person has as many calendar feeds as one may have."""

    code = "too_many_feeds"
    title = "There are too many calendar feeds."

    def __init__(self) -> None:
        super().__init__(
            "A person has at most {most} calendar feeds; delete one first.", most=MAX_FEEDS
        )


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


class LastFetch(NamedTuple):
    """Which feed was fetched, and when that was last kept; None for never."""

    feed_id: str
    at: datetime | None


class FeedOwner(NamedTuple):
    """Whom a feed belongs to, and what drawing it needs.

    ``timezone`` is the person's, else the organisation's. ``holiday_country_code`` likewise.
    The last six were read in the same query: on one ``server``, ``reference_version`` and
    ``changes`` change with everything that the organisation's feeds may show. ``sequence`` is added
    to the one of every event, and was last raised at ``sequence_at``. ``changed_at`` is when
    anything at all was last changed in the organisation. ``fetch`` is not part of what the feed
    shows.
    """

    organisation_id: str
    user_id: str
    name: str
    timezone: str
    holiday_country_code: str
    department_id: str | None
    feed_name: str | None
    organisation_name: str
    organisation_timezone: str
    server: str
    reference_version: int
    changes: int
    sequence: int
    sequence_at: datetime
    changed_at: datetime
    fetch: LastFetch

    @property
    def state(self) -> tuple[Any, ...]:
        """What the feed depends on beside the day: while this is equal, the feed is."""
        return self[:-2]

    def needs_touch(self, now: datetime) -> bool:
        """Whether it is an hour since a fetch of the feed was kept."""
        return self.fetch.at is None or now - self.fetch.at >= FETCHES_KEPT_EVERY


def default_name(owner_name: str) -> str:
    """What a feed is called that was given no name: after its owner, whose leave it shows."""
    return f"Leave: {owner_name}"


def create(tx: Transaction, name: str | None, *, by: Caller, now: datetime) -> CalendarFeed:
    """Make a feed of the caller's calendar, with a token of its own.

    Raises InvalidInput or TooManyFeeds.
    """
    name = None if name is None else fields.name(name, "name")
    owner = _hold_owner(tx, by)
    counted = tx.first(_how_many, organisation_id=by.organisation_id, user_id=by.user_id)
    if counted is not None and counted[0] >= MAX_FEEDS:
        raise TooManyFeeds
    feed = _add(tx, name, owner, by=by, now=now)
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
    """The caller's own living feeds, newest first; his personal token is not among them."""
    bound_to = ("calendar_feeds", by.organisation_id, by.user_id)
    after = position(tx, page, *bound_to)
    found = tx.all(
        _page,
        organisation_id=by.organisation_id,
        user_id=by.user_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )

    return page_of(tx, page, found, partial(_feed, tx), lambda row: [row[0]], *bound_to)


def get(tx: Transaction, feed_id: str, *, by: Caller) -> CalendarFeed:
    """One of the caller's own living feeds. Raises NotFound."""
    row = None
    if fields.is_id(feed_id):
        row = tx.first(
            _one, organisation_id=by.organisation_id, user_id=by.user_id, feed_id=feed_id
        )
    if row is None:
        raise NotFound("calendar feed")
    return _feed(tx, row)


def revoke(tx: Transaction, feed_id: str, *, by: Caller, now: datetime) -> None:
    """Make one of the caller's own feeds answer as if it had never been.

    Raises NotFound, also for one that is revoked already.
    """
    if not fields.is_id(feed_id) or not tx.change(
        _revoke,
        organisation_id=by.organisation_id,
        user_id=by.user_id,
        feed_id=feed_id,
        is_personal_token=False,
        now=now,
    ):
        raise NotFound("calendar feed")
    _record_revoked(tx, feed_id, by=by, now=now)


def find_personal(tx: Transaction, *, by: Caller) -> CalendarFeed | None:
    """The feed of the caller's own token, if it has been made."""
    row = tx.first(_personal, organisation_id=by.organisation_id, user_id=by.user_id)
    return None if row is None else _feed(tx, row)


def readable_token(feed: CalendarFeed) -> str:
    """The personal feed's token. Raises FeedTokenUnreadable."""
    if not feed.token:
        raise FeedTokenUnreadable
    return feed.token


def personal(tx: Transaction, *, by: Caller, now: datetime) -> CalendarFeed:
    """The feed of the caller's own token, made when it is first asked for: run it as a write."""
    found = find_personal(tx, by=by)
    if found is not None:
        return found
    # Of two first reads at once, the second waits here and then finds the other's token.
    owner = _hold_owner(tx, by)
    found = find_personal(tx, by=by)
    if found is not None:
        return found
    feed = _add(tx, None, owner, is_personal_token=True, by=by, now=now)
    audit.record(tx, "calendar_feed.token_created", "calendar_feed", feed.id, by=by, now=now)
    return feed


def regenerate(tx: Transaction, *, by: Caller, now: datetime) -> str:
    """A new personal token for the caller; the old one is dead. Their other feeds stay."""
    owner = _hold_owner(tx, by)
    found = tx.first(_personal, organisation_id=by.organisation_id, user_id=by.user_id)
    if found is not None:
        tx.change(
            _revoke,
            organisation_id=by.organisation_id,
            user_id=by.user_id,
            feed_id=found[0],
            is_personal_token=True,
            now=now,
        )
    feed = _add(tx, None, owner, is_personal_token=True, by=by, now=now)
    audit.record(tx, "calendar_feed.token_regenerated", "calendar_feed", feed.id, by=by, now=now)
    return feed.token


def find_owner(tx: Transaction, token: str) -> FeedOwner | None:
    """Whose feed the token opens. One query.

    None if the token is unknown, revoked or replaced, or its owner is not active: which of these
    is not told.
    """
    row = tx.first(_owner_of_token, token_sha256=fingerprint(token)) if token.isascii() else None
    return None if row is None else _owner(row)


def _owner(row: Sequence[Any]) -> FeedOwner:
    (
        organisation_id,
        user_id,
        first_name,
        last_name,
        timezone,
        country_code,
        department_id,
        feed_name,
        organisation_name,
        organisation_timezone,
        organisation_country_code,
        server_name,
        reference_version,
        changes,
        sequence,
        sequence_at,
        changed_at,
        feed_id,
        last_fetched_at,
    ) = row
    return FeedOwner(
        organisation_id=organisation_id,
        user_id=user_id,
        name=f"{first_name} {last_name}".strip(),
        timezone=timezone or organisation_timezone,
        holiday_country_code=country_code or organisation_country_code,
        department_id=department_id,
        feed_name=feed_name,
        organisation_name=organisation_name,
        organisation_timezone=organisation_timezone,
        server=server_name,
        reference_version=reference_version,
        changes=int(changes or 0),
        sequence=int(sequence or 0),
        sequence_at=rows.instant(sequence_at or 0),
        changed_at=rows.instant(max(changed_at, sequence_at or 0)),
        fetch=LastFetch(feed_id=feed_id, at=rows.instant_or_none(last_fetched_at)),
    )


def touch(
    tx: Transaction, organisation_id: str, feed_id: str, program: str | None, *, now: datetime
) -> None:
    """Keep that a program fetched a feed; the fetch itself does not wait for this."""
    tx.change(
        _touch,
        organisation_id=organisation_id,
        feed_id=feed_id,
        now=now,
        earlier=now - FETCHES_KEPT_EVERY,
        program=program,
    )


def count_of(tx: Transaction, organisation_id: str, user_id: str) -> int:
    """How many feeds of a person are not revoked."""
    return len(tx.all(_living_of, organisation_id=organisation_id, user_id=user_id))


def revoke_all_of(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> int:
    """Kill every feed of a person and his personal token; how many there were.

    Part of archiving.
    """
    living = tx.all(_living_of, organisation_id=by.organisation_id, user_id=user_id)
    for feed_id, is_personal_token in living:
        tx.change(
            _revoke,
            organisation_id=by.organisation_id,
            user_id=user_id,
            feed_id=feed_id,
            is_personal_token=bool(is_personal_token),
            now=now,
        )
        _record_revoked(tx, feed_id, by=by, now=now)
    return len(living)


def _feed(tx: Transaction, row: Sequence[Any]) -> CalendarFeed:
    feed_id, name, token_encrypted, created_at, fetched_at, fetched_by, first_name, last_name = row
    return CalendarFeed(
        id=feed_id,
        name=name or default_name(f"{first_name} {last_name}".strip()),
        token=_token(tx, token_encrypted),
        created_at=rows.instant(created_at),
        last_fetched_at=rows.instant_or_none(fetched_at),
        last_fetched_by=fetched_by,
    )


def _token(tx: Transaction, encrypted: str) -> str:
    try:
        return tx.secrets.decrypt(encrypted)
    except InvalidToken:
        return ""


def _hold_owner(tx: Transaction, by: Caller) -> User:
    if by.user_id is None:
        raise Forbidden("Calendar feeds belong to people; the system has none.")
    return people_rows.get(tx, by.user_id, by=by, is_held=True)


def _add(
    tx: Transaction,
    name: str | None,
    owner: User,
    *,
    is_personal_token: bool = False,
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
        is_personal_token=is_personal_token,
        token_sha256=fingerprint(token),
        token_encrypted=tx.secrets.encrypt(token),
        created_at=now,
    )
    return CalendarFeed(
        id=feed_id, name=name or default_name(owner.name), token=token, created_at=now
    )


def _record_revoked(tx: Transaction, feed_id: str, *, by: Caller, now: datetime) -> None:
    after = {"revoked_at": now}
    audit.record(tx, "calendar_feed.revoked", "calendar_feed", feed_id, by=by, now=now, after=after)


@compiled_per_engine
def _owner_of_token(engine: Engine, token_sha256: Param[str]) -> Select:
    return (
        CalendarFeedRow.select(
            CalendarFeedRow.organisation_id,
            CalendarFeedRow.user_id,
            UserRow.first_name,
            UserRow.last_name,
            UserRow.timezone,
            UserRow.public_holiday_country_code,
            UserRow.department_id,
            CalendarFeedRow.name,
            OrganisationRow.name,
            OrganisationRow.timezone,
            OrganisationRow.country_code,
            server(engine),
            OrganisationRow.reference_version,
            feed_changes.total(CalendarFeedRow.organisation_id),
            FeedSequenceRow.sequence,
            FeedSequenceRow.changed_at,
            audit.latest(CalendarFeedRow.organisation_id),
            CalendarFeedRow.id,
            CalendarFeedRow.last_fetched_at,
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == CalendarFeedRow.organisation_id)
            & (UserRow.id == CalendarFeedRow.user_id),
        )
        .join(OrganisationRow, on=(OrganisationRow.id == CalendarFeedRow.organisation_id))
        .join(
            FeedSequenceRow,
            JOIN.LEFT_OUTER,
            on=(FeedSequenceRow.organisation_id == CalendarFeedRow.organisation_id),
        )
        .where(
            CalendarFeedRow.token_sha256 == token_sha256,
            CalendarFeedRow.revoked_at.is_null(),
            UserRow.status == "active",
        )
    )


@compiled
def _page(
    organisation_id: Param[str],
    user_id: Param[str | None],
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = _shown(organisation_id, user_id)
    if after_id is not None:
        query = query.where(CalendarFeedRow.id < after_id)
    # Ids are made in order of time.
    return query.order_by(CalendarFeedRow.id.desc()).limit(limit)


@compiled
def _one(organisation_id: Param[str], user_id: Param[str | None], feed_id: Param[str]) -> Select:
    return _shown(organisation_id, user_id).where(CalendarFeedRow.id == feed_id)


def _shown(organisation_id: Param[str], user_id: Param[str | None]) -> Select:
    """The feeds that their owner sees: the personal token is not among them."""
    return _feeds(organisation_id, user_id).where(CalendarFeedRow.is_personal_token == False)  # noqa: E712  # SQL, not Python


def _feeds(organisation_id: Param[str], user_id: Param[str | None]) -> Select:
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
        .where(*_living(organisation_id, user_id))
    )


@compiled
def _how_many(organisation_id: Param[str], user_id: Param[str | None]) -> Select:
    return CalendarFeedRow.select(fn.COUNT(CalendarFeedRow.id)).where(
        *_living(organisation_id, user_id),
        CalendarFeedRow.is_personal_token == False,  # noqa: E712  # SQL, not Python
    )


@compiled
def _personal(organisation_id: Param[str], user_id: Param[str | None]) -> Select:
    return _feeds(organisation_id, user_id).where(CalendarFeedRow.is_personal_token == True)  # noqa: E712  # SQL, not Python


@compiled
def _touch(
    organisation_id: Param[str],
    feed_id: Param[str],
    now: Param[datetime],
    earlier: Param[datetime],
    program: Param[str | None],
) -> Update:
    fetched_at = CalendarFeedRow.last_fetched_at
    return CalendarFeedRow.update(last_fetched_at=now, last_fetched_by=program).where(
        CalendarFeedRow.organisation_id == organisation_id,
        CalendarFeedRow.id == feed_id,
        fetched_at.is_null() | (fetched_at <= earlier),
    )


@compiled
def _living_of(organisation_id: Param[str], user_id: Param[str]) -> Select:
    return CalendarFeedRow.select(CalendarFeedRow.id, CalendarFeedRow.is_personal_token).where(
        *_living(organisation_id, user_id)
    )


@compiled
def _revoke(
    organisation_id: Param[str],
    user_id: Param[str | None],
    feed_id: Param[str],
    is_personal_token: bool,
    now: Param[datetime],
) -> Update:
    return CalendarFeedRow.update(revoked_at=now).where(
        *_living(organisation_id, user_id),
        CalendarFeedRow.id == feed_id,
        CalendarFeedRow.is_personal_token == is_personal_token,
    )


def _living(organisation_id: Param[str], user_id: Param[str | None]) -> tuple[Any, ...]:
    return (
        CalendarFeedRow.organisation_id == organisation_id,
        CalendarFeedRow.user_id == user_id,
        CalendarFeedRow.revoked_at.is_null(),
    )
