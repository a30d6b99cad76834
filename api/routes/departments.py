"""`/departments`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.http.fields import (
    ABSENT,
    Body,
    Day,
    Days,
    Listing,
    Name,
    Paged,
    UpdatedSince,
    Uuid,
    in_half_days,
    listing_of,
)
from api.http.operations import Created, RequestContext, Tag, created, operation
from api.routes import effects
from storage.admin import departments
from storage.base import errors
from storage.base.values import (
    Department,
)
from storage.db.database import Transaction
from storage.people import allowance_terms, department_rows, people_changes

DEPARTMENTS = Tag(
    "Departments",
    "Groups of people. A department's manager approves for it, and it may have an allowance of its "
    "own.",
    "departments",
)

_RULES = ("manager_archived", "not_found")


class DepartmentFields(Body):
    name: Name = ABSENT
    manager_id: Uuid | None = ABSENT
    default_leave_allowance: Annotated[
        Days | None, Field(description="Days a year; null for the organisation's allowance.")
    ] = ABSENT

    def sent(self) -> dict[str, Any]:
        changes = super().sent()
        changes.pop("effective_from", None)
        return in_half_days(changes, "default_leave_allowance")


class NewDepartment(DepartmentFields):
    name: Name


class DepartmentChanges(DepartmentFields):
    effective_from: Annotated[
        Day,
        Field(
            description="The day from which `default_leave_allowance` changes; by default the "
            "first day of each person's present leave year, or of the figure of today if that "
            "began later in it."
        ),
    ] = ABSENT


class ListOfDepartments(Paged):
    manager_id: Annotated[Uuid | None, Field(description="Departments that they manage.")] = None
    updated_since: UpdatedSince = None


@operation("GET", "/departments", tag=DEPARTMENTS, refusals=(errors.NotFound,))
def page(tx: Transaction, context: RequestContext, query: ListOfDepartments) -> Listing[Department]:
    """List departments.

    Every department of the organisation, in order of creation. A deleted department is in no list,
    so `updated_since` does not find it: the audit trail has it as `department.deleted`.
    """
    page = department_rows.page(
        tx,
        query.page,
        by=context.caller,
        manager_id=query.manager_id,
        updated_since=query.updated_since,
    )
    config, today = context.config(tx), context.today(tx)
    return listing_of(page, lambda each: allowance_terms.department_as_of(config, each, today))


@operation("GET", "/departments/{id}", tag=DEPARTMENTS, kind="department", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> Department:
    """Read a department.

    Any department of the organisation.
    """
    department = department_rows.get(tx, context.id, by=context.caller)
    return allowance_terms.department_as_of(context.config(tx), department, context.today(tx))


@operation(
    "POST",
    "/departments",
    role="admin",
    resource=get,
    refusals=(errors.NameTaken,),
    rules=_RULES,
    example={"name": "Research", "default_leave_allowance": 27.5},
)
def create(tx: Transaction, context: RequestContext, body: NewDepartment) -> Created[Department]:
    """Create a department.

    People belong to it through their `department_id`. Its manager approves leave for people without
    their own manager. Names are unique, ignoring case.
    """
    department = departments.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/departments/{department.id}", department)


@operation(
    "PATCH",
    "/departments/{id}",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    refusals=(errors.NameTaken, people_changes.ChangedMeanwhile),
    rules=_RULES,
    example={"manager_id": None},
)
def update(tx: Transaction, context: RequestContext, body: DepartmentChanges) -> Department:
    """Change a department.

    Omitted fields stay unchanged; null removes the manager or the allowance. With a new manager,
    members' pending leave goes to its new approvers.
    """
    return departments.update(
        tx,
        context.id,
        body.sent(),
        effective_from=body.effective_from,
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )


@operation(
    "DELETE",
    "/departments/{id}",
    role="admin",
    resource=get,
    refusals=(errors.InUse, people_changes.ChangedMeanwhile),
)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a department.

    Only possible when no one belongs to it today or later. Former members keep, for the time in
    which they belonged to it, the allowance that it gave them.
    """
    departments.delete(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, update, delete)
