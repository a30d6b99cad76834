"""What a wallchart shows, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from storage.access.wallcharts import type_letters
from storage.events.organisation_config import OrganisationConfig

Scope = Literal["team", "org"]

MAX_PEOPLE: Final = 200
MAX_DAYS: Final = 62


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownType:
    """A leave type as the viewer may see it. ``letter`` is different for each type.

    ``id``, ``name`` and ``colour`` are None for private types of others: they are all "Away".
    """

    id: str | None
    name: str | None
    letter: str
    colour: str | None
    emoji: str | None


AWAY: Final = ShownType(id=None, name=None, letter=type_letters.HIDDEN, colour=None, emoji=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Off:
    """Leave on a day, or on a half of it."""

    leave_type: ShownType
    is_pending: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Day:
    """A person's day. ``worked`` and ``holiday`` are masks of halves (``storage/rules/halves.py``).

    Before and after their employment, people work on no day. ``morning`` and ``afternoon`` are the
    leave that counts; both are the same where it is a whole day. ``holiday_country`` is the country
    or region that named the holiday, if one did.
    """

    date: date
    worked: int
    holiday: int
    holiday_name: str | None
    morning: Off | None = None
    afternoon: Off | None = None
    holiday_country: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonDays:
    user_id: str
    name: str
    is_viewer: bool
    days: tuple[Day, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wallchart:
    """One page of people. ``leave_types`` are those that it shows, by name; ``AWAY`` is last.

    ``page`` counts from 1 to ``pages``; ``people_count`` is the number of people on all pages.
    """

    config: OrganisationConfig
    first_day: date
    last_day: date
    people: list[PersonDays]
    leave_types: list[ShownType]
    people_count: int
    page: int
    pages: int
