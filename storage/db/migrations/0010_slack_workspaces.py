"""Slack workspaces by OAuth: events handled once, profiles, and finding what to link."""

from __future__ import annotations

from typing import Any

from peewee import (
    SQL,
    BigIntegerField,
    CharField,
    CompositeKey,
    Field,
    Model,
    SqliteDatabase,
)


class IdField(Field):  # type: ignore[misc]  # the stubs make it Any
    field_type = "UUID"


class SlackProfileRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    user_id = IdField()
    locale = CharField(35, null=True)
    updated_at = BigIntegerField()

    class Meta:
        table_name = "slack_profiles"
        primary_key = CompositeKey("organisation_id", "user_id")
        constraints = [
            SQL("FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)")
        ]


_STATEMENTS = (
    'CREATE INDEX "slackstaterow_expires_at" ON "slack_states" ("expires_at")',
    'CREATE INDEX "organisationrow_domain" ON "organisations" ("domain")',
)


def up(migrator: Any, db: Any) -> None:
    # As Peewee writes it for each engine.
    integer = "INTEGER" if isinstance(db, SqliteDatabase) else "BIGINT"
    db.execute_sql(f'ALTER TABLE "slack_events" ADD COLUMN "handled_at" {integer}')
    for statement in _STATEMENTS:
        db.execute_sql(statement)
    with db.bind_ctx([SlackProfileRow], bind_refs=False, bind_backrefs=False):
        SlackProfileRow.create_table(safe=False)
