"""`/leave-types`: leave types and their rules."""

from __future__ import annotations

from api.http.context import RequestContext, Result, created
from api.http.operations import Tag, operation
from api.schemas import effects
from api.schemas.leave_bodies import LeaveTypeChanges, NewLeaveType
from api.schemas.lists import Listing, listing
from api.schemas.queries import ListOfLeaveTypes, is_true
from storage.admin import leave_type_changes
from storage.base import errors, records
from storage.base.records import LeaveTypeRecord
from storage.db.database import Transaction
from storage.directory import people_changes
from storage.leave import leave_types

LEAVE_TYPES = Tag(
    "Leave types", "Types of leave, such as annual or sick leave, and the rules of each."
)

_RULES = (
    "control_character",
    "invalid_code",
    "invalid_colour",
    "invalid_emoji",
    "invalid_length",
    "no_visible_letter",
    "out_of_range",
    "unknown_emoji",
)


@operation("GET", "/leave-types", tag=LEAVE_TYPES, scope="organisation:read")
def page(
    tx: Transaction, context: RequestContext, query: ListOfLeaveTypes
) -> Listing[LeaveTypeRecord]:
    """List leave types.

    Includes archived leave types, unless `is_archived` excludes them.
    """
    archived = is_true(query.is_archived)
    page = leave_types.page(tx, query.page, by=context.caller, is_archived=archived)
    return listing(page, records.leave_type)


@operation(
    "GET",
    "/leave-types/{id}",
    tag=LEAVE_TYPES,
    scope="organisation:read",
    kind="leave type",
    is_resource=True,
)
def get(tx: Transaction, context: RequestContext) -> LeaveTypeRecord:
    """Read a leave type.

    Any leave type of the organisation, archived or not.
    """
    return records.leave_type(leave_types.get(tx, context.id, by=context.caller))


@operation(
    "POST",
    "/leave-types",
    tag=LEAVE_TYPES,
    scope="organisation:write",
    role="admin",
    status=201,
    resource=get,
    refusals=(errors.CodeTaken, errors.NameTaken, leave_types.TooManyLeaveTypes),
    rules=_RULES,
    example={"name": "Study leave", "code": "study", "max_consecutive_days": 5},
)
def create(tx: Transaction, context: RequestContext, body: NewLeaveType) -> Result[LeaveTypeRecord]:
    """Create a leave type.

    By default, a leave type needs approval, is paid and is deducted from the allowance. Its name is
    unique among the types in use, of which there are at most 50. `emoji` is one that every Slack
    workspace has.
    """
    leave_type = leave_types.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/leave-types/{leave_type.id}", records.leave_type(leave_type))


@operation(
    "PATCH",
    "/leave-types/{id}",
    tag=LEAVE_TYPES,
    scope="organisation:write",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    refusals=(
        errors.CodeTaken,
        errors.NameTaken,
        leave_types.TooManyLeaveTypes,
        people_changes.ChangedMeanwhile,
    ),
    rules=_RULES,
    example={"requires_note": True},
)
def update(tx: Transaction, context: RequestContext, body: LeaveTypeChanges) -> LeaveTypeRecord:
    """Change a leave type.

    Existing requests keep their days. `is_archived` false restores an archived type.
    `deducts_allowance` counts for all leave of the type, in past leave years too: a dry run shows
    whose balance changes.
    """
    leave_type = leave_type_changes.update(
        tx, context.id, body.sent(), by=context.caller, now=context.now, recorder=context.recorder
    )
    return records.leave_type(leave_type)


@operation(
    "DELETE",
    "/leave-types/{id}",
    tag=LEAVE_TYPES,
    scope="organisation:write",
    role="admin",
    status=204,
    resource=get,
    refusals=(people_changes.ChangedMeanwhile,),
)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a leave type.

    A leave type that has been used is archived instead.
    """
    leave_types.delete(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, update, delete)
