"""When a person is employed, and what counts for them on a date.

A person who is hired again has a new period; its leave and allowance are its own. Dated records
are tuples in the order of ``valid_from``, each valid until the next; the first one is valid before
it, too, and is never removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final, TypeVar

from storage.base.errors import FieldError, InvalidInput, Sentence
from storage.base.values import Employment, EmploymentPeriod, EmploymentRecord, User
from storage.rules.counted_days import Span


def periods_of(user: User) -> tuple[EmploymentPeriod, ...]:
    """All periods of the person, oldest first; the last is the present one."""
    present = EmploymentPeriod(start_date=user.start_date, end_date=user.end_date)
    return (*user.earlier_periods, present)


def first_day(user: User) -> date | None:
    """The first day of the first period, if known."""
    return periods_of(user)[0].start_date


def last_ended_on(user: User) -> date | None:
    """The last day of the period before the present one."""
    return user.earlier_periods[-1].end_date if user.earlier_periods else None


def includes(periods: Sequence[EmploymentPeriod], day: date) -> bool:
    return any((period.start_date or day) <= day <= (period.end_date or day) for period in periods)


def check_employed(span: Span, periods: Sequence[EmploymentPeriod]) -> None:
    """Raises InvalidInput ``before_start_date`` or ``after_end_date``, or both.

    For leave that lies in no period as a whole: before the first day of the one that is present or
    next when it begins, or after its last day.
    """
    period = next(
        (each for each in periods if span.start_date <= (each.end_date or date.max)), periods[-1]
    )
    errors = []
    if period.start_date is not None and span.start_date < period.start_date:
        detail = Sentence(
            "Employment starts on {start_date}. Choose that day or a later one.",
            start_date=period.start_date,
        )
        errors.append(FieldError(pointer="/start_date", code="before_start_date", detail=detail))
    if period.end_date is not None and span.end_date > period.end_date:
        detail = Sentence(
            "Employment ends on {end_date}. Choose that day or an earlier one.",
            end_date=period.end_date,
        )
        errors.append(FieldError(pointer="/end_date", code="after_end_date", detail=detail))
    if errors:
        raise InvalidInput(errors)


Records = tuple[EmploymentRecord, ...]
T = TypeVar("T")

# The fields that have dates; a user has them, too, as they are today.
FIELDS: Final = (
    "working_days",
    "leave_allowance_half_days",
    "public_holiday_country_code",
    "department_id",
)
_ONE_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """The days for which a record counts, both included."""

    record: EmploymentRecord
    first_day: date
    last_day: date


def records_of(user: User) -> Records:
    """All records of the person, oldest first; at least one."""
    employment = user.employment
    in_force = EmploymentRecord(
        id=in_force_id(user),
        valid_from=None if employment is None else employment.valid_from,
        working_days=user.working_days,
        leave_allowance_half_days=user.leave_allowance_half_days,
        public_holiday_country_code=user.public_holiday_country_code,
        department_id=user.department_id,
    )
    if employment is None:
        return (in_force,)
    return _in_order((in_force, *employment.others))


def in_force_id(user: User) -> str:
    """The id of the record that the person's own fields are from."""
    # A person's first record has their id.
    return user.id if user.employment is None else user.employment.id


def with_records(user: User, records: Records, today: date) -> User:
    """The person with these records; their own fields are those of the record of ``today``."""
    return with_in_force(user, records, on(records, today))


def with_in_force(user: User, records: Records, in_force: EmploymentRecord) -> User:
    """The person with these records; their own fields are those of ``in_force``, one of them."""
    employment = None
    if len(records) > 1:
        employment = Employment(
            id=in_force.id,
            valid_from=in_force.valid_from,
            others=tuple(record for record in records if record is not in_force),
        )
    fields: dict[str, Any] = {name: getattr(in_force, name) for name in FIELDS}
    return replace(user, employment=employment, **fields)


def on(records: Records, day: date) -> EmploymentRecord:
    """The record that is valid on the day."""
    for record in reversed(records):
        if begin(record) <= day:
            return record
    return records[0]


def begin(record: EmploymentRecord) -> date:
    """The first day on which the record is valid; the first record is valid at any time before."""
    return record.valid_from or date.min


def periods(records: Records, first_day: date, last_day: date) -> Iterator[Period]:
    """The records that are valid between two days, both included, with their days between them."""
    ends = (*(begin(record) - _ONE_DAY for record in records[1:]), date.max)
    for record, end in zip(records, ends, strict=True):
        if end >= first_day and begin(record) <= last_day:
            yield Period(
                record=record,
                first_day=max(begin(record), first_day),
                last_day=min(end, last_day),
            )


def changed_from(
    records: Records, day: date | None, changes: Mapping[str, object], new_id: str
) -> Records:
    """The records after ``changes`` of `FIELDS` from a day on; None: from the first day.

    A later record keeps a value that differs from the one which is changed; otherwise the change
    continues in it. A record that equals the one before it after the change is left out.
    """
    first_day = day or date.min
    old = on(records, first_day)
    differing: dict[str, Any] = {
        name: value for name, value in changes.items() if getattr(old, name) != value
    }
    if not differing:
        return records
    before = [record for record in records if begin(record) <= begin(old)]
    later = records[len(before) :]
    if begin(old) == first_day:
        before[-1] = replace(old, **differing)
    else:
        before.append(replace(old, id=new_id, valid_from=day, **differing))
    if len(before) > 1 and _equal(before[-2], before[-1]):
        before.pop()
    for name, value in differing.items():
        later = _continued(later, name, getattr(old, name), value)
    return (*before, *later)


def with_added(records: Records, record: EmploymentRecord) -> Records:
    return _in_order((*records, record))


def with_changed(records: Records, after: EmploymentRecord) -> Records:
    """With ``after`` in place of the record of its id."""
    return _in_order([after if record.id == after.id else record for record in records])


def without(records: Records, record_id: str) -> Records:
    return tuple(record for record in records if record.id != record_id)


def differing_periods(
    before: Records, after: Records, value: Callable[[EmploymentRecord], T]
) -> list[tuple[date, date]]:
    """The first and last days of the times in which a value of the valid record differs."""
    begins = sorted({begin(record) for record in (*before, *after)})
    ends = (*(day - _ONE_DAY for day in begins[1:]), date.max)
    return [
        (first_day, last_day)
        for first_day, last_day in zip(begins, ends, strict=True)
        if value(on(before, first_day)) != value(on(after, first_day))
    ]


def due_on(user: User) -> date | None:
    """When the next record takes effect or the person has left, whichever is first."""
    if user.status == "archived":
        return None
    current = date.min
    later: list[date] = []
    if user.employment is not None:
        current = user.employment.valid_from or date.min
        later = [begin(record) for record in user.employment.others if begin(record) > current]
    if user.end_date is not None and user.end_date < date.max:
        later.append(user.end_date + _ONE_DAY)
    return min(later, default=None)


def _in_order(records: Sequence[EmploymentRecord]) -> Records:
    return tuple(sorted(records, key=begin))


def _continued(later: Records, name: str, old: object, new: object) -> Records:
    """The later records with the new value, up to the first one with a value of its own."""
    values = [getattr(record, name) for record in later]
    count = next((at for at, value in enumerate(values) if value != old), len(later))
    change: dict[str, Any] = {name: new}
    return (*(replace(record, **change) for record in later[:count]), *later[count:])


def _equal(one: EmploymentRecord, other: EmploymentRecord) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in FIELDS)
