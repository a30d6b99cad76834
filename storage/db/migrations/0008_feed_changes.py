"""Counters by which a calendar feed tells at a glance that nothing has changed."""

from __future__ import annotations

from typing import Any

from peewee import SQL, BigIntegerField, CompositeKey, Field, IntegerField, Model


class IdField(Field):  # type: ignore[misc]  # the stubs make it Any
    field_type = "UUID"


class FeedChangesRow(Model):  # type: ignore[misc]
    organisation_id = IdField()
    shard = IntegerField()
    changes = BigIntegerField()

    class Meta:
        table_name = "feed_changes"
        primary_key = CompositeKey("organisation_id", "shard")
        constraints = [SQL("FOREIGN KEY (organisation_id) REFERENCES organisations (id)")]


def up(migrator: Any, db: Any) -> None:
    with db.bind_ctx([FeedChangesRow], bind_refs=False, bind_backrefs=False):
        FeedChangesRow.create_table(safe=False)
