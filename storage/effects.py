"""What a change would do to leave and to people, told beforehand: the answer of a dry run."""

from __future__ import annotations

from typing import NamedTuple

from storage import balances, days, leave_years
from storage.leave_years import LeaveYear
from storage.reference import Reference
from storage.values import LeaveEffect, Rerouted


class Effects(NamedTuple):
    """Everything that follows from a change; ``leave`` is by first day.

    ``chosen_country_code`` is the country that is being chosen, None where none is. ``api_keys``
    and ``calendar_feeds`` are how many stop answering; ``reports`` and ``departments`` are the ids
    of those whose manager is archived then.
    """

    leave: tuple[LeaveEffect, ...] = ()
    chosen_country_code: str | None = None
    rerouted: tuple[Rerouted, ...] = ()
    api_keys: int = 0
    calendar_feeds: int = 0
    reports: tuple[str, ...] = ()
    departments: tuple[str, ...] = ()


def balance_changes(known: Reference, effect: LeaveEffect) -> list[tuple[LeaveYear, int]]:
    """Half-days that each leave year gets back from one request; negative where it loses some.

    Only years that change, oldest first; none for a type that does not deduct.
    """
    user, before, after = effect
    if not known.leave_types[before.leave_type_id].deducts_allowance:
        return []
    rule = balances.leave_year_rule(known, user)
    years = leave_years.leave_years_touched(rule, before.start_date, before.end_date)
    gone = after.status == "cancelled"
    changes = [
        (
            year,
            days.half_days_in(before.counted_halves, before.start_date, *year)
            - (0 if gone else days.half_days_in(after.counted_halves, after.start_date, *year)),
        )
        for year in years
    ]
    return [(year, half_days) for year, half_days in changes if half_days]
