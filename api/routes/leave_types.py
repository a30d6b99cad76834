"""`/leave-types`: leave types and their rules."""

from __future__ import annotations

from api.http.handlers import RequestContext, Result, created
from api.http.operations import Operation
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


def page(
    tx: Transaction, context: RequestContext, query: ListOfLeaveTypes
) -> Listing[LeaveTypeRecord]:
    archived = is_true(query.is_archived)
    page = leave_types.page(tx, query.page, by=context.caller, is_archived=archived)
    return listing(page, records.leave_type)


def create(tx: Transaction, context: RequestContext, body: NewLeaveType) -> Result[LeaveTypeRecord]:
    leave_type = leave_types.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/leave-types/{leave_type.id}", records.leave_type(leave_type))


def get(tx: Transaction, context: RequestContext) -> LeaveTypeRecord:
    return records.leave_type(leave_types.get(tx, context.id, by=context.caller))


def update(tx: Transaction, context: RequestContext, body: LeaveTypeChanges) -> LeaveTypeRecord:
    leave_type = leave_type_changes.update(
        tx, context.id, body.sent(), by=context.caller, now=context.now, recorder=context.recorder
    )
    return records.leave_type(leave_type)


def delete(tx: Transaction, context: RequestContext) -> None:
    leave_types.delete(tx, context.id, by=context.caller, now=context.now)


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

OPERATIONS = (
    Operation(
        method="GET",
        path="/leave-types",
        summary="List leave types",
        description="Includes archived leave types, unless `is_archived` excludes them.",
        handler=page,
        tag="Leave types",
        scope="organisation:read",
        refusals=(errors.UnusableCursor,),
    ),
    Operation(
        method="POST",
        path="/leave-types",
        summary="Create a leave type",
        description=(
            "By default, a leave type needs approval, is paid and is deducted from the "
            "allowance. Its name is unique among the types in use, of which there are at most 50. "
            "`emoji` is one that every Slack workspace has."
        ),
        handler=create,
        tag="Leave types",
        scope="organisation:write",
        role="admin",
        status=201,
        refusals=(errors.CodeTaken, errors.NameTaken, leave_types.TooManyLeaveTypes),
        rules=_RULES,
        example={"name": "Study leave", "code": "study", "max_consecutive_days": 5},
    ),
    Operation(
        method="GET",
        path="/leave-types/{id}",
        summary="Read a leave type",
        description="Any leave type of the organisation, archived or not.",
        handler=get,
        tag="Leave types",
        scope="organisation:read",
        kind="leave type",
    ),
    Operation(
        method="PATCH",
        path="/leave-types/{id}",
        summary="Change a leave type",
        description=(
            "Existing requests keep their days. `is_archived` false restores an archived type. "
            "`deducts_allowance` counts for all leave of the type, in past leave years too: a dry "
            "run shows whose balance changes."
        ),
        handler=update,
        show_effects=effects.shown,
        tag="Leave types",
        scope="organisation:write",
        role="admin",
        kind="leave type",
        refusals=(
            errors.CodeTaken,
            errors.NameTaken,
            leave_types.TooManyLeaveTypes,
            people_changes.ChangedMeanwhile,
        ),
        rules=_RULES,
        is_long=True,
        example={"requires_note": True},
    ),
    Operation(
        method="DELETE",
        path="/leave-types/{id}",
        summary="Delete a leave type",
        description="A leave type that has been used is archived instead.",
        handler=delete,
        tag="Leave types",
        scope="organisation:write",
        role="admin",
        kind="leave type",
        refusals=(people_changes.ChangedMeanwhile,),
        status=204,
    ),
)
