"""The days on which leave changed, for notices that refresh the cards of colleagues' requests."""

from __future__ import annotations

from typing import Any


def up(migrator: Any, db: Any) -> None:
    for column in ("first_day", "last_day"):
        db.execute_sql(f'ALTER TABLE "notices" ADD COLUMN "{column}" DATE')
