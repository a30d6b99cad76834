"""The number by which payroll knows a person. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

# Few rows, and none with a number yet: the index is made at once.
_STATEMENTS = """
ALTER TABLE users ADD COLUMN employee_number TEXT;
CREATE UNIQUE INDEX users_employee_numbers ON users (organisation_id, employee_number)
    WHERE employee_number IS NOT NULL AND status <> 'archived';
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
