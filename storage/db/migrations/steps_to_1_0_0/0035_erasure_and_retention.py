"""People who were erased, and how long texts of leave are kept. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
ALTER TABLE users ADD COLUMN erased_at BIGINT;
ALTER TABLE organisations ADD COLUMN retention_months INTEGER
    CONSTRAINT organisations_retention_months CHECK (retention_months BETWEEN 1 AND 240);
ALTER TABLE organisations ADD COLUMN texts_removed_until DATE;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
