"""`/closures`: days on which the company, or a department, is closed."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import ABSENT, Body, Day, Listing, Name, Paged, Uuid, listing
from api.http.operations import Created, RequestContext, Tag, created, operation
from api.routes.balances import LeaveYearRecord, leave_year
from storage.admin import closures
from storage.admin.effects import BalanceEffect, Effects
from storage.base import values
from storage.base.leave_values import Closure, ClosureEffect, HalfDay, WhenShort
from storage.base.values import Days, Id, UserSummaryRecord, days_of, days_or_none
from storage.db.database import Transaction
from storage.leave import closure_leave
from storage.outbox.organisation_config import OrganisationConfig

CLOSURES = Tag(
    "Closures",
    "Days on which the company is closed, such as the days between Christmas and New Year: leave "
    "that is booked for everyone, or for a department.",
    "organisation",
)

# Of each list; the totals count everyone.
_MAX_SHOWN: Final = 100
_RULES = (
    "end_before_start",
    "impossible_half_days",
    "not_found",
    "out_of_range",
    "out_of_reach",
    "past_days",
    "too_long",
    "unknown_leave_type",
)


class ClosureChanges(Body):
    name: Name = ABSENT
    leave_type_id: Annotated[Uuid, Field(description="The type of the leave, in use.")] = ABSENT
    start_date: Day = ABSENT
    end_date: Annotated[Day, Field(description="The last day, inclusive.")] = ABSENT
    start_half_day: Annotated[
        HalfDay | None, Field(description="The half of the first day in which it starts.")
    ] = ABSENT
    end_half_day: Annotated[
        HalfDay | None, Field(description="The half of the last day in which it ends.")
    ] = ABSENT
    department_id: Annotated[
        Uuid | None, Field(description="Only people of this department; null for everyone.")
    ] = ABSENT
    when_short: Annotated[
        WhenShort,
        Field(
            description="What happens for people who have too little left of the allowance: "
            "`overdraft` (the default) goes below zero, `skip` books nothing."
        ),
    ] = ABSENT
    excluded_user_ids: Annotated[
        list[Uuid],
        Field(
            max_length=closure_leave.MAX_EXCLUDED,
            description="People who work then: nothing is booked for them.",
        ),
    ] = ABSENT


class ClosureBalanceRecord(TypedDict):
    """The days left of an allowance in a leave year, before and after."""

    allowance_id: Id
    leave_year: LeaveYearRecord
    before: float | None
    after: Annotated[float | None, Field(description="Negative if it is overdrawn.")]


class ClosureLeaveRecord(TypedDict):
    """Leave as the closure would leave it."""

    leave_request_id: Annotated[Id | None, Field(description="Null for leave that is new.")]
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    days: Days


class ClosedPersonRecord(TypedDict):
    """What the closure would do for a person."""

    user: UserSummaryRecord
    days_before: Days
    days_after: Days
    leave: Annotated[list[ClosureLeaveRecord], Field(description="By first day.")]
    days_replaced: Annotated[
        float, Field(description="Days of home office and other work elsewhere that it would take.")
    ]
    balances: list[ClosureBalanceRecord]


class ClosureTotalsRecord(TypedDict):
    """Totals of everyone, including those whom the lists leave out."""

    people: Annotated[int, Field(description="People whose leave would change.")]
    days_before: float
    days_after: float
    skipped: Annotated[int, Field(description="People who have too little left, with `skip`.")]
    overdrawn: Annotated[int, Field(description="People whose balance would become negative.")]


class ClosureEffectsRecord(TypedDict):
    """The effects of a dry run. Nothing was changed."""

    dry_run: Literal[True]
    totals: ClosureTotalsRecord
    people: Annotated[
        list[ClosedPersonRecord],
        Field(description="Whose leave would change, negative balances first; at most 100."),
    ]
    skipped: Annotated[
        list[UserSummaryRecord],
        Field(description="People for whom `skip` books nothing; at most 100."),
    ]
    has_more: Annotated[bool, Field(description="Whether a list was cut at 100.")]


def _shown(config: OrganisationConfig, changes: Effects) -> ClosureEffectsRecord:
    changed = [effect for effect in changes.closed if effect.before != effect.after]
    skipped = [effect.user for effect in changes.closed if effect.is_skipped]
    balances: dict[str, list[BalanceEffect]] = {}
    for balance in changes.balances:
        balances.setdefault(balance.user_id, []).append(balance)
    overdrawn = {balance.user_id for balance in changes.overdrawn}
    first = sorted(changed, key=lambda effect: effect.user.id not in overdrawn)[:_MAX_SHOWN]
    return {
        "dry_run": True,
        "totals": {
            "people": len(changed),
            "days_before": days_of(sum(effect.half_days_before for effect in changed)),
            "days_after": days_of(sum(effect.half_days_after for effect in changed)),
            "skipped": len(skipped),
            "overdrawn": len(overdrawn),
        },
        "people": [_person(effect, balances.get(effect.user.id, [])) for effect in first],
        "skipped": [values.user_summary(user) for user in skipped[:_MAX_SHOWN]],
        "has_more": max(len(changed), len(skipped)) > _MAX_SHOWN,
    }


def _person(effect: ClosureEffect, balances: list[BalanceEffect]) -> ClosedPersonRecord:
    known = {request.id for request in effect.before}
    left = [request for request in effect.after if request.status == "approved"]
    return {
        "user": values.user_summary(effect.user),
        "days_before": days_of(effect.half_days_before),
        "days_after": days_of(effect.half_days_after),
        "days_replaced": days_of(effect.half_days_replaced),
        "leave": [
            {
                "leave_request_id": request.id if request.id in known else None,
                "start_date": request.start_date,
                "end_date": request.end_date,
                "start_half_day": request.start_half_day,
                "end_half_day": request.end_half_day,
                "days": days_of(request.total_half_days),
            }
            for request in sorted(left, key=lambda request: request.start_date)
        ],
        "balances": [
            {
                "allowance_id": balance.allowance_id,
                "leave_year": leave_year(balance.year),
                "before": days_or_none(balance.before_half_days),
                "after": days_or_none(balance.after_half_days),
            }
            for balance in balances
        ],
    }


class NewClosure(ClosureChanges):
    name: Name
    leave_type_id: Annotated[Uuid, Field(description="The type of the leave, in use.")]
    start_date: Day
    end_date: Annotated[Day, Field(description="The last day, inclusive.")]


@operation("GET", "/closures", tag=CLOSURES)
def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[Closure]:
    """List closures.

    In order of creation, past ones too.
    """
    return listing(closures.page(tx, query.page, by=context.caller))


@operation("GET", "/closures/{id}", tag=CLOSURES, kind="closure", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> Closure:
    """Read a closure.

    Everyone can read all of them. Only admins and owners see who was skipped or is excluded.
    """
    return closures.get(tx, context.id, by=context.caller)


@operation(
    "POST",
    "/closures",
    role="admin",
    resource=get,
    dry_run=_shown,
    refusals=(closures.TooManyClosures,),
    rules=_RULES,
    example={
        "name": "Christmas closure",
        "leave_type_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        "start_date": "2026-12-24",
        "end_date": "2027-01-01",
    },
)
def create(tx: Transaction, context: RequestContext, body: NewClosure) -> Created[Closure]:
    """Create a closure.

    Books approved leave, with this `closure_id`, for everyone who works then and is not off
    already: around their own leave, pending or approved, and from today on. It needs no notice and
    ignores the other rules of the leave type. Leave of their own that is cancelled, declined or
    moved inside the closure is booked by it, and people who join get it too. Everyone is told once
    in Slack. At most 50 at a time, past ones included.
    """
    closure = closures.create(
        tx, body.sent(), by=context.caller, now=context.now, recorder=context.recorder
    )
    return created(f"/api/v1/closures/{closure.id}", closure)


@operation(
    "PATCH",
    "/closures/{id}",
    role="admin",
    resource=get,
    dry_run=_shown,
    rules=_RULES,
    example={"end_date": "2027-01-03"},
)
def update(tx: Transaction, context: RequestContext, body: ClosureChanges) -> Closure:
    """Change a closure.

    Everyone's leave of it is recounted; days before today stay as they are. Omitted fields stay
    unchanged; a null `department_id` means everyone.
    """
    return closures.update(
        tx,
        context.id,
        body.sent(),
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )


@operation("DELETE", "/closures/{id}", role="admin", resource=get, dry_run=_shown)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a closure.

    People get its days from today on back; days that have passed stay booked. Deleting a department
    deletes its closures.
    """
    closures.delete(tx, context.id, by=context.caller, now=context.now, recorder=context.recorder)


OPERATIONS = (page, create, get, update, delete)
