"""Labels for people. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
CREATE TABLE labels (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    colour VARCHAR(7) NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE labels ALTER organisation_id SET (n_distinct = 100)")
