"""Snapshots of a few people: what lists, ledgers and feeds say of them, and whether they agree."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any, Final

from storage.base.allowance_values import Amount
from storage.base.calendar_values import Absence
from storage.base.leave_values import Amendment, LeaveRequest
from storage.base.values import Caller, User
from storage.calendars import absences, feed_owners
from storage.calendars.feed_owners import FeedOwner
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.leave import leave_amendments, leave_lists, ledgers
from storage.leave.bookings import BookedLeave
from storage.leave.drafts import Draft
from storage.leave.ledgers import Balance
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date, people_rows
from storage.rules import counted_days, employment_terms
from storage.rules.counted_days import Span
from storage.rules.leave_years import LeaveYear
from tests.builders import NOW

LIVE: Final = ("pending", "approved")
_ALLOWANCE: Final = ("allowance", "pro_rata", "allowance_change", "employment_end")
_DAY: Final = timedelta(days=1)

# The leave type of each counted half of each person, numbered like `counted_days.Span.first_slot`.
Calendar = dict[tuple[str, int], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonSnapshot:
    """``leave``: pending and approved. ``balances``: of consecutive leave years, on their ends."""

    user: User
    leave: list[LeaveRequest]
    balances: list[Balance]
    feed: FeedOwner
    absences: list[Absence]


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """``requests``: pending and approved first. ``amendments``: the open ones, by request."""

    config: OrganisationConfig
    requests: list[LeaveRequest]
    amendments: dict[str, Amendment]
    people: list[PersonSnapshot]

    @property
    def calendar(self) -> Calendar:
        return {
            (request.user_id, half): request.leave_type_id
            for person in self.people
            for request in person.leave
            for half in halves_of(request)
        }

    @property
    def holiday_set_id(self) -> str:
        """Of the organisation's own country."""
        return next(
            holiday_set.id
            for holiday_set in self.config.holiday_sets.values()
            if holiday_set.country_code == self.config.organisation.country_code
        )

    @property
    def outcome(self) -> list[Any]:
        """What steps have led to, without the ids that they made."""
        leave = [
            (_facts(request), str(time_of(self.amendments.get(request.id, request))))
            for request in self.requests
        ]
        employment = [
            (
                person.user.end_date,
                [replace(record, id="") for record in employment_terms.records_of(person.user)],
            )
            for person in self.people
        ]
        holidays = {
            country_code: sorted(override.date for override in overrides)
            for country_code, overrides in self.config.overrides.items()
        }
        return [sorted(leave), employment, holidays]


def read(
    tx: Transaction, feed_tokens: Mapping[str, str], year_ends: Sequence[date], *, by: Caller
) -> Snapshot:
    """The snapshot of the people with these feeds; ``year_ends`` are last days of leave years."""
    requests = leave_lists.filtered(tx, PageOf(limit=200), by=by).items
    in_order = list(feed_tokens)
    requests.sort(
        key=lambda request: (
            request.status not in LIVE,
            in_order.index(request.user_id),
            counted_days.span_of(request).first_slot,
        )
    )
    return Snapshot(
        config=organisation_config.of_organisation(tx, by.organisation_id),
        requests=requests,
        amendments={
            request.id: amendment
            for request in requests
            if request.amendment_id is not None
            and (amendment := leave_amendments.find(tx, by.organisation_id, request.amendment_id))
        },
        people=[
            _read_person(tx, user_id, token, year_ends, requests, by=by)
            for user_id, token in feed_tokens.items()
        ],
    )


def _read_person(
    tx: Transaction,
    user_id: str,
    feed_token: str,
    year_ends: Sequence[date],
    requests: Sequence[LeaveRequest],
    *,
    by: Caller,
) -> PersonSnapshot:
    feed = feed_owners.find_by_token(tx, feed_token)
    assert feed is not None
    first_day, last_day = date(2023, 1, 1), date(2030, 1, 1)
    return PersonSnapshot(
        user=people_rows.get(tx, user_id, by=by),
        leave=[
            request for request in requests if request.user_id == user_id and request.status in LIVE
        ],
        balances=[ledgers.balance(tx, user_id, on=day, by=by, now=NOW) for day in year_ends],
        feed=feed,
        absences=absences.visible(
            tx,
            feed,
            "personal",
            organisation_config.of_organisation(tx, by.organisation_id).leave_types,
            first_day=first_day,
            last_day=last_day,
            now=NOW,
        ),
    )


def check(before: Snapshot, after: Snapshot, *, overdrawn: Collection[str]) -> None:
    """Check that all figures agree after a step.

    ``overdrawn``: the ids of people whose allowance the step may have overdrawn.
    """
    for person in after.people:
        _check_leave(after, person)
        _check_ledgers(after, person)
        _check_feed(after, person)
    for old, new in zip(before.people, after.people, strict=True):
        _check_calendar_programs(old, new)
        if new.user.id not in overdrawn:
            for old_balance, balance in zip(old.balances, new.balances, strict=True):
                assert balance.remaining_half_days >= min(old_balance.remaining_half_days, 0)


