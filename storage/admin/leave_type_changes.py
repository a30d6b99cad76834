"""Changes of a leave type, with what they do to people's balances for dry runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime

from peewee import Select

from storage.admin import effects
from storage.admin.effects import EffectsRecorder
from storage.base.leave_values import LeaveType
from storage.base.values import Caller, User, local_day
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.leave import leave_types
from storage.outbox import organisation_config
from storage.rules import roles


def update(
    tx: Transaction,
    leave_type_id: str,
    changes: Mapping[str, object],
    *,
    effective_from: date | None = None,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> LeaveType:
    """As ``leave_types.update``.

    ``recorder`` gets the balances that change because leave of the type draws on another allowance
    or on none from a day on.
    """
    if recorder is None:
        return leave_types.update(
            tx, leave_type_id, changes, effective_from=effective_from, by=by, now=now
        )
    roles.check_role(by.role, "admin")
    before = leave_types.get(tx, leave_type_id, by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    people: list[User] = []
    if not changes.keys().isdisjoint(("deducts_allowance", "allowance_id")):
        people = _people_with_leave(tx, by.organisation_id, before.id)
    today = local_day(now, config.organisation.timezone)
    day = effective_from or today
    recorder.read_balances_before(tx, config, people, today=today, until=max(day, today))
    leave_types.update(tx, leave_type_id, changes, effective_from=effective_from, by=by, now=now)
    after = leave_types.get(tx, leave_type_id, by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    if people and after.allowance_uses != before.allowance_uses:
        changed = recorder.balance_changes(tx, config, people)
        overdrawn = effects.overdrawn(changed)
        # Negative balances first, as the list may be cut off.
        listed = tuple(dict.fromkeys((*overdrawn, *changed)))
        drawn_on = config.allowances.get(config.allowance_of_type(after, day) or "")
        recorder.effects = replace(
            recorder.effects,
            deducts_allowance=drawn_on is not None,
            drawn_on=None if drawn_on is None else drawn_on.name,
            drawn_on_from=None if day == today else day,
            changes_the_past=day < today,
            rebalanced=len({effect.user_id for effect in changed}),
            balances=listed[: effects.MAX_BALANCES],
            overdrawn=overdrawn,
        )
    return config.leave_type_as_of(after, today)


def _people_with_leave(tx: Transaction, organisation_id: str, leave_type_id: str) -> list[User]:
    people = tx.all(
        _with_leave,
        organisation_id=organisation_id,
        leave_type_id=leave_type_id,
        limit=effects.MAX_CHECKED,
    )
    return [rows.user(row) for row in people]


@compiled
def _with_leave(
    organisation_id: Param[str], leave_type_id: Param[str], limit: Param[int]
) -> Select:
    """People, not archived, with pending or approved leave of the type."""
    leave = LeaveRequestRow
    user_ids = leave.select(leave.user_id).where(
        leave.organisation_id == organisation_id,
        leave.leave_type_id == leave_type_id,
        leave.status.in_(("pending", "approved")),
    )
    return (
        UserRow.select(*rows.USER)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.status != "archived",
            UserRow.id.in_(user_ids),
        )
        .order_by(UserRow.id)
        .limit(limit)
    )
