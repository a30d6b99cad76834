"""What people were told of days that lapse. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
CREATE TABLE expiry_notices (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    kind VARCHAR(16) NOT NULL,
    told_on DATE NOT NULL,
    contents TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    sent_at BIGINT,
    seen_at BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT "expiry_notices_kind" CHECK (kind IN ('statement', 'reminder'))
);
CREATE UNIQUE INDEX expirynoticerow_organisation_id_user_id_told_on
    ON expiry_notices (organisation_id, user_id, told_on);
CREATE TABLE expiry_checks (
    organisation_id UUID NOT NULL PRIMARY KEY,
    due_at BIGINT NOT NULL,
    FOREIGN KEY (organisation_id) REFERENCES organisations (id)
);
ALTER TABLE organisations ADD COLUMN expiry_notices BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE notices ADD COLUMN expiry_notice_id UUID;
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0100_version_1_0_0.py).
        for table in ("expiry_notices", "expiry_checks"):
            db.execute_sql(f"ALTER TABLE {table} ALTER organisation_id SET (n_distinct = 100)")
