"""The requested time of leave, and its counted halves: those that are worked and no holiday.

A mask is ``MORNING``, ``AFTERNOON``, ``WHOLE_DAY`` or ``NOTHING``. ``counted_halves`` is a string
with the mask of each date of a request as one digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Final, Literal

from pydantic import Field

from storage.base.errors import FieldError, InvalidInput, Sentence
from storage.base.leave_values import Closure, HalfDay, LeaveRequest
from storage.base.values import HIDDEN, IN_DAYS, About

MAX_SPAN_DAYS: Final = 366


def earliest_start(day: date) -> date:
    """No leave that ends on ``day`` or later begins earlier: it bounds an index scan."""
    return date.fromordinal(max(day.toordinal() - MAX_SPAN_DAYS, 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The requested time: consecutive half-days. Both dates are included.

    `requested_span` makes one from input and refuses impossible ones.
    """

    start_date: date
    end_date: date
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None

    @property
    def first_slot(self) -> int:
        """The first requested half as ``2 * ordinal``, plus 1 for an afternoon."""
        begins_at_midday = self.start_half_day == "pm" or (
            self.start_half_day is None
            and self.end_half_day == "pm"
            and self.start_date == self.end_date
        )
        return 2 * self.start_date.toordinal() + begins_at_midday

    @property
    def last_slot(self) -> int:
        """The last requested half, included, numbered like `first_slot`."""
        ends_at_midday = self.end_half_day == "am" or (
            self.end_half_day is None
            and self.start_half_day == "am"
            and self.start_date == self.end_date
        )
        return 2 * self.end_date.toordinal() + (not ends_at_midday)


def requested_span(
    start_date: date,
    end_date: date,
    start_half_day: HalfDay | None = None,
    end_half_day: HalfDay | None = None,
) -> Span:
    """The requested span; its half-days stay as given.

    Raises InvalidInput: ``end_before_start``, ``too_long`` (over 366 days, both ends included),
    ``impossible_half_days`` (one day from midday until midday).
    """
    if end_date < start_date:
        raise InvalidInput.of(
            "end_date",
            "end_before_start",
            "The last day ({end_date}) is before the first day ({start_date}).",
            end_date=end_date,
            start_date=start_date,
        )
    length_days = end_date.toordinal() - start_date.toordinal() + 1
    if length_days > MAX_SPAN_DAYS:
        raise InvalidInput.of(
            "end_date",
            "too_long",
            "A request can cover at most {most} days. This one covers {length}.",
            length=length_days,
            most=MAX_SPAN_DAYS,
        )
    if start_date == end_date and start_half_day == "pm" and end_half_day == "am":
        raise InvalidInput.of(
            "end_half_day",
            "impossible_half_days",
            "Leave on a single day cannot start in the afternoon and end in the morning.",
        )
    return Span(
        start_date=start_date,
        end_date=end_date,
        start_half_day=start_half_day,
        end_half_day=end_half_day,
    )


def span_of_slots(first_slot: int, last_slot: int) -> Span:
    """The span of these halves, both included, numbered like `Span.first_slot`."""
    return Span(
        start_date=date.fromordinal(first_slot >> 1),
        end_date=date.fromordinal(last_slot >> 1),
        start_half_day="pm" if first_slot % 2 else None,
        end_half_day=None if last_slot % 2 else "am",
    )


def span_of(leave: LeaveRequest | Closure) -> Span:
    return Span(
        start_date=leave.start_date,
        end_date=leave.end_date,
        start_half_day=leave.start_half_day,
        end_half_day=leave.end_half_day,
    )


def overlaps(first: Span, second: Span) -> bool:
    return first.first_slot <= second.last_slot and second.first_slot <= first.last_slot


def lies_within(inner: Span, outer: Span) -> bool:
    return outer.first_slot <= inner.first_slot and inner.last_slot <= outer.last_slot


NOTHING: Final = 0
MORNING: Final = 1
AFTERNOON: Final = 2
WHOLE_DAY: Final = 3


def total_half_days(counted_halves: str) -> int:
    """Half-days in a stored string."""
    # Digits 1 and 2 are one half-day, 3 is two and 0 none.
    return len(counted_halves) + counted_halves.count("3") - counted_halves.count("0")


def half_days_in(counted_halves: str, start_date: date, first_day: date, last_day: date) -> int:
    """Half-days between two dates; the first digit of the string is ``start_date``.

    ``first_day`` and ``last_day`` are included and may lie outside the request.
    """
    start_ordinal = start_date.toordinal()
    begin = first_day.toordinal() - start_ordinal
    end = last_day.toordinal() - start_ordinal + 1
    if end <= 0:  # A negative index would count from the end of the string.
        return 0
    return total_half_days(counted_halves[max(begin, 0) : end])


