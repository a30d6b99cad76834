"""Wallcharts of the organisation, for screens and wikis. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
CREATE TABLE display_links (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    department_id UUID,
    token_sha256 VARCHAR(64) NOT NULL,
    token_encrypted TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX displaylinkrow_token_sha256 ON display_links (token_sha256);
CREATE INDEX displaylinkrow_organisation_id_department_id
    ON display_links (organisation_id, department_id);
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE display_links ALTER organisation_id SET (n_distinct = 100)")
