"""When an organisation's admins were told that a webhook keeps failing."""

from __future__ import annotations

from typing import Any

from peewee import SqliteDatabase


def up(migrator: Any, db: Any) -> None:
    kind = "INTEGER" if isinstance(db, SqliteDatabase) else "BIGINT"
    db.execute_sql(f'ALTER TABLE "webhooks" ADD COLUMN "failing_told_at" {kind}')
