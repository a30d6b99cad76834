"""The index of the leave that a person covers. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import create_index

COMPATIBLE_FROM = 1
# PostgreSQL builds indexes concurrently outside of transactions only.
atomic = False


def up(migrator: Any, db: Any) -> None:
    create_index(
        db,
        "leave_requests_covered",
        "leave_requests (organisation_id, cover_user_id, end_date) WHERE cover_user_id IS NOT NULL",
    )
