"""Dated records of employment: what counts on each date, and the allowance of a leave year."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.allowance_values import Amount
from storage.base.values import EmploymentRecord, Organisation, User
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules import counted_days, employment_terms, entitlements
from storage.rules.counted_days import Span
from storage.rules.entitlements import Entitlement, Grant, Step
from storage.rules.leave_years import LeaveYear
from tests.spans import any_span
from tests.values import LONG_AGO

YEAR_2026 = LeaveYear(first_day=date(2026, 1, 1), last_day=date(2026, 12, 31))
JUNE = date(2026, 6, 1)
FIVE = ("monday", "tuesday", "wednesday", "thursday", "friday")
THREE = ("monday", "tuesday", "wednesday")
ORGANISATION = Organisation(
    id="acme",
    name="Acme",
    slug="acme",
    domain=None,
    logo_url=None,
    country_code="GB",
    timezone="Europe/London",
    working_days=FIVE,
    leave_year_type="calendar",
    leave_year_start_month=1,
    leave_year_start_day=1,
    default_leave_allowance_half_days=50,
    carry_over_half_days=0,
    carry_over_expiry_month=None,
    day_starts_at="09:00",
    midday_at="13:00",
    day_ends_at="17:00",
    slack_team_id=None,
    slack_members_join=True,
    digest_channel=None,
    expiry_notices=True,
    reference_version=1,
    created_at=LONG_AGO,
    updated_at=LONG_AGO,
)
CONFIG = OrganisationConfig(
    organisation=ORGANISATION,
    departments={},
    leave_types={},
    allowances=organisation_config.allowances_of(ORGANISATION, []),
    holiday_sets={},
    holiday_categories={},
    overrides={},
    webhooks=[],
    is_in_slack=False,
)
FIRST = EmploymentRecord(
    id="first",
    valid_from=None,
    working_days=None,
    leave_allowance_half_days=None,
    public_holiday_country_code=None,
    department_id=None,
)
ADA = User(
    id="first",
    email="ada@example.com",
    first_name="Ada",
    last_name="Lovelace",
    role="member",
    status="active",
    department_id=None,
    manager_id=None,
    job_title=None,
    start_date=None,
    end_date=None,
    working_days=None,
    public_holiday_country_code=None,
    leave_allowance_half_days=None,
    employment=None,
    avatar_url=None,
    timezone=None,
    slack_user_id=None,
    created_at=LONG_AGO,
    updated_at=LONG_AGO,
    version=1,
)


def granted(half_days: Amount, first_day: date = date.min) -> Grant:
    return Grant(first_day=first_day, half_days=half_days)


def prorated(*grants: Grant, start: date | None = None, end: date | None = None) -> Amount:
    entitlement = Entitlement(grants=grants, start_date=start, end_date=end)
    return entitlements.of_year(entitlement, YEAR_2026).prorated_half_days


@pytest.mark.parametrize(
    ("start_date", "half_days"),
    [
        pytest.param(None, 50, id="no start date"),
        pytest.param(date(2019, 5, 1), 50, id="here for years"),
        pytest.param(date(2026, 1, 1), 50, id="from the first day"),
        pytest.param(date(2026, 1, 2), 50, id="a day late, rounded up"),
        pytest.param(date(2026, 7, 1), 26, id="184 of 365 days: 25.2 rounded up"),
        pytest.param(date(2026, 10, 20), 10, id="73 of 365 days: exact, not rounded"),
        pytest.param(date(2026, 12, 31), 1, id="last day"),
        pytest.param(date(2027, 1, 1), 0, id="not yet here"),
    ],
)
def test_a_first_year_is_prorated_and_rounded_up(start_date: date | None, half_days: int) -> None:
    assert prorated(granted(50), start=start_date) == half_days


@pytest.mark.parametrize(
    ("end_date", "half_days"),
    [
        pytest.param(date(2027, 5, 1), 50, id="next year"),
        pytest.param(date(2026, 12, 31), 50, id="last day of the year"),
        pytest.param(date(2026, 7, 2), 26, id="183 of 365 days: 25.07 rounded up"),
        pytest.param(date(2026, 3, 14), 10, id="73 of 365 days: exact"),
        pytest.param(date(2026, 1, 1), 1, id="first day"),
        pytest.param(date(2025, 12, 31), 0, id="gone before"),
    ],
)
def test_a_last_year_is_prorated_and_rounded_up(end_date: date, half_days: int) -> None:
    assert prorated(granted(50), end=end_date) == half_days


@given(st.integers(0, 200), st.dates(date(2026, 1, 1), date(2026, 12, 31)))
def test_a_prorated_amount_never_exceeds_the_allowance_and_falls_with_every_day(
    allowance_half_days: int, start_date: date
) -> None:
    part = prorated(granted(allowance_half_days), start=start_date)
    a_day_later = prorated(granted(allowance_half_days), start=start_date + timedelta(days=1))

    assert 0 <= a_day_later <= part <= allowance_half_days
    present = (date(2027, 1, 1) - start_date).days
    assert part == ceil(round(allowance_half_days * present / 365, 9))


def test_a_year_with_two_allowances_is_rounded_once() -> None:
    # 151 days of 25 and 214 days of 15: 10.34 + 8.79 = 19.14 days. Rounded each, it would be 20.
    year = entitlements.of_year(Entitlement(grants=(granted(50), granted(30, JUNE))), YEAR_2026)

    assert (year.granted_half_days, year.prorated_half_days) == (50, 39)
    assert year.steps == (Step(kind="change", day=JUNE, half_days=-11),)


def test_a_year_explains_its_start_change_and_end_in_order() -> None:
    start, end = date(2026, 2, 1), date(2026, 9, 30)
    entitlement = Entitlement(
        grants=(granted(50), granted(30, JUNE), granted(60, date(2026, 11, 1))),
        start_date=start,
        end_date=end,
    )

    year = entitlements.of_year(entitlement, YEAR_2026)

    # 120 days of 50 and 122 days of 30.
    assert year.prorated_half_days == ceil((120 * 50 + 122 * 30) / 365)
    assert [(step.kind, step.day) for step in year.steps] == [
        ("start", start),
        ("change", JUNE),
        ("end", end),
    ]
    assert 50 + sum(step.half_days for step in year.steps) == year.prorated_half_days


some_days = st.dates(date(2025, 11, 1), date(2027, 2, 1))
some_grants = st.lists(
    st.tuples(some_days, st.integers(0, 80)), max_size=4, unique_by=lambda item: item[0]
).map(lambda later: (granted(50), *(granted(amount, day) for day, amount in sorted(later))))


@given(some_grants, st.none() | some_days, st.none() | some_days, some_days)
def test_cutting_a_grant_in_two_equal_ones_changes_nothing(
    grants: tuple[Grant, ...], start: date | None, end: date | None, cut: date
) -> None:
    earlier = [grant for grant in grants if grant.first_day < cut]
    later = [grant for grant in grants if grant.first_day >= cut]
    halves = granted(earlier[-1].half_days, cut)
    entitlement = Entitlement(grants=grants, start_date=start, end_date=end)

    whole = entitlements.of_year(entitlement, YEAR_2026)
    in_two = entitlements.of_year(
        replace(entitlement, grants=(*earlier, halves, *later)), YEAR_2026
    )

    if halves.first_day not in {grant.first_day for grant in later}:
        assert in_two == whole
    present = [
        day
        for day in (date(2026, 1, 1) + timedelta(days=offset) for offset in range(365))
        if day >= (start or day) and day <= (end or day)
    ]
    by_day = sum(
        [grant for grant in grants if grant.first_day <= day][-1].half_days for day in present
    )
    assert whole.prorated_half_days == -(-by_day // 365)
    assert whole.granted_half_days + sum(step.half_days for step in whole.steps) == (
        whole.prorated_half_days
    )


weeks = st.sampled_from((None, FIVE, THREE, ("monday:am", "saturday")))
countries = st.sampled_from((None, "GB-SCT", "DE-BY"))


@st.composite
def some_records(draw: st.DrawFn) -> employment_terms.Records:
    days_of_change = draw(
        st.lists(st.dates(date(2025, 12, 1), date(2026, 4, 1)), max_size=3, unique=True)
    )
    later = [
        replace(
            FIRST,
            id=f"record-{number}",
            valid_from=day,
            working_days=draw(weeks),
            public_holiday_country_code=draw(countries),
        )
        for number, day in enumerate(sorted(days_of_change))
    ]
    first = replace(FIRST, working_days=draw(weeks), public_holiday_country_code=draw(countries))
    return (first, *later)


def counted(
    person: employment_terms.Records, span: Span, today: date = JUNE
) -> list[counted_days.DayCount]:
    return employment_by_date.count(CONFIG, employment_terms.with_records(ADA, person, today), span)


@given(some_records(), any_span(), st.dates(date(2025, 12, 1), date(2026, 4, 1)))
def test_cutting_a_record_in_two_equal_ones_counts_the_same(
    person: employment_terms.Records, span: Span, cut: date
) -> None:
    if any(record.valid_from == cut for record in person):
        return
    equal = replace(employment_terms.on(person, cut), id="cut", valid_from=cut)

    assert counted(employment_terms.with_added(person, equal), span) == counted(person, span)


@given(some_records(), any_span(), st.dates(date(2025, 12, 1), date(2026, 4, 1)))
def test_every_date_counts_as_if_its_record_were_the_only_one(
    person: employment_terms.Records, span: Span, today: date
) -> None:
    by_day = {
        count.date: count
        for record in person
        for count in counted((replace(record, id="first", valid_from=None),), span)
        if employment_terms.on(person, count.date) is record
    }

    assert counted(person, span, today) == [by_day[day] for day in sorted(by_day)]


@given(some_records(), st.dates(date(2025, 11, 1), date(2026, 5, 1)))
def test_records_are_the_same_whichever_of_them_is_todays(
    person: employment_terms.Records, today: date
) -> None:
    user = employment_terms.with_records(ADA, person, today)

    assert employment_terms.records_of(user) == person
    assert user.working_days == employment_terms.on(person, today).working_days


def test_leave_across_a_change_to_three_days_counts_each_week_by_its_own() -> None:
    part_time = replace(FIRST, id="second", valid_from=JUNE, working_days=THREE)
    # Monday 25 May, a bank holiday, to Friday 5 June; the afternoon of the first day only.
    span = Span(start_date=date(2026, 5, 26), end_date=date(2026, 6, 5), start_half_day="pm")

    assert counted_days.counted_halves(counted((FIRST, part_time), span)) == "23330033300"


def changed(
    person: employment_terms.Records, day: date | None, **changes: Any
) -> list[tuple[date | None, tuple[str, ...] | None, str | None]]:
    """When each record begins, its working days and its country."""
    return [
        (record.valid_from, record.working_days, record.public_holiday_country_code)
        for record in employment_terms.changed_from(person, day, changes, "new")
    ]


JULY, AUGUST = date(2026, 7, 1), date(2026, 8, 1)
IN_AUGUST = replace(FIRST, id="august", valid_from=AUGUST, working_days=THREE)


@pytest.mark.parametrize(
    ("day", "changes", "expected"),
    [
        pytest.param(
            JULY,
            {"public_holiday_country_code": "FR"},
            [(None, None, None), (JULY, None, "FR"), (AUGUST, THREE, "FR")],
            id="a later record keeps only values of its own",
        ),
        pytest.param(
            JULY,
            {"working_days": FIVE},
            [(None, None, None), (JULY, FIVE, None), (AUGUST, THREE, None)],
            id="a planned change stays planned",
        ),
        pytest.param(
            AUGUST,
            {"working_days": FIVE},
            [(None, None, None), (AUGUST, FIVE, None)],
            id="the record of that day is changed",
        ),
        pytest.param(
            AUGUST, {"working_days": None}, [(None, None, None)], id="an undone record is left out"
        ),
        pytest.param(
            JULY,
            {"working_days": None},
            [(None, None, None), (AUGUST, THREE, None)],
            id="an unchanged value makes no record",
        ),
        pytest.param(
            None,
            {"public_holiday_country_code": "FR"},
            [(None, None, "FR"), (AUGUST, THREE, "FR")],
            id="from the first day",
        ),
    ],
)
def test_a_change_from_a_day_on(
    day: date | None, changes: dict[str, Any], expected: list[object]
) -> None:
    assert changed((FIRST, IN_AUGUST), day, **changes) == expected


def test_only_the_days_whose_value_differs_are_recalculated() -> None:
    before = (FIRST, IN_AUGUST)
    in_july = replace(FIRST, id="july", valid_from=JULY, working_days=("friday",))

    periods = employment_terms.differing_periods(
        before, (FIRST, in_july, IN_AUGUST), lambda record: record.working_days
    )

    assert periods == [(JULY, date(2026, 7, 31))]


@pytest.mark.parametrize(
    ("today", "end_date", "due"),
    [
        pytest.param(JULY, None, AUGUST, id="the next record"),
        pytest.param(AUGUST, None, None, id="no later record"),
        pytest.param(JULY, date(2026, 7, 15), date(2026, 7, 16), id="the day after the last"),
        pytest.param(AUGUST, date(2026, 9, 30), date(2026, 10, 1), id="after the last record"),
    ],
)
def test_a_person_is_due_when_a_record_begins_or_after_the_last_day(
    today: date, end_date: date | None, due: date | None
) -> None:
    user = employment_terms.with_records(replace(ADA, end_date=end_date), (FIRST, IN_AUGUST), today)

    assert employment_terms.due_on(user) == due
