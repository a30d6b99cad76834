"""Departments created and changed, and what a change does to approvals and balances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from peewee import Select

from storage.admin import effects, reassignment
from storage.admin.effects_recorder import EffectsRecorder
from storage.base import fields, texts
from storage.base.amounts import check_half_days
from storage.base.clock import local_day
from storage.base.errors import NameTaken
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import Caller, Department, LeaveRequest, User, as_dict
from storage.db import locks
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import DepartmentRow
from storage.directory import department_rows, managers, people_changes, people_rows
from storage.events import audit, organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import card_refreshes
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
    _check_name_is_free(tx, values["name"], by=by)
    managers.check_can_manage(tx, by.organisation_id, values.get("manager_id"))
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
        managers.check_can_manage(tx, by.organisation_id, after.manager_id)
    if texts.name_key(after.name) != texts.name_key(before.name):
        _check_name_is_free(tx, after.name, by=by)
    return before, after


def _check_name_is_free(tx: Transaction, name: str, *, by: Caller) -> None:
    """Raises NameTaken."""
    key = texts.name_key(name)
    for other_id, other_name in tx.all(_names, organisation_id=by.organisation_id):
        if texts.name_key(other_name) == key:
            raise NameTaken(other_name, other_id)


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


@compiled
def _names(organisation_id: Param[str]) -> Select:
    return DepartmentRow.select(DepartmentRow.id, DepartmentRow.name).where(
        DepartmentRow.organisation_id == organisation_id
    )
