"""Indexes for organisations with a million requests. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import create_index

COMPATIBLE_FROM = 1
# PostgreSQL builds indexes concurrently outside of transactions only.
atomic = False

_INDEXES = {
    # Leave that overlaps some days ends within a month after them, or is one of these.
    "leave_requests_long": (
        "leave_requests (organisation_id, end_date, start_date) WHERE LENGTH(counted_halves) > 31"
    ),
    "auditrow_organisation_id_actor_id_action_occurred_at_id": (
        "audit_entries (organisation_id, actor_id, action, occurred_at, id)"
    ),
}


def up(migrator: Any, db: Any) -> None:
    for name, definition in _INDEXES.items():
        create_index(db, name, definition)
