"""What is left to set up in a new organisation, as its data show it.

Nothing stores whether a step is done. The audit trail alone says that an admin hid the checklist,
and that an admin checked settings and left them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from peewee import JOIN, SQL, Select

from storage.base.allowance_values import NEW_ALLOWANCE_HALF_DAYS, Amount
from storage.base.event_values import AuditAction
from storage.base.values import Caller
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import (
    AuditRow,
    CalendarFeedRow,
    ChannelDigestRow,
    DepartmentRow,
    UserRow,
)
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import holiday_calendar, roles

# Admins of older organisations see no checklist.
NEW_FOR: Final = timedelta(days=60)
# At most so many people without a manager are counted.
MAX_COUNTED: Final = 100

# Steps that are also done when their settings are right already.
Checkable = Literal[
    "country", "allowance", "leave_year", "carry_over", "leave_types", "opening_figures"
]
Step = Checkable | Literal["people", "managers", "digest", "feed"]

_HIDDEN: Final[AuditAction] = "setup_checklist.hidden"
_CHECKED: Final[Mapping[Checkable, AuditAction]] = {
    "country": "setup_checklist.country_checked",
    "allowance": "setup_checklist.allowance_checked",
    "leave_year": "setup_checklist.leave_year_checked",
    "carry_over": "setup_checklist.carry_over_checked",
    "leave_types": "setup_checklist.leave_types_checked",
    "opening_figures": "setup_checklist.opening_figures_checked",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Checklist:
    """The open steps in their order, at least one.

    ``members_join`` if members of the Slack workspace become people by themselves;
    ``without_manager`` is the number of people whose requests go to admins, at most 100.
    """

    steps: tuple[Step, ...]
    country_code: str
    allowance_half_days: Amount
    members_join: bool
    without_manager: int


def find(
    tx: Transaction, config: OrganisationConfig, *, by: Caller, now: datetime
) -> Checklist | None:
    """The checklist for an admin of a new organisation; None once it is done or hidden."""
    organisation = config.organisation
    if not by.is_admin or now - organisation.created_at > NEW_FOR:
        return None
    own = {"organisation_id": organisation.id}
    done = {row.action for row in tx.select(AuditRow, **own, action=[_HIDDEN, *_CHECKED.values()])}
    if _HIDDEN in done:
        return None
    without_manager = len(
        tx.all(_without_manager, organisation_id=organisation.id, limit=MAX_COUNTED)
    )
    feed = tx.find(CalendarFeedRow, **own, user_id=str(by.user_id), revoked_at=None)
    digest = tx.find(ChannelDigestRow, **own)
    is_open: dict[Step, bool] = {
        "country": _lacks_region(config),
        **_as_created(config),
        "leave_types": _has_only_default_types(config),
        "people": len(tx.all(_people, organisation_id=organisation.id)) == 1,
        "managers": without_manager > 0,
        "opening_figures": True,
        "digest": organisation.digest_channel is None and digest is None,
        "feed": feed is None,
    }
    checked = {step for step, action in _CHECKED.items() if action in done}
    steps = tuple(
        step for step, has_to_be_done in is_open.items() if has_to_be_done and step not in checked
    )
    if not steps:
        return None
    return Checklist(
        steps=steps,
        country_code=organisation.country_code,
        allowance_half_days=NEW_ALLOWANCE_HALF_DAYS,
        members_join=organisation.slack_members_join,
        without_manager=without_manager,
    )


def is_open(tx: Transaction, step: Step, *, by: Caller, now: datetime) -> bool:
    """Whether an admin of a new organisation still has to do a step."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    checklist = find(tx, config, by=by, now=now)
    return checklist is not None and step in checklist.steps


def check_off(tx: Transaction, step: Checkable, *, by: Caller, now: datetime) -> None:
    """Record that an admin has checked the settings of a step, if it is open."""
    if is_open(tx, step, by=by, now=now):
        audit.record(tx, _CHECKED[step], "organisation", by.organisation_id, by=by, now=now)


def hide(tx: Transaction, *, by: Caller, now: datetime) -> None:
    """Hide the checklist from every admin of the organisation. Raises InsufficientRole."""
    roles.check_role(by.role, "admin")
    audit.record(tx, _HIDDEN, "organisation", by.organisation_id, by=by, now=now)


def _lacks_region(config: OrganisationConfig) -> bool:
    """Whether regional holidays are missing everywhere: for the organisation and its people."""
    if not holiday_calendar.has_regions(config.organisation.country_code):
        return False
    return not any("-" in each.country_code for each in config.holiday_sets.values())


def _as_created(config: OrganisationConfig) -> dict[Step, bool]:
    """Which settings of the leave year are still those that every organisation begins with."""
    organisation = config.organisation
    first = (organisation.leave_year_start_month, organisation.leave_year_start_day)
    terms = config.allowances[config.default_allowance_id].terms
    return {
        "allowance": all(each.half_days_per_year == NEW_ALLOWANCE_HALF_DAYS for each in terms),
        "leave_year": organisation.leave_year_type == "calendar" and first == (1, 1),
        "carry_over": all(each.carry_over_half_days == 0 for each in terms),
    }


def _has_only_default_types(config: OrganisationConfig) -> bool:
    """Whether the leave types are still those that every organisation begins with."""
    created_at = config.organisation.created_at
    return all(
        each.version == 1 and each.created_at == created_at for each in config.leave_types.values()
    )


@compiled
def _people(organisation_id: Param[str]) -> Select:
    """Two people at most: whether the owner is alone."""
    user = UserRow
    return (
        user.select(user.id)
        .where(user.organisation_id == organisation_id, user.status.in_(("active", "pending")))
        .limit(2)
    )


@compiled
def _without_manager(organisation_id: Param[str], limit: Param[int]) -> Select:
    """Members and approvers who have neither a manager nor a department with another manager."""
    head_is_another = DepartmentRow.manager_id.is_null(False) & (
        DepartmentRow.manager_id != UserRow.id
    )
    return (
        UserRow.select(SQL("1"))
        .join(
            DepartmentRow,
            JOIN.LEFT_OUTER,
            on=(DepartmentRow.organisation_id == organisation_id)
            & (DepartmentRow.id == UserRow.department_id)
            & head_is_another,
        )
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.status.in_(("active", "pending")),
            UserRow.role.in_(("member", "approver")),
            UserRow.manager_id.is_null(),
            DepartmentRow.id.is_null(),
        )
        .limit(limit)
    )
