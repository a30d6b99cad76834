"""When approvers are reminded next, and the message of the day about who is out."""

from __future__ import annotations

from typing import Any

from peewee import (
    SQL,
    BigIntegerField,
    BooleanField,
    CharField,
    CompositeKey,
    DateField,
    Field,
    IntegerField,
    Model,
)


class IdField(Field):  # type: ignore[misc]  # the stubs make it Any
    field_type = "UUID"


def references(table: str, column: str) -> SQL:
    return SQL(f"FOREIGN KEY (organisation_id, {column}) REFERENCES {table} (organisation_id, id)")


class ReminderRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    leave_request_id = IdField()
    user_id = IdField()
    asked_at = BigIntegerField()
    sent = IntegerField()
    is_next_step = BooleanField()
    due_at = BigIntegerField()

    class Meta:
        table_name = "reminders"
        primary_key = CompositeKey("organisation_id", "leave_request_id", "user_id")
        indexes = (
            (("due_at",), False),
            (("organisation_id", "due_at"), False),
            (("organisation_id", "user_id"), False),
        )
        constraints = [
            references("leave_requests", "leave_request_id"),
            references("users", "user_id"),
        ]


class ReminderSummaryRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    user_id = IdField()
    day = DateField()

    class Meta:
        table_name = "reminder_summaries"
        primary_key = CompositeKey("organisation_id", "user_id")
        constraints = [references("users", "user_id")]


class DigestRow(Model):  # type: ignore[misc]
    organisation_id = IdField(primary_key=True)
    due_at = BigIntegerField()
    channel = CharField(32, null=True)
    day = DateField(null=True)
    ts = CharField(32, null=True)
    shown_sha256 = CharField(64, null=True)
    refused_channel = CharField(32, null=True)
    refused_because = CharField(64, null=True)

    class Meta:
        table_name = "digests"
        indexes = ((("due_at",), False),)
        constraints = [SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")]


TABLES = (ReminderRow, ReminderSummaryRow, DigestRow)


def up(migrator: Any, db: Any) -> None:
    with db.bind_ctx(TABLES, bind_refs=False, bind_backrefs=False):
        for table in TABLES:
            table.create_table(safe=False)
    db.execute_sql(
        'CREATE INDEX "organisations_digests" ON "organisations" ("id")'
        " WHERE digest_channel IS NOT NULL"
    )
