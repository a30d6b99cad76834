"""A cache of rendered feeds and events.

The cache never decides whether a feed is current: the caller has just read the ``FeedOwner``, and
feeds of equal owners on the same day are equal.
"""

from __future__ import annotations

import gzip
from typing import Final, Literal

from api.feeds.event_times import WorkingHours
from api.feeds.feed_values import PublicHoliday
from api.feeds.feed_views import Subscription, View, load_view
from storage.access import feed_owners
from storage.access.feed_owners import FeedOwner
from storage.base.caches import LRUCache
from storage.base.calendar_values import Absence
from storage.db.database import Transaction

Coding = Literal["identity", "gzip"]

# Enough for the events of a feed of 10,000.
_MAX_EVENTS_BYTES: Final = 20_000_000
_MAX_FEEDS_BYTES: Final = 16_000_000
_MAX_FINGERPRINTS_BYTES: Final = 4_000_000
# The size of a cache key and its entry, in addition to the rendered bytes.
_EVENT_KEY_BYTES: Final = 1_000
_FINGERPRINT_BYTES: Final = 1_500

# How often a feed is read again if its owner's name or a setting has changed meanwhile.
_MAX_REREADS: Final = 5


class FeedCache:
    """Rendered feeds and events, and the fingerprints of feeds. Thread-safe."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._fingerprints: LRUCache[Subscription, tuple[FeedOwner, str]] = LRUCache(
            _MAX_FINGERPRINTS_BYTES
        )
        self._events: LRUCache[tuple[object, ...], bytes] = LRUCache(_MAX_EVENTS_BYTES)
        self._feeds: LRUCache[tuple[str, Coding], bytes] = LRUCache(_MAX_FEEDS_BYTES)

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
        view = load_view(tx, subscription, owner, self._base_url)
        for _ in range(_MAX_REREADS):
            # Calendars would ignore a new name under the old SEQUENCE.
            current = feed_owners.find_by_token(tx, subscription.token) or owner
            if current.sequence == owner.sequence:
                break
            owner = current
            view = load_view(tx, subscription, owner, self._base_url)
        fingerprint = view.fingerprint()
        self._fingerprints.put(subscription, (owner, fingerprint), _FINGERPRINT_BYTES)
        return fingerprint, view

    def render(self, fingerprint: str, view: View, coding: Coding) -> bytes:
        """The feed's bytes. An event that is not cached takes 0.2 ms."""
        # icalendar takes 4 MB and 0.05 s: it is imported with the first feed, on that one's thread.
        from api.feeds import ical

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

    def _event(self, event: Absence | PublicHoliday, hours: WorkingHours) -> bytes:
        key = (event, hours)
        rendered = self._events.get(key)
        if rendered is None:
            from api.feeds import ical

            if isinstance(event, Absence):
                rendered = ical.render_event(event, hours)
            else:
                rendered = ical.render_holiday(event, hours)
            self._events.put(key, rendered, len(rendered) + _EVENT_KEY_BYTES)
        return rendered
