"""Raw rows into values: the columns to select for each, and how to read them.

Rows come back alike from both engines: ids and dates as text, instants as milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Final

import orjson
from peewee import Select

from storage.base import records
from storage.base.records import LeaveRequestRecord
from storage.base.values import (
    ApiKey,
    Department,
    LeaveRequest,
    LeaveType,
    Organisation,
    User,
    Webhook,
)
from storage.db.tables import (
    ApiKeyRow,
    DepartmentRow,
    LeaveRequestRow,
    LeaveTypeRow,
    OrganisationRow,
    UserRow,
    WebhookRow,
)

day = date.fromisoformat


# Rows are read far more often than made, and most of one row's instants are the same.
@lru_cache(maxsize=16_384)
def instant(milliseconds: int) -> datetime:
    """A column's milliseconds as an aware UTC datetime."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


@lru_cache(maxsize=16_384)
def _instant_in_json(milliseconds: int) -> Any:
    return orjson.dumps(instant(milliseconds), option=orjson.OPT_UTC_Z).decode().strip('"')


def instant_or_none(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else instant(milliseconds)


def day_or_none(text: str | None) -> date | None:
    return None if text is None else day(text)


def json_text(value: Any) -> str:
    """A list or dict as a TextField holds it."""
    return orjson.dumps(value).decode()


def _columns(table: Any, value: Any) -> tuple[Any, ...]:
    return tuple(getattr(table, name) for name in value._fields)


ORGANISATION: Final = _columns(OrganisationRow, Organisation)
USER: Final = _columns(UserRow, User)
DEPARTMENT: Final = _columns(DepartmentRow, Department)
LEAVE_TYPE: Final = _columns(LeaveTypeRow, LeaveType)
LEAVE_REQUEST: Final = _columns(LeaveRequestRow, LeaveRequest)
API_KEY: Final = _columns(ApiKeyRow, ApiKey)
WEBHOOK: Final = _columns(WebhookRow, Webhook)


def with_names(leave: Select) -> Select:
    """A query of leave requests joined with whose they are and of which type."""
    return leave.join(
        UserRow,
        on=(UserRow.organisation_id == LeaveRequestRow.organisation_id)
        & (UserRow.id == LeaveRequestRow.user_id),
    ).join(
        LeaveTypeRow,
        on=(LeaveTypeRow.organisation_id == LeaveRequestRow.organisation_id)
        & (LeaveTypeRow.id == LeaveRequestRow.leave_type_id),
    )


def organisation(row: Sequence[Any]) -> Organisation:
    value = Organisation(*row)
    return value._replace(
        working_days=tuple(orjson.loads(row[7])),
        slack_members_join=bool(value.slack_members_join),
        created_at=instant(row[-2]),
        updated_at=instant(row[-1]),
    )


def user(row: Sequence[Any]) -> User:
    value = User(*row)
    return value._replace(
        start_date=day_or_none(row[9]),
        working_days=None if row[10] is None else tuple(orjson.loads(row[10])),
        created_at=instant(row[16]),
        updated_at=instant(row[17]),
    )


def department(row: Sequence[Any]) -> Department:
    value = Department(*row)
    return value._replace(created_at=instant(row[4]), updated_at=instant(row[5]))


def leave_type(row: Sequence[Any]) -> LeaveType:
    value = LeaveType(*row)
    return value._replace(
        requires_approval=bool(value.requires_approval),
        deducts_allowance=bool(value.deducts_allowance),
        allow_overdraft=bool(value.allow_overdraft),
        is_paid=bool(value.is_paid),
        is_private=bool(value.is_private),
        requires_note=bool(value.requires_note),
        is_archived=bool(value.is_archived),
        created_at=instant(row[14]),
        updated_at=instant(row[15]),
    )


def leave_request(row: Sequence[Any]) -> LeaveRequest:
    (
        request_id,
        user_id,
        leave_type_id,
        status,
        start_date,
        end_date,
        start_half_day,
        end_half_day,
        total_half_days,
        counted_halves,
        note,
        decided_by,
        decided_at,
        decision_reason,
        cancelled_at,
        created_at,
        updated_at,
        version,
    ) = row
    return LeaveRequest(
        id=request_id,
        user_id=user_id,
        leave_type_id=leave_type_id,
        status=status,
        start_date=day(start_date),
        end_date=day(end_date),
        start_half_day=start_half_day,
        end_half_day=end_half_day,
        total_half_days=total_half_days,
        counted_halves=counted_halves,
        note=note,
        decided_by=decided_by,
        decided_at=None if decided_at is None else instant(decided_at),
        decision_reason=decision_reason,
        cancelled_at=None if cancelled_at is None else instant(cancelled_at),
        created_at=instant(created_at),
        updated_at=instant(updated_at),
        version=version,
    )


def leave_request_record(row: Sequence[Any]) -> LeaveRequestRecord:
    """The public shape at once: what `records.leave_request` makes of the value."""
    (
        request_id,
        user_id,
        leave_type_id,
        status,
        start_date,
        end_date,
        start_half_day,
        end_half_day,
        total_half_days,
        _,
        note,
        decided_by,
        decided_at,
        decision_reason,
        cancelled_at,
        created_at,
        updated_at,
        version,
    ) = row
    return {
        "id": request_id,
        "user_id": user_id,
        "leave_type_id": leave_type_id,
        "status": status,
        # Dates and instants are text, which is what they become in JSON.
        "start_date": start_date,
        "end_date": end_date,
        "start_half_day": start_half_day,
        "end_half_day": end_half_day,
        "total_days": records.days(total_half_days),
        "note": note,
        "decided_by": decided_by,
        "decided_at": None if decided_at is None else _instant_in_json(decided_at),
        "decision_reason": decision_reason,
        "cancelled_at": None if cancelled_at is None else _instant_in_json(cancelled_at),
        "created_at": _instant_in_json(created_at),
        "updated_at": _instant_in_json(updated_at),
        "version": version,
    }


def api_key(row: Sequence[Any]) -> ApiKey:
    value = ApiKey(*row)
    return value._replace(
        scopes=tuple(orjson.loads(row[4])),
        created_at=instant(row[6]),
        expires_at=instant_or_none(row[7]),
        last_used_at=instant_or_none(row[8]),
        revoked_at=instant_or_none(row[9]),
    )


def webhook(row: Sequence[Any]) -> Webhook:
    value = Webhook(*row)
    return value._replace(
        events=tuple(orjson.loads(row[2])),
        is_active=bool(row[3]),
        created_at=instant(row[5]),
        updated_at=instant(row[6]),
    )
