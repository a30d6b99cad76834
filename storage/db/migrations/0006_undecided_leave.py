"""An index of what awaits a decision. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import create_index

COMPATIBLE_FROM = 1
# PostgreSQL builds indexes concurrently outside of transactions only.
atomic = False

_UNDECIDED = (
    "leave_requests (organisation_id, created_at, id) "
    "WHERE status = 'pending' OR amendment_id IS NOT NULL"
)


def up(migrator: Any, db: Any) -> None:
    create_index(db, "leave_requests_undecided", _UNDECIDED)
