"""Indexes by which the audit trail is filtered and read in its order."""

from __future__ import annotations

from typing import Any

_STATEMENTS = (
    'CREATE INDEX "auditrow_organisation_id_action_occurred_at_id"'
    ' ON "audit_entries" ("organisation_id", "action", "occurred_at", "id")',
    'CREATE INDEX "auditrow_organisation_id_actor_id_occurred_at_id"'
    ' ON "audit_entries" ("organisation_id", "actor_id", "occurred_at", "id")',
    'DROP INDEX "auditrow_organisation_id_subject_id_occurred_at"',
    'CREATE INDEX "auditrow_organisation_id_subject_id_occurred_at_id"'
    ' ON "audit_entries" ("organisation_id", "subject_id", "occurred_at", "id")',
)


def up(migrator: Any, db: Any) -> None:
    for statement in _STATEMENTS:
        db.execute_sql(statement)
