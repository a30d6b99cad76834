"""Departments created, changed and removed, and what that does to approvals and balances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from peewee import Select, Update

from storage.admin import channel_digests, effects, reassignment
from storage.admin.effects import EffectsRecorder
from storage.base import fields, texts
from storage.base.amounts import check_half_days
from storage.base.errors import InUse
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, Department, EmploymentRecord, User, local_day
from storage.calendars import display_links
from storage.db import locks, rows
from storage.db.compiled import Param, compiled, update_each
from storage.db.database import Transaction
from storage.db.tables import DepartmentRow, UserRow
from storage.leave import card_refreshes
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import department_rows, people_changes, people_rows
from storage.rules import employment_terms, roles

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
    texts.check_is_free(values["name"], _names(tx, by))
    people_changes.check_can_manage(tx, by.organisation_id, values.get("manager_id"))
    department = Department(
        id=new_id(now),
        name=values["name"],
        manager_id=values.get("manager_id"),
        default_leave_allowance_half_days=values.get("default_leave_allowance_half_days"),
        created_at=now,
        updated_at=now,
        version=1,
    )
    tx.insert(DepartmentRow, organisation_id=by.organisation_id, **rows.columns(department))
    record(tx, "department.created", None, department, by=by, now=now)
    return department


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

    A new manager gets the cards of the members' pending requests. Raises NotFound,
    InsufficientRole, InvalidInput or NameTaken; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    before, after = _checked_update(tx, department_id, changes, by=by)
    if after == before:
        return before
    config = organisation_config.of_organisation(tx, by.organisation_id)
    pending = _pending_with_other_approvers(tx, config, before, after)
    approvers_before = reassignment.approvers_by_requester(tx, config, pending, now=now)
    members: list[User] = []
    if config.is_in_slack or recorder is not None:
        members = _members_with_its_allowance(tx, before, after, by=by)
    if recorder is not None:
        today = local_day(now, config.organisation.timezone)
        recorder.read_balances_before(tx, config, members, today=today)
    after = replace(after, updated_at=now, version=before.version + 1)
    changed = tx.update(
        DepartmentRow,
        rows.changes(after),
        organisation_id=by.organisation_id,
        id=before.id,
        version=before.version,
    )
    if not changed:
        raise people_changes.ChangedMeanwhile
    record(tx, "department.updated", before, after, by=by, now=now)
    approvers_after = reassignment.approvers_by_requester(tx, config, pending, now=now)
    reassigned = reassignment.difference(pending, approvers_before, approvers_after)
    reassignment.apply(tx, config, reassigned, by=by, now=now)
    _refresh_cards(tx, config, before, after, members, now=now)
    if recorder is not None:
        config = organisation_config.of_organisation(tx, by.organisation_id)
        overdrawn = effects.overdrawn(recorder.balance_changes(tx, config, members))
        recorder.effects = replace(
            recorder.effects,
            reassigned=tuple(reassigned),
            changes_allowances=_has_other_allowance(before, after),
            balances=overdrawn[: effects.MAX_BALANCES],
            overdrawn=overdrawn,
        )
    return after


def _names(tx: Transaction, by: Caller) -> list[tuple[str, str]]:
    departments = tx.select(DepartmentRow, organisation_id=by.organisation_id)
    return [(row.id, row.name) for row in departments]


def _has_other_allowance(before: Department, after: Department) -> bool:
    return after.default_leave_allowance_half_days != before.default_leave_allowance_half_days


def _members_with_its_allowance(
    tx: Transaction, before: Department, after: Department, *, by: Caller
) -> list[User]:
    """The members without an allowance of their own; none where the department's stays.

    People with past or future records in the department included.
    """
    if not _has_other_allowance(before, after):
        return []
    members = people_rows.not_archived(
        tx, by.organisation_id, department_id=after.id, limit=effects.MAX_CHECKED
    )
    return [
        user
        for user in members
        if any(
            record.department_id == after.id and record.leave_allowance_half_days is None
            for record in employment_terms.records_of(user)
        )
    ]


def _refresh_cards(
    tx: Transaction,
    config: OrganisationConfig,
    before: Department,
    after: Department,
    members: Iterable[User],
    *,
    now: datetime,
) -> None:
    """Refresh open cards whose balance or colleagues the change alters.

    ``members`` are those whose allowance changes.
    """
    other_manager = after.manager_id != before.manager_id
    if other_manager or _has_other_allowance(before, after):
        card_refreshes.enqueue(tx, config=config, now=now, department_id=before.id)
    past_and_future = {user.id for user in members if user.department_id != after.id}
    if past_and_future:
        card_refreshes.enqueue(tx, config=config, now=now, user_ids=past_and_future)
    if other_manager:
        manager_ids = {id for id in (before.manager_id, after.manager_id) if id}
        card_refreshes.enqueue(tx, config=config, now=now, user_ids=manager_ids)


def _checked_update(
    tx: Transaction, department_id: str, changes: Mapping[str, object], *, by: Caller
) -> tuple[Department, Department]:
    """The department before and after the change, checked and locked."""
    before = department_rows.get(tx, department_id, by=by, for_update=True)
    after = replace(before, **fields.checked(changes, _CHECKS))
    if after.manager_id != before.manager_id:
        people_changes.check_can_manage(tx, by.organisation_id, after.manager_id)
    if texts.name_key(after.name) != texts.name_key(before.name):
        texts.check_is_free(after.name, _names(tx, by), before.id)
    return before, after


def _pending_with_other_approvers(
    tx: Transaction, config: OrganisationConfig, before: Department, after: Department
) -> list[LeaveRequest]:
    """Pending requests that the change may give other approvers: the members' requests."""
    if after.manager_id == before.manager_id:
        return []
    return reassignment.pending_of(tx, config, department_id=before.id)


def record(
    tx: Transaction,
    action: AuditAction,
    before: Department | None,
    after: Department | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Audit a change; ``before`` or ``after`` is None where there was or is no department."""
    audit.record_value(tx, action, "department", before, after, _CHECKS, by=by, now=now)
    organisation_config.changed(tx, by.organisation_id)


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
    if not tx.delete(DepartmentRow, organisation_id=by.organisation_id, id=department_id):
        raise people_changes.ChangedMeanwhile
    record(tx, "department.deleted", department, None, by=by, now=now)


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
        rows.columns(replace(after, updated_at=now, version=before.version + 1))
        | {"organisation_id": by.organisation_id, "version_before": before.version}
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


@compiled
def _save_all(columns: Param[str]) -> Update:
    names = ("department_id", "leave_allowance_half_days", "employment", "updated_at", "version")
    return update_each(UserRow, columns, names, {"version_before": "version"})
