"""Departments: made, read, changed, deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from peewee import Delete, Select, Update

from storage.admin import effects, reassignment
from storage.admin.effects import EffectsRecorder
from storage.base import fields, texts
from storage.base.amounts import check_half_days
from storage.base.clock import local_day
from storage.base.errors import InUse, NameTaken, NotFound
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import Caller, Department, LeaveRequest, User, as_dict
from storage.db import locks, rows
from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import DepartmentRow, UserRow
from storage.directory import people_changes, people_rows
from storage.events import audit, organisation_config
from storage.events.organisation_config import Reference
from storage.leave import card_refreshes
from storage.rules import roles

_CHECKS: Final[Mapping[str, fields.Check]] = {
    "name": texts.name,
    "manager_id": fields.unchecked,
    "default_leave_allowance_half_days": fields.optional(check_half_days),
}


def create(
    tx: Transaction, fields_of_department: Mapping[str, object], *, by: Caller, now: datetime
) -> Department:
    """Add a department: ``name`` and any other field of ``update``.

    Raises InsufficientRole, InvalidInput or NameTaken; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    fields.require(fields_of_department, "name")
    values = fields.checked(fields_of_department, _CHECKS)
    # Of two concurrent calls with one name, the second waits and then sees the first.
    locks.organisation(tx, by.organisation_id)
    _check_name_is_free(tx, values["name"], by=by)
    people_rows.check_can_manage(tx, by.organisation_id, values.get("manager_id"))
    department = Department(
        id=new_id(now),
        name=values["name"],
        manager_id=values.get("manager_id"),
        default_leave_allowance_half_days=values.get("default_leave_allowance_half_days"),
        created_at=now,
        updated_at=now,
        version=1,
    )
    tx.insert(DepartmentRow, organisation_id=by.organisation_id, **as_dict(department))
    _record(tx, "department.created", None, department, by=by, now=now)
    return department


def get(tx: Transaction, department_id: str, *, by: Caller, for_update: bool = False) -> Department:
    """One department. Raises NotFound. ``for_update``: it stays so until this transaction ends."""
    if fields.is_id(department_id):
        row = tx.first(
            _department,
            organisation_id=by.organisation_id,
            department_id=department_id,
            for_update=for_update,
        )
        if row is not None:
            return rows.department(row)
    raise NotFound("department")


