"""People who are hired again: which days they are employed, and what each employment leaves."""

from __future__ import annotations

from datetime import date, timedelta
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.admin import people, people_status
from storage.base.allowance_values import AllowanceTerms, Amount
from storage.base.errors import InsufficientAllowance
from storage.base.values import EmploymentPeriod, User
from storage.db.database import Database
from storage.leave import adjustments, ledgers
from storage.rules import employment_terms, year_balances
from storage.rules.counted_days import Span
from storage.rules.entitlements import Entitlement, Grant
from storage.rules.leave_years import LeaveYearRule
from storage.rules.year_balances import Account, Adjusted, Deduction, TermsFrom
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
    as_it_is,
    audit_entries,
    caller_for,
    dry_run,
)
from tests.refusals import errors_of

pytestmark = [pytest.mark.shared_database, pytest.mark.both_engines]

SPRING = EmploymentPeriod(start_date=date(2026, 1, 1), end_date=date(2026, 3, 31))
AUTUMN = EmploymentPeriod(start_date=date(2026, 9, 1), end_date=date(2026, 11, 30))


@pytest.mark.parametrize(
    ("first", "last", "errors"),
    [
        ((2026, 1, 1), (2026, 3, 31), []),
        ((2026, 9, 1), (2026, 9, 1), []),
        ((2025, 12, 31), (2026, 1, 1), ["before_start_date"]),
        ((2026, 3, 31), (2026, 4, 1), ["after_end_date"]),
        ((2026, 5, 1), (2026, 5, 2), ["before_start_date"]),
        ((2026, 8, 31), (2026, 9, 1), ["before_start_date"]),
        ((2026, 3, 1), (2026, 9, 30), ["after_end_date"]),
        ((2026, 11, 30), (2026, 12, 1), ["after_end_date"]),
        ((2026, 8, 1), (2026, 12, 31), ["before_start_date", "after_end_date"]),
    ],
)
def test_leave_lies_in_one_employment(
    first: tuple[int, int, int], last: tuple[int, int, int], errors: list[str]
) -> None:
    span = Span(start_date=date(*first), end_date=date(*last))

    found = (
        errors_of(lambda: employment_terms.check_employed(span, (SPRING, AUTUMN))) if errors else []
    )

    assert [code for _, code in found] == errors
    if not errors:
        employment_terms.check_employed(span, (SPRING, AUTUMN))


FIRST_DAY = date(2025, 1, 1)
DAYS = [FIRST_DAY + timedelta(days=number) for number in range(3 * 365)]
some_days = st.integers(0, len(DAYS) - 1)


