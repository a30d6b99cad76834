"""Indexes by which it is found whose leave awaits whom, and what somebody decided on."""

from __future__ import annotations

from typing import Any

_STATEMENTS = (
    'DROP INDEX "userrow_organisation_id_department_id"',
    'CREATE INDEX "userrow_organisation_id_department_id_role"'
    ' ON "users" ("organisation_id", "department_id", "role")',
    'CREATE INDEX "leave_requests_decided"'
    ' ON "leave_requests" ("organisation_id", "decided_by") WHERE decided_by IS NOT NULL',
)


def up(migrator: Any, db: Any) -> None:
    for statement in _STATEMENTS:
        db.execute_sql(statement)