def update(
    tx: Transaction,
    department_id: str,
    changes: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> Department:
    """Change the name, the manager or the allowance; null clears the latter two.

    A new manager gets the cards of the members' pending requests.

    Raises NotFound, InsufficientRole, InvalidInput or NameTaken; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    before, after = _checked_update(tx, department_id, changes, by=by)
    if after == before:
        return before
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    pending = _concerned(tx, reference, before, after)
    asked_before = reassignment.approvers_by_requester(tx, reference, pending, now=now)
    concerned = _without_own_allowance(tx, before, after, by=by) if recorder is not None else []
    if recorder is not None:
        today = local_day(now, reference.organisation.timezone)
        recorder.read_balances_before(tx, reference, concerned, today=today)
    after = replace(after, updated_at=now, version=before.version + 1)
    changed = tx.update(
        DepartmentRow,
        {
            "name": after.name,
            "manager_id": after.manager_id,
            "default_leave_allowance_half_days": after.default_leave_allowance_half_days,
            "updated_at": now,
            "version": after.version,
        },
        organisation_id=by.organisation_id,
        id=before.id,
        version=before.version,
    )
    if not changed:
        raise people_changes.ChangedMeanwhile
    _record(tx, "department.updated", before, after, by=by, now=now)
    asked_after = reassignment.approvers_by_requester(tx, reference, pending, now=now)
    reassigned = reassignment.difference(pending, asked_before, asked_after)
    reassignment.apply(tx, reference, reassigned, by=by, now=now)
    _refresh_cards(tx, reference, before, after, now)
    if recorder is not None:
        reference = organisation_config.of_organisation(tx, by.organisation_id)
        overdrawn = effects.overdrawn(recorder.balance_changes(tx, reference, concerned))
        recorder.effects = replace(
            recorder.effects,
            reassigned=tuple(reassigned),
            changes_allowances=_has_other_allowance(before, after),
            balances=overdrawn[: effects.MAX_BALANCES],
            overdrawn=overdrawn,
        )
    return after


def _has_other_allowance(before: Department, after: Department) -> bool:
    return after.default_leave_allowance_half_days != before.default_leave_allowance_half_days


def _without_own_allowance(
    tx: Transaction, before: Department, after: Department, *, by: Caller
) -> list[User]:
    """The members whose balances a changed allowance changes; none where it stays the same."""
    if not _has_other_allowance(before, after):
        return []
    members = people_rows.not_archived(
        tx, by.organisation_id, department_id=after.id, limit=effects.MAX_CHECKED
    )
    return [user for user in members if user.leave_allowance_half_days is None]


def _refresh_cards(
    tx: Transaction, reference: Reference, before: Department, after: Department, now: datetime
) -> None:
    """Redraw open cards on which the change shows another balance or other colleagues."""
    other_manager = after.manager_id != before.manager_id
    if other_manager or _has_other_allowance(before, after):
        card_refreshes.enqueue(tx, reference=reference, now=now, department_id=before.id)
    if other_manager:
        managers = {one for one in (before.manager_id, after.manager_id) if one is not None}
        card_refreshes.enqueue(tx, reference=reference, now=now, user_ids=managers)


def _checked_update(
    tx: Transaction, department_id: str, changes: Mapping[str, object], *, by: Caller
) -> tuple[Department, Department]:
    """The department as it is and as it will be, once everything about the change is sound."""
    before = get(tx, department_id, by=by, for_update=True)
    after = replace(before, **fields.checked(changes, _CHECKS))
    if after.manager_id != before.manager_id:
        people_rows.check_can_manage(tx, by.organisation_id, after.manager_id)
    if texts.name_key(after.name) != texts.name_key(before.name):
        _check_name_is_free(tx, after.name, by=by)
    return before, after


def _check_name_is_free(tx: Transaction, name: str, *, by: Caller) -> None:
    """Raises NameTaken."""
    wanted = texts.name_key(name)
    for other_id, other_name in tx.all(_names, organisation_id=by.organisation_id):
        if texts.name_key(other_name) == wanted:
            raise NameTaken(other_name, other_id)


def _concerned(
    tx: Transaction, reference: Reference, before: Department, after: Department
) -> list[LeaveRequest]:
    """Pending requests that may go to other approvers: the members', with another manager."""
    if after.manager_id == before.manager_id:
        return []
    return reassignment.pending_of(tx, reference, department_id=before.id)


def delete(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    """Remove a department without people; archived ones, who cannot be moved, leave it.

    Raises NotFound, InsufficientRole or InUse; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    department = get(tx, department_id, by=by, for_update=True)
    if (
        tx.first(_any_person, organisation_id=by.organisation_id, department_id=department_id)
        is not None
    ):
        raise InUse(
            "People still belong to {department}. Move them first.", department=department.name
        )
    members = tx.all(
        _archived_members, organisation_id=by.organisation_id, department_id=department_id
    )
    former = [rows.user(row) for row in members]
    taken_out = tx.change(
        _take_out_archived, organisation_id=by.organisation_id, department_id=department_id, now=now
    )
    if taken_out != len(former):
        raise people_changes.ChangedMeanwhile
    moved = [(user, replace(user, department_id=None)) for user in former]
    people_changes.record_updates(tx, moved, by=by, now=now)
    if not tx.change(_delete, organisation_id=by.organisation_id, department_id=department_id):
        raise people_changes.ChangedMeanwhile
    _record(tx, "department.deleted", department, None, by=by, now=now)


def page(
    tx: Transaction, page: PageOf, *, by: Caller, manager_id: str | None = None
) -> Page[Department]:
    """One page of the departments, oldest first.

    Raises NotFound for an unknown manager, UnusableCursor.
    """
    if manager_id is not None and people_rows.find(tx, by.organisation_id, manager_id) is None:
        raise NotFound("user")
    bound_to = ("departments", by.organisation_id, manager_id)
    after = position(tx, page, *bound_to)
    found = tx.all(
        _departments,
        organisation_id=by.organisation_id,
        manager_id=manager_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, found, rows.department, lambda row: [row.id], *bound_to)


def _record(
    tx: Transaction,
    action: AuditAction,
    before: Department | None,
    after: Department | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    audit.record_value(tx, action, "department", before, after, _CHECKS, by=by, now=now)
    organisation_config.changed(tx, by.organisation_id)


@compiled_per_engine
def _department(
    engine: Engine, organisation_id: Param[str], department_id: Param[str], for_update: bool
) -> Select:
    query = DepartmentRow.select(*rows.DEPARTMENT).where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.id == department_id
    )
    # The strongest: even a foreign key that is about to point here has to wait.
    return locks.locked(query, engine, "FOR UPDATE") if for_update else query


@compiled
def _departments(
    organisation_id: Param[str],
    manager_id: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = DepartmentRow.select(*rows.DEPARTMENT).where(
        DepartmentRow.organisation_id == organisation_id
    )
    if manager_id is not None:
        query = query.where(DepartmentRow.manager_id == manager_id)
    if after_id is not None:
        query = query.where(DepartmentRow.id > after_id)
    return query.order_by(DepartmentRow.id).limit(limit)


@compiled
def _names(organisation_id: Param[str]) -> Select:
    return DepartmentRow.select(DepartmentRow.id, DepartmentRow.name).where(
        DepartmentRow.organisation_id == organisation_id
    )


@compiled
def _any_person(organisation_id: Param[str], department_id: Param[str]) -> Select:
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
def _take_out_archived(
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
