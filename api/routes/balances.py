"""`/users/{id}/balance` and `/users/{id}/adjustments`: a person's balance and its adjustments."""

from __future__ import annotations

from api.http.context import RequestContext, Result, created
from api.http.fields import Paged
from api.http.operations import Tag, operation
from api.schemas import balance_records
from api.schemas.balance_records import AdjustmentRecord, BalanceRecord
from api.schemas.leave_bodies import NewAdjustment
from api.schemas.lists import Listing, listing
from api.schemas.queries import OfOneDay
from storage.base import errors
from storage.base.amounts import adjustment_half_days_of
from storage.db.database import Transaction
from storage.leave import adjustments, ledgers

BALANCES = Tag(
    "Balances",
    "What is left of a person's leave year, as a ledger whose lines add up: allowance, carry-over, "
    "adjustments, and pending or approved leave.",
)

_VISIBILITY = "For the person, their approvers, admins and owners."


@operation(
    "GET",
    "/users/{id}/balance",
    tag=BALANCES,
    scope="leave:read",
    kind="user",
    refusals=(errors.InsufficientRole,),
    rules=("out_of_range",),
)
def get(tx: Transaction, context: RequestContext, query: OfOneDay) -> BalanceRecord:
    """Read a user's balance.

    For the person, their approvers, admins and owners. The leave year that `on` falls in, with a
    ledger whose lines add up to `remaining`. Future leave counts; pending and approved leave of
    types that deduct is subtracted, each day in its leave year. Days carried over from the year
    before are used first; unused ones expire at the end of the organisation's
    `carry_over_expiry_month`, and are part of `remaining` until then. Nothing is carried over from
    leave years before the person was added: enter earlier days as an adjustment.
    """
    return balance_records.balance(
        ledgers.balance(tx, context.id, on=query.on, by=context.caller, now=context.now)
    )


@operation(
    "GET",
    "/users/{id}/adjustments",
    tag=BALANCES,
    scope="leave:read",
    kind="user",
    refusals=(errors.InsufficientRole,),
)
def page_of_adjustments(
    tx: Transaction, context: RequestContext, query: Paged
) -> Listing[AdjustmentRecord]:
    """List a user's adjustments.

    For the person, their approvers, admins and owners. Of all leave years, newest first.
    """
    page = adjustments.page(tx, context.id, query.page, by=context.caller, now=context.now)
    return listing(page, balance_records.adjustment)


@operation(
    "GET",
    "/users/{id}/adjustments/{adjustment_id}",
    tag=BALANCES,
    scope="leave:read",
    kind="user",
    is_resource=True,
    refusals=(errors.InsufficientRole,),
)
def get_adjustment(tx: Transaction, context: RequestContext) -> AdjustmentRecord:
    """Read an adjustment.

    For the person, their approvers, admins and owners.
    """
    return balance_records.adjustment(
        adjustments.get(
            tx, context.id, context.ids["adjustment_id"], by=context.caller, now=context.now
        )
    )


@operation(
    "POST",
    "/users/{id}/adjustments",
    tag=BALANCES,
    scope="users:write",
    role="admin",
    status=201,
    resource=get_adjustment,
    refusals=(adjustments.TooManyAdjustments,),
    rules=("control_character", "not_half_days", "out_of_range"),
    example={"days": 1.5, "reason": "Worked on Saturday 6 June.", "leave_year": 2026},
)
def add_adjustment(
    tx: Transaction, context: RequestContext, body: NewAdjustment
) -> Result[AdjustmentRecord]:
    """Adjust a user's balance.

    Adds days to one leave year or removes them; the balance can become negative. An adjustment
    cannot be changed or deleted; correct it with another one of the opposite sign. It belongs to
    the leave year that begins in the calendar year `leave_year`, even if the organisation's leave
    year or the person's start date changes later.
    """
    adjustment = adjustments.add(
        tx,
        context.id,
        half_days=adjustment_half_days_of(body.days, "days"),
        reason=body.reason,
        leave_year=body.leave_year,
        by=context.caller,
        now=context.now,
    )
    path = f"/api/v1/users/{adjustment.user_id}/adjustments/{adjustment.id}"
    return created(path, balance_records.adjustment(adjustment))


OPERATIONS = (get, page_of_adjustments, add_adjustment, get_adjustment)
