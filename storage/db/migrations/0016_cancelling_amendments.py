"""Amendments that cancel approved leave. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
ALTER TABLE amendments ADD COLUMN cancels BOOLEAN NOT NULL DEFAULT FALSE;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
