"""The times in which a person is employed: the present one, and earlier ones before it.

A person who is hired again has a new period; its leave and allowance are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from storage.base.errors import FieldError, InvalidInput, Sentence
from storage.base.values import EmploymentPeriod, User
from storage.rules.spans import Span


def of_user(user: User) -> tuple[EmploymentPeriod, ...]:
    """All periods of the person, oldest first; the last is the present one."""
    present = EmploymentPeriod(start_date=user.start_date, end_date=user.end_date)
    return (*user.earlier_periods, present)


def first_day(user: User) -> date | None:
    """The first day of the first period, if known."""
    return of_user(user)[0].start_date


def last_ended_on(user: User) -> date | None:
    """The last day of the period before the present one."""
    return user.earlier_periods[-1].end_date if user.earlier_periods else None


def includes(periods: Sequence[EmploymentPeriod], day: date) -> bool:
    return any((period.start_date or day) <= day <= (period.end_date or day) for period in periods)


def check_employed(span: Span, periods: Sequence[EmploymentPeriod]) -> None:
    """Raises InvalidInput ``before_start_date`` or ``after_end_date``, or both.

    For leave that lies in no period as a whole: before the first day of the one that is present or
    next when it begins, or after its last day.
    """
    period = next(
        (each for each in periods if span.start_date <= (each.end_date or date.max)), periods[-1]
    )
    errors = []
    if period.start_date is not None and span.start_date < period.start_date:
        detail = Sentence(
            "Employment starts on {start_date}. Choose that day or a later one.",
            start_date=period.start_date,
        )
        errors.append(FieldError(pointer="/start_date", code="before_start_date", detail=detail))
    if period.end_date is not None and span.end_date > period.end_date:
        detail = Sentence(
            "Employment ends on {end_date}. Choose that day or an earlier one.",
            end_date=period.end_date,
        )
        errors.append(FieldError(pointer="/end_date", code="after_end_date", detail=detail))
    if errors:
        raise InvalidInput(errors)
