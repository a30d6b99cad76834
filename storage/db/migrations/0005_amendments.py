"""Amendments: proposed changes of approved leave. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
ALTER TABLE leave_types ADD COLUMN changes_need_approval BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE leave_requests ADD COLUMN amendment_id UUID;
ALTER TABLE leave_requests ADD COLUMN hidden_versions INTEGER;
ALTER TABLE leave_requests ADD COLUMN shown_updated_at BIGINT;
CREATE TABLE amendments (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    leave_request_id UUID NOT NULL,
    leave_type_id UUID NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    note TEXT,
    status VARCHAR(16) NOT NULL,
    requested_by UUID NOT NULL,
    requested_at BIGINT NOT NULL,
    decided_by UUID,
    decided_at BIGINT,
    decision_reason TEXT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_request_id)
        REFERENCES leave_requests (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_type_id) REFERENCES leave_types (organisation_id, id),
    FOREIGN KEY (organisation_id, requested_by) REFERENCES users (organisation_id, id),
    FOREIGN KEY (organisation_id, decided_by) REFERENCES users (organisation_id, id),
    CONSTRAINT amendments_status
        CHECK (status IN ('open', 'approved', 'declined', 'withdrawn', 'replaced', 'ended')),
    CONSTRAINT amendments_start_half_day CHECK (start_half_day IN ('am', 'pm')),
    CONSTRAINT amendments_end_half_day CHECK (end_half_day IN ('am', 'pm')),
    CONSTRAINT amendments_dates CHECK (start_date <= end_date)
);
CREATE INDEX amendmentrow_organisation_id_leave_request_id_requested_at
    ON amendments (organisation_id, leave_request_id, requested_at);
CREATE INDEX amendmentrow_organisation_id_leave_type_id
    ON amendments (organisation_id, leave_type_id);
CREATE UNIQUE INDEX amendments_open
    ON amendments (organisation_id, leave_request_id) WHERE status = 'open';
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE amendments ALTER organisation_id SET (n_distinct = 100)")
