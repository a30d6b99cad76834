"""Cards of time in lieu in Slack, and their reminders. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

# The column without a foreign key, which SQLite cannot add to a table.
_STATEMENTS = """
CREATE TABLE time_credit_cards (
    organisation_id UUID NOT NULL,
    time_credit_id UUID NOT NULL,
    user_id UUID NOT NULL,
    channel VARCHAR(32),
    ts VARCHAR(32),
    reply_ts VARCHAR(32),
    asked_at BIGINT NOT NULL,
    sent INTEGER NOT NULL,
    is_next_step BOOLEAN NOT NULL,
    due_at BIGINT,
    PRIMARY KEY (organisation_id, time_credit_id, user_id),
    FOREIGN KEY (organisation_id, time_credit_id) REFERENCES time_credits (organisation_id, id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id),
    CONSTRAINT "time_credit_cards_sent" CHECK (sent >= 0)
);
CREATE INDEX timecreditcardrow_due_at ON time_credit_cards (due_at);
CREATE INDEX timecreditcardrow_organisation_id_user_id ON time_credit_cards
    (organisation_id, user_id);
ALTER TABLE notices ADD COLUMN time_credit_id UUID;
CREATE INDEX notices_of_time_credits ON notices (organisation_id, time_credit_id, user_id)
    WHERE time_credit_id IS NOT NULL;
CREATE INDEX time_credits_pending ON time_credits (organisation_id, id) WHERE status = 'pending';
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE time_credit_cards ALTER organisation_id SET (n_distinct = 100)")
