"""Renders feeds, and caches events and whole feeds.

The cache never decides what is current: the caller has just read the ``FeedOwner``, and feeds of
equal owners on the same day are equal.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final, Literal

from api.base.lru_cache import LRUCache
from api.feeds import ical
from api.feeds.ical import Feed, PublicHoliday, WorkingHours
from storage.access import absences, feed_owners, feeds
from storage.access.feed_owners import FeedOwner
from storage.base.calendar_values import Absence, FeedScope
from storage.base.values import HalfDay, as_dict
from storage.db.database import Transaction
from storage.directory import holiday_sets
from storage.events import organisation_config
from storage.events.organisation_config import Reference
from storage.rules.days import AFTERNOON, MORNING

Coding = Literal["identity", "gzip"]

# Feeds show twelve months back and twenty-four ahead.
DAYS_BACK: Final = timedelta(days=366)
DAYS_AHEAD: Final = timedelta(days=731)

MAX_EVENTS_BYTES: Final = 48 * 1024 * 1024
MAX_FEEDS_BYTES: Final = 64 * 1024 * 1024
MAX_FINGERPRINTS_BYTES: Final = 16 * 1024 * 1024
# The size of a cache key and its entry, in addition to the rendered bytes.
_EVENT_KEY_BYTES: Final = 1_000
_FINGERPRINT_BYTES: Final = 1_500

# How often a feed is read again if a name or setting changed meanwhile.
_MAX_REREADS: Final = 5

# Part of every fingerprint: raise it when equal values are rendered differently.
_RENDERING: Final = "3"
_HALF_OF_MASK: Final[Mapping[int, HalfDay]] = {MORNING: "am", AFTERNOON: "pm"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """One feed URL on one day; ``token`` is the URL's secret part."""

    token: str
    scope: FeedScope
    today: date


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """Everything that a feed shows. Equal views have equal bytes."""

    feed: Feed
    hours: WorkingHours
    absences: list[Absence]
    holidays: list[PublicHoliday]

    def fingerprint(self) -> str:
        """A digest that is the same in every process and on both engines."""
        digest = hashlib.sha256(_RENDERING.encode())
        values: list[Feed | WorkingHours | Absence | PublicHoliday]
        values = [self.feed, self.hours, *self.absences, *self.holidays]
        for value in values:
            # Lone surrogates are not rendered either.
            digest.update(repr(tuple(as_dict(value).values())).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()[:40]


class FeedCache:
    """Rendered feeds and events, and the fingerprints of feeds, within bounds of memory.

    Thread-safe.
    """

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._fingerprints: LRUCache[Subscription, tuple[FeedOwner, str]] = LRUCache(
            MAX_FINGERPRINTS_BYTES
        )
        self._events: LRUCache[tuple[object, ...], bytes] = LRUCache(MAX_EVENTS_BYTES)
        self._feeds: LRUCache[tuple[str, Coding], bytes] = LRUCache(MAX_FEEDS_BYTES)

    def fingerprint(self, subscription: Subscription, owner: FeedOwner) -> str | None:
        """The feed's fingerprint if it is cached for this state of its owner."""
        entry = self._fingerprints.get(subscription)
        return entry[1] if entry is not None and entry[0] == owner else None

    def contents(self, fingerprint: str, coding: Coding) -> bytes | None:
        """The bytes of a rendered feed if they are cached."""
        return self._feeds.get((fingerprint, coding))

    def load(
        self, tx: Transaction, subscription: Subscription, owner: FeedOwner
    ) -> tuple[str, View]:
        """Read what the feed shows. Returns its fingerprint, which is cached, and the view.

        ``owner`` was read earlier. Except for ``sequence``, the view may be newer than the owner:
        the next request reads it again.
        """
        view = self._view(tx, subscription, owner)
        for _ in range(_MAX_REREADS):
            # Calendars would ignore a new name under the old SEQUENCE.
            current = feed_owners.find_by_token(tx, subscription.token) or owner
            if current.sequence == owner.sequence:
                break
            owner = current
            view = self._view(tx, subscription, owner)
        fingerprint = view.fingerprint()
        self._fingerprints.put(subscription, (owner, fingerprint), _FINGERPRINT_BYTES)
        return fingerprint, view

    def render(self, fingerprint: str, view: View, coding: Coding) -> bytes:
        """The feed's bytes. An event that is not cached takes 0.2 ms."""
        plain = self._feeds.get((fingerprint, "identity"))
        if plain is None:
            events = [self._event(absence, view.hours) for absence in view.absences]
            holidays = [self._event(holiday, view.hours) for holiday in view.holidays]
            plain = ical.render_feed(view.feed, [*events, *holidays])
            self._feeds.put((fingerprint, "identity"), plain, len(plain))
        if coding == "identity":
            return plain
        # No time in the header: equal contents have equal bytes.
        compressed = gzip.compress(plain, 6, mtime=0)
        self._feeds.put((fingerprint, coding), compressed, len(compressed))
        return compressed

    def _event(self, shown: Absence | PublicHoliday, hours: WorkingHours) -> bytes:
        key = (shown, hours)
        rendered = self._events.get(key)
        if rendered is None:
            if isinstance(shown, Absence):
                rendered = ical.render_event(shown, hours)
            else:
                rendered = ical.render_holiday(shown, hours)
            self._events.put(key, rendered, len(rendered) + _EVENT_KEY_BYTES)
        return rendered

    def _view(self, tx: Transaction, subscription: Subscription, owner: FeedOwner) -> View:
        scope, today = subscription.scope, subscription.today
        first_day, last_day = today - DAYS_BACK, today + DAYS_AHEAD
        reference = organisation_config.of_organisation(
            tx, owner.organisation_id, owner.reference_version
        )
        organisation = reference.organisation
        hours = WorkingHours(
            day_starts_at=organisation.day_starts_at,
            midday_at=organisation.midday_at,
            day_ends_at=organisation.day_ends_at,
        )
        visible = absences.visible(
            tx, owner, scope, first_day=first_day, last_day=last_day, now=midnight(today)
        )
        holidays = _holidays(reference, owner, first_day, last_day) if scope == "personal" else ()
        query = "" if scope == "personal" else f"?scope={scope}"
        url = f"{self._base_url}/cal{query}"
        return View(
            feed=Feed(name=_name(owner, scope), source_url=url),
            hours=hours,
            absences=visible,
            holidays=[*holidays],
        )


@lru_cache(16)
def midnight(day: date) -> datetime:
    """The beginning of a day in UTC: the only moment at which time alone changes a feed."""
    return datetime.combine(day, time(), UTC)


def _name(owner: FeedOwner, scope: FeedScope) -> str:
    if owner.feed_name is not None:
        return owner.feed_name
    if scope == "personal":
        return feeds.default_name(owner.name)
    return f"Leave: {owner.organisation_name}" + (" (my team)" if scope == "team" else "")


def _holidays(
    reference: Reference, owner: FeedOwner, first_day: date, last_day: date
) -> Iterator[PublicHoliday]:
    country_code = owner.holiday_country_code
    created_at = {
        holidays.country_code: holidays.created_at for holidays in reference.holiday_sets.values()
    }
    updated_at = max(
        created_at.get(country_code, reference.organisation.created_at), owner.sequence_at
    )
    by_day = holiday_sets.holidays_between(reference, country_code, first_day, last_day)
    for day, holiday in sorted(by_day.items()):
        half = _HALF_OF_MASK.get(holiday.halves)
        yield PublicHoliday(
            country_code=country_code,
            day=day,
            name=holiday.name,
            updated_at=updated_at,
            half=half,
            timezone=owner.timezone,
            sequence=owner.sequence,
        )
