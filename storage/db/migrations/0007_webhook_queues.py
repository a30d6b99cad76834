"""A queue for each webhook, a log that is found by status and event, notices about webhooks."""

from __future__ import annotations

from typing import Any

from peewee import SqliteDatabase

_STATEMENTS = (
    'DROP INDEX "deliveryrow_organisation_id_webhook_id_created_at_id"',
    'DROP INDEX "deliveries_due"',
    'DROP INDEX "deliveries_claimed"',
    'DROP INDEX "deliveries_in_order"',
    'CREATE INDEX "deliveryrow_organisation_id_webhook_id_status_event_type_id"'
    ' ON "deliveries" ("organisation_id", "webhook_id", "status", "event_type", "id")',
    'CREATE INDEX "deliveryrow_organisation_id_event_id"'
    ' ON "deliveries" ("organisation_id", "event_id")',
    'CREATE INDEX "deliveries_queue"'
    ' ON "deliveries" ("webhook_id", "organisation_id", "due_at") WHERE status = \'pending\'',
    'CREATE INDEX "deliveries_claimed"'
    ' ON "deliveries" ("organisation_id", "webhook_id", "due_at") WHERE claim_id IS NOT NULL',
    'CREATE INDEX "deliveries_in_order"'
    ' ON "deliveries" ("leave_request_id", "webhook_id", "organisation_id", "sequence")'
    " WHERE settled_at IS NULL AND attempts = 0",
    'CREATE INDEX "deliveries_settled" ON "deliveries" ("settled_at") WHERE settled_at IS NOT NULL',
)


# SQLite changes a column only by making its table anew.
_ON_SQLITE = (
    'DROP INDEX "noticerow_organisation_id_leave_request_id_user_id"',
    'DROP INDEX "notices_due"',
    'DROP INDEX "notices_in_order"',
    'ALTER TABLE "notices" RENAME TO "notices_before"',
    'CREATE TABLE "notices" ("organisation_id" TEXT NOT NULL, "id" TEXT NOT NULL,'
    ' "kind" VARCHAR(32) NOT NULL, "user_id" TEXT NOT NULL, "leave_request_id" TEXT,'
    ' "event_type" VARCHAR(64) NOT NULL, "status" VARCHAR(16) NOT NULL,'
    ' "attempts" INTEGER NOT NULL, "due_at" INTEGER NOT NULL, "claim_id" VARCHAR(36),'
    ' "last_error" TEXT, "created_at" INTEGER NOT NULL, "settled_at" INTEGER,'
    ' "webhook_id" TEXT, PRIMARY KEY ("organisation_id", "id"))',
    'INSERT INTO "notices" SELECT *, NULL FROM "notices_before"',
    'DROP TABLE "notices_before"',
    'CREATE INDEX "noticerow_organisation_id_leave_request_id_user_id"'
    ' ON "notices" ("organisation_id", "leave_request_id", "user_id")',
    'CREATE INDEX "notices_due" ON "notices" ("due_at") WHERE status = \'pending\'',
    'CREATE INDEX "notices_in_order"'
    ' ON "notices" ("user_id", "leave_request_id", "id") WHERE status = \'pending\'',
)
_ON_POSTGRESQL = (
    'ALTER TABLE "notices" ALTER COLUMN "leave_request_id" DROP NOT NULL',
    'ALTER TABLE "notices" ADD COLUMN "webhook_id" UUID',
)


def up(migrator: Any, db: Any) -> None:
    is_sqlite = isinstance(db, SqliteDatabase)
    for statement in _STATEMENTS + (_ON_SQLITE if is_sqlite else _ON_POSTGRESQL):
        db.execute_sql(statement)
