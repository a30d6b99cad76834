"""What somebody asks for: counted day by day and held against every rule. Nothing is stored here.

The same functions decide and explain: what a form says is what submitting does.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from storage import balances, days, fields, holiday_sets, leave_years, rules
from storage.database import Transaction
from storage.errors import InvalidInput, OverlappingLeave
from storage.reference import Reference
from storage.values import HalfDay, LeaveType, User

# With the longest names and letters of four bytes an event still stays under 20 kB (contract 9).
LONGEST_NOTE = 2_000


class Draft(NamedTuple):
    """What somebody asks for."""

    leave_type_id: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    note: str | None = None


class Assessment(NamedTuple):
    """A draft that no rule refuses: what it counts, and of which type it is."""

    span: days.Span
    leave_type: LeaveType
    day_counts: list[days.DayCount]
    counted_halves: str
    note: str | None


def assess(
    tx: Transaction,
    known: Reference,
    user: User,
    draft: Draft,
    *,
    today: date,
    replaces: str | None = None,
) -> Assessment:
    """What a draft counts for a person, or the refusal of the first rule that it breaks.

    ``replaces`` is the request that it would take the place of. Changes nothing. Raises
    InvalidInput, OverlappingLeave or InsufficientAllowance.
    """
    span = days.asked_span(
        draft.start_date, draft.end_date, draft.start_half_day, draft.end_half_day
    )
    rules.check_dates_in_reach(span, today)
    leave_type = known.leave_types.get(draft.leave_type_id)
    if leave_type is None:
        raise InvalidInput.of(
            "leave_type_id", "unknown_leave_type", "There is no leave type with this id."
        )
    note = fields.optional_text(draft.note, "note", LONGEST_NOTE)
    day_counts = count(known, user, span)
    rules.check_working_time(day_counts)
    rules.check_type_rules(leave_type, span, day_counts, note, today)
    counted_halves = days.counted_halves(day_counts)
    years = leave_years.leave_years_touched(
        balances.leave_year_rule(known, user), span.start_date, span.end_date
    )
    taken = [
        other
        for other in balances.taken_between(
            tx, known.organisation.id, user.id, years[0].first_day, years[-1].last_day
        )
        if other.id != replaces
    ]
    for other in taken:
        if days.overlaps(span, other.span):
            raise OverlappingLeave(other.id, f"{other.start_date} to {other.end_date}")
    if leave_type.deducts_allowance:
        needed = balances.demands(known, user, years, taken, counted_halves, span.start_date)
        rules.check_allowance(needed, allow_overdraft=leave_type.allow_overdraft)
    return Assessment(span, leave_type, day_counts, counted_halves, note)


def count(known: Reference, user: User, span: days.Span) -> list[days.DayCount]:
    """Every date of a span with what it counts for this person, and why not more."""
    country_code = holiday_sets.country_code_of(known, user)
    return days.count_days(
        span,
        days.working_week(user.working_days or known.organisation.working_days),
        holiday_sets.holidays_between(known, country_code, span.start_date, span.end_date),
    )
