"""Departments, read as values and locked. Callers check who may."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from peewee import Select, fn

from storage.base import ids
from storage.base.errors import InvalidInput, NotFound
from storage.base.values import Caller, Department
from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import DepartmentRow, UserRow
from storage.people import people_rows


def get(tx: Transaction, department_id: str, *, by: Caller, for_update: bool = False) -> Department:
    """One department. Raises NotFound. ``for_update``: it stays so until this transaction ends."""
    if ids.is_id(department_id):
        # The strongest lock: even inserts of rows that refer to the department have to wait.
        lock = "FOR UPDATE" if for_update else ""
        row = tx.find(DepartmentRow, lock, organisation_id=by.organisation_id, id=department_id)
        if row is not None:
            return rows.department(row)
    raise NotFound("department")


def page(
    tx: Transaction,
    page: PageOf,
    *,
    by: Caller,
    manager_id: str | None = None,
    updated_since: datetime | None = None,
) -> Page[Department]:
    """One page of the departments, oldest first; ``updated_since`` is inclusive.

    Raises NotFound for an unknown manager, UnusableCursor.
    """
    if manager_id is not None and people_rows.find(tx, by.organisation_id, manager_id) is None:
        raise NotFound("user")
    bound_to = ("departments", by.organisation_id, manager_id, updated_since)
    after = position(tx, page, *bound_to)
    page_rows = tx.all(
        _page,
        organisation_id=by.organisation_id,
        manager_id=manager_id,
        updated_since=updated_since,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, page_rows, rows.department, lambda row: [row.id], *bound_to)


def sizes(tx: Transaction, organisation_id: str, department_ids: Collection[str]) -> dict[str, int]:
    """How many people belong to each department today, archived ones left out."""
    size_rows = tx.all(
        _sizes, organisation_id=organisation_id, department_ids=sorted(department_ids)
    )
    return {row.department_id: row.people for row in size_rows}


def exists(
    tx: Transaction, organisation_id: str, department_id: str, *, for_update: bool = False
) -> bool:
    """Whether there is such a department. ``for_update``: it is not deleted meanwhile either."""
    if not ids.is_id(department_id):
        return False
    # The lock that a foreign key takes: only deletes wait for it.
    lock = "FOR KEY SHARE" if for_update else ""
    row = tx.find(DepartmentRow, lock, organisation_id=organisation_id, id=department_id)
    return row is not None


def check(tx: Transaction, department_id: str | None, *, by: Caller) -> None:
    """Raises InvalidInput ``not_found``; a department that passes is not deleted meanwhile."""
    if department_id is not None and not exists(
        tx, by.organisation_id, department_id, for_update=True
    ):
        raise InvalidInput.of("department_id", "not_found", "There is no such department.")


@compiled
def _page(
    organisation_id: Param[str],
    manager_id: Param[str] | None,
    updated_since: Param[datetime] | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    department = DepartmentRow
    query = department.select().where(department.organisation_id == organisation_id)
    if manager_id is not None:
        query = query.where(department.manager_id == manager_id)
    if updated_since is not None:
        query = query.where(department.updated_at >= updated_since)
    if after_id is not None:
        query = query.where(department.id > after_id)
    return query.order_by(department.id).limit(limit)


@compiled
def _sizes(organisation_id: Param[str], department_ids: Param[list[str]]) -> Select:
    return (
        UserRow.select(UserRow.department_id, fn.COUNT(UserRow.id).alias("people"))
        .where(
            UserRow.organisation_id == organisation_id,
            any_of(UserRow.department_id, department_ids),
            UserRow.status != "archived",
        )
        .group_by(UserRow.department_id)
    )
