"""Other dates that approvers suggest. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
CREATE TABLE suggestions (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    leave_request_id UUID NOT NULL,
    request_version INTEGER NOT NULL,
    status VARCHAR(16) NOT NULL,
    start_date DATE NOT NULL,
    end_date DATE NOT NULL,
    start_half_day VARCHAR(2),
    end_half_day VARCHAR(2),
    suggested_by UUID NOT NULL,
    suggested_at BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, leave_request_id)
        REFERENCES leave_requests (organisation_id, id),
    FOREIGN KEY (organisation_id, suggested_by) REFERENCES users (organisation_id, id),
    CONSTRAINT suggestions_status
        CHECK (status IN ('open', 'accepted', 'declined', 'replaced')),
    CONSTRAINT suggestions_start_half_day CHECK (start_half_day IN ('am', 'pm')),
    CONSTRAINT suggestions_end_half_day CHECK (end_half_day IN ('am', 'pm')),
    CONSTRAINT suggestions_dates CHECK (start_date <= end_date)
);
CREATE INDEX suggestionrow_organisation_id_leave_request_id
    ON suggestions (organisation_id, leave_request_id);
CREATE UNIQUE INDEX suggestions_open
    ON suggestions (organisation_id, leave_request_id) WHERE status = 'open';
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE suggestions ALTER organisation_id SET (n_distinct = 100)")
