"""Allowances with dated terms, and time in lieu. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
CREATE TABLE allowances (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    name TEXT NOT NULL,
    code VARCHAR(64) NOT NULL,
    is_default BOOLEAN NOT NULL,
    is_archived BOOLEAN NOT NULL,
    earnable BOOLEAN NOT NULL,
    terms TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
CREATE UNIQUE INDEX allowancerow_organisation_id_code ON allowances (organisation_id, code);
CREATE TABLE time_credits (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    allowance_id UUID NOT NULL,
    worked_on DATE NOT NULL,
    half_days INTEGER NOT NULL,
    reason TEXT NOT NULL,
    status VARCHAR(16) NOT NULL,
    decided_by UUID,
    decided_at BIGINT,
    decision_reason TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT time_credits_status
        CHECK (status IN ('pending', 'approved', 'declined', 'cancelled')),
    CONSTRAINT time_credits_half_days CHECK (half_days BETWEEN 1 AND 732)
);
CREATE INDEX timecreditrow_organisation_id_user_id_worked_on
    ON time_credits (organisation_id, user_id, worked_on);
CREATE UNIQUE INDEX time_credits_days ON time_credits (organisation_id, user_id, worked_on)
    WHERE status IN ('pending', 'approved');
ALTER TABLE organisations ADD COLUMN pro_rata_rules TEXT;
ALTER TABLE departments ADD COLUMN figures TEXT;
ALTER TABLE users ADD COLUMN figures TEXT;
ALTER TABLE users ADD COLUMN leave_allowance_hundredths INTEGER;
ALTER TABLE leave_types ADD COLUMN allowance_id UUID;
ALTER TABLE leave_types ADD COLUMN allowance_uses TEXT;
ALTER TABLE allowance_adjustments ADD COLUMN allowance_id UUID;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        for table in ("allowances", "time_credits"):
            db.execute_sql(f"ALTER TABLE {table} ALTER organisation_id SET (n_distinct = 100)")
