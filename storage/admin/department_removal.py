"""Departments deleted; their archived members keep their record."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from peewee import Delete, Select, Update

from storage.admin import departments
from storage.base.errors import InUse
from storage.base.values import Caller
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import DepartmentRow, UserRow
from storage.directory import department_rows, people_changes
from storage.rules import roles


def delete(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    """Delete a department without members, except archived ones: they lose their department.

    Raises NotFound, InsufficientRole or InUse; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    department = department_rows.get(tx, department_id, by=by, for_update=True)
    if tx.first(_member, organisation_id=by.organisation_id, department_id=department_id):
        raise InUse(
            "People still belong to {department}. Move them first.", department=department.name
        )
    archived_members = [
        rows.user(row)
        for row in tx.all(
            _archived_members, organisation_id=by.organisation_id, department_id=department_id
        )
    ]
    updated = tx.change(
        _remove_archived_members,
        organisation_id=by.organisation_id,
        department_id=department_id,
        now=now,
    )
    if updated != len(archived_members):
        raise people_changes.ChangedMeanwhile
    changes = [(user, replace(user, department_id=None)) for user in archived_members]
    people_changes.record_updates(tx, changes, by=by, now=now)
    if not tx.change(_delete, organisation_id=by.organisation_id, department_id=department_id):
        raise people_changes.ChangedMeanwhile
    departments.record(tx, "department.deleted", department, None, by=by, now=now)


@compiled
def _member(organisation_id: Param[str], department_id: Param[str]) -> Select:
    return (
        UserRow.select(UserRow.id)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.department_id == department_id,
            UserRow.status != "archived",
        )
        .limit(1)
    )


@compiled
def _archived_members(organisation_id: Param[str], department_id: Param[str]) -> Select:
    return UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id,
        UserRow.department_id == department_id,
        UserRow.status == "archived",
    )


@compiled
def _remove_archived_members(
    organisation_id: Param[str], department_id: Param[str], now: Param[datetime]
) -> Update:
    return UserRow.update(department_id=None, updated_at=now, version=UserRow.version + 1).where(
        UserRow.organisation_id == organisation_id,
        UserRow.department_id == department_id,
        UserRow.status == "archived",
    )


@compiled
def _delete(organisation_id: Param[str], department_id: Param[str]) -> Delete:
    return DepartmentRow.delete().where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.id == department_id
    )
