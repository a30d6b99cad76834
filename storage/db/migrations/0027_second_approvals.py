"""Leave that needs the approval of a second person. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
ALTER TABLE leave_types ADD COLUMN second_approval TEXT;
ALTER TABLE leave_requests ADD COLUMN approvals TEXT;
ALTER TABLE leave_requests ADD COLUMN first_approver_id UUID;
ALTER TABLE leave_requests ADD COLUMN second_approver_id UUID;
ALTER TABLE amendments ADD COLUMN approvals TEXT;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
