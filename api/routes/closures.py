"""`/closures`: days on which the company, or a department, is closed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.fields import ABSENT, Body, Day, Listing, Name, Paged, Uuid, listing
from api.http.operations import Created, RequestContext, Tag, created, operation
from storage.admin import closures
from storage.admin.closures import Closure, WhenShort
from storage.base.leave_values import HalfDay
from storage.db.database import Transaction

CLOSURES = Tag(
    "Closures",
    "Days on which the company is closed, such as the days between Christmas and New Year: leave "
    "that is booked for everyone, or for a department.",
    "organisation",
)

_RULES = (
    "end_before_start",
    "impossible_half_days",
    "not_found",
    "out_of_reach",
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

    Everyone can read all of them.
    """
    return closures.get(tx, context.id, by=context.caller)


@operation(
    "POST",
    "/closures",
    role="admin",
    resource=get,
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

    At most 50 at a time, past ones included.
    """
    closure = closures.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/closures/{closure.id}", closure)


@operation(
    "PATCH",
    "/closures/{id}",
    role="admin",
    resource=get,
    rules=_RULES,
    example={"end_date": "2027-01-03"},
)
def update(tx: Transaction, context: RequestContext, body: ClosureChanges) -> Closure:
    """Change a closure.

    Omitted fields stay unchanged; a null `department_id` means everyone.
    """
    return closures.update(tx, context.id, body.sent(), by=context.caller, now=context.now)


@operation("DELETE", "/closures/{id}", role="admin", resource=get)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a closure.

    Deleting a department deletes its closures.
    """
    closures.delete(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, update, delete)
