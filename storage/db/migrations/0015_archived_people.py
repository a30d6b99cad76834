"""Addresses and Slack accounts of archived people are free for others."""

from __future__ import annotations

from typing import Any

_STATEMENTS = (
    'DROP INDEX "userrow_organisation_id_email_key"',
    'DROP INDEX "userrow_organisation_id_slack_user_id"',
    'CREATE INDEX "userrow_organisation_id_email_key" ON "users" ("organisation_id", "email_key")',
    'CREATE INDEX "userrow_organisation_id_slack_user_id"'
    ' ON "users" ("organisation_id", "slack_user_id")',
    'CREATE UNIQUE INDEX "users_emails" ON "users" ("organisation_id", "email_key")'
    " WHERE status <> 'archived'",
    'CREATE UNIQUE INDEX "users_slack_accounts" ON "users" ("organisation_id", "slack_user_id")'
    " WHERE status <> 'archived'",
)


def up(migrator: Any, db: Any) -> None:
    for statement in _STATEMENTS:
        db.execute_sql(statement)
