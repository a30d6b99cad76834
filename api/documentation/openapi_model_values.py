"""Example values of one model, response or parameter, where a name has another value there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.documentation.openapi_schemas import Json
from api.documentation.openapi_vocabulary import (
    ADA,
    ANNUAL,
    BY_FIELD,
    GRACE,
    OTHER,
    REQUEST,
    RESEARCH,
    TOKEN,
)
from storage.base.event_values import EVENT_TYPES

_LEDGER: Final[list[Json]] = [
    {"type": "allowance", "days": 27.5, "source": "department"},
    {"type": "carry_over", "days": 2, "from_leave_year": "2025/26"},
    {
        "type": "adjustment",
        "days": 1.5,
        "adjustment_id": OTHER,
        "reason": "Worked on Saturday 6 June.",
        "created_by": GRACE,
        "created_at": "2026-06-08T10:00:00.655000Z",
    },
    {
        "type": "leave",
        "days": -4.5,
        "leave_request_id": REQUEST,
        "leave_type_id": ANNUAL,
        "status": "approved",
        "start_date": "2026-08-03",
        "end_date": "2026-08-07",
    },
]

_DAYS: Final[list[Json]] = [
    {
        "date": f"2026-08-0{day}",
        "days": 1 if day < 7 else 0.5,
        "am": "counted",
        "pm": "counted" if day < 7 else "not_asked",
        "reason": None if day < 7 else "not_asked",
        "holiday": None,
        "has_changed": False,
    }
    for day in range(3, 8)
]

_DELIVERY: Final[Json] = {
    "id": "0197c2a5-0b31-7c44-8d02-7a91e6f3b513",
    "event_id": OTHER,
    "event": "leave_request.approved",
    "leave_request_id": REQUEST,
    "status": "delivered",
    "next_attempt_at": None,
    "created_at": "2026-06-16T13:05:00.078000Z",
    "settled_at": "2026-06-16T13:05:02.934000Z",
}

# By model.
OF_MODEL: Final[Mapping[str, Json]] = {
    "BalanceChangeRecord": {"leave_year": "2026/27", "days": 1},
    "BalanceEffectRecord": {"before": 22, "after": 23},
    "EffectTotalsRecord": {
        "users": 1,
        "leave_requests": 1,
        "days_before": 5,
        "days_after": 4,
        "rerouted": 1,
        "api_keys": 0,
        "calendar_feeds": 0,
        "reports": 0,
        "departments": 0,
    },
    "LeaveEffectRecord": {
        "status": "approved",
        "effect": "recounted",
        "end_date_after": "2026-08-07",
        "days_before": 5,
        "days_after": 4,
        "warnings": [],
    },
    "ReroutedRecord": {
        "leave_request_id": OTHER,
        "approvers_before": [GRACE],
        "approvers_after": ["0197c2a4-5b12-7f4d-b0a6-81d7e3c95203"],
    },
    "EffectsRecord": {"warnings": []},
    "ActorRecord": {"type": "user", "id": GRACE},
    "AdjustmentRecord": {
        "id": OTHER,
        "leave_year": 2026,
        "days": 1.5,
        "reason": "Worked on Saturday 6 June.",
    },
    "AmendmentRecord": {
        "id": OTHER,
        "start_date": "2026-08-10",
        "end_date": "2026-08-14",
        "end_half_day": None,
        "total_days": 5,
    },
    "ApiKeyRecord": {"id": OTHER, "name": "payroll", "variant": 1},
    "ApiKeyWithSecretRecord": {"id": OTHER, "name": "payroll", "variant": 1, "last_used_at": None},
    "AuditRecord": {
        "id": OTHER,
        "changes": {"status": {"before": "pending", "after": "approved"}},
    },
    "BalanceRecord": {
        "on": "2026-06-18",
        "ledger": _LEDGER,
        "entitled": 31,
        "taken": 4.5,
        "pending": 0,
        "remaining": 26.5,
        "lapsing": None,
    },
    "DisplayLinkRecord": {
        "name": "Kitchen",
        "department_id": None,
        "url": f"https://hiatus.example.com/wallchart/display-{TOKEN}",
    },
    "CalendarFeedRecord": {
        "id": OTHER,
        "name": "Phone",
        "url": f"https://hiatus.example.com/cal/{TOKEN}",
    },
    "ChangeRecord": {"before": "pending", "after": "approved"},
    "ColleagueOffRecord": {
        "name": "Alan Turing",
        "start_date": "2026-08-05",
        "end_date": "2026-08-12",
        "end_half_day": None,
        "leave_type": "Annual leave",
    },
    "CountryRecord": {"code": "GB", "name": "United Kingdom", "has_regions": True},
    "DatedRecord": {
        "id": OTHER,
        "valid_from": "2026-06-01",
        "working_days": ["monday", "tuesday", "wednesday"],
        "leave_allowance": 15,
    },
    "DayLineRecord": _DAYS[0],
    "DaysRecord": {"leave_request_id": REQUEST, "days": _DAYS},
    "DeliveryAttemptRecord": {
        "attempted_at": "2026-06-16T13:05:02.934000Z",
        "status_code": 204,
        "error": None,
        "duration_milliseconds": 87,
        "answer": "",
    },
    "DeliveryRecord": _DELIVERY,
    "DeliveryWithBodyRecord": {
        **_DELIVERY,
        "body": (
            '{"type":"leave_request.approved","timestamp":"2026-06-16T13:05:00.078000Z","data":{}}'
        ),
    },
    "DepartmentRecord": {"id": RESEARCH, "name": "Research", "default_leave_allowance": 27.5},
    "EventBody": {"type": EVENT_TYPES[2]},
    "EventData": {"id": REQUEST},
    "HolidayOverrideRecord": {
        "id": OTHER,
        "date": "2026-12-24",
        "name": "Christmas Eve",
        "is_holiday": True,
        "half": "pm",
    },
    "HolidayRecord": {
        "date": "2026-11-30",
        "name": "Saint Andrew's Day",
        "source": "country",
        "half": None,
        "is_holiday": True,
        "override_id": None,
    },
    "HolidaySetRecord": {"id": OTHER},
    "LapsingRecord": {"days": 2, "usable_until": "2026-09-30"},
    "LeaveRecord": {"id": REQUEST},
    "LeaveRequestRecord": {"id": REQUEST},
    "LeaveTypeRecord": {"id": ANNUAL, "name": "Annual leave"},
    "LeaveYearRecord": {
        "name": "2026/27",
        "first_day": "2026-04-01",
        "last_day": "2027-03-31",
    },
    "OrganisationRecord": {
        "id": BY_FIELD["organisation_id"],
        "name": "Acme",
        "country_code": "GB",
        "leave_year_type": "fiscal",
    },
    "PingBody": {"type": "ping"},
    "FieldErrorRecord": {
        "pointer": "/end_date",
        "code": "end_before_start",
        "detail": "2026-08-01 is before the first day, 2026-08-03.",
    },
    "PingRecord": {"id": OTHER, "type": "ping"},
    "RefusalRecord": {"status": 409, "code": "overlapping_leave"},
    "WarningRecord": {
        "code": "cover_away",
        "pointer": "/cover_user_id",
        "detail": "Grace Hopper is off on 2026-08-04.",
    },
    "RegionRecord": {"code": "GB-SCT", "name": "Scotland"},
    "PreviewRecord": {
        "status": "pending",
        "effect": None,
        "days": _DAYS,
        "colleagues_off_count": 1,
        "colleagues_pending_count": 2,
        "refusals": [],
    },
    "SubjectRecord": {"type": "leave_request", "id": REQUEST},
    "UserRecord": {"id": ADA, "start_date": "2024-03-01", "end_date": None, "status": "active"},
    "UserSummaryRecord": {"id": ADA, "start_date": "2024-03-01", "status": "active"},
    "WebhookRecord": {"id": OTHER},
    "WebhookWithSecretRecord": {"id": OTHER},
    "YearChangeRecord": {"before": 26.5, "days": 4.5, "after": 22},
}

_PENDING: Final[Json] = {
    "status": "pending",
    "decided_by": None,
    "decided_at": None,
    "updated_at": BY_FIELD["created_at"],
    "version": 1,
}

# By operation id: what the operation has just changed.
OF_RESPONSE: Final[Mapping[str, Json]] = {
    "api_keys.create": {"scopes": ["users:read", "leave:read"], "expires_at": None},
    "approvals.decline": {
        "status": "declined",
        "decision_reason": BY_FIELD["reason"],
    },
    "leave.cancel": {"status": "cancelled"},
    "leave.create": {
        "status": "pending",
        "half_day_end": False,
        "days": 5,
        "note": "",
    },
    "leave_requests.cancel": {"status": "cancelled", "cancelled_at": BY_FIELD["updated_at"]},
    "leave_requests.create": {**_PENDING, "note": None},
    "leave_requests.edit": {
        **_PENDING,
        "end_date": "2026-08-06",
        "end_half_day": None,
        "total_days": 4,
        "updated_at": BY_FIELD["updated_at"],
        "version": 2,
    },
    "users.archive": {"status": "archived", "is_active": False},
    "users.create": {
        "status": "pending",
        "is_active": False,
        "department_id": None,
        "manager_id": None,
        "job_title": None,
        "start_date": None,
        "end_date": None,
        "avatar_url": None,
        "public_holiday_country_code": None,
        "updated_at": BY_FIELD["created_at"],
    },
    "users.deactivate": {"status": "deactivated", "is_active": False},
    "users.update": {"working_days": ["monday", "tuesday", "friday:am"]},
}

# By operation id and name of the parameter.
OF_PARAMETER: Final[Mapping[tuple[str, str], object]] = {
    ("users.list_all", "status"): "active",
    ("users.list_all", "role"): "approver",
    ("users.list_all", "API-Variant"): "2",
}