def begins_at_midday(counted_halves: str) -> bool:
    """Whether only the afternoon counts on the first date that counts."""
    return counted_halves.lstrip("0").startswith("2")


def ends_at_midday(counted_halves: str) -> bool:
    """Whether only the morning counts on the last date that counts."""
    return counted_halves.rstrip("0").endswith("1")


WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

# A mask for each weekday, Monday first, as ``date.weekday()``.
WorkingWeek = tuple[int, ...]

_HALF_SUFFIXES: Final = {"": WHOLE_DAY, ":am": MORNING, ":pm": AFTERNOON}
_SUFFIX_OF_MASK: Final = {mask: suffix for suffix, mask in _HALF_SUFFIXES.items()}
_WORKING_DAY: Final[Mapping[str, tuple[int, int]]] = {
    name + suffix: (weekday, mask)
    for weekday, name in enumerate(WEEKDAYS)
    for suffix, mask in _HALF_SUFFIXES.items()
}


def working_week(working_days: Sequence[str]) -> WorkingWeek:
    """The week of a list of working days.

    Expects a list from `check_working_days`; other words raise KeyError.
    """
    week = [NOTHING] * 7
    for entry in working_days:
        weekday, mask = _WORKING_DAY[entry]
        week[weekday] |= mask
    return tuple(week)


def check_working_days(working_days: Sequence[str], field: str = "working_days") -> tuple[str, ...]:
    """The normalised list: in week order, with both halves of a day as that day.

    ``friday:pm`` with ``friday:am`` becomes ``friday``. Raises InvalidInput with
    one error per wrong entry at ``/<field>/<index>`` (``unknown_working_day``,
    ``duplicate_working_day``), or at ``/<field>`` when the list is empty (``no_working_days``).
    """
    if not working_days:
        raise InvalidInput.of(field, "no_working_days", "Choose at least one working day.")
    week = [NOTHING] * 7
    errors: list[FieldError] = []
    for index, entry in enumerate(working_days):
        weekday, mask = _WORKING_DAY.get(entry, (0, NOTHING))
        if mask == NOTHING:
            code = "unknown_working_day"
            detail = Sentence(
                "{entry} is not a weekday. Use monday to sunday, or a half-day such as "
                "friday:am or friday:pm.",
                entry=repr(entry),
            )
        elif week[weekday] & mask:
            code = "duplicate_working_day"
            detail = Sentence("{entry} is listed twice.", entry=entry)
        else:
            week[weekday] |= mask
            continue
        errors.append(FieldError(pointer=f"/{field}/{index}", code=code, detail=detail))
    if errors:
        raise InvalidInput(errors)
    return tuple(
        name + _SUFFIX_OF_MASK[mask]
        for name, mask in zip(WEEKDAYS, week, strict=True)
        if mask != NOTHING
    )


UncountedReason = Literal["not_worked", "half_worked", "public_holiday"]

_HALF_DAYS_OF_MASK: Final = (0, 1, 1, 2)
_MONDAY_ORDINAL: Final = 1


def requested_halves(span: Span, day: date) -> int:
    """The mask of the halves of ``day`` in the span."""
    morning_slot = 2 * day.toordinal()
    return _covered(span.first_slot, span.last_slot, morning_slot)


def _covered(first_slot: int, last_slot: int, morning_slot: int) -> int:
    mask = MORNING if first_slot <= morning_slot <= last_slot else NOTHING
    return mask | (AFTERNOON if first_slot <= morning_slot + 1 <= last_slot else NOTHING)


@dataclass(frozen=True, kw_only=True, slots=True)
class Holiday:
    """A public holiday and the mask of its halves.

    ``country_code`` is of the country or region that named it, None if the organisation did.
    """

    name: str
    halves: int = WHOLE_DAY
    country_code: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DayCount:
    """The count of one date of a span: ``counted = requested & worked & ~holiday``, all masks.

    ``holiday`` also has halves that are not worked; ``holiday_name`` is None without a holiday, and
    ``holiday_country`` unless a country or region named it.
    """

    date: date
    requested: int
    worked: int
    holiday: int
    holiday_name: str | None
    counted: int
    holiday_country: str | None = None

    @property
    def half_days(self) -> int:
        """0, 1 or 2."""
        return _HALF_DAYS_OF_MASK[self.counted]

    @property
    def uncounted_reason(self) -> UncountedReason | None:
        """Why the date counts less than was requested, else None.

        A holiday on a day off is ``not_worked``: the working week comes first. ``half_worked``:
        only one of the requested halves is a working one.
        """
        if self.counted == self.requested:
            return None
        worked = self.requested & self.worked
        if worked == NOTHING:
            return "not_worked"
        return "public_holiday" if worked & self.holiday else "half_worked"


