"""`/absence-limits`: how many people may be away at the same time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.fields import ABSENT, Body, Day, Listing, Name, Paged, Uuid, listing
from api.http.operations import Created, RequestContext, Tag, created, operation
from api.routes import effects
from storage.admin import absence_limits
from storage.admin.absence_limits import MAX_NUMBER, MAX_PEOPLE
from storage.base.leave_values import AbsenceLimit, Enforcement
from storage.db.database import Transaction

ABSENCE_LIMITS = Tag(
    "Absence limits",
    "How many people of a department, of a list or of the whole company may be away at the same "
    "time, or how many have to be at work. A blackout is a limit of 0 away between two dates.",
    "organisation",
)

_RULES = ("invalid_value", "not_found", "required", "to_before_from", "too_short")


class AbsenceLimitChanges(Body):
    name: Name = ABSENT
    department_id: Annotated[Uuid | None, Field(description="The people of this department.")] = (
        ABSENT
    )
    user_ids: Annotated[
        list[Uuid] | None,
        Field(
            max_length=MAX_PEOPLE,
            description="These people. Without it and `department_id`: everyone.",
        ),
    ] = ABSENT
    first_day: Annotated[
        Day | None,
        Field(alias="from", description="The first day for which it counts; null for always."),
    ] = ABSENT
    last_day: Annotated[
        Day | None,
        Field(alias="to", description="The last day for which it counts; null for no end."),
    ] = ABSENT
    max_away: Annotated[
        int | None,
        Field(
            ge=0,
            le=MAX_NUMBER,
            description="At most so many are away in any half of a day. Exactly one of this and "
            "`min_present` has a number.",
        ),
    ] = ABSENT
    min_present: Annotated[
        int | None,
        Field(
            ge=1,
            le=MAX_NUMBER,
            description="At least so many are at work in every half of a day: people who work "
            "then and are not away.",
        ),
    ] = ABSENT
    enforcement: Annotated[
        Enforcement,
        Field(
            description="`block` (the default) refuses requests that exceed it, if their type "
            "needs approval; `warn` only says so."
        ),
    ] = ABSENT
    is_active: Annotated[bool, Field(description="By default true.")] = ABSENT


class NewAbsenceLimit(AbsenceLimitChanges):
    name: Name


@operation("GET", "/absence-limits", tag=ABSENCE_LIMITS, role="admin")
def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[AbsenceLimit]:
    """List absence limits.

    In order of creation.
    """
    return listing(absence_limits.page(tx, query.page, by=context.caller))


@operation(
    "GET",
    "/absence-limits/{id}",
    tag=ABSENCE_LIMITS,
    role="admin",
    kind="absence limit",
    is_resource=True,
)
def get(tx: Transaction, context: RequestContext) -> AbsenceLimit:
    """Read an absence limit.

    Only admins and owners see limits; others see what a limit says about their requests.
    """
    return absence_limits.get(tx, context.id, by=context.caller)


@operation(
    "POST",
    "/absence-limits",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    refusals=(absence_limits.TooManyAbsenceLimits,),
    rules=_RULES,
    example={"name": "Support team", "max_away": 2},
    other_examples={
        "No one is away in the last days before Christmas": {
            "name": "Christmas sale",
            "max_away": 0,
            "from": "2026-12-14",
            "to": "2026-12-23",
        },
    },
)
def create(
    tx: Transaction, context: RequestContext, body: NewAbsenceLimit
) -> Created[AbsenceLimit]:
    """Create an absence limit.

    At most 50. Leave that is booked stays. A dry run says how many requests of the next three
    months it would have refused.
    """
    limit = absence_limits.create(
        tx, body.sent(), by=context.caller, now=context.now, recorder=context.recorder
    )
    return created(f"/api/v1/absence-limits/{limit.id}", limit)


@operation(
    "PATCH",
    "/absence-limits/{id}",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    rules=_RULES,
    example={"enforcement": "warn"},
)
def update(tx: Transaction, context: RequestContext, body: AbsenceLimitChanges) -> AbsenceLimit:
    """Change an absence limit.

    Omitted fields stay unchanged. Leave that is booked stays.
    """
    return absence_limits.update(
        tx,
        context.id,
        body.sent(),
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )


@operation("DELETE", "/absence-limits/{id}", role="admin", resource=get)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete an absence limit.

    Deleting a department deletes its limits.
    """
    absence_limits.delete(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, update, delete)
