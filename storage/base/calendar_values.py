"""Values of calendars: public holidays, and the absences that a feed shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import ConfigDict

from storage.base.leave_values import HalfDay, LeaveStatus, TypeName
from storage.base.values import HIDDEN, About, Id

FeedScope = Literal["personal", "team", "org"]

# For fields that are called `date`, which hide the type in their class.
Day = date


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
    """A date on which a public holiday set differs from its country's calendar."""

    id: Id
    date: Day
    name: Annotated[str, About(example="Christmas Eve")]
    is_holiday: Annotated[
        bool, About(description="False turns a public holiday into an ordinary day.")
    ]
    half: Annotated[HalfDay | None, About(description="Null for the whole day.")]
    every_year: Annotated[
        bool,
        About(
            description="Whether it also holds on this day of every later year; on 29 February in "
            "leap years only."
        ),
    ]
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class HolidayOnDate:
    """One date in a public holiday set."""

    __pydantic_config__ = ConfigDict(title="Holiday")

    date: Day
    name: Annotated[str, About(example="Saint Andrew's Day")]
    source: Annotated[
        Literal["country", "override"],
        About(description="The country's own calendar, or an override of this set."),
    ]
    half: Annotated[
        HalfDay | None,
        About(description="The half that is a public holiday; null for the whole day."),
    ]
    is_holiday: Annotated[
        bool, About(description="False if an override turned the date into an ordinary day.")
    ]
    override_id: Annotated[
        Id | None, About(description="Null if the date follows the country's calendar.")
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """A region with its own public holidays."""

    code: Annotated[str, About(example="GB-SCT")]
    name: Annotated[str, About(example="Scotland")]
    # The `texts.search_key` of its code and of its names, also of its country's.
    search_key: Annotated[str, HIDDEN]


@dataclass(frozen=True, kw_only=True, slots=True)
class Country:
    """A country whose public holidays are known."""

    code: Annotated[str, About(description="ISO 3166-1 alpha-2.", example="GB")]
    name: Annotated[str, About(example="United Kingdom")]
    has_regions: Annotated[bool, About(description="Whether `regions` has more specific choices.")]
    # As a region's.
    search_key: Annotated[str, HIDDEN]
    regions: tuple[Region, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """One leave request as a calendar shows it to one viewer, without what is hidden from them.

    ``summary_type`` is the leave type's name, or None if the viewer sees only "Away"; then
    ``leave_type_id`` is None, too.
    ``timezone`` is the person's; ``colour`` is ``#rrggbb`` or None if the type is hidden.
    ``cover_name``: the colleague who covers for the person, or None.
    ``is_away`` is False for work elsewhere, which blocks no time.
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
    summary_type: TypeName | None
    colour: str | None
    timezone: str
    sequence: int
    updated_at: datetime
    cover_name: str | None = None
    leave_type_id: str | None = None
    user_id: str | None = None
    is_away: bool = True
