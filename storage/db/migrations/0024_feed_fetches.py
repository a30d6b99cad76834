"""When each calendar feed was last fetched, and by which program."""

from __future__ import annotations

from typing import Any

from peewee import SqliteDatabase


def up(migrator: Any, db: Any) -> None:
    # As Peewee writes it for each engine.
    integer = "INTEGER" if isinstance(db, SqliteDatabase) else "BIGINT"
    db.execute_sql(f'ALTER TABLE "calendar_feeds" ADD COLUMN "last_fetched_at" {integer}')
    db.execute_sql('ALTER TABLE "calendar_feeds" ADD COLUMN "last_fetched_by" TEXT')
