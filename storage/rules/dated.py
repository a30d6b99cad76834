"""What counts from a day on: terms and figures of allowances, and pro rata rules.

Values are in the order of their days. Those that count by leave year begin, for each person, on the
first day of the leave year that contains their day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Protocol, TypeVar

from storage.rules import leave_years
from storage.rules.leave_years import LeaveYearRule


class Dated(Protocol):
    @property
    def valid_from(self) -> date | None: ...
    @property
    def is_by_leave_year(self) -> bool: ...


# A frozen dataclass that is `Dated`.
D = TypeVar("D", bound=Any)


def first_day(value: Dated, rule: LeaveYearRule) -> date:
    """The first day on which it counts for a person with these leave years."""
    if value.valid_from is None:
        return date.min
    if value.is_by_leave_year:
        return leave_years.leave_year_containing(rule, value.valid_from).first_day
    return value.valid_from


def on(values: Sequence[D], rule: LeaveYearRule, day: date) -> D | None:
    """The one that counts on the day; None before the first."""
    return next((each for each in reversed(values) if first_day(each, rule) <= day), None)


def on_or_first(values: Sequence[D], rule: LeaveYearRule, day: date) -> D:
    """The one that counts on the day, of values whose first also counts for the time before it."""
    return on(values, rule, day) or values[0]


class _From(Protocol):
    @property
    def first_day(self) -> date: ...


F = TypeVar("F", bound=_From)


def last_from(values: Sequence[F], day: date) -> F:
    """The last that begins by the day; the first also counts for the time before it."""
    for each in reversed(values):
        if each.first_day <= day:
            return each
    return values[0]


def changed_from(
    values: tuple[D, ...], at: D, new: D, changes: Mapping[str, object]
) -> tuple[D, ...]:
    """The values with ``new``, which has the changes and replaces one of the same day.

    ``at`` counted on its day: later values continue a change as long as they have what it had
    there. The same values if nothing differs.
    """
    differing = {name: value for name, value in changes.items() if getattr(at, name) != value}
    if not differing:
        return values
    earlier = [each for each in values if _key(each) < _key(new)]
    later = [each for each in values if _key(each) > _key(new)]
    for name, value in differing.items():
        for index, each in enumerate(later):
            if getattr(each, name) != getattr(at, name):
                break
            later[index] = replace(each, **{name: value})
    return (*earlier, new, *later)


def without_repeated(values: tuple[D, ...]) -> tuple[D, ...]:
    """The values without those that only repeat what counts before them."""
    found: list[D] = []
    for each in values:
        # For some people, a value by leave year counts before one of an earlier day.
        is_later = bool(found) and (
            not each.is_by_leave_year or found[-1].is_by_leave_year or not found[-1].valid_from
        )
        if not is_later or replace(each, valid_from=None, is_by_leave_year=False) != replace(
            found[-1], valid_from=None, is_by_leave_year=False
        ):
            found.append(each)
    return tuple(found)


def _key(value: Dated) -> tuple[date, bool]:
    return value.valid_from or date.min, not value.is_by_leave_year
