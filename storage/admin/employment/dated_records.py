"""Single records of a person's employment: read, added, corrected and removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Final, NoReturn

from storage.admin import people_checks, person_changes
from storage.admin.effects_recorder import EffectsRecorder
from storage.admin.employment import effective
from storage.base import fields
from storage.base.amounts import check_half_days
from storage.base.clock import local_day
from storage.base.errors import Conflict, InvalidInput, NotFound
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import Caller, EmploymentRecord, User
from storage.db.database import Transaction
from storage.events import organisation_config
from storage.leave import ledgers
from storage.rules import counted_days, employment_terms, holiday_calendar
from storage.rules.employment_terms import Records

_CHECKS: Final[Mapping[str, fields.Check]] = {
    "valid_from": fields.unchecked,
    "working_days": fields.optional(counted_days.check_working_days),
    "leave_allowance_half_days": fields.optional(check_half_days),
    "public_holiday_country_code": fields.optional(holiday_calendar.check_country),
    "department_id": fields.unchecked,
}


class EmploymentRecordExists(Conflict):
    """Another record of the person begins on the same day."""

    code = "employment_record_exists"
    title = "Another employment record begins on this day."

    def __init__(self, day: date) -> None:
        super().__init__(
            "An employment record already begins on {day}. Change that one, or choose another day.",
            day=day,
        )


class FirstEmploymentRecord(Conflict):
    """A person always has a first record."""

    code = "first_employment_record"
    title = "The first employment record cannot be deleted."

    def __init__(self) -> None:
        super().__init__("Change the first record instead, or delete a later one.")


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
    effective.check_day(user, day, "valid_from")
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
        effective.check_day(user, values["valid_from"], "valid_from")
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
    user = people_checks.lock_to_manage(tx, user_id, by=by)
    if user.status == "archived":
        raise people_checks.UserArchived
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
        people_checks.check_department(tx, record.department_id, by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    after = effective.with_records(user, changed, today)
    return person_changes.write(tx, config, user, after, action, by=by, now=now, recorder=recorder)
