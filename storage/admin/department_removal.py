"""Departments deleted; people who belonged to them keep what they were granted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from peewee import Delete, Select, Update

from storage.access import display_links
from storage.admin import channel_digests, departments
from storage.base.clock import local_day
from storage.base.errors import InUse
from storage.base.values import Caller, Department, EmploymentRecord, User
from storage.db import locks, rows
from storage.db.compiled import Param, compiled, json_table, milliseconds
from storage.db.database import Transaction
from storage.db.tables import DepartmentRow, UserRow
from storage.directory import department_rows, people_changes, people_rows
from storage.events import organisation_config
from storage.rules import employment_terms, roles


def delete(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    """Delete a department to which no one belongs today or later, except archived people.

    Records of former and archived members lose the department. Where its allowance counted, it
    becomes their own, so that no balance changes. Its digests and display links are deleted.

    Raises NotFound, InsufficientRole or InUse; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    department = department_rows.get(tx, department_id, by=by, for_update=True)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    people = [
        rows.user(row)
        for row in tx.all(
            _with_record_in,
            organisation_id=by.organisation_id,
            department_id=department_id,
            records_like=people_rows.pattern_of_records(department_id),
        )
    ]
    if any(_belongs_from(user, department_id, today) for user in people):
        raise InUse(
            "People still belong to {department}. Move them first.", department=department.name
        )
    changes = [(user, _without(user, department)) for user in people]
    _save(tx, changes, by=by, now=now)
    people_changes.record_updates(tx, changes, by=by, now=now)
    channel_digests.delete_of_department(tx, department_id, by=by, now=now)
    display_links.revoke_of_department(tx, department_id, by=by, now=now)
    if not tx.change(_delete, organisation_id=by.organisation_id, department_id=department_id):
        raise people_changes.ChangedMeanwhile
    departments.record(tx, "department.deleted", department, None, by=by, now=now)


def _belongs_from(user: User, department_id: str, today: date) -> bool:
    """Whether the person belongs to the department on that day or a later one."""
    return user.status != "archived" and any(
        period.record.department_id == department_id
        for period in employment_terms.periods(employment_terms.records_of(user), today, date.max)
    )


def _without(user: User, department: Department) -> User:
    """The person without the department, and with its allowance where they had it from there."""
    changed = tuple(
        _record_without(record, department) for record in employment_terms.records_of(user)
    )
    in_force = next(record for record in changed if record.id == employment_terms.in_force_id(user))
    return employment_terms.with_in_force(user, changed, in_force)


def _record_without(record: EmploymentRecord, department: Department) -> EmploymentRecord:
    if record.department_id != department.id:
        return record
    allowance = record.leave_allowance_half_days
    if allowance is None:
        allowance = department.default_leave_allowance_half_days
    return replace(record, department_id=None, leave_allowance_half_days=allowance)


def _save(
    tx: Transaction, changes: Sequence[tuple[User, User]], *, by: Caller, now: datetime
) -> None:
    columns = [
        {
            "organisation_id": by.organisation_id,
            "id": before.id,
            "version_before": before.version,
            "department_id": after.department_id,
            "leave_allowance_half_days": after.leave_allowance_half_days,
            "employment": None if after.employment is None else rows.json_text(after.employment),
            "updated_at": milliseconds(now),
            "version": before.version + 1,
        }
        for before, after in changes
    ]
    if tx.change(_save_all, columns=rows.json_text(columns)) != len(changes):
        raise people_changes.ChangedMeanwhile


@compiled
def _with_record_in(
    organisation_id: Param[str], department_id: Param[str], records_like: Param[str]
) -> Select:
    return UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id,
        (UserRow.department_id == department_id) | (UserRow.employment**records_like),
    )


# The columns that `_save_all` writes, with PostgreSQL's types.
_SAVED_COLUMNS: Final = {
    "department_id": "uuid",
    "leave_allowance_half_days": "integer",
    "employment": "text",
    "updated_at": "bigint",
    "version": "integer",
}


@compiled
def _save_all(columns: Param[str]) -> Update:
    keys = {"organisation_id": "uuid", "id": "uuid", "version_before": "integer"}
    new = json_table(columns, "new", keys | _SAVED_COLUMNS)
    return (
        UserRow.update({getattr(UserRow, name): new.column(name) for name in _SAVED_COLUMNS})
        .from_(new)
        .where(
            UserRow.organisation_id == new.column("organisation_id"),
            UserRow.id == new.column("id"),
            UserRow.version == new.column("version_before"),
        )
    )


@compiled
def _delete(organisation_id: Param[str], department_id: Param[str]) -> Delete:
    return DepartmentRow.delete().where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.id == department_id
    )
