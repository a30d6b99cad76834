"""An office for random sequences of steps: Grace decides on the leave of Ada and Bob."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from hypothesis import strategies as st

from storage.admin import allowances
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Database, Transaction
from storage.leave.drafts import Draft
from tests.builders import (
    NOW,
    Acme,
    a_leave_type,
    a_person,
    an_organisation,
    caller_for,
    personal_token,
    type_id,
)
from tests.storage import snapshots
from tests.storage.snapshots import Snapshot

# All leave years of the sequences are recorded, so that each carries days over.
OPENED_AT: Final = datetime(2024, 3, 1, tzinfo=UTC)
# The settings of each kind of leave year, and the last days of three years.
LEAVE_YEARS: Final[Mapping[str, tuple[Mapping[str, Any], Sequence[date]]]] = {
    "calendar": ({}, [date(year, 12, 31) for year in (2025, 2026, 2027)]),
    "fiscal": (
        {"leave_year_start_month": 4, "leave_year_start_day": 6},
        [date(year, 4, 5) for year in (2026, 2027, 2028)],
    ),
    "anniversary": ({}, [date(2026, 2, 28), date(2027, 2, 28), date(2028, 2, 29)]),
}

WEEKS: Final = (
    ["monday", "tuesday", "wednesday", "thursday", "friday"],
    ["monday", "tuesday:am", "thursday"],
    ["wednesday", "thursday", "friday:pm", "saturday"],
)
# Before turns of leave years and today, so that leave of different steps meets.
BUSY_DAYS: Final = (
    date(2025, 12, 24),
    date(2026, 5, 28),
    date(2026, 12, 24),
    date(2027, 2, 24),
    date(2027, 4, 1),
)


def _day_after(day: date, days: int) -> date:
    return day + timedelta(days=days)


some_days: Final = st.builds(_day_after, st.sampled_from(BUSY_DAYS), st.integers(0, 9))
drafts: Final = st.fixed_dictionaries(
    {
        "code": st.sampled_from(["annual", "annual", "annual", "sick"]),
        "start_date": some_days,
        "days": st.sampled_from([1, 2, 3, 5, 12]),
        "start_half_day": st.sampled_from([None, None, "pm"]),
        "end_half_day": st.sampled_from([None, None, "am"]),
    }
)
employment: Final = st.fixed_dictionaries(
    {},
    optional={
        "working_days": st.sampled_from([None, *WEEKS]),
        "leave_allowance_half_days": st.sampled_from([None, 0, 7, 10, 16]),
        "public_holiday_country_code": st.sampled_from([None, "DE", "IN"]),
    },
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Office:
    """``people``: Ada and Bob. ``types``: ids by code. ``feed_tokens``: by person."""

    database: Database
    acme: Acme
    grace: Caller
    people: list[User]
    types: dict[str, str]
    feed_tokens: dict[str, str]
    year_ends: Sequence[date]

    @property
    def owner(self) -> Caller:
        return self.acme.caller

    def caller(self, person: User) -> Caller:
        return caller_for(self.acme, person)

    def requester(self, request: LeaveRequest) -> Caller:
        return next(self.caller(person) for person in self.people if person.id == request.user_id)

    def draft(self, drawn: Mapping[str, Any]) -> Draft:
        """Of values that ``drafts`` draws."""
        return Draft(
            leave_type_id=self.types[drawn["code"]],
            start_date=drawn["start_date"],
            end_date=_day_after(drawn["start_date"], drawn["days"] - 1),
            start_half_day=drawn["start_half_day"],
            end_half_day=drawn["end_half_day"],
        )

    def snapshot(self) -> Snapshot:
        return self.database.read_now(self.read_snapshot)

    def read_snapshot(self, tx: Transaction) -> Snapshot:
        return snapshots.read(tx, self.feed_tokens, self.year_ends, by=self.owner)


def an_office(
    database: Database,
    *,
    leave_years: str,
    allowance: int,
    carry_over: int,
    expiry_month: int | None,
) -> Office:
    """``allowance``, of each person, and ``carry_over`` are in half-days.

    Leave types are annual, sick and care leave: care interrupts other leave as sick leave does, but
    uses the allowance and needs approvals.
    """
    settings, year_ends = LEAVE_YEARS[leave_years]
    terms: dict[str, object] = {}
    if leave_years == "anniversary" and expiry_month is not None:
        # They begin on 1 March.
        terms, expiry_month = {"carry_over_expires_after_months": expiry_month - 2}, None
    acme = an_organisation(
        database,
        now=OPENED_AT,
        leave_year_type=leave_years,
        carry_over_half_days=carry_over,
        carry_over_expiry_month=expiry_month,
        **settings,
    )
    # For all leave years, as the settings.
    acme.write(allowances.update, acme.id, terms, effective_from=date(2000, 1, 1))
    grace = a_person(database, acme, first_name="Grace", now=OPENED_AT)
    people = [
        a_person(
            database,
            acme,
            first_name=name,
            manager_id=grace.id,
            start_date=OPENED_AT.date(),
            leave_allowance_half_days=allowance,
            now=OPENED_AT,
        )
        for name in ("Ada", "Bob")
    ]
    a_leave_type(
        database,
        acme,
        name="Care",
        may_interrupt=True,
        approvers_may_record=True,
        changes_need_approval=True,
    )
    return Office(
        database=database,
        acme=acme,
        grace=caller_for(acme, grace),
        people=people,
        types={code: type_id(database, acme, code) for code in ("annual", "sick", "care")},
        feed_tokens={
            person.id: database.write_now(personal_token, by=caller_for(acme, person), now=NOW)
            for person in people
        },
        year_ends=year_ends,
    )
