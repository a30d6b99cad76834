"""When people are compared with Slack next, and which change of a Slack profile came last."""

from __future__ import annotations

from typing import Any

from peewee import (
    SQL,
    BigIntegerField,
    CharField,
    CompositeKey,
    Field,
    IntegerField,
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
    slack_updated_at = BigIntegerField(null=True)

    class Meta:
        table_name = "slack_profiles"
        primary_key = CompositeKey("organisation_id", "user_id")
        constraints = [
            SQL("FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)")
        ]


class SlackSyncRow(Model):  # type: ignore[misc]
    organisation_id = IdField(primary_key=True)
    due_at = BigIntegerField()
    claim_id = CharField(36, null=True)
    failures = IntegerField()
    last_error = CharField(100, null=True)
    synced_at = BigIntegerField(null=True)

    class Meta:
        table_name = "slack_syncs"
        indexes = ((("due_at",), False),)
        constraints = [SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")]


def up(migrator: Any, db: Any) -> None:
    with db.bind_ctx((SlackSyncRow,), bind_refs=False, bind_backrefs=False):
        SlackSyncRow.create_table(safe=False)
    _add_column(db)
    # Workspaces that are linked already are due at once.
    db.execute_sql(
        "INSERT INTO slack_syncs (organisation_id, due_at, failures)"
        " SELECT id, 0, 0 FROM organisations WHERE slack_team_id IS NOT NULL"
    )


def _add_column(db: Any) -> None:
    if not isinstance(db, SqliteDatabase):
        db.execute_sql("ALTER TABLE slack_profiles ADD COLUMN slack_updated_at BIGINT")
        return
    # SQLite would put the column behind the table's constraints.
    db.execute_sql("ALTER TABLE slack_profiles RENAME TO slack_profiles_before")
    with db.bind_ctx((SlackProfileRow,), bind_refs=False, bind_backrefs=False):
        SlackProfileRow.create_table(safe=False)
    db.execute_sql(
        "INSERT INTO slack_profiles (organisation_id, user_id, locale, updated_at)"
        " SELECT organisation_id, user_id, locale, updated_at FROM slack_profiles_before"
    )
    db.execute_sql("DROP TABLE slack_profiles_before")
