"""Absence limits: how many people may be away. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

# Versions that do not know the table delete departments, too.
_STATEMENTS = """
CREATE TABLE absence_limits (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    department_id UUID,
    user_ids TEXT,
    first_day DATE,
    last_day DATE,
    max_away INTEGER,
    min_present INTEGER,
    enforcement VARCHAR(8) NOT NULL,
    is_active BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT "absence_limits_group" CHECK (department_id IS NULL OR user_ids IS NULL),
    CONSTRAINT "absence_limits_dates" CHECK (first_day <= last_day),
    CONSTRAINT "absence_limits_number" CHECK ((max_away IS NULL) <> (min_present IS NULL)),
    CONSTRAINT "absence_limits_enforcement" CHECK (enforcement IN ('warn', 'block'))
);
CREATE INDEX absencelimitrow_organisation_id_department_id
    ON absence_limits (organisation_id, department_id);
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE absence_limits ALTER organisation_id SET (n_distinct = 100)")
