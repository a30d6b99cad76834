"""Only the indexes that queries of today use. Released: never edit this file."""

from __future__ import annotations

from typing import Any

from storage.db.migrations.statements import create_index, drop_index

COMPATIBLE_FROM = 1
# PostgreSQL builds indexes concurrently outside of transactions only.
atomic = False

_OLD = (
    "leaverequestrow_organisation_id_status_created_at_id",
    "leaverequestrow_organisation_id_leave_type_id_created_at_id",
    "leaverequestrow_organisation_id_start_date_id",
    "leaverequestrow_organisation_id_status_start_date_id",
    "leaverequestrow_organisation_id_end_date_start_date",
    "leave_requests_filters",
    "leave_requests_long",
    "leave_requests_periods_end_date",
    "leave_requests_periods_start_date",
    "auditrow_organisation_id_actor_id_action_occurred_at_id",
    "amendmentrow_organisation_id_leave_type_id",
    "allowanceadjustmentrow_organisation_id_user_id_id",
)


def up(migrator: Any, db: Any) -> None:
    create_index(
        db,
        "leaverequestrow_organisation_id_start_date_end_date",
        "leave_requests (organisation_id, start_date, end_date)",
    )
    for name in _OLD:
        drop_index(db, name)
