"""People whose Slack status shows their leave. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from peewee import PostgresqlDatabase

from storage.db.migrations.statements import run_all

COMPATIBLE_FROM = 1

_STATEMENTS = """
CREATE TABLE slack_statuses (
    organisation_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    team_id VARCHAR(32) NOT NULL,
    slack_user_id VARCHAR(32) NOT NULL,
    token_encrypted TEXT NOT NULL,
    connected_at BIGINT NOT NULL,
    ending_at BIGINT,
    due_at BIGINT NOT NULL,
    claim_id VARCHAR(36),
    failures INTEGER NOT NULL,
    known TEXT,
    refused_emoji VARCHAR(100),
    left_alone_until BIGINT,
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id) REFERENCES organisations (id),
    FOREIGN KEY (organisation_id, user_id) REFERENCES users (organisation_id, id)
);
CREATE UNIQUE INDEX slackstatusrow_organisation_id_user_id
    ON slack_statuses (organisation_id, user_id);
CREATE INDEX slackstatusrow_due_at ON slack_statuses (due_at);
"""


def up(migrator: Any, db: Any) -> None:
    run_all(db, _STATEMENTS)
    if isinstance(db, PostgresqlDatabase):
        # As for the other tables (0003_sizes_of_organisations.py).
        db.execute_sql("ALTER TABLE slack_statuses ALTER organisation_id SET (n_distinct = 100)")
