"""The data of an approver's summary of several reminders, read when it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from peewee import Select, fn

from storage.base.clock import local_day
from storage.base.values import HalfDay, User
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, LeaveTypeRow, ReminderRow, UserRow
from storage.directory import approval_rule, pending_approvals, people_rows, slack_locales
from storage.events import organisation_config
from storage.notifications.notification_queue import Notification

# Requests that a summary names.
MAX_SUMMARISED: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingRequest:
    """A pending request, or leave with an open amendment, as a summary names it."""

    requester_name: str
    leave_type_name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    total_half_days: int
    is_amendment: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryNotificationData:
    """``requests`` are those that wait longest, of ``total``."""

    team_id: str | None
    recipient: User
    locale: str | None
    requests: tuple[WaitingRequest, ...]
    total: int


def load(
    tx: Transaction, notification: Notification, *, now: datetime
) -> SummaryNotificationData | None:
    """The requests assigned to the person; None without any, or without a recipient."""
    organisation = organisation_config.of_organisation(
        tx, notification.organisation_id
    ).organisation
    recipient = people_rows.find(tx, notification.organisation_id, notification.user_id)
    request_rows = tx.all(
        _waiting,
        organisation_id=notification.organisation_id,
        user_id=notification.user_id,
        today=local_day(now, organisation.timezone).isoformat(),
        limit=MAX_SUMMARISED,
    )
    if recipient is None or not approval_rule.is_reachable(recipient) or not request_rows:
        return None
    requests = tuple(
        WaitingRequest(
            requester_name=f"{row.first_name} {row.last_name}".strip(),
            leave_type_name=row.type_name,
            start_date=rows.day(row.start_date),
            end_date=rows.day(row.end_date),
            start_half_day=row.start_half_day,
            end_half_day=row.end_half_day,
            total_half_days=row.total_half_days,
            is_amendment=row.amendment_id is not None,
        )
        for row in request_rows
    )
    team_id = organisation.slack_team_id
    locale = slack_locales.of_person(tx, notification.organisation_id, recipient.id)
    return SummaryNotificationData(
        team_id=team_id,
        recipient=recipient,
        locale=locale,
        requests=requests,
        total=request_rows[0].total,
    )


@compiled
def _waiting(
    organisation_id: Param[str], user_id: Param[str], today: Param[str], limit: Param[int]
) -> Select:
    """The requests that the person is reminded of, longest first; each row has their number."""
    return (
        rows.with_names(
            ReminderRow.select(
                fn.COUNT(ReminderRow.user_id).over().alias("total"),
                UserRow.first_name,
                UserRow.last_name,
                LeaveTypeRow.name.alias("type_name"),
                LeaveRequestRow.start_date,
                LeaveRequestRow.end_date,
                LeaveRequestRow.start_half_day,
                LeaveRequestRow.end_half_day,
                LeaveRequestRow.total_half_days,
                LeaveRequestRow.amendment_id,
            ).join(
                LeaveRequestRow,
                on=(LeaveRequestRow.organisation_id == ReminderRow.organisation_id)
                & (LeaveRequestRow.id == ReminderRow.leave_request_id),
            )
        )
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.user_id == user_id,
            rows.is_undecided(LeaveRequestRow),
            pending_approvals.is_assigned(organisation_id, user_id, today, for_each=True),
        )
        .order_by(ReminderRow.asked_at, ReminderRow.leave_request_id)
        .limit(limit)
    )
