"""`/departments`."""

from __future__ import annotations

from typing import Any

from api.http.fields import DryRun
from api.http.operations import Answer, Call, Operation, created
from api.schemas import effects
from api.schemas.answers import Listing, listing
from api.schemas.bodies import DepartmentChanges, NewDepartment
from api.schemas.queries import ListOfDepartments
from storage.admin import departments
from storage.base import errors, records
from storage.base.records import DepartmentRecord
from storage.db.database import Transaction
from storage.directory import people_rows


def page(tx: Transaction, call: Call) -> Any:
    query: ListOfDepartments = call.query
    found = departments.page(tx, query.page, by=call.caller, manager_id=query.manager_id)
    return listing(found, records.department)


def create(tx: Transaction, call: Call) -> Answer:
    department = departments.create(tx, call.body.sent(), by=call.caller, now=call.now)
    return created(f"/api/v1/departments/{department.id}", records.department(department))


def get(tx: Transaction, call: Call) -> Any:
    return records.department(departments.get(tx, call.id, by=call.caller))


def update(tx: Transaction, call: Call) -> Any:
    department = departments.update(
        tx, call.id, call.body.sent(), by=call.caller, now=call.now, recorder=call.recorder
    )
    return records.department(department)


def delete(tx: Transaction, call: Call) -> None:
    departments.delete(tx, call.id, by=call.caller, now=call.now)


_RULES = (
    "control_character",
    "invalid_length",
    "manager_archived",
    "not_found",
    "not_half_days",
)

OPERATIONS = (
    Operation(
        method="GET",
        path="/departments",
        summary="List departments",
        description="Every department of the organisation, in the order in which they were made.",
        handler=page,
        tag="Departments",
        scope="departments:read",
        query=ListOfDepartments,
        result=Listing[DepartmentRecord],
        refusals=(errors.UnusableCursor, errors.NotFound),
    ),
    Operation(
        method="POST",
        path="/departments",
        summary="Create a department",
        description=(
            "People join it by their own `department_id`. Its manager approves for those who have "
            "no manager of their own. Names are unique, without case."
        ),
        handler=create,
        tag="Departments",
        scope="departments:write",
        role="admin",
        body=NewDepartment,
        result=DepartmentRecord,
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
        result=DepartmentRecord,
    ),
    Operation(
        method="PATCH",
        path="/departments/{id}",
        summary="Change a department",
        description=(
            "Fields that are left out stay as they are; null takes the manager or the allowance "
            "away. With another manager, pending leave of the members goes to its new approvers."
        ),
        handler=update,
        show_effects=effects.shown,
        query=DryRun,
        # Thousands of requests may await others then.
        is_long=True,
        tag="Departments",
        scope="departments:write",
        role="admin",
        kind="department",
        body=DepartmentChanges,
        result=DepartmentRecord,
        refusals=(errors.NameTaken, people_rows.ChangedMeanwhile),
        rules=_RULES,
        example={"manager_id": None},
    ),
    Operation(
        method="DELETE",
        path="/departments/{id}",
        summary="Delete a department",
        description="One that nobody belongs to any more.",
        handler=delete,
        # Any number of archived people may have to leave it.
        is_long=True,
        tag="Departments",
        scope="departments:write",
        role="admin",
        kind="department",
        status=204,
        refusals=(errors.InUse, people_rows.ChangedMeanwhile),
    ),
)
