"""The people of the groups of absence limits: when they work, and when they are away.

A fixed number of queries, however many groups, people and days there are: the people of the groups,
and their leave. Of everyone, only people who are away are read. The database counts the others, by
what decides when they work, and only if it matters how many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, partial, reduce
from operator import or_
from typing import Final, NamedTuple, TypedDict

from peewee import SQL, Case, Select, fn

from storage.base.leave_values import AbsenceLimit
from storage.base.values import Employment, EmploymentPeriod, EmploymentRecord
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, compiled, json_member
from storage.db.database import Row, Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date, people_rows
from storage.rules import counted_days, employment_terms
from storage.rules.absence_limits import Attendance, Pattern
from storage.rules.counted_days import Span

# Of a check: more than a year of leave of the largest organisations.
_MAX_ABSENCES: Final = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class _Terms:
    """What decides on which of some days a person works, and for which department."""

    working_days: tuple[str, ...] | None
    public_holiday_country_code: str | None
    department_id: str | None
    start_date: date | None
    end_date: date | None
    earlier_periods: tuple[EmploymentPeriod, ...]
    employment: Employment | None


_terms: Final = rows.mapper(_Terms)


class Group(NamedTuple):
    """The people of a department, or these people; with neither, everyone."""

    department_id: str | None
    user_ids: tuple[str, ...] | None


_EVERYONE: Final = Group(department_id=None, user_ids=None)


def group_of(limit: AbsenceLimit) -> Group:
    return Group(department_id=limit.department_id, user_ids=limit.user_ids)


class Groups:
    """The people of several groups on consecutive days.

    ``leave`` are their absences in these days, up to ``most``; not those of the person ``user_id``,
    who asks for leave and may belong to the groups. Each pattern is worked out once for all who
    have the same terms.
    """

    def __init__(
        self,
        tx: Transaction,
        config: OrganisationConfig,
        groups: Iterable[Group],
        first_day: date,
        last_day: date,
        user_id: str | None = None,
        *,
        most: int = _MAX_ABSENCES,
    ) -> None:
        self._tx = tx
        self._config = config
        self._span = Span(start_date=first_day, end_date=last_day)
        self._days = (last_day - first_day).days + 1
        self._patterns: dict[tuple[object, ...], Pattern] = {}
        self._worked: dict[tuple[object, ...], Pattern] = {}
        is_everyone, departments, listed = _scope(groups)
        if user_id is not None:
            listed.add(user_id)
        if is_everyone:
            found = self._leave_of(None, most)
            listed.update(row.user_id for row in found)
        people = tx.all(
            _people,
            organisation_id=config.organisation.id,
            first_day=first_day.isoformat(),
            last_day=last_day.isoformat(),
            **_wanted(departments, listed),
        )
        # All but the id, which people with the same terms share.
        self._key_of = {row.id: tuple(row)[1:] for row in people}
        self._terms: dict[tuple[object, ...], Row] = {tuple(row)[1:]: row for row in people}
        if not is_everyone:
            found = self._leave_of(sorted(self._key_of.keys() - {user_id}), most)
        self.leave = [row for row in found if row.user_id != user_id]

    def _leave_of(self, user_ids: list[str] | None, most: int) -> list[Row]:
        return self._tx.all(
            _leave,
            organisation_id=self._config.organisation.id,
            user_ids=user_ids,
            type_ids=sorted(
                leave_type.id
                for leave_type in self._config.leave_types.values()
                if leave_type.is_away
            ),
            earliest_start=counted_days.earliest_start(self._span.start_date).isoformat(),
            first_day=self._span.start_date.isoformat(),
            last_day=self._span.end_date.isoformat(),
            limit=most,
        )

    def attendance(self, group: Group, leave: Iterable[Row]) -> Attendance:
        """Who of the group works, and is on this leave."""
        attendance = Attendance(self._span.start_date, self._days, partial(self._counts, group))
        listed = None if group.user_ids is None else frozenset(group.user_ids)
        alike = Counter(
            (self._key_of[row.user_id], row.start_date, row.counted_halves)
            for row in leave
            if row.user_id in self._key_of and (listed is None or row.user_id in listed)
        )
        for (key, start_date, counted_halves), number in alike.items():
            pattern = self._pattern(key, group.department_id)
            attendance.add(pattern, rows.day(start_date), counted_halves, number)
        return attendance

    def _counts(self, group: Group) -> Mapping[Pattern, int]:
        """How many people of the group have each pattern."""
        keys: Counter[tuple[object, ...]]
        if group == _EVERYONE:
            keys = self._everyone
        elif group.user_ids is None:
            keys = Counter(self._key_of.values())
        else:
            keys = Counter(self._key_of[each] for each in group.user_ids if each in self._key_of)
        patterns: Counter[Pattern] = Counter()
        for key, number in keys.items():
            patterns[self._pattern(key, group.department_id)] += number
        return patterns

    @cached_property
    def _everyone(self) -> Counter[tuple[object, ...]]:
        """How many people of the organisation have each terms."""
        counted = self._tx.all(
            _counted,
            organisation_id=self._config.organisation.id,
            first_day=self._span.start_date.isoformat(),
            last_day=self._span.end_date.isoformat(),
        )
        self._terms |= {tuple(row)[1:]: row for row in counted}
        return Counter({tuple(row)[1:]: row.people for row in counted})

    def pattern(self, group: Group, user_id: str) -> Pattern:
        key = self._key_of.get(user_id)
        is_member = group.user_ids is None or user_id in group.user_ids
        if key is None or not is_member:
            return (None,) * self._days
        return self._pattern(key, group.department_id)

    def _pattern(self, key: tuple[object, ...], department_id: str | None) -> Pattern:
        known = self._patterns.get((key, department_id))
        if known is None:
            known = self._pattern_of(_terms(self._terms[key]), department_id)
            self._patterns[key, department_id] = known
        return known

    def _pattern_of(self, terms: _Terms, department_id: str | None) -> Pattern:
        worked: list[int | None] = [None] * self._days
        first_day, last_day = self._span.start_date, self._span.end_date
        for period in employment_terms.periods(_records(terms), first_day, last_day):
            record = period.record
            if department_id is not None and record.department_id != department_id:
                continue
            week = self._week(record)
            start = (period.first_day - first_day).days
            end = (period.last_day - first_day).days + 1
            worked[start:end] = week[start:end]
        present = EmploymentPeriod(start_date=terms.start_date, end_date=terms.end_date)
        employed = (*terms.earlier_periods, present)
        if terms.start_date is not None or terms.end_date is not None:
            for index in range(self._days):
                if not employment_terms.includes(employed, first_day + timedelta(days=index)):
                    worked[index] = None
        return tuple(worked)

    def _week(self, record: EmploymentRecord) -> Pattern:
        """The worked halves of all days by the record: its working days, less public holidays."""
        config = self._config
        working_days = employment_by_date.working_days(config, record)
        country_code = employment_by_date.country_code_of(config, record)
        known = self._worked.get((working_days, country_code))
        if known is None:
            counts = counted_days.count_days(
                self._span,
                counted_days.working_week(working_days),
                employment_by_date.holidays_between(
                    config, country_code, self._span.start_date, self._span.end_date
                ),
            )
            known = tuple(count.counted for count in counts)
            self._worked[working_days, country_code] = known
        return known


def _records(terms: _Terms) -> tuple[EmploymentRecord, ...]:
    employment = terms.employment
    in_force = EmploymentRecord(
        id="" if employment is None else employment.id,
        valid_from=None if employment is None else employment.valid_from,
        working_days=terms.working_days,
        leave_allowance_half_days=None,
        public_holiday_country_code=terms.public_holiday_country_code,
        department_id=terms.department_id,
    )
    if employment is None:
        return (in_force,)
    return tuple(sorted((in_force, *employment.others), key=employment_terms.begin))


def _scope(groups: Iterable[Group]) -> tuple[bool, set[str], set[str]]:
    """Whether a group is everyone; the departments and people of the others."""
    is_everyone, departments, listed = False, set[str](), set[str]()
    for group in groups:
        if group.department_id is not None:
            departments.add(group.department_id)
        elif group.user_ids is not None:
            listed.update(group.user_ids)
        else:
            is_everyone = True
    return is_everyone, departments, listed


class _Wanted(TypedDict):
    department_id: str | None
    records_like: str | None
    user_ids: list[str] | None


def _wanted(departments: set[str], listed: set[str]) -> _Wanted:
    # A person has a few departments at most in the days of a request: then all people are read.
    department_id = next(iter(departments)) if len(departments) == 1 else None
    return {
        "department_id": department_id,
        "records_like": None
        if department_id is None
        else people_rows.pattern_of_records(department_id),
        "user_ids": sorted(listed) if len(departments) < 2 else None,
    }


@compiled
def _people(
    organisation_id: Param[str],
    department_id: Param[str] | None,
    records_like: Param[str] | None,
    user_ids: Param[list[str]] | None,
    first_day: Param[str],
    last_day: Param[str],
) -> Select:
    """Ids and ``_Terms``."""
    query = UserRow.select(UserRow.id, *_columns_of_terms(first_day, last_day)).where(
        _is_counted(organisation_id)
    )
    wanted = []
    if department_id is not None:
        wanted += [UserRow.department_id == department_id, UserRow.employment**records_like]
    if user_ids is not None:
        wanted.append(any_of(UserRow.id, user_ids))
    return query.where(reduce(or_, wanted)) if wanted else query


@compiled
def _counted(organisation_id: Param[str], first_day: Param[str], last_day: Param[str]) -> Select:
    """How many people have each ``_Terms``, whatever their department."""
    columns = _columns_of_terms(first_day, last_day)
    columns[2] = SQL("NULL").alias("department_id")
    return (
        UserRow.select(fn.COUNT(UserRow.id).alias("people"), *columns)
        .where(_is_counted(organisation_id))
        .group_by(*(SQL(str(2 + index)) for index in range(len(columns))))
    )


def _is_counted(organisation_id: Param[str]) -> Expr:
    return (UserRow.organisation_id == organisation_id) & UserRow.status.in_(("active", "pending"))


def _columns_of_terms(first_day: Param[str], last_day: Param[str]) -> list[Expr]:
    """Those of ``_Terms``; dates and other records of employment only where they matter then."""
    starts_later, ends_earlier = UserRow.start_date > first_day, UserRow.end_date < last_day
    has_others = (UserRow.employment_due_on <= last_day) | (
        json_member(UserRow.employment, "valid_from") > first_day
    )
    return [
        UserRow.working_days,
        UserRow.public_holiday_country_code,
        UserRow.department_id,
        Case(None, ((starts_later, UserRow.start_date),), None).alias("start_date"),
        Case(None, ((ends_earlier, UserRow.end_date),), None).alias("end_date"),
        Case(None, ((starts_later, UserRow.earlier_periods),), None).alias("earlier_periods"),
        Case(None, ((has_others, UserRow.employment),), None).alias("employment"),
    ]


@compiled
def _leave(
    organisation_id: Param[str],
    user_ids: Param[list[str]] | None,
    type_ids: Param[list[str]],
    earliest_start: Param[str],
    first_day: Param[str],
    last_day: Param[str],
    limit: Param[int],
) -> Select:
    leave = LeaveRequestRow
    query = leave.select(
        leave.id,
        leave.user_id,
        leave.leave_type_id,
        leave.start_date,
        leave.counted_halves,
        leave.created_at,
        leave.closure_id,
        leave.override_reason,
    ).where(
        leave.organisation_id == organisation_id,
        leave.end_date >= first_day,
        leave.start_date <= last_day,
        leave.status.in_(("pending", "approved")),
        any_of(leave.leave_type_id, type_ids),
    )
    if user_ids is None:
        query = query.where(leave.start_date >= earliest_start)
    else:
        query = query.where(any_of(leave.user_id, user_ids))
    return query.limit(limit)
