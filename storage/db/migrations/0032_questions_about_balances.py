"""Whom a message to admins is about. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
ALTER TABLE notices ADD COLUMN about_user_id UUID;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
