"""Indexes for lists of a million requests in any order. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import create_index, drop_index

COMPATIBLE_FROM = 1
# PostgreSQL builds indexes concurrently outside of transactions only.
atomic = False

_INDEXES = {
    # All columns by which lists are filtered, for the leave of a department.
    "leave_requests_filters": (
        "leave_requests (organisation_id, user_id, end_date, start_date, status, leave_type_id, id)"
    ),
    "leaverequestrow_organisation_id_status_start_date_id": (
        "leave_requests (organisation_id, status, start_date, id)"
    ),
    # Periods of creation, to skip those that have no leave of some days.
    "leave_requests_periods_end_date": (
        "leave_requests (organisation_id, (created_at / 2419200000), end_date)"
    ),
    "leave_requests_periods_start_date": (
        "leave_requests (organisation_id, (created_at / 2419200000), start_date)"
    ),
}


def up(migrator: Any, db: Any) -> None:
    for name, definition in _INDEXES.items():
        create_index(db, name, definition)
    # Lists of one person's leave have few rows, which are sorted.
    drop_index(db, "leaverequestrow_organisation_id_user_id_created_at_id")
