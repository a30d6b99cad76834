"""Statuses, halves and ranges that the database checks itself, and more foreign keys."""

from __future__ import annotations

from typing import Any

from peewee import SqliteDatabase


def _check(name: str, condition: str) -> str:
    return f'CONSTRAINT "{name}" CHECK ({condition})'


def _references(table: str, column: str) -> str:
    return f"FOREIGN KEY (organisation_id, {column}) REFERENCES {table} (organisation_id, id)"


_CONSTRAINTS = {
    "organisations": (
        _check(
            "organisations_leave_year_type",
            "leave_year_type IN ('calendar', 'fiscal', 'anniversary')",
        ),
        _check("organisations_leave_year_start_month", "leave_year_start_month BETWEEN 1 AND 12"),
        _check("organisations_leave_year_start_day", "leave_year_start_day BETWEEN 1 AND 31"),
        _check(
            "organisations_default_leave_allowance",
            "default_leave_allowance_half_days BETWEEN 0 AND 732",
        ),
        _check("organisations_carry_over", "carry_over_half_days BETWEEN 0 AND 732"),
        _check("organisations_carry_over_expiry_month", "carry_over_expiry_month BETWEEN 1 AND 12"),
    ),
    "departments": (
        _check(
            "departments_default_leave_allowance",
            "default_leave_allowance_half_days BETWEEN 0 AND 732",
        ),
    ),
    "users": (
        _check("users_role", "role IN ('member', 'approver', 'admin', 'owner')"),
        _check("users_status", "status IN ('pending', 'active', 'deactivated', 'archived')"),
        _check("users_leave_allowance", "leave_allowance_half_days BETWEEN 0 AND 732"),
    ),
    "leave_types": (
        _check("leave_types_min_notice_days", "min_notice_days BETWEEN 0 AND 730"),
        _check("leave_types_max_consecutive_days", "max_consecutive_days BETWEEN 1 AND 366"),
    ),
    "leave_requests": (
        _references("users", "decided_by"),
        _check(
            "leave_requests_status", "status IN ('pending', 'approved', 'declined', 'cancelled')"
        ),
        _check("leave_requests_start_half_day", "start_half_day IN ('am', 'pm')"),
        _check("leave_requests_end_half_day", "end_half_day IN ('am', 'pm')"),
        _check("leave_requests_dates", "start_date <= end_date"),
        _check("leave_requests_total", "total_half_days BETWEEN 0 AND 732"),
    ),
    "holiday_overrides": (_check("holiday_overrides_half", "half IN ('am', 'pm')"),),
    "allowance_adjustments": (
        _check(
            "allowance_adjustments_half_days", "half_days <> 0 AND half_days BETWEEN -732 AND 732"
        ),
    ),
    "api_keys": (_check("api_keys_variant", "variant IN (1, 2)"),),
    "deliveries": (
        _references("events", "event_id"),
        _check("deliveries_status", "status IN ('pending', 'delivered', 'failed')"),
        _check("deliveries_attempts", "attempts >= 0"),
    ),
    "delivery_attempts": (_check("delivery_attempts_duration", "duration_milliseconds >= 0"),),
    "audit_entries": (
        _check("audit_entries_source", "source IN ('api', 'slack', 'cli', 'scheduler')"),
    ),
    "notices": (
        _references("users", "user_id"),
        _references("leave_requests", "leave_request_id"),
        _references("webhooks", "webhook_id"),
        _check("notices_status", "status IN ('pending', 'delivered', 'failed')"),
        _check("notices_attempts", "attempts >= 0"),
    ),
    "reminders": (_check("reminders_sent", "sent >= 0"),),
}
# Notifications outlived the webhook that they were about, which nothing can be shown of.
_DELETE_ORPHANS = (
    'DELETE FROM "notices" WHERE webhook_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "webhooks"'
    ' WHERE "webhooks".organisation_id = "notices".organisation_id'
    ' AND "webhooks".id = "notices".webhook_id)'
)
# Deleting a webhook looks for its notifications.
_INDEX = (
    'CREATE INDEX "notices_of_webhooks" ON "notices" ("organisation_id", "webhook_id")'
    " WHERE webhook_id IS NOT NULL"
)


def up(migrator: Any, db: Any) -> None:
    db.execute_sql(_DELETE_ORPHANS)
    add = _rebuild if isinstance(db, SqliteDatabase) else _alter
    for table, constraints in _CONSTRAINTS.items():
        add(db, table, constraints)
    db.execute_sql(_INDEX)


def _alter(db: Any, table: str, constraints: tuple[str, ...]) -> None:
    added = ", ".join(f"ADD {constraint}" for constraint in constraints)
    db.execute_sql(f'ALTER TABLE "{table}" {added}')


def _rebuild(db: Any, table: str, constraints: tuple[str, ...]) -> None:
    """Copy the table into one with the constraints: SQLite cannot add them to a table.

    Foreign keys are not enforced on this connection, so rows of other tables stay. Source:
    sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes".
    """
    [(definition,)] = db.execute_sql(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
    )
    indexes = db.execute_sql(
        "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
        (table,),
    ).fetchall()
    body = definition.removeprefix(f'CREATE TABLE "{table}" ').removesuffix(")")
    db.execute_sql(f'CREATE TABLE "rebuilt" {body}, {", ".join(constraints)})')
    db.execute_sql(f'INSERT INTO "rebuilt" SELECT * FROM "{table}"')
    db.execute_sql(f'DROP TABLE "{table}"')
    db.execute_sql(f'ALTER TABLE "rebuilt" RENAME TO "{table}"')
    for (index,) in indexes:
        db.execute_sql(index)
