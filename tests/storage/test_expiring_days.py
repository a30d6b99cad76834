"""Which days lapse, against an independent model day by day, and when they are told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from storage.base.allowance_values import AllowanceTerms
from storage.rules import expiring_days, leave_years
from storage.rules.entitlements import Entitlement, Grant
from storage.rules.expiring_days import KnownFrom, Lapse, Told
from storage.rules.leave_years import LeaveYearRule
from storage.rules.year_balances import Account, Credit, Deduction, TermsFrom

CALENDAR = LeaveYearRule(type="calendar", month=1, day=1)
LONG_AGO = date(2020, 1, 1)
KNOWN = KnownFrom(organisation=LONG_AGO, person=LONG_AGO, employment=None)
NAMED = ("annual", date(2027, 12, 31))


def an_account(
    *,
    granted: int = 50,
    carries: int | None = 10,
    expires_after_months: int | None = 3,
    recorded_from: date = date(2026, 1, 1),
    credits: tuple[Credit, ...] = (),
    end_date: date | None = None,
) -> Account:
    terms = AllowanceTerms(
        id="first",
        valid_from=None,
        half_days_per_year=granted,
        carry_over_half_days=carries,
        carry_over_expires_after_months=expires_after_months,
    )
    return Account(
        rule=CALENDAR,
        entitlement=Entitlement(
            grants=(Grant(first_day=date.min, half_days=granted),), end_date=end_date
        ),
        adjustments=(),
        terms=(TermsFrom(first_day=date.min, terms=terms),),
        recorded_from=recorded_from,
        passes_from=recorded_from,
        credits=credits,
    )


def days_off(first_day: date, days: int) -> Deduction:
    return Deduction(
        counted_halves="3" * days,
        start_date=first_day,
        end_date=first_day + timedelta(days=days - 1),
    )


def lapses(account: Account, leave: list[Deduction], today: date) -> list[tuple[str, float, str]]:
    pot = expiring_days.pot(account, leave, today)
    return [
        (each.reason, float(each.half_days) / 2, each.last_day.isoformat()) for each in pot.lapses
    ]


def test_six_left_of_2027_and_five_carried_lapse_one_on_31_december() -> None:
    account = an_account(recorded_from=date(2027, 1, 1))
    leave = [days_off(date(2027, 5, 3), 19)]

    assert lapses(account, leave, date(2027, 10, 1)) == [("year_end", 1, "2027-12-31")]


def test_carried_days_lapse_unless_leave_is_booked_before_their_end() -> None:
    account = an_account()
    before = days_off(date(2026, 6, 1), 22)
    booked = days_off(date(2027, 3, 8), 2)
    later = days_off(date(2027, 4, 5), 20)

    pot = expiring_days.pot(account, [before, booked, later], date(2027, 1, 4))

    assert (pot.carried_half_days, pot.left_half_days) == (6, 12)
    assert pot.lapses == (Lapse(reason="carry_over", half_days=2, last_day=date(2027, 3, 31)),)
    assert lapses(account, [before, booked, later], date(2027, 4, 1)) == []


def test_nothing_of_a_leaver_lapses_at_the_end_of_the_year() -> None:
    leaver = an_account(recorded_from=date(2027, 1, 1), end_date=date(2027, 11, 30))

    pot = expiring_days.pot(leaver, [], date(2027, 10, 1))

    assert pot.lapses == ()
    assert (pot.last_day, pot.ends_employment) == (date(2027, 11, 30), True)


def test_time_in_lieu_lapses_in_the_leave_year_of_its_last_day() -> None:
    credit = Credit(id="a", worked_on=date(2027, 11, 20), half_days=2, until=date(2028, 2, 20))
    account = an_account(carries=None, expires_after_months=None, credits=(credit,))

    assert lapses(account, [], date(2027, 12, 1)) == [("credit", 1, "2028-02-20")]
    assert lapses(account, [days_off(date(2028, 2, 7), 1)], date(2027, 12, 1)) == []
    assert lapses(account, [], date(2028, 2, 21)) == []


@dataclass
class Bucket:
    kind: str
    half_days: int
    first_day: date
    until: date


@given(
    granted=st.integers(0, 12),
    carries=st.none() | st.integers(0, 12),
    months=st.none() | st.integers(1, 12),
    taken_before=st.integers(0, 12),
    leave=st.lists(st.tuples(st.integers(0, 364), st.integers(1, 3)), max_size=6),
    worked=st.lists(
        st.tuples(st.integers(0, 250), st.integers(1, 4), st.integers(1, 3)), max_size=3
    ),
)
def test_lapses_are_what_a_walk_through_the_days_leaves(
    granted: int,
    carries: int | None,
    months: int | None,
    taken_before: int,
    leave: list[tuple[int, int]],
    worked: list[tuple[int, int, int]],
) -> None:
    first, last = date(2027, 1, 1), date(2027, 12, 31)
    credits = tuple(
        Credit(
            id=str(number),
            worked_on=first + timedelta(days=ahead),
            half_days=half_days,
            until=leave_years.months_after(first + timedelta(days=ahead), lasts),
        )
        for number, (ahead, half_days, lasts) in enumerate(worked)
    )
    account = an_account(
        granted=granted, carries=carries, expires_after_months=months, credits=credits
    )
    earlier = [
        Deduction(counted_halves="1", start_date=day, end_date=day)
        for day in (date(2026, 3, 1) + timedelta(days=number) for number in range(taken_before))
    ]
    taken = [
        Deduction(counted_halves="1", start_date=day, end_date=day)
        for day, half_days in ((first + timedelta(days=ahead), size) for ahead, size in leave)
        for _ in range(half_days)
    ]

    pot = expiring_days.pot(account, [*earlier, *taken], first)

    # The walk: each half-day of leave uses what expires first and is there already, else the grant.
    left = max(granted - taken_before, 0)
    carried = left if carries is None else min(left, carries)
    until = last if months is None else leave_years.months_after(first, months) - timedelta(days=1)
    forever = date(2099, 1, 1)
    buckets = [Bucket("carry_over", carried, first, until if months is not None else forever)]
    buckets += [
        Bucket("credit", each.half_days, each.worked_on, each.until or forever) for each in credits
    ]
    grant = granted
    for day, half_days in sorted((first + timedelta(days=ahead), size) for ahead, size in leave):
        for _ in range(half_days):
            usable = [
                each for each in buckets if each.half_days and each.first_day <= day <= each.until
            ]
            if usable:
                min(usable, key=lambda each: (each.until, each.first_day)).half_days -= 1
            else:
                grant -= 1
    expected: dict[tuple[str, date], int] = {}
    for each in buckets:
        if each.until <= last and each.half_days:
            key = (each.kind, each.until)
            expected[key] = expected.get(key, 0) + each.half_days
        elif each.until == forever:
            grant += each.half_days
    if carries is not None and grant > carries:
        expected["year_end", last] = grant - carries
    assert {(each.reason, each.last_day): each.half_days for each in pot.lapses} == expected


def told(on: date, *named: tuple[str, date], is_statement: bool = False) -> Told:
    return Told(on=on, is_statement=is_statement, named=frozenset(named))


def test_days_are_told_three_months_and_one_month_before() -> None:
    october, december = date(2027, 10, 1), date(2027, 12, 1)

    assert expiring_days.reminder_days(date(2027, 12, 31)) == [october, december]
    assert expiring_days.reminder_days(date(2027, 3, 31)) == [date(2027, 1, 1), date(2027, 3, 1)]
    assert not expiring_days.is_reminder_due(NAMED, [], KNOWN, date(2027, 9, 30))
    assert expiring_days.is_reminder_due(NAMED, [], KNOWN, october)
    once = [told(october, NAMED)]
    assert not expiring_days.is_reminder_due(NAMED, once, KNOWN, date(2027, 11, 30))
    assert expiring_days.is_reminder_due(NAMED, once, KNOWN, december)


def test_a_late_reminder_is_sent_once_and_not_for_each_that_was_missed() -> None:
    assert expiring_days.is_reminder_due(NAMED, [], KNOWN, date(2027, 12, 10))
    late = [told(date(2027, 12, 10), NAMED)]
    assert not expiring_days.is_reminder_due(NAMED, late, KNOWN, date(2027, 12, 11))
    assert not expiring_days.is_reminder_due(NAMED, [], KNOWN, date(2028, 1, 1))


def test_a_notice_of_the_last_30_days_that_named_the_days_is_enough() -> None:
    december = date(2027, 12, 1)
    recent = told(december - timedelta(days=30), NAMED)
    older = told(december - timedelta(days=31), NAMED)
    of_other_days = told(december - timedelta(days=1), ("annual", date(2028, 3, 31)))

    assert not expiring_days.is_reminder_due(NAMED, [recent], KNOWN, december)
    assert expiring_days.is_reminder_due(NAMED, [older, of_other_days], KNOWN, december)


def test_people_hear_nothing_of_days_before_they_came() -> None:
    new = KnownFrom(organisation=LONG_AGO, person=date(2027, 12, 5), employment=None)

    assert not expiring_days.is_reminder_due(NAMED, [], new, date(2027, 12, 6))


YEAR = leave_years.leave_year_beginning_in(CALENDAR, 2027)


def test_the_statement_is_due_once_a_leave_year_and_up_to_30_days_late() -> None:
    monday = date(2027, 1, 4)
    sent = [told(monday, is_statement=True)]

    assert expiring_days.is_statement_due(YEAR, [], KNOWN, monday)
    assert expiring_days.is_statement_due(YEAR, [], KNOWN, date(2027, 1, 31))
    assert not expiring_days.is_statement_due(YEAR, [], KNOWN, date(2027, 2, 1))
    assert not expiring_days.is_statement_due(YEAR, sent, KNOWN, date(2027, 1, 5))
    next_year = leave_years.leave_year_beginning_in(CALENDAR, 2028)
    assert expiring_days.is_statement_due(next_year, sent, KNOWN, date(2028, 1, 3))


def test_who_joins_gets_the_statement_when_they_begin() -> None:
    joiner = KnownFrom(organisation=LONG_AGO, person=date(2027, 5, 1), employment=date(2027, 6, 1))

    assert not expiring_days.is_statement_due(YEAR, [], joiner, date(2027, 5, 31))
    assert expiring_days.is_statement_due(YEAR, [], joiner, date(2027, 6, 1))


def test_a_new_organisation_gets_no_statement_of_the_leave_year_in_which_it_begins() -> None:
    begun = KnownFrom(
        organisation=date(2027, 1, 11), person=date(2027, 1, 11), employment=date(2019, 3, 1)
    )

    assert not expiring_days.is_statement_due(YEAR, [], begun, date(2027, 1, 12))


def test_a_notice_waits_for_a_working_day_unless_the_days_lapse_before() -> None:
    saturday, monday = date(2027, 1, 2), date(2027, 1, 4)

    assert not expiring_days.is_sent_on(saturday, [monday], date(2027, 3, 31))
    assert expiring_days.is_sent_on(saturday, [monday], date(2027, 1, 3))
    assert expiring_days.is_sent_on(monday, [monday], None)
    assert expiring_days.is_sent_on(saturday, [], None)
