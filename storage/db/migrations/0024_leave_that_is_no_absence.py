"""Leave types that are no absence, such as home office. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
ALTER TABLE leave_types ADD COLUMN is_away BOOLEAN NOT NULL DEFAULT TRUE;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
