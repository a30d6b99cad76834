"""An index by which a person's adjustments are listed, newest first."""

from __future__ import annotations

from typing import Any

_STATEMENTS = (
    'CREATE INDEX "allowanceadjustmentrow_organisation_id_user_id_id"'
    ' ON "allowance_adjustments" ("organisation_id", "user_id", "id")',
)


def up(migrator: Any, db: Any) -> None:
    for statement in _STATEMENTS:
        db.execute_sql(statement)
