"""Departments created, changed and removed, and what that does to approvals and balances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from math import ceil
from typing import Final

from peewee import Select, Update

from storage.admin import absence_limits, channel_digests, closures, effects, reassignment
from storage.admin.effects import EffectsRecorder
from storage.base import fields, texts
from storage.base.allowance_values import AllowanceFigure, Amount
from storage.base.amounts import check_amount
from storage.base.errors import InUse
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.leave_values import LeaveRequest
from storage.base.values import (
    Caller,
    Department,
    EmploymentRecord,
    User,
    days_or_none,
    local_day,
)
from storage.calendars import display_links
from storage.db import locks, rows
from storage.db.compiled import Param, compiled, update_each
from storage.db.database import Transaction
from storage.db.tables import DepartmentRow, UserRow
from storage.leave import card_refreshes
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, department_rows, people_changes, people_rows
from storage.rules import dated, employment_terms, roles
from storage.rules.employment_terms import Period

_CHECKS: Final[Mapping[str, fields.Check]] = {
    "name": texts.name,
    "manager_id": fields.unchecked,
    "default_leave_allowance_half_days": fields.optional(check_amount),
}

_ALLOWANCE: Final = "default_leave_allowance_half_days"


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
    half_days = values.get(_ALLOWANCE)
    figures: tuple[AllowanceFigure, ...] = ()
    if isinstance(half_days, Fraction):
        # The column of the first allowance has half-days.
        figures = (
            AllowanceFigure(allowance_id=by.organisation_id, valid_from=None, half_days=half_days),
        )
    department = Department(
        id=new_id(now),
        name=values["name"],
        manager_id=values.get("manager_id"),
        default_leave_allowance_half_days=None if half_days is None else ceil(half_days),
        figures=figures,
        created_at=now,
        updated_at=now,
        version=1,
    )
    tx.insert(DepartmentRow, organisation_id=by.organisation_id, **rows.columns(department))
    record(tx, "department.created", None, department, by=by, now=now)
    return replace(department, default_leave_allowance_half_days=half_days)


def update(
    tx: Transaction,
    department_id: str,
    changes: Mapping[str, object],
    *,
    effective_from: date | None = None,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> Department:
    """Change the name, the manager or the allowance; null clears the latter two.

    The allowance counts from ``effective_from`` on (None: as ``allowance_terms.effective_from``).
    The department is returned with that of today. A new manager gets the cards of the members'
    pending requests. Raises NotFound, InsufficientRole, InvalidInput or NameTaken; then
    nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    before, after = _checked_update(
        tx, config, department_id, changes, effective_from, by=by, today=today
    )
    if after == before:
        return allowance_terms.department_as_of(config, before, today)
    pending = _pending_with_other_approvers(tx, config, before, after)
    approvers_before = reassignment.approvers_by_request(tx, config, pending, now=now)
    members: list[User] = []
    if config.is_in_slack or recorder is not None:
        members = _members_with_its_allowance(tx, before, after, by=by)
    if recorder is not None:
        recorder.read_balances_before(
            tx, config, members, today=today, until=max(effective_from or today, today)
        )
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
    approvers_after = reassignment.approvers_by_request(tx, config, pending, now=now)
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
    return allowance_terms.department_as_of(config, after, today)


def _names(tx: Transaction, by: Caller) -> list[tuple[str, str]]:
    departments = tx.select(DepartmentRow, organisation_id=by.organisation_id)
    return [(row.id, row.name) for row in departments]


def _has_other_allowance(before: Department, after: Department) -> bool:
    return after.figures != before.figures


def _audited(department: Department) -> dict[str, object]:
    """The fields; later allowances with their days, if there are any."""
    shown: dict[str, object] = {name: getattr(department, name) for name in _CHECKS}
    if department.figures:
        shown[_ALLOWANCE] = department.figures[-1].half_days
        shown["later_leave_allowances"] = [
            {
                "valid_from": figure.valid_from,
                "by_leave_year": figure.is_by_leave_year,
                "days": days_or_none(figure.half_days),
            }
            for figure in department.figures
        ]
    return shown


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
    tx: Transaction,
    config: OrganisationConfig,
    department_id: str,
    changes: Mapping[str, object],
    effective_from: date | None,
    *,
    by: Caller,
    today: date,
) -> tuple[Department, Department]:
    """The department before and after the change, checked and locked."""
    before = department_rows.get(tx, department_id, by=by, for_update=True)
    values = fields.checked(changes, _CHECKS)
    figures = before.figures
    if _ALLOWANCE in values:
        half_days = values.pop(_ALLOWANCE)
        figures = _changed_figures(config, before, half_days, effective_from, today)
    after = replace(before, **values, figures=figures)
    if after.manager_id != before.manager_id:
        people_changes.check_can_manage(tx, by.organisation_id, after.manager_id)
    if texts.name_key(after.name) != texts.name_key(before.name):
        texts.check_is_free(after.name, _names(tx, by), before.id)
    return before, after


