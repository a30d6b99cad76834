"""Closures: days off that are booked for everyone. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

# Versions that do not know the table delete departments and leave types, too. The columns without
# foreign keys, which SQLite cannot add to a table.
_STATEMENTS = """
CREATE TABLE closures (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    leave_type_id UUID NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    department_id UUID,
    when_short VARCHAR(16) NOT NULL,
    excluded_user_ids TEXT NOT NULL DEFAULT '[]',
    skipped_user_ids TEXT NOT NULL DEFAULT '[]',
    skipped_people INTEGER NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, department_id)
        REFERENCES departments (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, leave_type_id)
        REFERENCES leave_types (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT "closures_when_short" CHECK (when_short IN ('overdraft', 'skip')),
    CONSTRAINT "closures_dates" CHECK (start_date <= end_date)
);
CREATE INDEX closurerow_organisation_id_department_id ON closures (organisation_id, department_id);
CREATE INDEX closurerow_organisation_id_leave_type_id ON closures (organisation_id, leave_type_id);
ALTER TABLE leave_requests ADD COLUMN closure_id UUID;
ALTER TABLE notices ADD COLUMN closure_id UUID;
ALTER TABLE notices ADD COLUMN half_days_before INTEGER;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE closures ALTER organisation_id SET (n_distinct = 100)")
