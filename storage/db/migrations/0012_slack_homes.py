"""Who has opened the App Home."""

from __future__ import annotations

from typing import Any

from peewee import SQL, BigIntegerField, CompositeKey, Field, Model, TextField


class IdField(Field):  # type: ignore[misc]  # the stubs make it Any
    field_type = "UUID"


class SlackHomeRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    user_id = IdField()
    opened_at = BigIntegerField()
    leafed = TextField()

    class Meta:
        table_name = "slack_homes"
        primary_key = CompositeKey("organisation_id", "user_id")
        constraints = [
            SQL("FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)")
        ]


def up(migrator: Any, db: Any) -> None:
    with db.bind_ctx([SlackHomeRow], bind_refs=False, bind_backrefs=False):
        SlackHomeRow.create_table(safe=False)