def _changed_figures(
    config: OrganisationConfig,
    department: Department,
    half_days: Amount | None,
    effective_from: date | None,
    today: date,
) -> tuple[AllowanceFigure, ...]:
    day, is_by_leave_year = allowance_terms.effective_from(
        config, effective_from, today, department.figures
    )
    figure = AllowanceFigure(
        allowance_id=config.default_allowance_id,
        valid_from=day,
        is_by_leave_year=is_by_leave_year,
        half_days=half_days,
    )
    as_of = allowance_terms.department_as_of(config, department, day)
    in_force = replace(figure, half_days=as_of.default_leave_allowance_half_days)
    return dated.changed_from(department.figures, in_force, figure, {"half_days": half_days})


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
    audit.record_shown(tx, action, "department", before, after, _audited, by=by, now=now)
    organisation_config.changed(tx, by.organisation_id)


def delete(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    """Delete a department to which no one belongs today or later, except archived people.

    Records of former and archived members lose the department. Where its allowance counted, it
    becomes their own, so that no balance changes. Its digests, display links, absence limits and
    closures are deleted.

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
    changes = [(user, _without(config, user, department, now)) for user in people]
    _save(tx, changes, by=by, now=now)
    people_changes.record_updates(tx, changes, by=by, now=now)
    absence_limits.delete_of_department(tx, department_id, by=by, now=now)
    channel_digests.delete_of_department(tx, department_id, by=by, now=now)
    display_links.revoke_of_department(tx, department_id, by=by, now=now)
    closures.delete_of_department(tx, department_id, by=by, now=now)
    if not tx.delete(DepartmentRow, organisation_id=by.organisation_id, id=department_id):
        raise people_changes.ChangedMeanwhile
    record(tx, "department.deleted", department, None, by=by, now=now)


def _belongs_from(user: User, department_id: str, today: date) -> bool:
    """Whether the person belongs to the department on that day or a later one."""
    return user.status != "archived" and any(
        period.record.department_id == department_id
        for period in employment_terms.periods(employment_terms.records_of(user), today, date.max)
    )


def _without(config: OrganisationConfig, user: User, department: Department, now: datetime) -> User:
    """The person without the department, and with its allowance where they had it from there."""
    changed: list[EmploymentRecord] = []
    for period in employment_terms.periods(employment_terms.records_of(user), date.min, date.max):
        changed += _records_without(config, user, period, department, now)
    in_force = employment_terms.on(tuple(changed), _in_force_since(user))
    return employment_terms.with_in_force(user, tuple(changed), in_force)


def _in_force_since(user: User) -> date:
    return date.min if user.employment is None else user.employment.valid_from or date.min


def _records_without(
    config: OrganisationConfig, user: User, period: Period, department: Department, now: datetime
) -> list[EmploymentRecord]:
    """The record without the department; one for each figure that it had from there."""
    record = period.record
    if record.department_id != department.id:
        return [record]
    if record.leave_allowance_half_days is not None:
        return [replace(record, department_id=None)]
    rule = allowance_terms.leave_year_rule(config, user)
    found: list[EmploymentRecord] = []
    days = [dated.first_day(figure, rule) for figure in department.figures]
    begins = [day for day in days if period.first_day < day <= period.last_day]
    for day in (period.first_day, *begins):
        half_days = allowance_terms.half_days_of_department(department, rule, day)
        of_day = replace(record, department_id=None, leave_allowance_half_days=half_days)
        if day != period.first_day:
            of_day = replace(of_day, id=new_id(now), valid_from=day)
        found.append(of_day)
    return found


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
    names = (
        "department_id",
        "leave_allowance_half_days",
        "leave_allowance_hundredths",
        "employment",
        "updated_at",
        "version",
    )
    return update_each(UserRow, columns, names, {"version_before": "version"})
