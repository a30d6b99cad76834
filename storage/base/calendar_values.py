"""Values of calendars: public holidays, and the absences that a feed shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from storage.base.values import HalfDay, LeaveStatus

FeedScope = Literal["personal", "team", "org"]


@dataclass(frozen=True, kw_only=True, slots=True)
class HolidaySet:
    """``categories`` are those of ``holiday_calendar.categories`` that are days off."""

    id: str
    country_code: str
    categories: tuple[str, ...]
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarFeed:
    """A subscription. ``token`` is the secret part of its URL, "" if no key decrypts it.

    ``last_fetched_by`` is the program's name, if it sent one. Both are updated once an hour.
    """

    id: str
    name: str
    token: str
    created_at: datetime
    last_fetched_at: datetime | None = None
    last_fetched_by: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HolidayOverride:
    """A day on which a holiday set differs from its country.

    ``is_holiday`` adds a public holiday or removes one; ``half`` is None for the whole day.
    ``every_year``: also on this day of every later year; 29 February in leap years only.
    """

    id: str
    date: date
    name: str
    is_holiday: bool
    half: HalfDay | None
    every_year: bool
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class HolidayOnDate:
    """A date in a holiday set.

    ``half`` is the half that is a public holiday, None for the whole day. ``is_holiday`` is False
    where an override removed the holiday. ``override_id`` is None where the country's own
    calendar applies.
    """

    date: date
    name: str
    source: Literal["country", "override"]
    half: HalfDay | None
    is_holiday: bool
    override_id: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """A region with public holidays of its own.

    ``search_key`` is the `texts.search_key` of its code and of its names, also of its country's.
    """

    code: str
    name: str
    search_key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Country:
    """A country with public holidays, and its regions by code. ``search_key`` is as a region's."""

    code: str
    name: str
    search_key: str
    regions: tuple[Region, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """One leave request as a calendar shows it to one viewer, without what is hidden from them.

    ``summary_type`` is the leave type's name, or None if the viewer sees only "Away"; then
    ``leave_type_id`` is None, too.
    ``timezone`` is the person's; ``colour`` is ``#rrggbb`` or None if the type is hidden.
    ``cover_name``: the colleague who covers for the person, or None.
    ``sequence`` and ``updated_at`` increase whenever another field changes.
    """

    request_id: str
    person_name: str
    is_own: bool
    status: LeaveStatus
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    summary_type: str | None
    colour: str | None
    timezone: str
    sequence: int
    updated_at: datetime
    cover_name: str | None = None
    leave_type_id: str | None = None
    user_id: str | None = None
