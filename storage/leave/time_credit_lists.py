"""Time in lieu in lists: what awaits a person's decision, their own of late, and pages of all."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.allowance_values import Allowance
from storage.base.leave_values import LeaveStatus, TimeCredit
from storage.base.values import Caller, User, local_day
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import TimeCreditCardRow, TimeCreditRow, UserRow
from storage.leave import ledgers
from storage.outbox import organisation_config, time_credit_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers
from storage.people.approvers import MAX_APPROVERS

# How long a decided or cancelled credit is recent.
RECENT_FOR: Final = timedelta(days=30)
# Pending credits that one change can reassign.
MAX_REASSIGNED: Final = 1_000

_COLUMNS: Final = rows.columns_of(TimeCreditRow, TimeCredit)
time_credit: Final = rows.mapper(TimeCredit)


def earnable(config: OrganisationConfig) -> list[Allowance]:
    """The allowances for which days can be earned, by name."""
    found = [each for each in config.allowances.values() if each.earnable and not each.is_archived]
    return sorted(found, key=lambda allowance: (allowance.name.casefold(), allowance.id))


def is_approver(
    tx: Transaction, credit: TimeCredit, *, organisation_id: str, user_id: str, today: date
) -> bool:
    """Whether the credit is assigned to the person: by the approval chain, or by escalation."""
    if approvers.is_approver_of(
        tx, organisation_id, credit.user_id, approver_id=user_id, today=today
    ):
        return True
    key = {"organisation_id": organisation_id, "time_credit_id": credit.id, "user_id": user_id}
    card = tx.find(TimeCreditCardRow, **key)
    return card is not None and bool(card.is_next_step)


def escalated_to(
    tx: Transaction, organisation_id: str, credit_id: str, others: Collection[User]
) -> list[User]:
    """Whom the credit was escalated to, besides ``others``."""
    user_rows = tx.all(
        _escalated_users,
        organisation_id=organisation_id,
        credit_id=credit_id,
        limit=MAX_APPROVERS,
    )
    known = {user.id for user in others}
    return [user for user in map(rows.user, user_rows) if user.id not in known]


def assigned(tx: Transaction, *, by: Caller, today: date, limit: int) -> list[TimeCredit]:
    """Pending credits that are assigned to the caller, oldest first."""
    credit_rows = tx.all(
        _assigned,
        organisation_id=by.organisation_id,
        viewer_id=str(by.user_id),
        today=today.isoformat(),
        limit=limit,
    )
    return [time_credit(row) for row in credit_rows]


def recent(tx: Transaction, *, by: Caller, now: datetime, limit: int) -> list[TimeCredit]:
    """The caller's own that are pending or changed of late, newest first."""
    credit_rows = tx.all(
        _recent,
        organisation_id=by.organisation_id,
        user_id=str(by.user_id),
        since=now - RECENT_FOR,
        limit=limit,
    )
    return [time_credit(row) for row in credit_rows]


def page(
    tx: Transaction,
    page: PageOf,
    *,
    user_id: str | None = None,
    status: LeaveStatus | None = None,
    allowance_id: str | None = None,
    by: Caller,
    now: datetime,
) -> Page[TimeCredit]:
    """Newest first: the caller's own and those of people whose leave they approve; for admins and
    owners everyone's.

    ``user_id`` is a person whose balance the caller may see. Raises NotFound, InsufficientRole or
    UnusableCursor.
    """
    config = organisation_config.of_organisation(tx, by.organisation_id)
    viewer_id = None
    if user_id is not None:
        ledgers.person_seen_by(tx, user_id, by=by, now=now)
    elif not by.is_admin:
        viewer_id = by.user_id
    # The person behind the key is part of what the list depends on.
    bound_to = ("time_credits", by.organisation_id, viewer_id, user_id, status, allowance_id)
    after = position(tx, page, *bound_to)
    today = local_day(now, config.organisation.timezone)
    credit_rows = tx.all(
        _page,
        organisation_id=by.organisation_id,
        viewer_id=viewer_id,
        today=None if viewer_id is None else today.isoformat(),
        user_id=user_id,
        status=status,
        allowance_id=allowance_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, credit_rows, time_credit, lambda row: [row.id], *bound_to)


def pending_of(tx: Transaction, organisation_id: str, user_id: str) -> list[TimeCredit]:
    """The person's pending credits: at most one for each day of about a year."""
    key = {"organisation_id": organisation_id, "user_id": user_id, "status": "pending"}
    credits = [time_credit(row) for row in tx.select(TimeCreditRow, **key)]
    return sorted(credits, key=lambda credit: credit.id)


