"""Indexes by which leave of one type or in one span of days, and a person's keys, are listed."""

from __future__ import annotations

from typing import Any

_STATEMENTS = (
    'CREATE INDEX "leaverequestrow_organisation_id_leave_type_id_created_at_id"'
    ' ON "leave_requests" ("organisation_id", "leave_type_id", "created_at", "id")',
    'DROP INDEX "leaverequestrow_organisation_id_end_date"',
    'CREATE INDEX "leaverequestrow_organisation_id_end_date_start_date"'
    ' ON "leave_requests" ("organisation_id", "end_date", "start_date")',
    'DROP INDEX "apikeyrow_organisation_id_user_id"',
    'CREATE INDEX "apikeyrow_organisation_id_user_id_id"'
    ' ON "api_keys" ("organisation_id", "user_id", "id")',
)


def up(migrator: Any, db: Any) -> None:
    for statement in _STATEMENTS:
        db.execute_sql(statement)
