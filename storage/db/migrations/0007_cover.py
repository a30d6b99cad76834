"""Colleagues who cover leave. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

# Without a foreign key, which SQLite cannot add to a table.
_STATEMENTS = """
ALTER TABLE leave_requests ADD COLUMN cover_user_id UUID;
ALTER TABLE leave_types ADD COLUMN requires_cover BOOLEAN NOT NULL DEFAULT FALSE;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
