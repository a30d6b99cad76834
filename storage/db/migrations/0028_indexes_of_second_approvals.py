"""The indexes of leave that two people approve. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import create_index

COMPATIBLE_FROM = 1
# PostgreSQL builds indexes concurrently outside of transactions only.
atomic = False


def up(migrator: Any, db: Any) -> None:
    for name, column in (
        ("leave_requests_first_approved", "first_approver_id"),
        ("leave_requests_second_approved", "second_approver_id"),
    ):
        definition = f"leave_requests (organisation_id, {column}) WHERE {column} IS NOT NULL"
        create_index(db, name, definition)