@st.composite
def employments(draw: st.DrawFn) -> list[tuple[date, date]]:
    """One to three periods in 2025 to 2027, with at least a day between them."""
    count = draw(st.integers(1, 3))
    bounds = sorted(
        draw(
            st.lists(
                st.integers(0, len(DAYS) // 2 - 1),
                min_size=2 * count,
                max_size=2 * count,
                unique=True,
            )
        )
    )
    days = [DAYS[2 * bound] for bound in bounds]
    return list(zip(days[::2], days[1::2], strict=True))


def an_account(
    employed: list[tuple[date, date]], granted: int, carried: int, adjusted: tuple[Adjusted, ...]
) -> Account:
    *earlier, (start, end) = employed
    return Account(
        rule=LeaveYearRule(type="calendar", month=1, day=1),
        entitlement=Entitlement(
            grants=(Grant(first_day=date.min, half_days=granted),),
            start_date=start,
            end_date=end,
            earlier=tuple(EmploymentPeriod(start_date=a, end_date=b) for a, b in earlier),
        ),
        adjustments=adjusted,
        terms=(
            TermsFrom(
                first_day=date.min,
                terms=AllowanceTerms(
                    id="first",
                    valid_from=None,
                    half_days_per_year=granted,
                    carry_over_half_days=carried,
                ),
            ),
        ),
        recorded_from=FIRST_DAY,
        passes_from=FIRST_DAY if carried else None,
    )


def left_by_day(
    employed: list[tuple[date, date]],
    granted: int,
    carried: int,
    adjusted: tuple[Adjusted, ...],
    taken: set[date],
    on: date,
) -> int:
    """What is left at the end of the year of a day, one day at a time."""
    number = next((at for at, (_, end) in enumerate(employed) if on <= end), len(employed) - 1)
    left = 0
    for year in range(2025, on.year + 1):
        days = [day for day in DAYS if day.year == year]
        mine = [day for day in days if employed[number][0] <= day <= employed[number][1]]
        # Adjustments of the year go to the first employment that had not ended, or to the last.
        owners = [
            at
            for at, (_, end) in enumerate(employed)
            if (at == 0 or employed[at - 1][1] < days[-1])
            and (end >= days[0] or at == len(employed) - 1)
        ]
        # Nothing is carried past the last day of employment.
        left = min(max(left, 0), carried) if employed[number][1] >= days[0] else 0
        left += ceil(round(granted * len(mine) / 365, 9))
        for each in adjusted:
            if each.leave_year == year:
                not_ended = [at for at in owners if each.made_on <= employed[at][1]]
                left += each.half_days if (not_ended or owners[-1:])[0] == number else 0
        left -= 2 * len([day for day in mine if day in taken])
    return left


@given(
    employments(),
    st.integers(0, 80),
    st.integers(0, 12),
    st.lists(st.tuples(some_days, some_days, st.integers(-6, 6)), max_size=3),
    st.sets(some_days, max_size=40),
    some_days,
)
def test_balances_of_several_employments_are_those_of_counting_each_day(
    employed: list[tuple[date, date]],
    granted: int,
    carried: int,
    adjustments_made: list[tuple[int, int, int]],
    taken: set[int],
    on: int,
) -> None:
    present = {DAYS[at] for at in taken if any(start <= DAYS[at] <= end for start, end in employed)}
    adjusted = tuple(
        Adjusted(
            id=str(number),
            leave_year=DAYS[year].year,
            made_on=DAYS[made],
            half_days=half_days,
        )
        for number, (year, made, half_days) in enumerate(adjustments_made)
    )
    leave = [Deduction(counted_halves="3", start_date=day, end_date=day) for day in sorted(present)]

    (balance,) = year_balances.of_years(
        an_account(employed, granted, carried, adjusted), leave, DAYS[on], DAYS[on]
    )

    assert balance.final_half_days == left_by_day(
        employed, granted, carried, adjusted, present, DAYS[on]
    )


IN_JANUARY, IN_APRIL = NOW.replace(month=1, day=2), NOW.replace(month=4, day=1)
SEPTEMBER = date(2026, 9, 1)


def updated(database: Database, acme: Acme, user: User, **changes: object) -> User:
    return acme.write(people.update, user.id, changes)


def restored(database: Database, acme: Acme, user: User, start_date: date | None) -> User:
    return acme.write(people.restore, user.id, start_date=start_date)


def lines_on(
    database: Database, acme: Acme, user: User, on: date
) -> list[tuple[str, Amount | float]]:
    balance = acme.read(ledgers.balance, user.id, on=on, now=NOW)
    assert sum(line.half_days for line in balance.lines) == balance.remaining_half_days
    lines: list[tuple[str, Amount | float]] = [
        (line.type, line.half_days / 2) for line in balance.lines
    ]
    return [*lines, ("remaining", balance.remaining_half_days / 2)]


def left_in_march(database: Database, acme: Acme) -> tuple[User, str]:
    """Ada took five days in February and left on 31 March; the id of her leave."""
    ada = a_person(database, acme, start_date=date(2026, 1, 1), now=IN_JANUARY)
    leave = approved_leave(database, acme, ada, date(2026, 2, 2), date(2026, 2, 6), now=IN_JANUARY)
    change = {"end_date": date(2026, 3, 31)}
    acme.write(people.update, ada.id, change, now=IN_JANUARY)
    acme.write(people_status.archive, ada.id, now=IN_APRIL)
    return ada, leave.id


def test_leave_of_an_earlier_employment_is_charged_to_it_and_the_gap_grants_nothing(
    database: Database,
) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50)
    ada, _ = left_in_march(database, acme)

    ada = restored(database, acme, ada, SEPTEMBER)

    assert (ada.status, ada.start_date, ada.end_date) == ("pending", SEPTEMBER, None)
    assert ada.earlier_periods == (SPRING,)
    # 90 and 122 of 365 days of 25, each rounded up.
    assert lines_on(database, acme, ada, date(2026, 10, 1)) == [
        ("earlier_employment", 6.5),
        ("leave", -5),
        ("earlier_employment_settled", -1.5),
        ("allowance", 25),
        ("pro_rata", -16.5),
        ("remaining", 8.5),
    ]
    assert lines_on(database, acme, ada, date(2026, 3, 1)) == [
        ("allowance", 25),
        ("employment_end", -18.5),
        ("leave", -5),
        ("remaining", 1.5),
    ]
    assert lines_on(database, acme, ada, date(2027, 1, 1))[-1] == ("remaining", 25)
    first, last = date(2026, 9, 7), date(2026, 9, 17)
    with pytest.raises(InsufficientAllowance) as refused:
        a_request(database, acme, ada, start_date=first, end_date=last)
    assert "8.5" in str(refused.value)
    fits = a_request(database, acme, ada, start_date=first, end_date=last, end_half_day="am")
    assert fits.total_half_days == 17


