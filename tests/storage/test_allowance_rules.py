"""The rules of allowances, against a model that counts day by day and shares no code with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from storage.base.allowance_values import AllowanceTerms, ProRata
from storage.rules import dated, entitlements, request_rules, year_balances
from storage.rules.entitlements import Entitlement, Grant, ProRataFrom
from storage.rules.leave_years import LeaveYear, LeaveYearRule
from storage.rules.year_balances import Account, Credit, Deduction, TermsFrom

DAY = timedelta(days=1)
FIRST, LAST = date(2026, 1, 1), date(2028, 12, 31)
CALENDAR = LeaveYearRule(type="calendar", month=1, day=1)
YEAR = LeaveYear(first_day=date(2027, 1, 1), last_day=date(2027, 12, 31))
GERMAN = ProRata(
    method="full_months",
    rounding="day_nearest",
    full_claim_after_months=6,
    full_claim_for_leavers_after_june=True,
)
BRITISH = ProRata(method="months_started")


def days(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += DAY


# The model: lots of half-days, of which leave takes the one that expires first.


@dataclass(kw_only=True)
class Lot:
    first_day: date
    until: date
    half_days: int
    is_credit: bool = False


@dataclass(kw_only=True)
class Pot:
    """What one person may take, day by day, in calendar years; all amounts are half-days."""

    per_year: dict[int, int]
    is_monthly: bool
    may_borrow: bool
    overdraft: int
    carried_at_most: int | None
    # The last month in which carried days can be taken.
    carried_until_month: int
    credits: list[Lot] = field(default_factory=list)
    leave: list[tuple[date, date]] = field(default_factory=list)

    def granted_by(self, day: date) -> int:
        """Of the year of the day; a twelfth at the start of each month, rounded up."""
        whole = self.per_year[day.year]
        return -(-whole * day.month // 12) if self.is_monthly else whole

    def taken_on(self, day: date) -> int:
        is_taken = day.weekday() < 5 and any(first <= day <= last for first, last in self.leave)
        return 2 if is_taken else 0

    def walk(self) -> Iterator[tuple[date, int, int]]:
        """Each day with what is left at its end of what is granted by then, and what expired on
        the days of that year before it.
        """
        lots: list[Lot] = []
        # Taken of what the year grants.
        ordinary, expired = 0, 0
        for day in days(FIRST, LAST):
            if (day.month, day.day) == (1, 1):
                expired = 0
                if day != FIRST:
                    before = self.per_year[day.year - 1] - ordinary
                    before += sum(lot.half_days for lot in lots if not lot.is_credit)
                    # What expires with a year is not of the next one.
                    lots = [lot for lot in lots if lot.is_credit and lot.until >= day]
                    left = max(before, 0)
                    if self.carried_at_most is not None:
                        left = min(left, self.carried_at_most)
                    month = self.carried_until_month
                    until = date(day.year + month // 12, month % 12 + 1, 1) - DAY
                    lots.append(Lot(first_day=day, until=until, half_days=left))
                ordinary = 0
            lots += [replace(credit) for credit in self.credits if credit.first_day == day]
            # Carried days of a whole year end with it, and count as left until then.
            gone = [lot for lot in lots if lot.until < day]
            expired += sum(lot.half_days for lot in gone)
            lots = [lot for lot in lots if lot.until >= day]
            needed = self.taken_on(day)
            for lot in sorted(lots, key=lambda lot: (lot.until, lot.first_day)):
                used = min(lot.half_days, needed)
                lot.half_days -= used
                needed -= used
            ordinary += needed
            left_in_lots = sum(lot.half_days for lot in lots)
            granted = self.per_year[day.year] if self.may_borrow else self.granted_by(day)
            yield day, granted - ordinary + left_in_lots, expired

    @property
    def uncovered(self) -> list[tuple[date, date]]:
        """The leave after which, or at the end of whose years, less than the overdraft is left."""
        found = []
        left_by_day = {day: left for day, left, _ in self.walk()}
        for first, last in self.leave:
            ends = {last, *(date(year, 12, 31) for year in range(first.year, last.year))}
            if any(left_by_day[end] < -self.overdraft for end in ends):
                found.append((first, last))
        return found

    @property
    def account(self) -> Account:
        terms = AllowanceTerms(
            id="terms",
            valid_from=None,
            half_days_per_year=0,
            granting="monthly" if self.is_monthly else "yearly",
            may_borrow=self.may_borrow,
            overdraft_half_days=self.overdraft,
            carry_over_half_days=self.carried_at_most,
            carry_over_expires_after_months=self.carried_until_month,
        )
        grants = tuple(
            Grant(first_day=date(year, 1, 1), half_days=half_days)
            for year, half_days in self.per_year.items()
        )
        return Account(
            rule=CALENDAR,
            entitlement=Entitlement(grants=grants),
            adjustments=(),
            terms=(TermsFrom(first_day=date.min, terms=terms),),
            recorded_from=FIRST,
            passes_from=FIRST,
            credits=tuple(
                Credit(
                    id=str(number),
                    worked_on=lot.first_day,
                    half_days=lot.half_days,
                    until=lot.until,
                )
                for number, lot in enumerate(self.credits)
            ),
        )

    @property
    def deductions(self) -> list[Deduction]:
        return [deduction(first, last) for first, last in self.leave]

    def balances(self) -> dict[int, year_balances.LeaveYearBalance]:
        found = year_balances.of_years(self.account, self.deductions, FIRST, LAST)
        return {balance.year.first_day.year: balance for balance in found}

    def lets_pass(self, leave: tuple[date, date]) -> bool:
        others, requested = self.deductions, deduction(*leave)
        return not any(
            demand.needed_half_days
            > max(demand.remaining_half_days + demand.overdraft_half_days, 0)
            for find in (request_rules.demands, request_rules.later_demands)
            for demand in find(self.account, others, requested)
        )


def deduction(first: date, last: date) -> Deduction:
    halves = "".join("3" if day.weekday() < 5 else "0" for day in days(first, last))
    return Deduction(counted_halves=halves, start_date=first, end_date=last)


@st.composite
def pots(draw: Any) -> Pot:
    """Credits are for Sundays of the first eight weeks, before all leave."""
    amounts = st.integers(0, 60)
    sundays = draw(st.lists(st.integers(0, 7), unique=True, max_size=3))
    credits = []
    for week in sundays:
        worked_on = date(2026, 1, 4) + timedelta(weeks=week)
        until = worked_on + timedelta(days=draw(st.integers(30, 500)))
        half_days = draw(st.integers(1, 4))
        credits.append(Lot(first_day=worked_on, until=until, half_days=half_days, is_credit=True))
    is_monthly = draw(st.booleans())
    return Pot(
        per_year={year: draw(amounts) for year in (2026, 2027, 2028)},
        is_monthly=is_monthly,
        may_borrow=is_monthly and draw(st.booleans()),
        overdraft=draw(st.sampled_from((0, 0, 3))),
        carried_at_most=draw(st.none() | st.integers(0, 20)),
        carried_until_month=draw(st.integers(1, 11)),
        credits=sorted(credits, key=lambda lot: lot.first_day),
    )


leave_times = st.builds(
    lambda first, length: (first, min(first + length * DAY, LAST)),
    st.dates(date(2026, 3, 1), LAST)
    | st.dates(date(2026, 11, 15), date(2027, 2, 15))
    | st.dates(date(2027, 11, 15), date(2028, 4, 30)),
    st.integers(0, 40),
)


def overlaps(leave: tuple[date, date], others: Sequence[tuple[date, date]]) -> bool:
    return any(first <= leave[1] and leave[0] <= last for first, last in others)


@pytest.mark.slow
@given(pots(), st.lists(leave_times, max_size=6))
def test_what_remains_on_every_day_adds_up(pot: Pot, leave: list[tuple[date, date]]) -> None:
    for each in leave:
        if not overlaps(each, pot.leave):
            pot.leave.append(each)
    balances = pot.balances()

    for day, _, expired in pot.walk():
        balance = balances[day.year]
        lapsed = balance.lapsed_half_days(day) + sum(
            credit.left_half_days for credit in balance.lapsed_credits(day)
        )
        assert lapsed == expired, day
        in_all = sum(pot.taken_on(each) for each in days(balance.first_day, balance.last_day))
        lines = [
            balance.allowance.granted_half_days,
            *(step.half_days for step in balance.allowance.steps),
            balance.carried_half_days,
            *(credit.half_days for credit in balance.credits_by(day)),
            -in_all,
            -lapsed,
            -balance.not_granted_half_days(day),
        ]
        assert sum(lines) == balance.remaining_half_days(day), day
        assert balance.not_granted_half_days(day) >= 0


@given(pots(), st.lists(leave_times, max_size=6))
def test_what_is_left_at_the_end_of_each_year_is_that_of_the_model(
    pot: Pot, leave: list[tuple[date, date]]
) -> None:
    for each in leave:
        if not overlaps(each, pot.leave):
            pot.leave.append(each)
    balances = pot.balances()

    for day, left, _ in pot.walk():
        if (day.month, day.day) == (12, 31):
            balance = balances[day.year]
            expires_today = sum(
                credit.left_half_days for credit in balance.credits if credit.credit.until == day
            )
            assert balance.final_half_days == left - expires_today


@given(pots(), st.lists(leave_times, max_size=7))
def test_a_request_passes_if_and_only_if_all_leave_stays_covered(
    pot: Pot, leave: list[tuple[date, date]]
) -> None:
    for each in leave:
        if overlaps(each, pot.leave) or not deduction(*each).half_days_in(*each):
            continue
        passes = pot.lets_pass(each)
        pot.leave.append(each)
        uncovered = pot.uncovered
        assert passes == (not uncovered), (each, uncovered)
        if not passes:
            pot.leave.remove(each)


@given(pots(), st.lists(leave_times, max_size=5))
def test_nothing_expires_before_its_day(pot: Pot, leave: list[tuple[date, date]]) -> None:
    pot.leave = leave[:1]
    for balance in pot.balances().values():
        for credit in balance.credits:
            until = credit.credit.until
            assert until is not None
            assert credit not in balance.lapsed_credits(until)
            if credit.left_half_days and until < balance.last_day:
                assert credit in balance.lapsed_credits(until + DAY)
        if balance.carried_until is not None:
            assert balance.lapsed_half_days(balance.carried_until) == 0


def test_the_credit_that_expires_first_is_taken_first() -> None:
    late = Lot(first_day=date(2026, 1, 4), until=date(2026, 12, 1), half_days=2, is_credit=True)
    soon = Lot(first_day=date(2026, 1, 11), until=date(2026, 6, 1), half_days=2, is_credit=True)
    pot = Pot(
        per_year=dict.fromkeys((2026, 2027, 2028), 10),
        is_monthly=False,
        may_borrow=False,
        overdraft=0,
        carried_at_most=0,
        carried_until_month=3,
        credits=[late, soon],
        leave=[(date(2026, 5, 4), date(2026, 5, 4))],
    )

    of_late, of_soon = pot.balances()[2026].credits

    assert (of_late.left_half_days, of_soon.left_half_days) == (2, 0)


def test_leave_that_shrinks_a_carry_over_names_the_leave_that_needed_it() -> None:
    """Seven days in January are covered by five carried days and the two of the month."""
    january = (date(2027, 1, 4), date(2027, 1, 12))
    pot = Pot(
        per_year=dict.fromkeys((2026, 2027, 2028), 48),
        is_monthly=True,
        may_borrow=False,
        overdraft=0,
        carried_at_most=10,
        carried_until_month=3,
        leave=[january],
    )
    # 19 of the 24 days of 2026 leave 5 to carry over, and 20 leave 4.
    nineteen, twenty = (
        (date(2026, 12, 1), date(2026, 12, 25)),
        (date(2026, 12, 1), date(2026, 12, 28)),
    )

    assert pot.lets_pass(nineteen)
    [demand] = request_rules.later_demands(pot.account, pot.deductions, deduction(*twenty))

    assert demand.later_leave == january
    assert pot.lets_pass((date(2026, 12, 2), date(2026, 12, 28)))


# What counts from a day on.

_terms = st.builds(
    AllowanceTerms,
    id=st.just("terms"),
    valid_from=st.none(),
    half_days_per_year=st.just(0),
    granting=st.sampled_from(("yearly", "monthly")),
    carry_over_half_days=st.none() | st.integers(0, 20),
    carry_over_expires_after_months=st.none() | st.integers(1, 12),
)
_rules = st.builds(
    ProRata,
    method=st.sampled_from(("days", "months_started", "full_months")),
    rounding=st.sampled_from(("half_day_up", "half_day_nearest", "day_up", "day_nearest")),
    full_claim_after_months=st.none() | st.integers(1, 12),
    full_claim_for_leavers_after_june=st.booleans(),
)
_starts = st.none() | st.dates(date(2024, 1, 1), date(2027, 6, 1))
_ends = st.none() | st.dates(date(2027, 6, 2), LAST)


@given(
    _terms,
    _terms,
    st.tuples(_rules, _rules),
    st.tuples(st.integers(0, 60), st.integers(0, 60)),
    st.dates(FIRST, LAST),
    st.tuples(_starts, _ends),
    st.lists(leave_times, max_size=4),
)
def test_what_counts_from_a_day_on_leaves_earlier_leave_years_as_they_are(
    first: AllowanceTerms,
    second: AllowanceTerms,
    rules: tuple[ProRata, ProRata],
    figures: tuple[int, int],
    day: date,
    employment: tuple[date | None, date | None],
    leave: list[tuple[date, date]],
) -> None:
    start_date, end_date = employment
    before = Account(
        rule=CALENDAR,
        entitlement=Entitlement(
            grants=(Grant(first_day=date.min, half_days=figures[0]),),
            start_date=start_date,
            end_date=end_date,
            pro_rata=(ProRataFrom(first_day=date.min, rule=rules[0]),),
        ),
        adjustments=(),
        terms=(TermsFrom(first_day=date.min, terms=first),),
        recorded_from=FIRST,
        passes_from=FIRST,
    )
    after = replace(
        before,
        entitlement=replace(
            before.entitlement,
            grants=(*before.entitlement.grants, Grant(first_day=day, half_days=figures[1])),
            pro_rata=(
                *before.entitlement.pro_rata,
                ProRataFrom(first_day=day, rule=rules[1]),
            ),
        ),
        terms=(*before.terms, TermsFrom(first_day=day, terms=second)),
    )
    taken = [deduction(*each) for each in leave]

    for old, new in zip(
        year_balances.of_years(before, taken, FIRST, LAST),
        year_balances.of_years(after, taken, FIRST, LAST),
        strict=True,
    ):
        if old.last_day < day:
            assert new.final_half_days == old.final_half_days
            # Of a year before employment, the ledger takes back the first figure.
            if start_date is None or start_date <= old.last_day:
                assert replace(new, employment=old.employment) == old


@dataclass(frozen=True, kw_only=True)
class Dated:
    valid_from: date | None
    is_by_leave_year: bool
    value: int
    other: int = 0


@given(
    st.lists(
        st.tuples(st.dates(FIRST, LAST), st.booleans(), st.integers(0, 2)), min_size=1, max_size=5
    ),
    st.dates(date(2020, 1, 1), date(2025, 12, 31)).filter(lambda day: day.day <= 28),
)
def test_a_dated_change_leaves_values_of_leave_years_before_it_as_they_are(
    changes: list[tuple[date, bool, int]], start_date: date
) -> None:
    """For a person with other leave years, too, and also where repeated values are left out."""
    rule = LeaveYearRule(type="anniversary", month=1, day=1, start_date=start_date)
    values: tuple[Dated, ...] = (Dated(valid_from=None, is_by_leave_year=False, value=0),)
    for day, is_by_leave_year, value in changes:
        at = dated.on(values, CALENDAR, day) or values[0]
        new = replace(at, valid_from=day, is_by_leave_year=is_by_leave_year, value=value)
        earlier = values
        values = dated.changed_from(values, at, new, {"value": value})
        shorter = dated.without_repeated(values)
        for each in (*days(day - 400 * DAY, day - 300 * DAY), day - 31 * DAY, day - DAY, day, LAST):
            was, found = dated.on(earlier, rule, each), dated.on(values, rule, each)
            short = dated.on(shorter, rule, each)
            assert was is not None
            assert found is not None
            assert short is not None
            assert (found.value, found.other) == (short.value, short.other)
            anniversary = start_date.replace(year=each.year, day=min(start_date.day, 28))
            ends = anniversary if each < anniversary else anniversary.replace(year=each.year + 1)
            if ends <= day:
                assert found.value == was.value
            # A later value may count from the beginning of the person's leave year of that day.
            is_overtaken = any(
                later.valid_from is not None
                and later.valid_from > day
                and dated.first_day(later, rule) <= day
                for later in values
            )
            if not is_by_leave_year and each == day and at.value != value and not is_overtaken:
                assert found.value == value


# Parts of a leave year.


def allowance(
    rule: ProRata,
    days_per_year: float | Fraction,
    start_date: date | None = None,
    end_date: date | None = None,
    *,
    year: LeaveYear = YEAR,
    is_monthly: bool = False,
) -> entitlements.YearAllowance:
    half_days = Fraction(days_per_year) * 2
    grant = Grant(
        first_day=date.min, half_days=int(half_days) if half_days.denominator == 1 else half_days
    )
    entitlement = Entitlement(
        grants=(grant,),
        start_date=start_date,
        end_date=end_date,
        pro_rata=(ProRataFrom(first_day=date.min, rule=rule),),
    )
    return entitlements.of_year(entitlement, year, is_monthly=is_monthly)


@given(
    _rules,
    st.integers(0, 60),
    st.none() | st.dates(date(2025, 1, 1), date(2029, 1, 1)),
    st.none() | st.dates(date(2025, 1, 1), date(2029, 1, 1)),
)
def test_monthly_granting_never_falls_and_ends_with_the_year(
    rule: ProRata, half_days: int, start_date: date | None, end_date: date | None
) -> None:
    assume(start_date is None or end_date is None or start_date <= end_date)
    found = allowance(rule, Fraction(half_days, 2), start_date, end_date, is_monthly=True)
    yearly = allowance(rule, Fraction(half_days, 2), start_date, end_date)

    by_day = [found.half_days_by(day) for day in days(YEAR.first_day, YEAR.last_day)]

    assert by_day == sorted(by_day)
    assert found.prorated_half_days == yearly.prorated_half_days
    is_employed = (start_date or YEAR.first_day) <= YEAR.last_day and (
        end_date or YEAR.last_day
    ) >= YEAR.first_day
    assert by_day[-1] == (yearly.prorated_half_days if is_employed else 0)
    assert is_employed or yearly.prorated_half_days == 0
    if start_date is None and end_date is None:
        assert by_day == [
            ceil(Fraction(half_days * day.month, 12)) for day in days(YEAR.first_day, YEAR.last_day)
        ]


def rounded(amount: Fraction, rounding: str) -> Fraction:
    """Days rounded as an accountant would."""
    step = Decimal("0.5") if rounding.startswith("half") else Decimal(1)
    steps = amount / Fraction(step)
    if rounding.endswith("up"):
        return ceil(steps) * Fraction(step)
    whole = (Decimal(steps.numerator) / Decimal(steps.denominator)).quantize(
        Decimal(1), rounding=ROUND_HALF_UP
    )
    return Fraction(whole) * Fraction(step)


def full_months(first: date, last: date) -> int:
    """Months of employment that are complete, by walking from day to day."""
    count, month_began = 0, first
    for day in days(first, last):
        after = day + DAY
        is_next_month = (after.year, after.month) != (month_began.year, month_began.month)
        last_of_month = (after.replace(day=28) + 4 * DAY).replace(day=1) - DAY
        if is_next_month and after.day == min(first.day, last_of_month.day):
            count, month_began = count + 1, after
    return count


@given(
    _rules,
    st.integers(0, 30),
    st.dates(date(2026, 6, 1), date(2027, 12, 1)),
    st.none() | st.dates(date(2027, 1, 1), date(2028, 6, 1)),
)
def test_a_part_of_a_year_is_that_of_the_model(
    rule: ProRata, days_per_year: int, start_date: date, end_date: date | None
) -> None:
    """Without full claims: those are in the next test."""
    assume(end_date is None or start_date <= end_date)
    rule = replace(rule, full_claim_after_months=None, full_claim_for_leavers_after_june=False)
    employed = [
        day
        for day in days(YEAR.first_day, YEAR.last_day)
        if start_date <= day and (end_date is None or day <= end_date)
    ]
    is_leaver = end_date is not None and end_date < YEAR.last_day
    if len(employed) == 365:
        part = Fraction(1)
    elif rule.method == "days" or (rule.method == "months_started" and is_leaver):
        part = Fraction(len(employed), 365)
    elif rule.method == "months_started":
        part = Fraction(len({day.month for day in employed}), 12)
    else:
        part = Fraction(full_months(employed[0], employed[-1]), 12)

    found = allowance(rule, days_per_year, start_date, end_date)

    expected = rounded(days_per_year * part, rule.rounding) if part < 1 else Fraction(days_per_year)
    assert Fraction(found.prorated_half_days, 2) == expected
    assert found.granted_half_days + sum(step.half_days for step in found.steps) == (
        found.prorated_half_days
    )


@pytest.mark.parametrize(
    ("days_per_year", "start", "end", "on", "expected"),
    [
        # BUrlG § 5 (1) a: a twelfth for each full month, as the six months end in the next year.
        (24, date(2027, 7, 1), None, date(2027, 12, 31), 12),
        (24, date(2027, 7, 2), None, date(2027, 12, 31), 10),
        # § 4: the full claim, once employment has lasted six months.
        (30, date(2027, 6, 1), None, date(2027, 11, 30), 18),
        (30, date(2027, 6, 1), None, date(2027, 12, 1), 30),
        # § 5 (1) b: who leaves before six months.
        (24, date(2027, 2, 1), date(2027, 6, 30), date(2027, 6, 30), 10),
        (24, date(2027, 2, 1), date(2027, 7, 31), date(2027, 7, 31), 12),
        (24, date(2027, 2, 1), date(2027, 8, 1), date(2027, 8, 1), 24),
        # Months of employment are full, whichever day they begin on.
        (24, date(2027, 1, 15), date(2027, 4, 13), date(2027, 4, 13), 4),
        (24, date(2027, 1, 15), date(2027, 4, 14), date(2027, 4, 14), 6),
        # § 5 (1) c: who leaves in the first half of a year after six months.
        (20, date(2020, 1, 1), date(2027, 6, 30), date(2027, 6, 30), 10),
        (20, date(2020, 1, 1), date(2027, 3, 30), date(2027, 3, 30), 3),
        (20, date(2020, 1, 1), date(2027, 7, 31), date(2027, 7, 31), 20),
        # § 5 (2): at least half a day is a day.
        (30, date(2020, 1, 1), date(2027, 1, 31), date(2027, 1, 31), 3),
        (29, date(2020, 1, 1), date(2027, 1, 31), date(2027, 1, 31), 2),
    ],
)
def test_parts_of_a_year_in_germany(
    days_per_year: int, start: date, end: date | None, on: date, expected: int
) -> None:
    found = allowance(GERMAN, days_per_year, start, end)

    assert found.half_days_by(on) == 2 * expected


@pytest.mark.parametrize(
    ("days_per_year", "first_day", "start", "expected"),
    [
        # The last row of the contract's table.
        (28, date(2026, 5, 1), date(2026, 9, 23), 19),
        (28, date(2027, 1, 1), date(2027, 1, 31), 28),
        (28, date(2027, 1, 1), date(2027, 2, 1), 26),
        (28, date(2027, 1, 1), date(2027, 2, 28), 26),
        (28, date(2027, 1, 1), date(2027, 7, 1), 14),
        (Fraction("16.8"), date(2027, 1, 1), date(2027, 12, 31), 1.5),
        # A month of a leave year from the 6th begins on the 6th.
        (28, date(2027, 4, 6), date(2027, 5, 5), 28),
        (28, date(2027, 4, 6), date(2027, 5, 6), 26),
    ],
)
def test_starters_in_britain(
    days_per_year: float, first_day: date, start: date, expected: float
) -> None:
    year = LeaveYear(first_day=first_day, last_day=first_day.replace(year=first_day.year + 1) - DAY)

    found = allowance(BRITISH, days_per_year, start, year=year)

    assert found.prorated_half_days == 2 * expected


# The figures are those of the calculator's own tests (alphagov/smart-answers,
# holiday_entitlement_test.rb). It gives leavers tenths, which the preset rounds up to half days.
@pytest.mark.parametrize(
    ("days_a_week", "first_day", "start", "end", "of_the_calculator"),
    [
        # Starters: twelfths of the months that they have started, in half days.
        (5, date(2019, 1, 1), date(2019, 6, 1), None, "16.5"),
        (3, date(2019, 4, 1), date(2019, 11, 23), None, "7"),
        (3, date(2020, 8, 1), date(2021, 2, 9), None, "8.5"),
        (1, date(2019, 7, 1), date(2020, 2, 13), None, "2.5"),
        (2, date(2018, 6, 6), date(2019, 5, 10), None, "1"),
        (4, date(2020, 3, 1), date(2020, 3, 3), None, "22.5"),
        # Leavers: their days of the leave year, which may have 366.
        (5, date(2019, 1, 1), None, date(2019, 6, 1), "11.7"),
        (3, date(2018, 4, 1), None, date(2018, 11, 23), "11"),
        (5, date(2020, 1, 1), None, date(2020, 6, 1), "11.8"),
        (3, date(2019, 4, 1), None, date(2019, 11, 23), "10.9"),
        (5, date(2020, 5, 1), None, date(2020, 10, 20), "13.3"),
        (5, date(2019, 3, 1), None, date(2019, 9, 6), "14.6"),
        (3, date(2018, 2, 1), None, date(2018, 5, 5), "4.4"),
        (4, date(2019, 11, 1), None, date(2020, 6, 4), "13.3"),
        # Both in one leave year: days, too.
        (5, date(2019, 1, 1), date(2019, 1, 20), date(2019, 7, 18), "13.9"),
        (3, date(2018, 11, 23), date(2018, 11, 23), date(2019, 4, 7), "6.3"),
        (5, date(2019, 8, 22), date(2019, 8, 22), date(2020, 7, 31), "26.4"),
        (2, date(2019, 8, 9), date(2019, 8, 9), date(2020, 1, 1), "4.5"),
        (5, date(2019, 10, 4), date(2019, 10, 4), date(2020, 6, 23), "20.2"),
    ],
)
def test_britain_has_the_figures_of_the_calculator_of_gov_uk(
    days_a_week: int, first_day: date, start: date | None, end: date | None, of_the_calculator: str
) -> None:
    year = LeaveYear(first_day=first_day, last_day=first_day.replace(year=first_day.year + 1) - DAY)
    weeks = Fraction("5.6")

    found = allowance(BRITISH, weeks * days_a_week, start or date(2010, 1, 1), end, year=year)

    assert found.prorated_half_days == ceil(2 * Fraction(of_the_calculator))


def test_a_year_before_employment_grants_nothing_by_months() -> None:
    for rule in (BRITISH, GERMAN, ProRata()):
        assert allowance(rule, 24, date(2028, 3, 1)).prorated_half_days == 0
        assert allowance(rule, 24, date(2020, 3, 1), date(2026, 3, 1)).prorated_half_days == 0
