"""Constraints that the database enforces for every program that writes to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date

import psycopg
import pytest

from storage.admin import holiday_overrides
from storage.admin.holiday_overrides import NewOverride
from storage.base.ids import new_id
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import adjustments, decisions
from storage.people import holiday_sets
from storage.webhooks import webhooks
from tests import outside
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
)

pytestmark = pytest.mark.both_engines

REFUSED = (sqlite3.IntegrityError, psycopg.errors.IntegrityError)
OUT_OF_RANGE = [
    "organisations SET leave_year_type = 'lunar'",
    "organisations SET leave_year_start_month = 13",
    "organisations SET leave_year_start_day = 0",
    "organisations SET default_leave_allowance_half_days = -1",
    "organisations SET carry_over_half_days = 733",
    "organisations SET carry_over_expiry_month = 0",
    "departments SET default_leave_allowance_half_days = 733",
    "users SET role = 'boss'",
    "users SET status = 'asleep'",
    "users SET leave_allowance_half_days = -1",
    "leave_types SET min_notice_days = -1",
    "leave_types SET max_consecutive_days = 0",
    "leave_requests SET status = 'lost'",
    "leave_requests SET start_half_day = 'xm'",
    "leave_requests SET end_half_day = 'xm'",
    "leave_requests SET end_date = '2026-01-01'",
    "leave_requests SET total_half_days = -1",
    "holiday_overrides SET half = 'xm'",
    "allowance_adjustments SET half_days = 0",
    "api_keys SET variant = 3",
    "deliveries SET status = 'lost'",
    "deliveries SET attempts = -1",
    "delivery_attempts SET duration_milliseconds = -1",
    "audit_entries SET source = 'fax'",
    "notices SET status = 'lost'",
    "notices SET attempts = -1",
    "reminders SET sent = -1",
]
# References to rows of the same organisation: table, column and the table that it refers to.
REFERENCES = [
    ("leave_requests", "decided_by", "users"),
    ("deliveries", "event_id", "events"),
    ("deliveries", "webhook_id", "webhooks"),
    ("notices", "user_id", "users"),
    ("notices", "leave_request_id", "leave_requests"),
    ("notices", "webhook_id", "webhooks"),
]


@pytest.fixture
def acme(database: Database, database_url: str) -> Acme:
    """An organisation with at least one row in every table that a constraint is about."""
    acme = an_organisation(database, slack_members_join=True)
    ada = a_person(database, acme)
    a_department(database, acme)
    by = acme.caller
    webhook = a_webhook(database, acme)
    request = a_request(database, acme, ada)
    database.write_now(decisions.approve, request.id, by=by, now=NOW)
    database.write_now(
        adjustments.add,
        ada.id,
        half_days=2,
        reason="Worked on a Saturday",
        leave_year=2026,
        by=by,
        now=NOW,
    )
    [holiday_set] = database.read_now(holiday_sets.page, PageOf(limit=5), by=by).items
    database.write_now(
        holiday_overrides.add,
        holiday_set.id,
        NewOverride(date=date(2026, 9, 1), name="Open day", is_holiday=True, half="am"),
        by=by,
        now=NOW,
    )
    [(delivery_id,), *_] = outside.rows(database_url, "SELECT id FROM deliveries")
    of_acme = f"'{acme.id}', '{new_id(NOW)}'"
    for row in (
        f"delivery_attempts (organisation_id, id, delivery_id, attempted_at, duration_milliseconds)"
        f" VALUES ({of_acme}, '{delivery_id}', 1, 1)",
        "notices (organisation_id, id, kind, user_id, leave_request_id, webhook_id, event_type,"
        " status, attempts, due_at, created_at)"
        f" VALUES ({of_acme}, 'card', '{ada.id}', '{request.id}', '{webhook.id}',"
        " 'leave_request.created', 'pending', 0, 1, 1)",
        "reminders (organisation_id, leave_request_id, user_id, asked_at, sent, is_next_step,"
        " due_at)"
        f" VALUES ('{acme.id}', '{request.id}', '{ada.id}', 1, 0, false, 1)",
        "api_keys (organisation_id, id, user_id, name, secret_sha256, prefix, scopes, variant,"
        f" created_at) VALUES ({of_acme}, '{ada.id}', 'ci', 'x', 'x', '[]', 1, 1)",
    ):
        outside.run(database_url, f"INSERT INTO {row}")
    return acme


def test_values_out_of_range_are_refused(database_url: str, acme: Acme) -> None:
    assert [change for change in OUT_OF_RANGE if not is_refused(database_url, change)] == []


def test_ids_of_another_organisation_are_refused(
    database: Database, database_url: str, acme: Acme
) -> None:
    other = an_organisation(database, name="Bolt")
    ada = a_person(database, other)
    a_webhook(database, other)
    a_request(database, other, ada)
    accepted = []
    for table, column, parent in REFERENCES:
        [(foreign_id,), *_] = outside.rows(
            database_url, f"SELECT id FROM {parent} WHERE organisation_id = '{other.id}'"
        )
        change = f"{table} SET {column} = '{foreign_id}' WHERE organisation_id = '{acme.id}'"
        if not is_refused(database_url, change):
            accepted.append((table, column))

    assert accepted == []


def test_a_webhook_is_deleted_with_the_notifications_about_it(
    database: Database, database_url: str, acme: Acme
) -> None:
    [(webhook_id,)] = outside.rows(database_url, "SELECT webhook_id FROM notices")

    acme.write(webhooks.delete, str(webhook_id))

    assert outside.rows(database_url, "SELECT 1 FROM notices") == []


def is_refused(url: str, change: str) -> bool:
    """SQLite enforces foreign keys only on connections that ask for it, as ours do."""
    try:
        if url.startswith("postgresql:"):
            outside.run(url, f"UPDATE {change}")
        else:
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
                file.execute("PRAGMA foreign_keys = ON")
                file.execute(f"UPDATE {change}")
    except REFUSED:
        return True
    return False


# Tables without the column.
TABLES = """
SELECT relname FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND NOT EXISTS (
  SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'organisation_id')
