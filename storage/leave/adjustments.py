"""Adjustments of a person's allowance in a leave year: added with a reason, never changed.

An error is corrected by another adjustment with the opposite sign, so the ledger shows both.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from peewee import Select, fn

from storage.base import fields, texts
from storage.base.errors import Conflict, InvalidInput, NotFound, Sentence
from storage.base.ids import is_id, new_id
from storage.base.leave_values import Adjustment
from storage.base.values import Caller, days_of, local_day
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import AllowanceAdjustmentRow
from storage.leave import card_refreshes, ledgers
from storage.leave.ledgers import ADJUSTMENT, MAX_ADJUSTMENTS, REACH_YEARS, adjustment_of
from storage.outbox import audit, organisation_config
from storage.people import allowance_terms, people_rows
from storage.rules import leave_years, roles

MAX_REASON_LENGTH: Final = 500


class TooManyAdjustments(Conflict):
    """The person's leave year has reached the limit for adjustments."""

    code = "too_many_adjustments"
    title = "There are too many adjustments."
    cure = "Combine several corrections into one."
    sentence = Sentence(
        "A leave year can have at most {most} adjustments. Use another leave year.",
        most=MAX_ADJUSTMENTS,
    )


def add(
    tx: Transaction,
    user_id: str,
    *,
    half_days: int,
    reason: str,
    leave_year: int,
    allowance_id: str | None = None,
    by: Caller,
    now: datetime,
) -> Adjustment:
    """Add half-days to a person's leave year, or deduct them; the year may become overdrawn.

    ``leave_year`` is the calendar year in which the leave year begins; ``allowance_id`` None is the
    default allowance. Audited. Raises InsufficientRole, NotFound, InvalidInput or
    TooManyAdjustments.
    """
    roles.check_role(by.role, "admin")
    # Locked, so that no concurrent request uses days that this adjustment deducts.
    user = people_rows.find(tx, by.organisation_id, user_id, for_update=True)
    if user is None:
        raise NotFound("user")
    config = organisation_config.of_organisation(tx, by.organisation_id)
    this_year = local_day(now, config.organisation.timezone).year
    fields.whole_number(this_year - REACH_YEARS, this_year + REACH_YEARS)(leave_year, "leave_year")
    text = texts.optional_text(reason, "reason", MAX_REASON_LENGTH)
    if text is None:
        raise InvalidInput.of("reason", "required", "Enter a reason for the adjustment.")
    if allowance_id is not None:
        allowance_terms.check_known(config, allowance_id)
    if allowance_id == config.default_allowance_id:
        allowance_id = None
    rule = allowance_terms.leave_year_rule(config, user)
    first_day = leave_years.leave_year_beginning_in(rule, leave_year).first_day
    count = tx.first(
        _count,
        organisation_id=by.organisation_id,
        user_id=user.id,
        first_day=f"{leave_year}-01-01",
        last_day=f"{leave_year}-12-31",
    )
    if count is not None and count.total >= MAX_ADJUSTMENTS:
        raise TooManyAdjustments
    adjustment = Adjustment(
        id=new_id(now),
        user_id=user.id,
        leave_year=leave_year,
        half_days=half_days,
        reason=text,
        created_by=by.user_id,
        created_at=now,
        allowance_id=allowance_id,
    )
    tx.insert(
        AllowanceAdjustmentRow,
        organisation_id=by.organisation_id,
        id=adjustment.id,
        user_id=user.id,
        leave_year_start=first_day.isoformat(),
        half_days=half_days,
        reason=text,
        created_by=by.user_id,
        created_at=now,
        allowance_id=allowance_id,
    )
    after: dict[str, object] = {
        "user_id": user.id,
        "leave_year": leave_year,
        "days": days_of(half_days),
        "reason": text,
    }
    if allowance_id is not None:
        after["allowance_id"] = allowance_id
    subject = ("allowance_adjustment", adjustment.id)
    audit.record(tx, "allowance_adjustment.created", *subject, by=by, now=now, after=after)
    card_refreshes.enqueue(tx, config=config, now=now, user_ids={user.id})
    return adjustment


def page(
    tx: Transaction, user_id: str, page: PageOf, *, by: Caller, now: datetime
) -> Page[Adjustment]:
    """The person's adjustments of all leave years, newest first.

    For callers who may see the balance. Raises NotFound, InsufficientRole or UnusableCursor.
    """
    user = ledgers.person_seen_by(tx, user_id, by=by, now=now)
    bound_to = ("adjustments", by.organisation_id, user.id)
    after = position(tx, page, *bound_to)
    adjustment_rows = tx.all(
        _page,
        organisation_id=by.organisation_id,
        user_id=user.id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, adjustment_rows, adjustment_of, lambda row: [row.id], *bound_to)


def get(
    tx: Transaction, user_id: str, adjustment_id: str, *, by: Caller, now: datetime
) -> Adjustment:
    """One of the person's adjustments. Raises NotFound or InsufficientRole."""
    user = ledgers.person_seen_by(tx, user_id, by=by, now=now)
    row = (
        tx.first(
            _adjustment,
            organisation_id=by.organisation_id,
            user_id=user.id,
            adjustment_id=adjustment_id,
        )
        if is_id(adjustment_id)
        else None
    )
    if row is None:
        raise NotFound("adjustment")
    return adjustment_of(row)


@compiled
def _count(
    organisation_id: Param[str], user_id: Param[str], first_day: Param[str], last_day: Param[str]
) -> Select:
    return AllowanceAdjustmentRow.select(fn.COUNT(AllowanceAdjustmentRow.id).alias("total")).where(
        AllowanceAdjustmentRow.organisation_id == organisation_id,
        AllowanceAdjustmentRow.user_id == user_id,
        AllowanceAdjustmentRow.leave_year_start >= first_day,
        AllowanceAdjustmentRow.leave_year_start <= last_day,
    )


@compiled
def _page(
    organisation_id: Param[str], user_id: Param[str], after_id: Param[str] | None, limit: Param[int]
) -> Select:
    query = AllowanceAdjustmentRow.select(*ADJUSTMENT).where(
        AllowanceAdjustmentRow.organisation_id == organisation_id,
        AllowanceAdjustmentRow.user_id == user_id,
    )
    if after_id is not None:
        query = query.where(AllowanceAdjustmentRow.id < after_id)
    return query.order_by(AllowanceAdjustmentRow.id.desc()).limit(limit)


@compiled
def _adjustment(
    organisation_id: Param[str], user_id: Param[str], adjustment_id: Param[str]
) -> Select:
    return AllowanceAdjustmentRow.select(*ADJUSTMENT).where(
        AllowanceAdjustmentRow.organisation_id == organisation_id,
        AllowanceAdjustmentRow.id == adjustment_id,
        AllowanceAdjustmentRow.user_id == user_id,
    )
