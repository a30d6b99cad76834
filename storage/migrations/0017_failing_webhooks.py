"""When an organisation's admins were told that a webhook keeps failing."""

from __future__ import annotations

from typing import Any


def up(migrator: Any, db: Any) -> None:
    db.execute_sql('ALTER TABLE "webhooks" ADD COLUMN "failing_told_at" BIGINT')
