"""People's days: the working week, public holidays and employment, and the leave on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from storage.access.absences import CountedLeave
from storage.access.wallcharts import type_letters
from storage.access.wallcharts.chart_values import AWAY, Day, Off, ShownType
from storage.base.values import LeaveType, User
from storage.directory import public_holidays
from storage.directory.employment import by_date
from storage.events.organisation_config import OrganisationConfig
from storage.rules import days, working_week
from storage.rules.employment import periods, records
from storage.rules.halves import AFTERNOON, MORNING, NOTHING
from storage.rules.spans import Span


def shown_types_of(leave_types: Iterable[LeaveType]) -> dict[str | None, ShownType]:
    by_id = {leave_type.id: leave_type for leave_type in leave_types}
    shown: dict[str | None, ShownType] = {
        type_id: ShownType(
            id=type_id,
            name=by_id[type_id].name,
            letter=letter,
            colour=by_id[type_id].colour,
            emoji=by_id[type_id].emoji,
        )
        for type_id, letter in type_letters.letters(by_id.values()).items()
    }
    shown[None] = AWAY
    return shown


def legend(
    leave: Iterable[Sequence[CountedLeave]], shown_types: Mapping[str | None, ShownType]
) -> list[ShownType]:
    type_ids = {counted.leave_type_id for each in leave for counted in each}
    shown = [shown_types[type_id] for type_id in type_ids]
    return sorted(shown, key=lambda each: (each.name is None, each.name or "", each.letter))


class PlainDays:
    """People's days without leave, made once for all people with the same week and holidays."""

    def __init__(self, config: OrganisationConfig, span: Span) -> None:
        self._config = config
        self._span = span
        self._ends = span.start_date, span.end_date
        self._made: dict[tuple[tuple[str, ...], str], list[Day]] = {}

    def of(self, user: User, *, shows_end: bool) -> list[Day]:
        """``shows_end``: days after the person's last day are not worked."""
        plain = [
            day
            for period in records.periods(
                records.of_user(user), self._span.start_date, self._span.end_date
            )
            for day in self._between(
                by_date.working_days(self._config, period.record),
                public_holidays.country_code_of(self._config, period.record),
                period.first_day,
                period.last_day,
            )
        ]
        employed = periods.of_user(user if shows_end else replace(user, end_date=None))
        if all(periods.includes(employed[-1:], day) for day in self._ends):
            return plain
        return [
            day if periods.includes(employed, day.date) else replace(day, worked=NOTHING)
            for day in plain
        ]

    def _between(
        self, working_days: tuple[str, ...], country_code: str, first_day: date, last_day: date
    ) -> list[Day]:
        key = working_days, country_code
        if key not in self._made:
            counts = days.count_days(
                self._span,
                working_week.working_week(working_days),
                public_holidays.holidays_between(
                    self._config, country_code, self._span.start_date, self._span.end_date
                ),
            )
            self._made[key] = [
                Day(
                    date=count.date,
                    worked=count.worked,
                    holiday=count.holiday,
                    holiday_name=count.holiday_name,
                    holiday_country=count.holiday_country,
                )
                for count in counts
            ]
        first = (first_day - self._span.start_date).days
        last = (last_day - self._span.start_date).days
        return self._made[key][first : last + 1]


def with_leave(
    plain: list[Day], leave: Iterable[CountedLeave], shown_types: Mapping[str | None, ShownType]
) -> tuple[Day, ...]:
    first_ordinal = plain[0].date.toordinal()
    shown = [*plain]
    for counted in leave:
        off = Off(
            leave_type=shown_types[counted.leave_type_id],
            is_pending=counted.is_pending,
        )
        start = counted.start_date.toordinal() - first_ordinal
        for at, digit in enumerate(counted.counted_halves, start):
            halves = int(digit)
            if halves == NOTHING or not 0 <= at < len(shown):
                continue
            day = shown[at]
            # Not ``replace``, which takes four times as long: a page has thousands of these.
            shown[at] = Day(
                date=day.date,
                worked=day.worked,
                holiday=day.holiday,
                holiday_name=day.holiday_name,
                holiday_country=day.holiday_country,
                morning=off if halves & MORNING else day.morning,
                afternoon=off if halves & AFTERNOON else day.afternoon,
            )
    return tuple(shown)
