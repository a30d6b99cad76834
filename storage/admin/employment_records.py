"""Changes of a person's dated records, and from when a change of a person counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final, NoReturn

from storage.admin import people_status, person_changes
from storage.admin.effects import EffectsRecorder
from storage.base import fields
from storage.base.amounts import check_amount
from storage.base.errors import Conflict, InvalidInput, NotFound, Sentence
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import Caller, EmploymentRecord, User, local_day
from storage.db.database import Transaction
from storage.leave import ledgers
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, department_rows, employment_by_date
from storage.rules import counted_days, employment_terms, holiday_calendar, leave_years
from storage.rules.employment_terms import Records

_CHECKS: Final[Mapping[str, fields.Check]] = {
    "valid_from": fields.unchecked,
    "working_days": fields.optional(counted_days.check_working_days),
    "leave_allowance_half_days": fields.optional(check_amount),
    "public_holiday_country_code": fields.optional(holiday_calendar.check_country),
    "department_id": fields.unchecked,
}


class EmploymentRecordExists(Conflict):
    """Each of a person's employment records begins on a day of its own."""

    code = "employment_record_exists"
    title = "Another employment record begins on this day."
    cure = "Change the record of that day, or choose another day."
    example = (date(2026, 6, 1),)

    def __init__(self, day: date) -> None:
        super().__init__(
            "An employment record already begins on {day}. Change that one, or choose another day.",
            day=day,
        )


class FirstEmploymentRecord(Conflict):
    """A person always has a first employment record."""

    code = "first_employment_record"
    title = "The first employment record cannot be deleted."
    cure = "Change it, or delete a later one."
    sentence = Sentence("Change the first record instead, or delete a later one.")


def of_person(tx: Transaction, user_id: str, *, by: Caller, now: datetime) -> tuple[User, Records]:
    """The person and all of their records, oldest first.

    For the person, their approvers, admins and owners. Raises NotFound or InsufficientRole.
    """
    user = ledgers.person_seen_by(tx, user_id, by=by, now=now)
    return user, employment_terms.records_of(user)


def get(
    tx: Transaction, user_id: str, record_id: str, *, by: Caller, now: datetime
) -> tuple[User, EmploymentRecord]:
    """The person and one of their records. As ``of_person``."""
    user, all_records = of_person(tx, user_id, by=by, now=now)
    return user, _find(all_records, record_id)


