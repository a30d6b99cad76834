"""The last reply that shows a card, below its message. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
ALTER TABLE slack_messages ADD COLUMN reply_ts VARCHAR(32);
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
