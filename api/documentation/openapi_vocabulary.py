"""Realistic values by the name of a field, which ``openapi_examples`` composes examples of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.documentation.json_schema import Json
from storage.base.event_values import EVENT_TYPES

ADA: Final = "0197c2a4-5b10-7a21-8c43-2f6d10a9e301"
GRACE: Final = "0197c2a4-5b11-7c09-9d17-6be2c4f8a702"
RESEARCH: Final = "0197c2a4-4f02-7b55-a1d0-93c85e7f2103"
ANNUAL: Final = "0197c2a4-4e01-7f3a-b6c2-18d9a05b7e04"
REQUEST: Final = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"
OTHER: Final = "0197c2a4-9d20-7e66-8a31-50fb7c2d4e12"
_TOKEN: Final = "wT7kq2ZfLr9VbX4nJ0sYhC3mE8aUdQ5p"
_WEEK: Final = ["monday", "tuesday", "wednesday", "thursday", "friday"]

# By the name of a field or parameter.
WORDS: Final[Mapping[str, object]] = {
    "action": "leave_request.approved",
    "actor_id": GRACE,
    "approvers_note": None,
    "api_key": "hiatus_sk_live_7Qm2xKf9LwTz4RbN8vYc1HsJ5pDgA0eU3iWq6oXtEkMZr0",
    "avatar_url": "https://avatars.example.com/ada.png",
    "cancelled_at": None,
    "carry_over": 5,
    "carry_over_expiry_month": 9,
    "code": "annual",
    "colour": "#2e86de",
    "country_code": "GB-SCT",
    "country_name": "United Kingdom (Scotland)",
    "created_by": GRACE,
    "created_at": "2026-06-15T09:30:00.412000Z",
    "cursor": "eyJrIjpbIjIwMjYtMDgtMDMiXX0.5uQ0cZ2r",
    "day_ends_at": "17:00",
    "day_starts_at": "09:00",
    "days": 4.5,
    "deducts_allowance": True,
    "decided_at": "2026-06-16T13:05:00.078000Z",
    "decided_by": GRACE,
    "decision_reason": None,
    "default_leave_allowance": 25,
    "department_id": RESEARCH,
    "detail": "This overlaps with other leave.",
    "digest_channel": None,
    "disabled_reason": None,
    "domain": "acme.example.com",
    "email": "ada@example.com",
    "emoji": "palm_tree",
    "end_date": "2026-08-07",
    "end_half_day": "am",
    "events": ["leave_request.created", "leave_request.approved"],
    "expires_at": "2027-06-15T00:00:00Z",
    "failing_since": None,
    "first_name": "Ada",
    "from": "2026-08-01",
    "half_day_end": True,
    "has_more": False,
    "holiday_count": 9,
    "is_active": True,
    "is_paid": True,
    "job_title": "Analyst",
    "last_fetched_at": "2026-06-18T08:12:00Z",
    "last_fetched_by": "Thunderbird",
    "last_name": "Lovelace",
    "last_used_at": "2026-06-18T08:12:00.301000Z",
    "leave_allowance": None,
    "leave_type": "annual",
    "leave_type_id": ANNUAL,
    "leave_year_start_day": 1,
    "leave_year_start_month": 4,
    "limit": 50,
    "logo_url": None,
    "manager_id": GRACE,
    "max_consecutive_days": 20,
    "midday_at": "13:00",
    "min_notice_days": 7,
    "next_cursor": None,
    "note": "Hiking in the Cairngorms",
    "on": "2026-06-18",
    "oldest_undelivered_seconds": 0.0,
    "organisation": f"/cal/{_TOKEN}?scope=org",
    "organisation_id": "0197c2a4-4d00-7a18-9e44-c1b06d3f8a20",
    "personal": f"/cal/{_TOKEN}",
    "prefix": "hiatus_sk_live_7Qm2",
    "public_holiday_country_code": "GB-SCT",
    "reason": "Half of the team is away that week.",
    "request_id": "5f0c1a7be2d94c3f8a6d0e4b9c7f2a11",
    "requires_approval": True,
    "revoked_at": None,
    "scope": "team",
    "scopes": ["users:read", "leave:write"],
    "secret": "whsec_c2VjcmV0LWV4YW1wbGUtb2YtYS13ZWJob29rLTAxIQ==",
    "sequence": 2,
    "slug": "acme",
    "sort": "start_date",
    "start_date": "2026-08-03",
    "start_half_day": None,
    "status": "approved",
    "subject_id": REQUEST,
    "team": f"/cal/{_TOKEN}?scope=team",
    "timestamp": "2026-06-16T13:05:00.078000Z",
    "timezone": "Europe/London",
    "to": "2026-08-31",
    "title": "This overlaps with other leave.",
    "token": _TOKEN,
    "total_days": 4.5,
    "updated_at": "2026-06-16T13:05:00.078000Z",
    "url": "https://example.com/hooks/leave",
    "user_id": ADA,
    "version": 2,
    "webhook_id": OTHER,
    "working_days": _WEEK,
    "year": 2026,
}

BY_FORMAT: Final = {
    "uuid": OTHER,
    "date": WORDS["start_date"],
    "date-time": WORDS["created_at"],
}

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

# Where a model's field has another value than its name usually has.
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
    "CalendarFeedRecord": {
        "id": OTHER,
        "name": "Phone",
        "url": f"https://hiatus.example.com/cal/{_TOKEN}",
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
        "id": WORDS["organisation_id"],
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
    "RegionRecord": {"code": "GB-SCT", "name": "Scotland"},
    "PreviewRecord": {
        "status": "pending",
        "days": _DAYS,
        "colleagues_off_count": 1,
        "colleagues_pending_count": 2,
        "refusals": [],
    },
    "SubjectRecord": {"type": "leave_request", "id": REQUEST},
    "UserRecord": {"id": ADA, "start_date": "2024-03-01", "status": "active"},
    "UserSummaryRecord": {"id": ADA, "start_date": "2024-03-01", "status": "active"},
    "WebhookRecord": {"id": OTHER},
    "WebhookWithSecretRecord": {"id": OTHER},
    "YearChangeRecord": {"before": 26.5, "days": 4.5, "after": 22},
}

_WAITING: Final[Json] = {
    "status": "pending",
    "decided_by": None,
    "decided_at": None,
    "updated_at": WORDS["created_at"],
    "version": 1,
}

# What an operation's answer says otherwise, because the operation has just made it so.
OF_ANSWER: Final[Mapping[str, Json]] = {
    "api_keys.create": {"scopes": ["users:read", "leave:read"], "expires_at": None},
    "approvals.decline": {
        "status": "declined",
        "decision_reason": WORDS["reason"],
    },
    "leave.cancel": {"status": "cancelled"},
    "leave.create": {
        "status": "pending",
        "half_day_end": False,
        "days": 5,
        "note": "",
    },
    "leave_requests.cancel": {"status": "cancelled", "cancelled_at": WORDS["updated_at"]},
    "leave_requests.create": {**_WAITING, "note": None},
    "leave_requests.edit": {
        **_WAITING,
        "end_date": "2026-08-06",
        "end_half_day": None,
        "total_days": 4,
        "updated_at": WORDS["updated_at"],
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
        "avatar_url": None,
        "public_holiday_country_code": None,
        "updated_at": WORDS["created_at"],
    },
    "users.deactivate": {"status": "deactivated", "is_active": False},
    "users.update": {"working_days": ["monday", "tuesday", "friday:am"]},
}

# Parameters whose name means something else where it is a field.
OF_PARAMETER: Final[Mapping[tuple[str, str], object]] = {
    ("users.list_all", "status"): "active",
    ("users.list_all", "role"): "approver",
    ("users.list_all", "API-Variant"): "2",
}