def reassign(tx: Transaction, config: OrganisationConfig, *, today: date, now: datetime) -> None:
    """Send the cards of pending credits to those who decide on them since a change of people."""
    organisation_id = config.organisation.id
    if not config.is_in_slack:
        return
    credit_rows = tx.all(_pending, organisation_id=organisation_id, limit=MAX_REASSIGNED)
    credits = [time_credit(row) for row in credit_rows]
    people = {credit.user_id for credit in credits}
    deciders = approvers.of_people(tx, organisation_id, people, today=today)
    approver_ids = {
        user_id: [approver.id for approver in users] for user_id, users in deciders.items()
    }
    time_credit_outbox.reassign(tx, credits, approver_ids, config=config, now=now)


def escalated_ids(organisation_id: Expr, viewer_id: Expr) -> Select:
    """The ids of credits that earlier approvers did not answer, which the viewer may decide."""
    return _escalated(TimeCreditCardRow.time_credit_id).where(
        TimeCreditCardRow.organisation_id == organisation_id, TimeCreditCardRow.user_id == viewer_id
    )


def _escalated(*columns: Expr) -> Select:
    return (
        TimeCreditCardRow.select(*columns)
        .join(
            UserRow,
            on=(UserRow.organisation_id == TimeCreditCardRow.organisation_id)
            & (UserRow.id == TimeCreditCardRow.user_id),
        )
        .where(TimeCreditCardRow.is_next_step, approval_rule.is_reachable_sql(UserRow))
    )


@compiled
def _escalated_users(
    organisation_id: Param[str], credit_id: Param[str], limit: Param[int]
) -> Select:
    return (
        _escalated(*rows.USER)
        .where(
            TimeCreditCardRow.organisation_id == organisation_id,
            TimeCreditCardRow.time_credit_id == credit_id,
        )
        .order_by(TimeCreditCardRow.user_id)
        .limit(limit)
    )


@compiled
def _assigned(
    organisation_id: Param[str], viewer_id: Param[str], today: Param[str], limit: Param[int]
) -> Select:
    query, requester = approval_rule.assigned_to(organisation_id, viewer_id, today)
    # As in `approvers.is_assigned`: each pending credit's chain is checked.
    requester_id = query.where(requester.id == TimeCreditRow.user_id)
    is_escalated = TimeCreditRow.id.in_(escalated_ids(organisation_id, viewer_id))
    return (
        TimeCreditRow.select(*_COLUMNS)
        .where(
            TimeCreditRow.organisation_id == organisation_id,
            TimeCreditRow.status == "pending",
            TimeCreditRow.user_id != viewer_id,
            (TimeCreditRow.user_id == requester_id) | is_escalated,
        )
        .order_by(TimeCreditRow.id)
        .limit(limit)
    )


@compiled
def _recent(
    organisation_id: Param[str], user_id: Param[str], since: Param[datetime], limit: Param[int]
) -> Select:
    return (
        TimeCreditRow.select(*_COLUMNS)
        .where(
            TimeCreditRow.organisation_id == organisation_id,
            TimeCreditRow.user_id == user_id,
            (TimeCreditRow.status == "pending") | (TimeCreditRow.updated_at >= since),
        )
        .order_by(TimeCreditRow.id.desc())
        .limit(limit)
    )


@compiled
def _pending(organisation_id: Param[str], limit: Param[int]) -> Select:
    return (
        TimeCreditRow.select(*_COLUMNS)
        .where(TimeCreditRow.organisation_id == organisation_id, TimeCreditRow.status == "pending")
        .order_by(TimeCreditRow.id)
        .limit(limit)
    )


@compiled
def _page(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    today: Param[str] | None,
    user_id: Param[str] | None,
    status: Param[str] | None,
    allowance_id: Param[str] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = TimeCreditRow.select(*_COLUMNS).where(TimeCreditRow.organisation_id == organisation_id)
    if viewer_id is not None:
        requesters = approval_rule.requesters_of(organisation_id, viewer_id, today)
        escalated = escalated_ids(organisation_id, viewer_id)
        query = query.where(
            (TimeCreditRow.user_id == viewer_id)
            | TimeCreditRow.user_id.in_(requesters)
            | TimeCreditRow.id.in_(escalated)
        )
    if user_id is not None:
        query = query.where(TimeCreditRow.user_id == user_id)
    if status is not None:
        query = query.where(TimeCreditRow.status == status)
    if allowance_id is not None:
        query = query.where(TimeCreditRow.allowance_id == allowance_id)
    if after_id is not None:
        query = query.where(TimeCreditRow.id < after_id)
    return query.order_by(TimeCreditRow.id.desc()).limit(limit)