def test_what_was_overdrawn_in_an_earlier_employment_stays_there(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=20)
    ada, _ = left_in_march(database, acme)

    ada = restored(database, acme, ada, SEPTEMBER)
    acme.write(adjustments.add, ada.id, leave_year=2026, half_days=3, reason="Overtime")

    # 90 of 365 days of 10 are 2.5; those added after the first employment count for the second.
    assert lines_on(database, acme, ada, SEPTEMBER) == [
        ("earlier_employment", 2.5),
        ("leave", -5),
        ("earlier_employment_settled", 2.5),
        ("allowance", 10),
        ("pro_rata", -6.5),
        ("adjustment", 1.5),
        ("remaining", 5),
    ]


def test_nothing_is_carried_over_from_an_earlier_employment(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50, carry_over_half_days=10)
    hired = NOW.replace(year=2025, month=1)
    ada = a_person(database, acme, start_date=date(2025, 1, 1), now=hired)
    stayed = a_person(database, acme, start_date=date(2025, 1, 1), now=hired)
    gone = hired.replace(month=12, day=1)
    acme.write(people_status.archive, ada.id, now=gone)

    ada = restored(database, acme, ada, date(2026, 2, 2))

    assert ada.earlier_periods[0].end_date == date(2025, 12, 1)
    types = [kind for kind, _ in lines_on(database, acme, ada, date(2026, 6, 1))]
    assert types == ["allowance", "pro_rata", "remaining"]
    assert ("carry_over", 5) in lines_on(database, acme, stayed, date(2026, 6, 1))


def test_leave_between_two_employments_is_refused(database: Database, acme: Acme) -> None:
    ada, _ = left_in_march(database, acme)
    ada = restored(database, acme, ada, SEPTEMBER)

    for first, last, code in (
        (date(2026, 7, 1), date(2026, 7, 2), "before_start_date"),
        (date(2026, 8, 31), SEPTEMBER, "before_start_date"),
        (date(2026, 3, 31), date(2026, 4, 1), "after_end_date"),
    ):
        errors = errors_of(
            lambda first=first, last=last: a_request(  # type: ignore[misc]
                database, acme, ada, code="unpaid", start_date=first, end_date=last
            )
        )
        assert [found for _, found in errors] == [code]
    late = a_request(
        database, acme, ada, code="sick", start_date=date(2026, 3, 30), end_date=date(2026, 3, 31)
    )
    assert late.total_half_days == 4