def count_days(
    span: Span,
    week: WorkingWeek,
    holidays: Mapping[date, Holiday],
    first_day: date = date.min,
    last_day: date = date.max,
) -> list[DayCount]:
    """The count of every date of the span, in order; of those between two days, both included.

    ``holidays`` may hold dates outside the span.
    """
    first_slot, last_slot = span.first_slot, span.last_slot
    first_ordinal, last_ordinal = first_slot >> 1, last_slot >> 1
    counted_from = max(first_ordinal, first_day.toordinal())
    counted_until = min(last_ordinal, last_day.toordinal())
    days: list[DayCount] = []
    for ordinal in range(counted_from, counted_until + 1):
        day = date.fromordinal(ordinal)
        requested = (
            WHOLE_DAY
            if first_ordinal < ordinal < last_ordinal
            else _covered(first_slot, last_slot, 2 * ordinal)
        )
        worked = week[(ordinal - _MONDAY_ORDINAL) % 7]
        holiday = holidays.get(day)
        if holiday is None:
            days.append(
                DayCount(
                    date=day,
                    requested=requested,
                    worked=worked,
                    holiday=NOTHING,
                    holiday_name=None,
                    counted=requested & worked,
                )
            )
        else:
            days.append(
                DayCount(
                    date=day,
                    requested=requested,
                    worked=worked,
                    holiday=holiday.halves,
                    holiday_name=holiday.name,
                    counted=requested & worked & ~holiday.halves,
                    holiday_country=holiday.country_code,
                )
            )
    return days


def counted_halves(days: Iterable[DayCount]) -> str:
    """The ``counted`` mask of each date as one digit: `LeaveRequest.counted_halves`."""
    return "".join(["0123"[day.counted] for day in days])


# `not_counted`: did not count when the request was made, but would today.
HalfCount = Literal["counted", "not_asked", "not_worked", "public_holiday", "not_counted"]
LineReason = UncountedReason | Literal["not_asked", "changed_since"]
# For the field that is called `date`, which hides the type in its class.
_Day = date


@dataclass(frozen=True, kw_only=True, slots=True)
class DayLine:
    """One date, with the reason for each half."""

    date: _Day
    half_days: Annotated[
        int,
        Field(serialization_alias="days"),
        IN_DAYS,
        About(description="The days it counts: 0, 0.5 or 1."),
    ]
    am: Annotated[
        HalfCount,
        About(
            description="`not_counted`: it would count today, but did not when the request was "
            "counted."
        ),
    ]
    pm: HalfCount
    reason: Annotated[
        LineReason | None,
        About(
            description="Why it counts less than a whole day: `not_worked` (a weekend or another "
            "day off), `half_worked` (only one of the requested halves is worked), "
            "`public_holiday`, `not_asked` (outside the requested halves), `changed_since` "
            "(working days or holidays have changed since it was counted). Null for a whole day."
        ),
    ]
    holiday_name: Annotated[
        str | None,
        Field(serialization_alias="holiday"),
        About(description="The public holiday on this date."),
    ]
    has_changed: Annotated[bool, About(description="Whether it would count differently today.")]
    # The country or region that named the holiday, if one did.
    holiday_country: Annotated[str | None, HIDDEN] = None


def stored_lines(counts: Iterable[DayCount], counted_halves: str) -> list[DayLine]:
    """The dates by the stored count; ``counts`` is today's."""
    return [
        _line(count, int(counted)) for count, counted in zip(counts, counted_halves, strict=True)
    ]


def _line(count: DayCount, counted: int) -> DayLine:
    return DayLine(
        date=count.date,
        half_days=total_half_days(str(counted)),
        am=_half(count, counted, MORNING),
        pm=_half(count, counted, AFTERNOON),
        reason=_reason(count, counted),
        holiday_name=count.holiday_name,
        has_changed=counted != count.counted,
        holiday_country=count.holiday_country,
    )


def _half(count: DayCount, counted: int, half: int) -> HalfCount:
    if counted & half:
        return "counted"
    if not count.requested & half:
        return "not_asked"
    if not count.worked & half:
        return "not_worked"
    return "public_holiday" if count.holiday & half else "not_counted"


def _reason(count: DayCount, counted: int) -> LineReason | None:
    if counted == WHOLE_DAY:
        return None
    if counted != count.counted:
        return "changed_since"
    return count.uncounted_reason or "not_asked"