def add(
    tx: Transaction,
    user_id: str,
    fields_of_record: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> tuple[User, EmploymentRecord]:
    """Add a record from ``valid_from`` until the next; the other fields are as in the one before.

    Returns the changed person and the record. Raises NotFound, InsufficientRole, InvalidInput,
    UserArchived, EmploymentRecordExists or TooManyRecords; then nothing has changed.
    """
    user = _locked(tx, user_id, by=by)
    fields.require(fields_of_record, "valid_from")
    values = fields.checked(fields_of_record, _CHECKS)
    day = values["valid_from"]
    check_day(user, day, "valid_from")
    current = employment_terms.records_of(user)
    _check_free(user, current, day)
    record = replace(employment_terms.on(current, day), id=new_id(now), **values)
    after = _write(
        tx,
        user,
        employment_terms.with_added(current, record),
        record,
        "employment_record.created",
        by=by,
        now=now,
        recorder=recorder,
    )
    return after, record


def update(
    tx: Transaction,
    user_id: str,
    record_id: str,
    changes: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> tuple[User, EmploymentRecord]:
    """Correct one record; ``valid_from`` moves it. Later records keep their values.

    Returns the changed person and the record. Raises NotFound, InsufficientRole, InvalidInput,
    UserArchived or EmploymentRecordExists; then nothing has changed.
    """
    user = _locked(tx, user_id, by=by)
    current = employment_terms.records_of(user)
    before = _find(current, record_id)
    values = fields.checked(changes, _CHECKS)
    if "valid_from" in values and values["valid_from"] != shown_from(user, before):
        if before == current[0]:
            _refuse_move_of_first()
        fields.require(values, "valid_from")
        check_day(user, values["valid_from"], "valid_from")
        _check_free(user, employment_terms.without(current, record_id), values["valid_from"])
    elif before == current[0]:
        values.pop("valid_from", None)
    record = replace(before, **values)
    if record == before:
        return user, before
    after = _write(
        tx,
        user,
        employment_terms.with_changed(current, record),
        record,
        "employment_record.updated",
        by=by,
        now=now,
        recorder=recorder,
    )
    return after, record


def remove(
    tx: Transaction,
    user_id: str,
    record_id: str,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> None:
    """Remove a record other than the first: the one before it counts until the next.

    Raises NotFound, InsufficientRole, UserArchived or FirstEmploymentRecord; then nothing has
    changed.
    """
    user = _locked(tx, user_id, by=by)
    current = employment_terms.records_of(user)
    if _find(current, record_id) == current[0]:
        raise FirstEmploymentRecord
    _write(
        tx,
        user,
        employment_terms.without(current, record_id),
        None,
        "employment_record.deleted",
        by=by,
        now=now,
        recorder=recorder,
    )


def shown_from(user: User, record: EmploymentRecord) -> date | None:
    """The first day of a record: of the first one the first day of employment, if known."""
    return record.valid_from or employment_terms.first_day(user)


def _locked(tx: Transaction, user_id: str, *, by: Caller) -> User:
    user = people_status.lock_to_manage(tx, user_id, by=by)
    if user.status == "archived":
        raise people_status.UserArchived
    return user


def _find(all_records: Records, record_id: str) -> EmploymentRecord:
    for record in all_records:
        if record.id == record_id:
            return record
    raise NotFound("employment record")


def _check_free(user: User, others: Records, day: date) -> None:
    """Raises EmploymentRecordExists."""
    if any(shown_from(user, record) == day for record in others):
        raise EmploymentRecordExists(day)


def _refuse_move_of_first() -> NoReturn:
    raise InvalidInput.of(
        "valid_from",
        "first_record_start",
        "The first record begins with the employment. Change start_date of the user instead.",
    )


def _write(
    tx: Transaction,
    user: User,
    changed: Records,
    record: EmploymentRecord | None,
    action: AuditAction,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None,
) -> User:
    if record is not None:
        department_rows.check(tx, record.department_id, by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    after = with_records(user, changed, today)
    return person_changes.write(tx, config, user, after, action, by=by, now=now, recorder=recorder)


# Bounds the row of a person, where their records are.
MAX_RECORDS: Final = 100


class TooManyRecords(Conflict):
    """A person can have at most 100 employment records."""

    code = "too_many_employment_records"
    title = "The person has too many employment records."
    cure = "Delete records that no longer matter."
    sentence = Sentence(
        "A person has at most {most} employment records. Delete some that no longer matter.",
        most=MAX_RECORDS,
    )


def with_changes(
    config: OrganisationConfig, user: User, values: Mapping[str, Any], *, now: datetime
) -> User:
    """The person after changes of any fields, which have been checked one by one.

    Those of ``records.FIELDS`` count from ``effective_from`` among the values, or today; an
    allowance alone from the start of the current leave year. Raises InvalidInput or TooManyRecords.
    """
    dated = {name: value for name, value in values.items() if name in employment_terms.FIELDS}
    own = {name: value for name, value in values.items() if name not in employment_terms.FIELDS}
    effective_from = own.pop("effective_from", None)
    after = replace(user, **own)
    if dated or effective_from is not None:
        today = local_day(now, config.organisation.timezone)
        after = _dated(config, after, dated, effective_from, today=today, now=now)
    check_dates(after)
    return after


def _dated(
    config: OrganisationConfig,
    user: User,
    changes: Mapping[str, object],
    effective_from: date | None,
    *,
    today: date,
    now: datetime,
) -> User:
    current = employment_terms.records_of(user)
    if effective_from is None:
        day = _default_day(config, user, current, changes, today)
    else:
        if not changes:
            raise InvalidInput.of(
                "effective_from",
                "nothing_effective",
                "effective_from sets the day for changes of {fields}. Send at least one of them.",
                fields=tuple(name.removesuffix("_half_days") for name in employment_terms.FIELDS),
            )
        check_day(user, effective_from, "effective_from")
        day = effective_from
    first_day = employment_terms.first_day(user)
    is_first = first_day is not None and day <= first_day
    changed = employment_terms.changed_from(
        current, None if is_first else day, changes, new_id(now)
    )
    return with_records(user, changed, today)


def with_records(user: User, changed: Records, today: date) -> User:
    """The person with other records. Raises TooManyRecords."""
    if len(changed) > MAX_RECORDS:
        raise TooManyRecords
    return employment_terms.with_records(user, changed, today)


def check_day(user: User, day: date, field: str) -> None:
    """Raises InvalidInput for a day on which no record of the person can begin."""
    employment_by_date.check_year(day.year, field)
    first_day = employment_terms.first_day(user)
    if first_day is not None and day < first_day:
        raise InvalidInput.of(
            field,
            "before_start_date",
            "Employment starts on {start_date}. Choose that day or a later one.",
            start_date=first_day,
        )
    if user.end_date is not None and day > user.end_date:
        raise InvalidInput.of(
            field,
            "after_end_date",
            "Employment ends on {end_date}. Choose that day or an earlier one.",
            end_date=user.end_date,
        )


def check_employment(start_date: date | None, end_date: date | None) -> None:
    """Raises InvalidInput if the last day of employment is before the first."""
    if start_date is not None and end_date is not None and end_date < start_date:
        raise InvalidInput.of(
            "end_date",
            "end_date_before_start_date",
            "Employment starts on {start_date}, so it cannot end before that day.",
            start_date=start_date,
        )


def check_after_earlier(user: User) -> None:
    """Raises InvalidInput unless the present employment begins after the one before it."""
    ended_on = employment_terms.last_ended_on(user)
    if ended_on is not None and (user.start_date is None or user.start_date <= ended_on):
        raise InvalidInput.of(
            "start_date",
            "within_earlier_employment",
            "Their earlier employment ended on {end_date}. Choose a later day.",
            end_date=ended_on,
        )


def check_dates(user: User) -> None:
    """Raises InvalidInput if the first and last day and the records are out of order."""
    check_employment(user.start_date, user.end_date)
    check_after_earlier(user)
    later = employment_terms.records_of(user)[1:]
    first_day = employment_terms.first_day(user)
    if first_day is not None and later and employment_terms.begin(later[0]) <= first_day:
        raise InvalidInput.of(
            "start_date",
            "start_date_after_record",
            "An employment record begins on {valid_from}. Change or delete that record first, or "
            "choose an earlier day.",
            valid_from=employment_terms.begin(later[0]),
        )


def _default_day(
    config: OrganisationConfig,
    user: User,
    current: Records,
    changes: Mapping[str, object],
    today: date,
) -> date:
    """Today; for an allowance alone the start of the leave year, or when it changed since."""
    in_force = employment_terms.on(current, today)
    differing = {name for name, value in changes.items() if getattr(in_force, name) != value}
    if differing != {"leave_allowance_half_days"}:
        return today
    rule = allowance_terms.leave_year_rule(config, user)
    year = leave_years.leave_year_containing(rule, today)
    same = in_force
    for period in reversed(list(employment_terms.periods(current, year.first_day, today))):
        if period.record.leave_allowance_half_days != in_force.leave_allowance_half_days:
            break
        same = period.record
    # Not in an earlier employment of the same leave year.
    present = user.start_date if user.earlier_periods else None
    return max(year.first_day, employment_terms.begin(same), present or date.min)
