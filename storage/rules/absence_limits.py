"""Absence limits: whether too many people of a group would be away, or too few at work.

Everything is counted for every half of a day. Only the halves that a request adds are looked at, so
that giving days back is never refused, and leave that was booked before a limit stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Final

from storage.base.leave_values import AbsenceLimit
from storage.rules.counted_days import AFTERNOON, MORNING, NOTHING

_HALVES: Final = (MORNING, AFTERNOON)

# The halves that a person works on each of consecutive days; None where they are not in the group,
# or not employed. People with equal patterns are counted together.
Pattern = tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Excess:
    """Days on which a limit would be exceeded: ``count`` of ``people`` away, or at work.

    Of a day, its worse half. The days between the two that the request does not add are not meant.
    """

    first_day: date
    last_day: date
    count: int
    people: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Strength:
    """How many people of a group are away on these days, at most in a half."""

    first_day: date
    last_day: date
    away: int


class Attendance:
    """Who of a group works and who is away, in each half of consecutive days.

    ``count_patterns`` returns the patterns of all people of the group, with how many have each. It
    is called only once it matters: not while few enough are away.
    """

    def __init__(
        self, first_day: date, days: int, count_patterns: Callable[[], Mapping[Pattern, int]]
    ) -> None:
        self.first_day = first_day
        self._count_patterns = count_patterns
        self._away = [[0, 0] for _ in range(days)]

    @cached_property
    def _patterns(self) -> Mapping[Pattern, int]:
        return self._count_patterns()

    @cached_property
    def people(self) -> list[int]:
        """How many people the group has on each day."""
        people = [0] * len(self._away)
        for pattern, number in self._patterns.items():
            for index, worked in enumerate(pattern):
                people[index] += number * (worked is not None)
        return people

    @cached_property
    def _working(self) -> list[list[int]]:
        working = [[0, 0] for _ in self._away]
        for pattern, number in self._patterns.items():
            for index, worked in enumerate(pattern):
                for half, mask in enumerate(_HALVES):
                    working[index][half] += number * bool((worked or NOTHING) & mask)
        return working

    def add(self, pattern: Pattern, start_date: date, counted_halves: str, people: int = 1) -> None:
        """Count leave of people of that pattern; halves that they do not work are none."""
        for index, halves in self._worked(pattern, start_date, counted_halves):
            for half, mask in enumerate(_HALVES):
                if halves & mask:
                    self._away[index][half] += people

    def excesses(
        self, limit: AbsenceLimit, pattern: Pattern, added: Mapping[date, int]
    ) -> list[Excess]:
        """Where the limit would be exceeded if a person were away in the ``added`` halves, too.

        ``pattern`` is the person's, who is not counted as away then. Days in a row with the same
        figures are one excess.
        """
        runs: list[Excess] = []
        previous: date | None = None
        for day, halves in sorted(added.items()):
            index = (day - self.first_day).days
            worked = pattern[index]
            if not halves or not worked or not _is_in_force(limit, day):
                continue
            counts = [
                self._count(limit, index, half)
                for half, mask in enumerate(_HALVES)
                if halves & worked & mask
            ]
            worst = _worst(limit, counts)
            if worst is not None:
                excess = Excess(first_day=day, last_day=day, count=worst, people=self.people[index])
                if runs and runs[-1].last_day == previous and _is_alike(runs[-1], excess):
                    excess = replace(runs.pop(), last_day=day)
                runs.append(excess)
            previous = day
        return runs

    def strength(self, pattern: Pattern, halves: Mapping[date, int]) -> list[Strength]:
        """How many are away on the days of a person's leave, who is one of them."""
        runs: list[Strength] = []
        for day, mask in sorted(halves.items()):
            index = (day - self.first_day).days
            if not mask or not pattern[index]:
                continue
            away = max(
                self._away[index][half] + bool(mask & each) for half, each in enumerate(_HALVES)
            )
            if runs and runs[-1].away == away:
                runs[-1] = replace(runs[-1], last_day=day)
            else:
                runs.append(Strength(first_day=day, last_day=day, away=away))
        return runs

    def _count(self, limit: AbsenceLimit, index: int, half: int) -> int:
        """How many would be away in the half, or at work for a limit of those."""
        away = self._away[index][half] + 1
        return away if limit.min_present is None else self._working[index][half] - away

    def _worked(
        self, pattern: Pattern, start_date: date, counted_halves: str
    ) -> Iterable[tuple[int, int]]:
        offset = (start_date - self.first_day).days
        first = max(offset, 0)
        for index in range(first, min(offset + len(counted_halves), len(pattern))):
            worked = pattern[index]
            if worked:
                yield index, int(counted_halves[index - offset]) & worked


def _is_alike(first: Excess, second: Excess) -> bool:
    return (first.count, first.people) == (second.count, second.people)


def _is_in_force(limit: AbsenceLimit, day: date) -> bool:
    return (limit.first_day or day) <= day <= (limit.last_day or day)


def _worst(limit: AbsenceLimit, counts: Iterable[int]) -> int | None:
    """The worst of the counts that exceed the limit; None if none does."""
    if limit.min_present is not None:
        return min((count for count in counts if count < limit.min_present), default=None)
    most_away = limit.max_away or 0
    return max((count for count in counts if count > most_away), default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Booked:
    """Leave of a person of that pattern. ``may_be_refused``: its type needs approval."""

    pattern: Pattern
    start_date: date
    counted_halves: str
    may_be_refused: bool


def count_refused(limit: AbsenceLimit, attendance: Attendance, leave: Iterable[Booked]) -> int:
    """How many of the requests the limit would have refused, in the order of their creation.

    What it would have refused takes no place of later ones.
    """
    refused = 0
    for each in leave:
        days = len(each.pattern)
        offset = (each.start_date - attendance.first_day).days
        halves = {
            each.start_date + timedelta(days=index): int(digit)
            for index, digit in enumerate(each.counted_halves)
            if 0 <= offset + index < days
        }
        if each.may_be_refused and attendance.excesses(limit, each.pattern, halves):
            refused += 1
        else:
            attendance.add(each.pattern, each.start_date, each.counted_halves)
    return refused


def added_halves(
    before: Mapping[date, int] | None, start_date: date, counted_halves: str
) -> dict[date, int]:
    """The halves of leave in which the person is not away already, by day.

    ``before`` are those in which they are, by day.
    """
    known = before or {}
    added = {
        day: int(digit) & ~known.get(day, NOTHING)
        for index, digit in enumerate(counted_halves)
        for day in (start_date + timedelta(days=index),)
    }
    return {day: halves for day, halves in added.items() if halves}