def test_moving_the_first_day_leaves_the_leave_of_an_earlier_employment(
    database: Database, acme: Acme
) -> None:
    ada, earlier_id = left_in_march(database, acme)
    ada = restored(database, acme, ada, SEPTEMBER)
    leave = approved_leave(database, acme, ada, date(2026, 9, 10), date(2026, 9, 11))
    move = {"start_date": date(2026, 9, 11)}

    plan = dry_run(database, people.update, ada.id, move, by=acme.caller, now=NOW)
    updated(database, acme, ada, **move)

    assert [effect.before.id for effect in plan.leave] == [leave.id]
    assert as_it_is(database, acme, leave).start_date == date(2026, 9, 11)
    cancelled = audit_entries(database, acme.caller, action="leave_request.cancelled")
    assert earlier_id not in [entry.subject_id for entry in cancelled]
    for day in (None, date(2026, 3, 31)):
        errors = errors_of(lambda day=day: updated(database, acme, ada, start_date=day))  # type: ignore[misc]
        assert errors == [("/start_date", "within_earlier_employment")]


def test_a_new_allowance_of_a_person_hired_again_leaves_the_earlier_employment_alone(
    database: Database,
) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50)
    ada, _ = left_in_march(database, acme)
    ada = restored(database, acme, ada, date(2026, 5, 1))
    before = lines_on(database, acme, ada, date(2026, 3, 1))

    ada = updated(database, acme, ada, leave_allowance_half_days=30)

    assert lines_on(database, acme, ada, date(2026, 3, 1)) == before
    # 245 of 365 days of 15.
    assert lines_on(database, acme, ada, NOW.date())[-1] == ("remaining", 10.5)


def test_a_person_is_hired_again_once_and_not_before_they_left(database: Database) -> None:
    acme = an_organisation(database)
    ada, _ = left_in_march(database, acme)

    assert errors_of(lambda: restored(database, acme, ada, date(2026, 3, 31))) == [
        ("/start_date", "within_earlier_employment")
    ]
    once = restored(database, acme, ada, SEPTEMBER)
    assert restored(database, acme, ada, SEPTEMBER) == once
    assert restored(database, acme, ada, None) == once
    assert errors_of(lambda: restored(database, acme, ada, date(2026, 10, 1))) == [
        ("/start_date", "user_not_archived")
    ]
    [entry] = audit_entries(database, acme.caller, action="user.restored", subject_id=ada.id)
    assert entry.changes["start_date"] == {"before": "2026-01-01", "after": "2026-09-01"}
    assert entry.changes["earlier_periods"]["after"] == [
        {"start_date": "2026-01-01", "end_date": "2026-03-31"}
    ]


def test_without_a_first_day_the_employment_continues(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=50)
    ada, _ = left_in_march(database, acme)

    ada = restored(database, acme, ada, None)

    assert (ada.start_date, ada.end_date, ada.earlier_periods) == (date(2026, 1, 1), None, ())
    assert lines_on(database, acme, ada, NOW.date())[-1] == ("remaining", 20)


def test_a_person_who_never_began_has_no_earlier_employment(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, start_date=date(2026, 8, 1), status="archived")

    ada = restored(database, acme, ada, SEPTEMBER)

    assert (ada.start_date, ada.earlier_periods) == (SEPTEMBER, ())


def test_anniversary_years_begin_with_the_present_employment(database: Database) -> None:
    acme = an_organisation(
        database, default_leave_allowance_half_days=50, leave_year_type="anniversary"
    )
    ada, _ = left_in_march(database, acme)

    ada = restored(database, acme, ada, SEPTEMBER)

    balance = database.read_now(
        ledgers.balance, ada.id, on=date(2026, 12, 1), by=caller_for(acme, ada), now=NOW
    )
    assert (balance.year.first_day, balance.remaining_half_days) == (SEPTEMBER, 50)
    assert [line.type for line in balance.lines] == ["allowance"]
