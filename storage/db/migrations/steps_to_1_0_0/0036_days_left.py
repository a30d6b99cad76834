"""Figures of what people had left on a day. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
CREATE TABLE days_left (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    allowance_id UUID NOT NULL,
    leave_year_start DATE NOT NULL,
    counts_from DATE NOT NULL,
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);
CREATE INDEX daysleftrow_organisation_id_user_id ON days_left (organisation_id, user_id);
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0100_version_1_0_0.py).
        db.execute_sql("ALTER TABLE days_left ALTER organisation_id SET (n_distinct = 100)")