def _check_leave(snapshot: Snapshot, person: PersonSnapshot) -> None:
    """No half is taken twice, and each counts by the rules of its day."""
    for one, other in combinations(person.leave, 2):
        assert not counted_days.overlaps(counted_days.span_of(one), counted_days.span_of(other))
    for request in person.leave:
        counts = employment_by_date.count(
            snapshot.config, person.user, counted_days.span_of(request)
        )
        assert request.counted_halves == counted_days.counted_halves(counts)
        assert request.total_half_days == counted_days.total_half_days(request.counted_halves)
        assert request.end_date <= (person.user.end_date or date.max)
        assert request.amendment_id is None or request.status == "approved"
        assert (request.amendment_id is None) == (request.id not in snapshot.amendments)


def _check_ledgers(snapshot: Snapshot, person: PersonSnapshot) -> None:
    """The ledgers add up, and their leave is that of the list."""
    terms = snapshot.config.allowances[snapshot.config.default_allowance_id].terms[-1]
    for balance in person.balances:
        assert {line.leave.id: -line.half_days for line in balance.lines if line.leave} == {
            request.id: taken
            for request in person.leave
            if snapshot.config.leave_types[request.leave_type_id].deducts_allowance
            and (taken := _half_days_until(balance.year.last_day, request, balance.year))
        }
        assert _sum(balance, *_ALLOWANCE) == _allowance(
            person.user, terms.half_days_per_year or 0, balance.year
        )
        assert balance.remaining_half_days == sum(line.half_days for line in balance.lines)
    for before, balance in pairwise(person.balances):
        left = max(before.remaining_half_days, 0)
        carried = _sum(balance, "carry_over")
        # Nothing is carried past the end of employment.
        is_over = (person.user.end_date or date.max) < balance.year.first_day
        assert carried == (0 if is_over else min(left, terms.carry_over_half_days or 0))
        month, months = terms.carry_over_expiry_month, terms.carry_over_expires_after_months
        if months is not None:
            # Their leave years begin on the first of a month.
            month = (balance.year.first_day.month + months - 2) % 12 + 1
        if month is not None:
            until = next(
                day
                for day in _days_of(balance.year)
                if day.month == month and (day + _DAY).month != month
            )
            used = sum(
                _half_days_until(until, line.leave, balance.year)
                for line in balance.lines
                if line.leave
            )
            assert -_sum(balance, "carry_over_expired") == max(carried - used, 0)


def _check_feed(snapshot: Snapshot, person: PersonSnapshot) -> None:
    """The feed shows exactly the leave of the list."""
    types = snapshot.config.leave_types
    assert {
        (absence.request_id, absence.status, *time_of(absence).values(), absence.summary_type)
        for absence in person.absences
        if absence.status in LIVE
    } == {
        (request.id, request.status, *time_of(request).values(), types[request.leave_type_id].name)
        for request in person.leave
    }


def _check_calendar_programs(old: PersonSnapshot, new: PersonSnapshot) -> None:
    """They find that the feed has changed, and which of its events."""
    assert new.feed != old.feed or new.absences == old.absences
    shown = {absence.request_id: absence for absence in old.absences}
    for absence in new.absences:
        earlier = shown.get(absence.request_id, absence)
        as_earlier = replace(absence, sequence=earlier.sequence, updated_at=earlier.updated_at)
        assert as_earlier == earlier or absence.sequence > earlier.sequence


def halves_of(request: LeaveRequest) -> list[int]:
    """The counted halves, numbered like `counted_days.Span.first_slot`."""
    first = 2 * request.start_date.toordinal()
    return [
        first + 2 * number + half
        for number, digit in enumerate(request.counted_halves)
        for half in (0, 1)
        if int(digit) & (1 << half)
    ]


def time_of(leave: Absence | Amendment | Draft | LeaveRequest | Span) -> dict[str, Any]:
    names = ("start_date", "end_date", "start_half_day", "end_half_day")
    return {name: getattr(leave, name) for name in names}


def _facts(request: LeaveRequest) -> tuple[Any, ...]:
    span = counted_days.span_of(request)
    return (
        request.user_id,
        span.first_slot,
        span.last_slot,
        request.counted_halves,
        request.leave_type_id,
        request.status,
        request.interrupts is not None,
        request.split_from is not None,
        request.amendment_id is not None,
    )


def _half_days_until(day: date, leave: LeaveRequest | BookedLeave, year: LeaveYear) -> int:
    """The half-days of leave in a leave year until a day, which is included."""
    return sum(
        counted_days.total_half_days(digit)
        for number, digit in enumerate(leave.counted_halves)
        if year.first_day <= leave.start_date + number * _DAY <= min(day, year.last_day)
    )


def _sum(balance: Balance, *types: str) -> Amount:
    return sum(line.half_days for line in balance.lines if line.type in types)


@lru_cache(maxsize=64)
def _allowance(user: User, default_half_days: int, year: LeaveYear) -> int:
    """The allowance of a leave year, of which each day of employment grants a part."""
    all_records = employment_terms.records_of(user)
    half_days_by_days: Amount = 0
    length = 0
    for day in _days_of(year):
        length += 1
        if day <= (user.end_date or date.max):
            own = employment_terms.on(all_records, day).leave_allowance_half_days
            half_days_by_days += default_half_days if own is None else own
    return -(-half_days_by_days // length)


def _days_of(year: LeaveYear) -> Iterator[date]:
    day = year.first_day
    while day <= year.last_day:
        yield day
        day += _DAY