"""
# Unique indexes without it.
INDEXES = """
SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relnamespace = 'public'::regnamespace AND indisunique AND NOT EXISTS (
  SELECT FROM pg_attribute WHERE attrelid = indrelid AND attname = 'organisation_id'
  AND attnum = ANY (indkey))
"""
# By table: what is found before the organisation is known, or belongs to no organisation.
WITHOUT_ORGANISATION = {
    "organisations": {
        "organisations_pkey", "organisationrow_slug", "organisationrow_slack_team_id",
    },
    "api_keys": {"apikeyrow_secret_sha256"},
    "calendar_feeds": {"calendarfeedrow_token_sha256"},
    "display_links": {"displaylinkrow_token_sha256"},
    "slack_installations": {"slackinstallationrow_team_id"},
    "slack_events": {"slack_events_pkey"},
    "slack_states": {"slack_states_pkey"},
    "secret_canaries": {"secret_canaries_pkey"},
    "schema_migration": {"schema_migration_pkey", "schema_migration_name"},
    "leases": {"leases_pkey"},
}  # fmt: skip


def test_every_other_unique_index_has_the_organisation(postgres_url: str) -> None:
    indexes = {name for (name,) in outside.rows(postgres_url, INDEXES)}
    tables = {name for (name,) in outside.rows(postgres_url, TABLES)}

    assert indexes == set().union(*WITHOUT_ORGANISATION.values())
    assert tables <= WITHOUT_ORGANISATION.keys()


def test_every_foreign_key_and_most_primary_keys_begin_with_the_organisation(
    postgres_url: str,
) -> None:
    of_public = "connamespace = 'public'::regnamespace AND contype = 'f'"
    [(all_keys, with_organisation)] = outside.rows(
        postgres_url,
        "SELECT count(*), count(*) FILTER (WHERE pg_get_constraintdef(oid) LIKE "
        f"'FOREIGN KEY (organisation_id%') FROM pg_constraint WHERE {of_public}",
    )
    [(tables,)] = outside.rows(
        postgres_url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    )
    keyed = outside.rows(
        postgres_url,
        "SELECT conrelid FROM pg_constraint WHERE contype = 'p' AND "
        "pg_get_constraintdef(oid) LIKE 'PRIMARY KEY (organisation_id%'",
    )

    assert all_keys == with_organisation
    assert len(keyed) == tables - len(outside.rows(postgres_url, TABLES))
