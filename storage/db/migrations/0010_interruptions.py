"""Leave that interrupts other leave. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

# Without foreign keys, which SQLite cannot add to a table: both are requests of the same person,
# and requests are never deleted.
_STATEMENTS = """
ALTER TABLE leave_requests ADD COLUMN split_from UUID;
ALTER TABLE leave_requests ADD COLUMN interrupts UUID;
ALTER TABLE leave_types ADD COLUMN may_interrupt BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE leave_types SET may_interrupt = NOT may_interrupt WHERE code = 'sick';
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
