"""A number that is added to the SEQUENCE of calendar events, and when approvals were reversed."""

from __future__ import annotations

import time
from typing import Any

from peewee import SQL, BigIntegerField, Field, Model, SqliteDatabase


class IdField(Field):  # type: ignore[misc]  # the stubs make it Any
    field_type = "UUID"


class FeedSequenceRow(Model):  # type: ignore[misc]
    organisation_id = IdField(primary_key=True)
    sequence = BigIntegerField()
    changed_at = BigIntegerField()

    class Meta:
        table_name = "feed_sequences"
        constraints = [SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")]


def up(migrator: Any, db: Any) -> None:
    with db.bind_ctx([FeedSequenceRow], bind_refs=False, bind_backrefs=False):
        FeedSequenceRow.create_table(safe=False)
    # Events may have changed without a new SEQUENCE until now: every calendar reads them again.
    now = int(time.time() * 1000)
    db.execute_sql(
        "INSERT INTO feed_sequences (organisation_id, sequence, changed_at)"
        f" SELECT id, 1, {now} FROM organisations"
    )
    # As Peewee writes it for each engine.
    integer = "INTEGER" if isinstance(db, SqliteDatabase) else "BIGINT"
    db.execute_sql(f'ALTER TABLE "leave_requests" ADD COLUMN "approval_reversed_at" {integer}')
