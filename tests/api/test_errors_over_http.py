"""Errors of fields and states over HTTP, each documented by its operation, as the client checks.

The rules themselves are tested in tests/storage. Operations and their valid bodies come from
``exercising``.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.service.app import OPERATIONS
from storage.admin import people_status
from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.api.exercising import NEVER, Things, call, things
from tests.builders import NOW, a_leave_type, a_person

pytestmark = pytest.mark.shared_database

BY_ID = {operation.operation_id: operation for operation in OPERATIONS}


@pytest.fixture
def there(client: Client, database: Database) -> Things:
    return things(client, database)


@pytest.mark.parametrize(
    ("operation_id", "codes_of_bodies"),
    [
        (
            "users.create",
            {
                "invalid_email": {"email": "ada"},
                "unknown_country": {"public_holiday_country_code": "XX"},
                "not_half_days": {"leave_allowance": 0.3},
                "not_one_of": {"role": "king"},
                "unknown_field": {"age": 7},
            },
        ),
        (
            "users.update",
            {
                "duplicate_working_day": {"working_days": ["monday", "monday:am"]},
                "unknown_working_day": {"working_days": ["funday"]},
                "no_working_days": {"working_days": []},
                "control_character": {"first_name": "A\a"},
                "contains_nul": {"last_name": "A\0"},
                "too_short": {"first_name": " "},
                "too_long": {"job_title": "x" * 1_001},
                "not_a_uuid": {"department_id": "7"},
            },
        ),
        (
            "organisation.update",
            {
                "invalid_time": {"midday_at": "noon"},
                "working_hours_out_of_order": {"midday_at": "23:00"},
                "unknown_timezone": {"timezone": "Mars/Base"},
                "invalid_channel": {"digest_channel": "general"},
                "impossible_date": {"leave_year_start_month": 2, "leave_year_start_day": 31},
                "out_of_range": {"carry_over_expiry_month": 13},
            },
        ),
        (
            "digests.update",
            {
                "invalid_channel": {"channel": "general"},
                "not_found": {"department_id": NEVER},
                "not_one_of": {"frequency": "hourly"},
            },
        ),
        (
            "leave_types.update",
            {
                "invalid_code": {"code": "Paid leave"},
                "invalid_colour": {"colour": "red"},
                "invalid_emoji": {"emoji": "a b"},
                "unknown_emoji": {"emoji": "no_such_emoji"},
                "wrong_type": {"is_paid": "yes"},
            },
        ),
        (
            "api_keys.create",
            {
                "expiry_in_past": {"expires_at": "2020-01-01T00:00:00Z"},
                "no_scopes": {"scopes": []},
                "unknown_scope": {"scopes": ["everything:write"]},
                "unknown_variant": {"variant": 3},
            },
        ),
        (
            "webhooks.create",
            {
                "no_events": {"events": []},
                "unknown_event": {"events": ["leave_request.forgotten"]},
                "url_not_https": {"url": "http://203.0.114.9/"},
                "url_private_address": {"url": "https://127.0.0.1/"},
                "url_has_user_info": {"url": "https://ada@203.0.114.9/"},
                "url_invalid": {"url": "https://203.0.114.9/#top"},
            },
        ),
        (
            "leave_requests.create",
            {
                "end_before_start": {"start_date": "2026-07-08", "end_date": "2026-07-07"},
                "out_of_reach": {"start_date": "2035-07-02", "end_date": "2035-07-02"},
                "no_working_time": {"start_date": "2026-07-04", "end_date": "2026-07-05"},
                "impossible_half_days": {
                    "start_date": "2026-07-06",
                    "end_date": "2026-07-06",
                    "start_half_day": "pm",
                    "end_half_day": "am",
                },
            },
        ),
    ],
)
def test_each_wrong_field_has_its_own_documented_code(
    client: Client, there: Things, operation_id: str, codes_of_bodies: dict[str, dict[str, Any]]
) -> None:
    operation = BY_ID[operation_id]
    valid = call(client, operation, there).request
    met = {}
    for code, fields in codes_of_bodies.items():
        body = json.loads(valid.content) | fields
        response = client.request(operation.method, valid.url.path, key=there.key, json=body)
        problem = response.json()
        met[code] = {problem.get("code"), *(error["code"] for error in problem.get("errors", ()))}

    assert {code: seen for code, seen in met.items() if code not in seen} == {}


@pytest.mark.parametrize(
    ("code", "rules", "dates"),
    [
        ("note_required", {"requires_note": True}, ("2026-07-06", "2026-07-06")),
        ("cover_required", {"requires_cover": True}, ("2026-07-06", "2026-07-06")),
        ("too_little_notice", {"min_notice_days": 300}, ("2026-07-06", "2026-07-06")),
        ("too_many_days", {"max_consecutive_days": 1}, ("2026-07-06", "2026-07-10")),
        ("leave_type_archived", {"is_archived": True}, ("2026-07-06", "2026-07-06")),
    ],
)
def test_a_rule_of_the_leave_type_has_its_own_documented_code(
    client: Client,
    database: Database,
    there: Things,
    code: str,
    rules: dict[str, Any],
    dates: tuple[str, str],
) -> None:
    strict_type = a_leave_type(database, there.acme, name="Strict")
    path = f"/api/v1/leave-types/{strict_type.id}"
    assert client.patch(path, there.key, json=rules).status_code == 200

    response = client.post(
        "/api/v1/leave-requests",
        there.key,
        json={"leave_type_id": strict_type.id, "start_date": dates[0], "end_date": dates[1]},
    )

    assert response.json()["code"] == code


def test_states_of_people_have_their_own_documented_codes(
    client: Client, database: Database, there: Things
) -> None:
    gone = a_person(database, there.acme, first_name="Gone")
    database.write_now(people_status.archive, gone.id, by=there.acme.caller, now=NOW)
    admin = a_person(database, there.acme, first_name="Alan", role="admin")
    admins_key = a_key(database, there.acme, admin)
    owner, hedy, ada = there.acme.owner.id, there.ids["users"], there.member
    users = "/api/v1/users"

    responses = {
        "manager_cycle": client.patch(
            f"{users}/{ada.manager_id}", there.key, json={"manager_id": ada.id}
        ),
        "manager_archived": client.patch(
            f"{users}/{hedy}", there.key, json={"manager_id": gone.id}
        ),
        "user_archived": client.patch(f"{users}/{gone.id}", there.key, json={"first_name": "G"}),
        "cannot_archive_self": client.delete(f"{users}/{admin.id}", admins_key),
        "last_owner": client.patch(f"{users}/{owner}", there.key, json={"role": "member"}),
        "email_taken": client.post(
            users, there.key, json={"email": ada.email, "first_name": "A", "last_name": "B"}
        ),
    }

    assert {code: response.json()["code"] for code, response in responses.items()} == {
        code: code for code in responses
    }
