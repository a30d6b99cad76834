"""From whom a feed belongs to, to its bytes: looked up, fingerprinted, and rendered once.

Nothing here decides what is current. Whoever asks has just read the ``FeedOwner``; what was drawn
in the same state on the same day is drawn again the same, so it is remembered.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final, Literal

from api.base.lru_cache import Recent
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

# Contract 8: twelve months back, twenty-four ahead.
DAYS_BACK: Final = timedelta(days=366)
DAYS_AHEAD: Final = timedelta(days=731)

EVENTS_BYTES: Final = 48 * 1024 * 1024
FEEDS_BYTES: Final = 64 * 1024 * 1024
SIGHTINGS_BYTES: Final = 16 * 1024 * 1024
# What a key and its place in the memory take beside the bytes that are rendered.
_EVENT_KEY_BYTES: Final = 1_000
_SIGHTING_BYTES: Final = 1_500

# How often a feed is read again because a name or setting changed meanwhile.
_MAX_REREADS: Final = 5

# Part of every fingerprint: raise it when equal values are rendered differently.
_RENDERING: Final = "3"
_HALF_OF_MASK: Final[Mapping[int, HalfDay]] = {MORNING: "am", AFTERNOON: "pm"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """One URL and the day on which it is read; ``token`` is its secret part."""

    token: str
    scope: FeedScope
    today: date


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """Everything that one feed shows; equal views have equal bytes."""

    feed: Feed
    hours: WorkingHours
    absences: list[Absence]
    holidays: list[PublicHoliday]

    def fingerprint(self) -> str:
        """The same in every process and on either engine."""
        shown = hashlib.sha256(_RENDERING.encode())
        values: list[Feed | WorkingHours | Absence | PublicHoliday]
        values = [self.feed, self.hours, *self.absences, *self.holidays]
        for value in values:
            # A lone surrogate is never rendered either.
            shown.update(repr(tuple(as_dict(value).values())).encode("utf-8", "backslashreplace"))
        return shown.hexdigest()[:40]


class Drawings:
    """Feeds and events as they were drawn last, within a bound of memory; safe between threads."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._seen: Recent[Subscription, tuple[FeedOwner, str]] = Recent(SIGHTINGS_BYTES)
        self._events: Recent[tuple[object, ...], bytes] = Recent(EVENTS_BYTES)
        self._feeds: Recent[tuple[str, Coding], bytes] = Recent(FEEDS_BYTES)

    def fingerprint(self, subscription: Subscription, owner: FeedOwner) -> str | None:
        """Of what the owner's feed shows, if that is known without a look."""
        seen = self._seen.get(subscription)
        return seen[1] if seen is not None and seen[0] == owner else None

    def contents(self, fingerprint: str, coding: Coding) -> bytes | None:
        """The bytes of a feed that was drawn, if they are still there."""
        return self._feeds.get((fingerprint, coding))

    def look(
        self, tx: Transaction, subscription: Subscription, owner: FeedOwner
    ) -> tuple[str, View]:
        """Read what the feed shows; from now on its fingerprint, given first, is known.

        ``owner`` was read before. Everything but ``sequence`` may be newer in the view: it is read
        again at the next request.
        """
        view = self._view(tx, subscription, owner)
        for _ in range(_MAX_REREADS):
            # A new name under the old SEQUENCE would be ignored by calendars.
            current = feed_owners.find_by_token(tx, subscription.token) or owner
            if current.sequence == owner.sequence:
                break
            owner = current
            view = self._view(tx, subscription, owner)
        fingerprint = view.fingerprint()
        self._seen.put(subscription, (owner, fingerprint), _SIGHTING_BYTES)
        return fingerprint, view

    def draw(self, fingerprint: str, view: View, coding: Coding) -> bytes:
        """The feed's bytes. Rendering an event for the first time takes 0.2 ms."""
        plain = self._feeds.get((fingerprint, "identity"))
        if plain is None:
            events = [self._event(absence, view.hours) for absence in view.absences]
            holidays = [self._event(holiday, view.hours) for holiday in view.holidays]
            plain = ical.render_feed(view.feed, [*events, *holidays])
            self._feeds.put((fingerprint, "identity"), plain, len(plain))
        if coding == "identity":
            return plain
        # Without a time in its header: equal data, equal bytes.
        packed = gzip.compress(plain, 6, mtime=0)
        self._feeds.put((fingerprint, coding), packed, len(packed))
        return packed

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
        known = organisation_config.of_organisation(
            tx, owner.organisation_id, owner.reference_version
        )
        organisation = known.organisation
        hours = WorkingHours(
            day_starts_at=organisation.day_starts_at,
            midday_at=organisation.midday_at,
            day_ends_at=organisation.day_ends_at,
        )
        away = absences.visible(
            tx, owner, scope, first_day=first_day, last_day=last_day, now=midnight(today)
        )
        holidays = _holidays(known, owner, first_day, last_day) if scope == "personal" else ()
        query = "" if scope == "personal" else f"?scope={scope}"
        url = f"{self._base_url}/cal{query}"
        return View(
            feed=Feed(name=_name(owner, scope), source_url=url),
            hours=hours,
            absences=away,
            holidays=[*holidays],
        )


@lru_cache(16)
def midnight(day: date) -> datetime:
    """When a day begins in UTC: the only moment at which time alone changes a feed."""
    return datetime.combine(day, time(), UTC)


def _name(owner: FeedOwner, scope: FeedScope) -> str:
    if owner.feed_name is not None:
        return owner.feed_name
    if scope == "personal":
        return feeds.default_name(owner.name)
    return f"Leave: {owner.organisation_name}" + (" (my team)" if scope == "team" else "")


def _holidays(
    known: Reference, owner: FeedOwner, first_day: date, last_day: date
) -> Iterator[PublicHoliday]:
    country_code = owner.holiday_country_code
    set_up_at = {one.country_code: one.created_at for one in known.holiday_sets.values()}
    updated_at = max(set_up_at.get(country_code, known.organisation.created_at), owner.sequence_at)
    found = holiday_sets.holidays_between(known, country_code, first_day, last_day)
    for day, holiday in sorted(found.items()):
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
