"""The contents of a feed: its name, absences and public holidays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final

from api.feeds import ical
from api.feeds.ical import Feed, PublicHoliday, WorkingHours
from storage.base.calendar_values import Absence, FeedScope
from storage.base.leave_values import HalfDay
from storage.base.values import as_dict
from storage.calendars import absences, feeds
from storage.calendars.feed_owners import FeedOwner
from storage.db.database import Transaction
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules.counted_days import AFTERNOON, MORNING

# Feeds show twelve months back and twenty-four ahead.
_DAYS_BACK: Final = timedelta(days=366)
_DAYS_AHEAD: Final = timedelta(days=731)

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

    def render(self) -> bytes:
        """The feed. Events that are not cached take 0.1 ms each."""
        events = [ical.render_event(absence, self.hours) for absence in self.absences]
        holidays = [ical.render_holiday(holiday, self.hours) for holiday in self.holidays]
        return ical.render_feed(self.feed, [*events, *holidays])


def load_view(tx: Transaction, subscription: Subscription, owner: FeedOwner, base_url: str) -> View:
    """Everything that the feed shows; ``owner`` is the feed's owner."""
    scope, today = subscription.scope, subscription.today
    first_day, last_day = today - _DAYS_BACK, today + _DAYS_AHEAD
    config = organisation_config.of_organisation(tx, owner.organisation_id, owner.reference_version)
    organisation = config.organisation
    hours = WorkingHours(
        day_starts_at=organisation.day_starts_at,
        midday_at=organisation.midday_at,
        day_ends_at=organisation.day_ends_at,
    )
    visible = absences.visible(
        tx,
        owner,
        scope,
        config.leave_types,
        first_day=first_day,
        last_day=last_day,
        now=midnight(today),
    )
    holidays = _holidays(config, owner, first_day, last_day) if scope == "personal" else ()
    query = "" if scope == "personal" else f"?scope={scope}"
    return View(
        feed=Feed(name=_name(owner, scope), source_url=f"{base_url}/cal{query}"),
        hours=hours,
        absences=visible,
        holidays=[*holidays],
    )


@lru_cache(16)
def midnight(day: date) -> datetime:
    """The start of a day in UTC: only then a feed changes without a change in the database."""
    return datetime.combine(day, time(), UTC)


def _name(owner: FeedOwner, scope: FeedScope) -> str:
    if owner.feed_name is not None:
        return owner.feed_name
    if scope == "personal":
        return feeds.default_name(owner.name)
    return f"Leave: {owner.organisation_name}" + (" (my team)" if scope == "team" else "")


def _holidays(
    config: OrganisationConfig, owner: FeedOwner, first_day: date, last_day: date
) -> Iterator[PublicHoliday]:
    created_at = {
        holidays.country_code: holidays.created_at for holidays in config.holiday_sets.values()
    }
    countries = owner.holiday_countries
    ends = (*(begin - timedelta(days=1) for begin, _ in countries[1:]), date.max)
    for (begin, country_code), end in zip(countries, ends, strict=True):
        updated_at = max(
            created_at.get(country_code, config.organisation.created_at), owner.sequence_at
        )
        by_day = employment_by_date.holidays_between(
            config, country_code, max(begin, first_day), min(end, last_day)
        )
        for day, holiday in sorted(by_day.items()):
            yield PublicHoliday(
                country_code=country_code,
                day=day,
                name=holiday.name,
                updated_at=updated_at,
                half=_HALF_OF_MASK.get(holiday.halves),
                timezone=owner.timezone,
                sequence=owner.sequence,
            )
