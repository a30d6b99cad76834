"""A backlog of deliveries, written directly because the use cases would take too long."""

from __future__ import annotations

from datetime import datetime

from storage.base.event_values import Webhook
from tests import outside
from tests.builders import NOW, Acme

_SQLITE_ID = "printf('0197c2a4-0000-7000-8000-%012x', n)"
_POSTGRESQL_ID = "('0197c2a4-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"


def park(url: str, acme: Acme, webhook: Webhook, *, rows: int, due_at: datetime = NOW) -> None:
    """Queue that many overdue deliveries of an event of the organisation for the webhook."""
    is_sqlite = url.startswith("sqlite:")
    due_milliseconds = round(due_at.timestamp() * 1000) - 100_000
    outside.run(
        url,
        f"""
        INSERT INTO deliveries (
            organisation_id, id, webhook_id, event_id, event_type, sequence, status, attempts,
            due_at, created_at
        )
        WITH RECURSIVE counted(n) AS (
            SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {rows}
        )
        SELECT e.organisation_id, {_SQLITE_ID if is_sqlite else _POSTGRESQL_ID}, w.id, e.id,
            e.type, 1, 'pending', 0, {due_milliseconds}, {due_milliseconds}
        FROM counted
        CROSS JOIN (
            SELECT * FROM events WHERE organisation_id = '{acme.id}' ORDER BY id LIMIT 1
        ) AS e
        JOIN webhooks AS w ON w.organisation_id = e.organisation_id AND w.id = '{webhook.id}'
        """,
    )
    if not is_sqlite:
        # The tests' server has no autovacuum, which would do this within a minute. Plans that were
        # made for a few rows, above all those of foreign keys, would scan the table for each row.
        outside.run(url, "ANALYZE deliveries")
