"""Digests for any number of channels. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

# The column without a foreign key, which SQLite cannot add to a table.
_STATEMENTS = """
CREATE TABLE channel_digests (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    channel VARCHAR(32) NOT NULL,
    department_id UUID,
    frequency VARCHAR(16) NOT NULL,
    locale VARCHAR(16) NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    due_at BIGINT NOT NULL,
    day DATE,
    ts VARCHAR(32),
    shown_sha256 VARCHAR(64),
    refused_because VARCHAR(64),
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT "channel_digests_frequency" CHECK (frequency IN ('daily', 'weekly'))
);
CREATE INDEX channeldigestrow_due_at ON channel_digests (due_at);
CREATE INDEX channeldigestrow_organisation_id_department_id
    ON channel_digests (organisation_id, department_id);
ALTER TABLE notices ADD COLUMN digest_id UUID;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE channel_digests ALTER organisation_id SET (n_distinct = 100)")
