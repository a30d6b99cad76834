"""Where absence limits are exceeded, against a model that looks at every half by itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storage.base.leave_values import AbsenceLimit
from storage.rules.absence_limits import (
    Attendance,
    Booked,
    Excess,
    Pattern,
    added_halves,
    count_refused,
)
from tests.builders import NOW

MONDAY = date(2026, 12, 14)
DAYS = 4
LIMIT = AbsenceLimit(
    id="limit",
    name="Support",
    department_id=None,
    user_ids=None,
    first_day=None,
    last_day=None,
    max_away=1,
    min_present=None,
    enforcement="block",
    is_active=True,
    created_at=NOW,
    updated_at=NOW,
    version=1,
)
ALWAYS: Pattern = (3,) * DAYS

patterns = st.lists(st.sampled_from([None, 0, 1, 2, 3]), min_size=DAYS, max_size=DAYS).map(tuple)
# Leave may begin before the days and end after them.
leave = st.tuples(st.integers(-2, DAYS), st.text("0123", min_size=1, max_size=DAYS + 2))
dates = st.none() | st.integers(-1, DAYS).map(lambda number: MONDAY + timedelta(days=number))
numbers = st.tuples(st.integers(0, 4), st.none()) | st.tuples(st.none(), st.integers(1, 4))


@st.composite
def limits(draw: Any) -> AbsenceLimit:
    max_away, min_present = draw(numbers)
    return replace(
        LIMIT,
        first_day=draw(dates),
        last_day=draw(dates),
        max_away=max_away,
        min_present=min_present,
    )


def halves_of(start: int, digits: str) -> set[tuple[int, int]]:
    """The halves of leave, as numbers of days and halves."""
    return {
        (start + index, half)
        for index, digit in enumerate(digits)
        for half, mask in ((0, 1), (1, 2))
        if int(digit) & mask
    }


def worked_by(pattern: Pattern) -> set[tuple[int, int]]:
    return {
        (index, half)
        for index, worked in enumerate(pattern)
        for half, mask in ((0, 1), (1, 2))
        if (worked or 0) & mask
    }


@given(
    limits(),
    st.lists(st.tuples(patterns, leave), max_size=5),
    patterns,
    st.lists(st.integers(0, 3), min_size=DAYS, max_size=DAYS),
)
def test_a_limit_is_exceeded_in_the_halves_in_which_a_model_says_so(
    limit: AbsenceLimit,
    others: list[tuple[Pattern, tuple[int, str]]],
    own: Pattern,
    asked: list[int],
) -> None:
    group = Counter([own, *(pattern for pattern, _ in others)])
    attendance = Attendance(MONDAY, DAYS, lambda: group)
    for pattern, (start, digits) in others:
        attendance.add(pattern, MONDAY + timedelta(days=start), digits)
    added = {MONDAY + timedelta(days=index): mask for index, mask in enumerate(asked)}

    found = attendance.excesses(limit, own, added)

    expected: dict[date, tuple[int, int]] = {}
    for index in range(DAYS):
        day = MONDAY + timedelta(days=index)
        if (limit.first_day and day < limit.first_day) or (limit.last_day and day > limit.last_day):
            continue
        bad = []
        for half in (0, 1):
            here = (index, half)
            if here not in worked_by(own) or here not in halves_of(0, "".join(map(str, asked))):
                continue
            away = 1 + sum(
                here in worked_by(pattern) and here in halves_of(start, digits)
                for pattern, (start, digits) in others
            )
            at_work = sum(here in worked_by(pattern) for pattern in group.elements()) - away
            if limit.max_away is not None and away > limit.max_away:
                bad.append(away)
            if limit.min_present is not None and at_work < limit.min_present:
                bad.append(at_work)
        if bad:
            people = sum(pattern[index] is not None for pattern in group.elements())
            worst = max(bad) if limit.max_away is not None else min(bad)
            expected[day] = (worst, people)
    assert by_day(found, added, own) == expected


def by_day(
    found: list[Excess], added: dict[date, int], own: Pattern
) -> dict[date, tuple[int, int]]:
    """The figures of each day that is looked at, from those of days in a row."""
    looked_at = [day for day, mask in added.items() if mask & (own[(day - MONDAY).days] or 0)]
    return {
        day: (excess.count, excess.people)
        for excess in found
        for day in looked_at
        if excess.first_day <= day <= excess.last_day
    }


def test_days_in_a_row_with_the_same_figures_are_one_excess() -> None:
    attendance = Attendance(MONDAY, DAYS, lambda: {ALWAYS: 4})
    attendance.add(ALWAYS, MONDAY, "3300")
    attendance.add(ALWAYS, MONDAY + timedelta(days=3), "3")

    added = {MONDAY + timedelta(days=index): 3 for index in range(DAYS)}
    found = attendance.excesses(LIMIT, ALWAYS, added)

    assert [(each.first_day.day, each.last_day.day, each.count) for each in found] == [
        (14, 15, 2),
        (17, 17, 2),
    ]


def test_only_halves_in_which_the_person_is_not_away_yet_are_added() -> None:
    before = added_halves(None, MONDAY, "31")

    assert added_halves(before, MONDAY, "33") == {MONDAY + timedelta(days=1): 2}
    assert added_halves(before, MONDAY, "1") == {}


def test_refused_requests_take_no_place_of_later_ones() -> None:
    attendance = Attendance(MONDAY, DAYS, lambda: {ALWAYS: 4})
    asked = Booked(pattern=ALWAYS, start_date=MONDAY, counted_halves="3300", may_be_refused=True)
    sick = replace(asked, may_be_refused=False)
    later = replace(asked, start_date=MONDAY + timedelta(days=1), counted_halves="03")

    # The second exceeds the limit; the third is on Wednesday, which only the second would take.
    assert count_refused(LIMIT, attendance, [asked, asked, later, sick, later]) == 2
