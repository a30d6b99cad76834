"""The index of what changed since an integration last asked. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import create_index

COMPATIBLE_FROM = 1
# PostgreSQL builds indexes concurrently outside of transactions only.
atomic = False


def up(migrator: Any, db: Any) -> None:
    create_index(
        db,
        "leaverequestrow_organisation_id_updated_at_id",
        "leave_requests (organisation_id, updated_at, id)",
    )
