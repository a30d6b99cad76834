"""Archived people brought back, in their employment until now or in a new one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

from storage.admin import people_checks, people_status, reassignment
from storage.admin.employment import effective
from storage.base.clock import local_day
from storage.base.errors import EmailTaken, InvalidInput
from storage.base.values import Caller, EmploymentPeriod, User
from storage.db.database import Transaction
from storage.directory import people_changes, people_rows, public_holidays
from storage.events import audit_log, organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.rules import employment_terms

# Bounds the row of a person, where the periods are.
MAX_EARLIER_PERIODS: Final = 20


def restore(
    tx: Transaction, user_id: str, *, start_date: date | None = None, by: Caller, now: datetime
) -> User:
    """Restore an archived person as pending; returns other people unchanged.

    With ``start_date`` they are hired again from then on: their employment until now is an earlier
    one. Without it, employment continues, and a past last day is removed. Keys and feeds stay
    revoked, cancelled leave stays cancelled. The person is active again with
    their first key, or as soon as they use Slack; their Slack account is theirs again unless it is
    linked to another person. Raises NotFound, InsufficientRole (only an owner restores an
    owner), InvalidInput, or EmailTaken while another person has the address; then nothing has
    changed.
    """
    user = people_checks.lock_to_manage(tx, user_id, by=by)
    if user.status != "archived":
        if start_date not in (None, user.start_date):
            raise InvalidInput.of(
                "start_date",
                "user_not_archived",
                "Only archived people are hired again. Change start_date of the user instead.",
            )
        return user
    if people_rows.has_email(tx, by.organisation_id, user.email):
        raise EmailTaken(user.email)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    restored = employment_terms.with_records(user, employment_terms.records_of(user), today)
    restored = replace(restored, status="pending")
    if start_date is not None:
        restored = _hired_again(tx, config, restored, start_date, by=by)
    elif user.end_date is not None and user.end_date < today:
        restored = replace(restored, end_date=None)
    if user.slack_user_id is not None:
        other = people_rows.find_by_slack_id(tx, by.organisation_id, user.slack_user_id)
        if other is not None and other.status != "archived":
            restored = replace(restored, slack_user_id=None)
    restored = people_changes.save(tx, user, restored, "user.restored", by=by, now=now)
    reassignment.apply(
        tx, config, people_status.returned(tx, config, restored, now), by=by, now=now
    )
    return restored


def _hired_again(
    tx: Transaction, config: OrganisationConfig, user: User, start_date: date, *, by: Caller
) -> User:
    """The person with a new employment; the one before it ended when they were archived."""
    public_holidays.check_year(start_date.year, "start_date")
    archived_at = audit_log.last_at(tx, by.organisation_id, "user.archived", user.id)
    archived_on = local_day(archived_at or user.updated_at, config.organisation.timezone)
    # Without a last day in time, they may have been archived later than they left.
    ended_on = min(archived_on, start_date - timedelta(days=1))
    if user.end_date is not None and user.end_date <= archived_on:
        ended_on = user.end_date
    earlier = user.earlier_periods
    if (user.start_date or date.min) <= ended_on:
        earlier += (EmploymentPeriod(start_date=user.start_date, end_date=ended_on),)
    if len(earlier) > MAX_EARLIER_PERIODS:
        raise InvalidInput.of(
            "start_date",
            "too_many_employments",
            "A person can be hired again at most {most} times.",
            most=MAX_EARLIER_PERIODS,
        )
    after = replace(user, start_date=start_date, end_date=None, earlier_periods=earlier)
    effective.check_dates(after)
    return after
