"""Time in lieu: days of an allowance for work outside of working time.

People claim it for an allowance with ``earnable``, and the approvers of their leave decide, as
``storage/people/approvers.py`` has them. Admins and owners record it for others at once. Balances
count approved credits (leave_balances.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Final, Literal

from peewee import Select

from storage.base import texts
from storage.base.allowance_values import Amount
from storage.base.amounts import half_days_of
from storage.base.errors import (
    Conflict,
    InsufficientRole,
    InvalidInput,
    NotFound,
    OwnRequest,
    Sentence,
    Unauthenticated,
)
from storage.base.event_values import TimeCreditEventType
from storage.base.ids import is_id, new_id
from storage.base.leave_values import LeaveStatus, TimeCredit
from storage.base.values import Caller, User, days_of, local_day
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import TimeCreditRow
from storage.leave import (
    card_refreshes,
    leave_balances,
    leave_requests,
    request_steps,
    time_credit_lists,
)
from storage.leave.bookings import Bookings
from storage.leave.decisions import MAX_REASON_LENGTH
from storage.leave.leave_balances import CREDIT_REACH
from storage.leave.request_steps import Requester
from storage.outbox import audit, organisation_config, time_credit_outbox, webhook_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, approvers
from storage.rules import employment_terms, year_balances
from storage.rules.year_balances import LeaveYearBalance

# The most half-days for the work of one day.
MAX_HALF_DAYS: Final = 4

_AUDITED: Final = (
    "user_id",
    "allowance_id",
    "worked_on",
    "reason",
    "status",
    "decided_by",
    "decision_reason",
)


class TimeCreditExists(Conflict):
    """The person has claimed time in lieu for this day, and it is pending or approved."""

    code = "time_credit_exists"
    title = "Time in lieu was already claimed for this day."
    cure = "Cancel the other time credit first if it is wrong."
    example = (date(2026, 5, 30),)

    def __init__(self, worked_on: date) -> None:
        super().__init__("Time in lieu is already claimed for {worked_on}.", worked_on=worked_on)


class TimeCreditDecided(Conflict):
    """This action is not possible in the time credit's current status, which
    `time_credit_status` names.
    """

    code = "time_credit_decided"
    title = "The time credit's status does not allow this."
    cure = "Read the time credit again. Create another one where days are missing."
    example = ("cancelled",)
    members = ("time_credit_status",)
    time_credit_status: LeaveStatus

    def __init__(self, status: LeaveStatus) -> None:
        super().__init__("This time in lieu was already decided or cancelled.")
        self.time_credit_status = status


class CreditUsed(Conflict):
    """Leave uses days of the time credit: without it, a balance would become negative."""

    code = "credit_used"
    title = "Leave uses days of this time credit."
    cure = "Cancel or shorten the leave first, or add an adjustment."
    sentence = Sentence("Leave uses these days. Cancel or shorten that leave first.")


def create(
    tx: Transaction,
    *,
    allowance_id: str,
    worked_on: date,
    days: float,
    reason: str,
    user_id: str | None = None,
    by: Caller,
    now: datetime,
) -> TimeCredit:
    """Claim time in lieu for the caller, or record it for the person ``user_id``.

    A claim is approved at once where no one else could decide; what an admin or owner records is
    approved by them. Raises InsufficientRole, InvalidInput or TimeCreditExists, or Unauthenticated
    for a person who was deactivated since they were authenticated; then nothing has changed.
    """
    if by.user_id is None:
        raise InsufficientRole("member")
    is_recorded = user_id is not None and user_id != by.user_id
    if is_recorded and not by.is_admin:
        raise InsufficientRole("admin")
    person, has_admin = _lock_person(tx, by.user_id if user_id is None else user_id, by, now)
    if is_recorded and person.user.status == "archived":
        raise InvalidInput.of("user_id", "person_archived", "This person is archived.")
    if not is_recorded and person.user.status in ("deactivated", "archived"):
        raise Unauthenticated
    _check_allowance(person.config, allowance_id)
    _check_day(person, worked_on)
    half_days = half_days_of(days, "days")
    if not 1 <= half_days <= MAX_HALF_DAYS:
        raise InvalidInput.of(
            "days",
            "out_of_range",
            "Use a number of days from 0.5 to {most}, in half-day steps.",
            most=MAX_HALF_DAYS // 2,
        )
    text = texts.optional_text(reason, "reason", MAX_REASON_LENGTH)
    if text is None:
        raise InvalidInput.of("reason", "required", "Enter what the work was.")
    day = {"user_id": person.user.id, "worked_on": worked_on.isoformat()}
    if tx.first(_of_day, organisation_id=by.organisation_id, **day) is not None:
        raise TimeCreditExists(worked_on)
    credit = TimeCredit(
        id=new_id(now),
        user_id=person.user.id,
        allowance_id=allowance_id,
        worked_on=worked_on,
        half_days=half_days,
        reason=text,
        status="pending",
        decided_by=None,
        decided_at=None,
        decision_reason=None,
        created_at=now,
        updated_at=now,
        version=1,
    )
    tx.insert(TimeCreditRow, organisation_id=by.organisation_id, **rows.columns(credit))
    _record(tx, "time_credit.created", None, credit, person, by=by, now=now)
    if is_recorded:
        return _decided(tx, "approve", credit, person, decided_by=by.user_id, by=by, now=now)
    deciders = approvers.of_person(tx, by.organisation_id, person.user.id, today=person.today)
    if not deciders and not has_admin:
        return _decided(tx, "approve", credit, person, decided_by=None, by=by, now=now)
    time_credit_outbox.notify(
        tx,
        "time_credit.created",
        credit,
        approver_ids=[decider.id for decider in deciders],
        by=by,
        config=person.config,
        now=now,
    )
    return credit


def get(tx: Transaction, credit_id: str, *, by: Caller, now: datetime) -> TimeCredit:
    """For the person, the approvers of their leave, admins and owners. Raises NotFound."""
    credit = _find(tx, credit_id, by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    if not _may_see(tx, credit, by, today):
        raise NotFound("time credit")
    return credit


def approve(tx: Transaction, credit_id: str, *, by: Caller, now: datetime) -> TimeCredit:
    """Approve a pending credit: the approvers of the person's leave, admins and owners.

    Raises NotFound, OwnRequest or TimeCreditDecided.
    """
    return _decide(tx, "approve", credit_id, None, by=by, now=now)


def decline(
    tx: Transaction, credit_id: str, *, reason: str | None, by: Caller, now: datetime
) -> TimeCredit:
    """Decline a pending credit, with or without a reason. As ``approve``."""
    reason = texts.optional_text(reason, "reason", MAX_REASON_LENGTH)
    return _decide(tx, "decline", credit_id, reason, by=by, now=now)


def cancel(tx: Transaction, credit_id: str, *, by: Caller, now: datetime) -> TimeCredit:
    """Cancel a credit: the person while it is pending, admins and owners an approved one, too.

    Raises NotFound, InsufficientRole, TimeCreditDecided, or CreditUsed if a balance would become
    negative; then nothing has changed.
    """
    person, credit = _locked(tx, credit_id, by=by, now=now)
    if not _may_see(tx, credit, by, person.today):
        raise NotFound("time credit")
    is_own = credit.user_id == by.user_id
    if not by.is_admin and not (is_own and credit.status != "approved"):
        raise InsufficientRole("admin")
    if credit.status not in ("pending", "approved"):
        raise TimeCreditDecided(credit.status)
    if credit.status == "approved":
        _check_is_unused(tx, person, credit)
    after = replace(credit, status="cancelled")
    return _save(tx, "time_credit.cancelled", credit, after, person, by=by, now=now)


def cancel_pending(
    tx: Transaction, config: OrganisationConfig, user: User, *, by: Caller, now: datetime
) -> int:
    """Cancel what an archived person claimed and no one has decided on; the person is locked.

    Returns how many claims that are.
    """
    today = local_day(now, config.organisation.timezone)
    person = Requester(user=user, config=config, today=today)
    pending = time_credit_lists.pending_of(tx, config.organisation.id, user.id)
    for credit in pending:
        after = replace(credit, status="cancelled")
        _save(tx, "time_credit.cancelled", credit, after, person, by=by, now=now)
    return len(pending)


def _decide(
    tx: Transaction,
    action: Literal["approve", "decline"],
    credit_id: str,
    reason: str | None,
    *,
    by: Caller,
    now: datetime,
) -> TimeCredit:
    person, credit = _locked(tx, credit_id, by=by, now=now)
    if credit.user_id == by.user_id:
        raise OwnRequest
    if not _may_see(tx, credit, by, person.today):
        raise NotFound("time credit")
    if credit.status != "pending":
        raise TimeCreditDecided(credit.status)
    return _decided(
        tx, action, credit, person, reason=reason, decided_by=by.user_id, by=by, now=now
    )


def _decided(
    tx: Transaction,
    action: Literal["approve", "decline"],
    credit: TimeCredit,
    person: Requester,
    *,
    decided_by: str | None,
    reason: str | None = None,
    by: Caller,
    now: datetime,
) -> TimeCredit:
    after = replace(
        credit,
        status="approved" if action == "approve" else "declined",
        decided_by=decided_by,
        decided_at=now,
        decision_reason=reason,
    )
    event: TimeCreditEventType = (
        "time_credit.approved" if action == "approve" else "time_credit.declined"
    )
    return _save(tx, event, credit, after, person, by=by, now=now)


def _save(
    tx: Transaction,
    event: TimeCreditEventType,
    before: TimeCredit,
    after: TimeCredit,
    person: Requester,
    *,
    by: Caller,
    now: datetime,
) -> TimeCredit:
    """Write a changed credit, whose person is locked."""
    after = replace(after, updated_at=now, version=before.version + 1)
    key = {"organisation_id": by.organisation_id, "id": before.id}
    tx.update(TimeCreditRow, rows.columns(after), **key)
    _record(tx, event, before, after, person, by=by, now=now)
    time_credit_outbox.notify(tx, event, after, by=by, config=person.config, now=now)
    if "approved" in (before.status, after.status):
        card_refreshes.enqueue(tx, config=person.config, now=now, user_ids={person.user.id})
    return after


def _record(
    tx: Transaction,
    event: TimeCreditEventType,
    before: TimeCredit | None,
    after: TimeCredit,
    person: Requester,
    *,
    by: Caller,
    now: datetime,
) -> None:
    audit.record(
        tx,
        event,
        "time_credit",
        after.id,
        by=by,
        now=now,
        before=None if before is None else _audited(before),
        after=_audited(after),
    )
    webhook_outbox.enqueue_time_credit(
        tx, event, after, user=person.user, config=person.config, now=now
    )


def _audited(credit: TimeCredit) -> dict[str, object]:
    fields = {name: getattr(credit, name) for name in _AUDITED}
    return {**fields, "days": days_of(credit.half_days)}


def _lock_person(
    tx: Transaction, user_id: str, by: Caller, now: datetime
) -> tuple[Requester, bool]:
    if not is_id(user_id):
        raise leave_requests.unknown_user()
    try:
        return request_steps.lock_person(tx, by.organisation_id, user_id, now)
    except NotFound as error:
        raise leave_requests.unknown_user() from error


def _find(tx: Transaction, credit_id: str, by: Caller) -> TimeCredit:
    row = None
    if is_id(credit_id):
        row = tx.find(TimeCreditRow, organisation_id=by.organisation_id, id=credit_id)
    if row is None:
        raise NotFound("time credit")
    return time_credit_lists.time_credit(row)


def _locked(
    tx: Transaction, credit_id: str, *, by: Caller, now: datetime
) -> tuple[Requester, TimeCredit]:
    """Lock the person, whose credits and leave then stay as they are. Raises NotFound."""
    found = _find(tx, credit_id, by)
    person, _ = request_steps.lock_person(tx, by.organisation_id, found.user_id, now)
    return person, _find(tx, credit_id, by)


def _may_see(tx: Transaction, credit: TimeCredit, by: Caller, today: date) -> bool:
    if by.is_admin or credit.user_id == by.user_id:
        return True
    return by.user_id is not None and time_credit_lists.is_approver(
        tx, credit, organisation_id=by.organisation_id, user_id=by.user_id, today=today
    )


def _check_allowance(config: OrganisationConfig, allowance_id: str) -> None:
    allowance = allowance_terms.check_known(config, allowance_id)
    if not allowance.earnable or allowance.is_archived:
        raise InvalidInput.of(
            "allowance_id",
            "allowance_not_earnable",
            "Time in lieu cannot be claimed for {allowance}.",
            allowance=allowance.name,
        )


def _check_day(person: Requester, worked_on: date) -> None:
    """Raises InvalidInput unless the person was employed on the day, a year ago at most."""
    first_day = person.today - CREDIT_REACH
    if worked_on > person.today:
        raise InvalidInput.of("worked_on", "in_future", "Use today or an earlier day.")
    if worked_on < first_day:
        raise InvalidInput.of(
            "worked_on",
            "too_long_ago",
            "Use {first_day} or a later day.",
            first_day=first_day,
        )
    periods = employment_terms.periods_of(person.user)
    if not employment_terms.includes(periods, worked_on):
        is_before = all(worked_on < (period.start_date or worked_on) for period in periods)
        raise InvalidInput.of(
            "worked_on",
            "before_start_date" if is_before else "after_end_date",
            "Choose a day on which the person was employed.",
        )


def _check_is_unused(tx: Transaction, person: Requester, credit: TimeCredit) -> None:
    """Raises CreditUsed if a balance would become negative, or more negative, without the credit.

    At the end of each leave year from the day of the work on, and on the days of leave.
    """
    config, user = person.config, person.user
    booked = leave_balances.read(tx, config, user, credit.worked_on, person.today)
    kept = [each for each in booked.credits if each.id != credit.id]
    without = replace(booked, credits=kept)
    before = _lowest(config, user, booked, credit)
    after = _lowest(config, user, without, credit)
    if any(left < min(0, known) for known, left in zip(before, after, strict=True)):
        raise CreditUsed


def _lowest(
    config: OrganisationConfig, user: User, booked: Bookings, credit: TimeCredit
) -> list[Amount]:
    """What is left at the end of each leave year, and on the last day of each leave in it."""
    deductions = leave_balances.deductions(config, booked.leave, credit.allowance_id)
    later = [each for each in deductions if each.end_date >= credit.worked_on]
    last_day = max((each.end_date for each in later), default=credit.worked_on)
    years: Sequence[LeaveYearBalance] = year_balances.of_years(
        leave_balances.account_of(config, user, booked, credit.allowance_id),
        deductions,
        credit.worked_on,
        last_day,
    )
    found: list[Amount] = []
    for year in years:
        found.append(year.final_half_days)
        found += [
            year.remaining_half_days(min(each.end_date, year.last_day))
            for each in later
            if each.start_date <= year.last_day and each.end_date >= year.first_day
        ]
    return found


@compiled
def _of_day(organisation_id: Param[str], user_id: Param[str], worked_on: Param[str]) -> Select:
    return TimeCreditRow.select(TimeCreditRow.id).where(
        TimeCreditRow.organisation_id == organisation_id,
        TimeCreditRow.user_id == user_id,
        TimeCreditRow.worked_on == worked_on,
        TimeCreditRow.status.in_(("pending", "approved")),
    )
