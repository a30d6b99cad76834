"""`/departments`."""

from __future__ import annotations

from api.http.handlers import RequestContext, Result, created
from api.http.operations import Operation
from api.schemas import effects, user_records
from api.schemas.bodies import DepartmentChanges, NewDepartment
from api.schemas.lists import Listing, listing
from api.schemas.queries import ListOfDepartments
from api.schemas.user_records import DepartmentRecord
from storage.admin import department_removal, departments
from storage.base import errors
from storage.db.database import Transaction
from storage.directory import department_rows, people_changes


def page(
    tx: Transaction, context: RequestContext, query: ListOfDepartments
) -> Listing[DepartmentRecord]:
    page = department_rows.page(tx, query.page, by=context.caller, manager_id=query.manager_id)
    return listing(page, user_records.department)


def create(
    tx: Transaction, context: RequestContext, body: NewDepartment
) -> Result[DepartmentRecord]:
    department = departments.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/departments/{department.id}", user_records.department(department))


def get(tx: Transaction, context: RequestContext) -> DepartmentRecord:
    return user_records.department(department_rows.get(tx, context.id, by=context.caller))


def update(tx: Transaction, context: RequestContext, body: DepartmentChanges) -> DepartmentRecord:
    department = departments.update(
        tx, context.id, body.sent(), by=context.caller, now=context.now, recorder=context.recorder
    )
    return user_records.department(department)


def delete(tx: Transaction, context: RequestContext) -> None:
    department_removal.delete(tx, context.id, by=context.caller, now=context.now)


_RULES = (
    "control_character",
    "invalid_length",
    "no_visible_letter",
    "manager_archived",
    "not_found",
    "not_half_days",
)

OPERATIONS = (
    Operation(
        method="GET",
        path="/departments",
        summary="List departments",
        description="Every department of the organisation, in order of creation.",
        handler=page,
        tag="Departments",
        scope="departments:read",
        refusals=(errors.UnusableCursor, errors.NotFound),
    ),
    Operation(
        method="POST",
        path="/departments",
        summary="Create a department",
        description=(
            "People belong to it through their `department_id`. Its manager approves leave for "
            "people without their own manager. Names are unique, ignoring case."
        ),
        handler=create,
        tag="Departments",
        scope="departments:write",
        role="admin",
        status=201,
        refusals=(errors.NameTaken,),
        rules=_RULES,
        example={"name": "Research", "default_leave_allowance": 27.5},
    ),
    Operation(
        method="GET",
        path="/departments/{id}",
        summary="Read a department",
        description="Any department of the organisation.",
        handler=get,
        tag="Departments",
        scope="departments:read",
        kind="department",
    ),
    Operation(
        method="PATCH",
        path="/departments/{id}",
        summary="Change a department",
        description=(
            "Omitted fields stay unchanged; null removes the manager or the allowance. With a "
            "new manager, members' pending leave goes to its new approvers."
        ),
        handler=update,
        show_effects=effects.shown,
        # May reassign thousands of requests.
        is_long=True,
        tag="Departments",
        scope="departments:write",
        role="admin",
        kind="department",
        refusals=(errors.NameTaken, people_changes.ChangedMeanwhile),
        rules=_RULES,
        example={"manager_id": None},
    ),
    Operation(
        method="DELETE",
        path="/departments/{id}",
        summary="Delete a department",
        description=(
            "Only possible when no one belongs to it today or later. Former members keep, for the "
            "time in which they belonged to it, the allowance that it gave them."
        ),
        handler=delete,
        # Any number of archived people may have to be updated.
        is_long=True,
        tag="Departments",
        scope="departments:write",
        role="admin",
        kind="department",
        status=204,
        refusals=(errors.InUse, people_changes.ChangedMeanwhile),
    ),
)
