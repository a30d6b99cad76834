"""A rule of a field over HTTP: one for each operation, documented there, as the client checks.

The rules themselves are tested in tests/storage. Operations and their valid bodies come from
``exercising``.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.service.app import OPERATIONS
from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.exercising import NEVER, call, things

pytestmark = pytest.mark.shared_database

BY_ID = {operation.operation_id: operation for operation in OPERATIONS}


@pytest.mark.parametrize(
    ("operation_id", "wrong", "code"),
    [
        ("users.create", {"email": "ada"}, "invalid_email"),
        ("users.update", {"working_days": ["monday", "monday:am"]}, "duplicate_working_day"),
        ("organisation.update", {"midday_at": "23:00"}, "working_hours_out_of_order"),
        ("organisation.update", {"digest_channel": "general"}, "invalid_channel"),
        ("digests.update", {"channel": "general"}, "invalid_channel"),
        ("digests.update", {"department_id": NEVER}, "not_found"),
        ("leave_types.update", {"emoji": "no_such_emoji"}, "unknown_emoji"),
        ("api_keys.create", {"expires_at": "2020-01-01T00:00:00Z"}, "expiry_in_past"),
        ("webhooks.create", {"url": "https://127.0.0.1/"}, "url_private_address"),
        (
            "leave_requests.create",
            {"start_date": "2026-07-04", "end_date": "2026-07-05"},
            "no_working_time",
        ),
    ],
)
def test_a_wrong_field_has_its_documented_code(
    client: Client, database: Database, operation_id: str, wrong: dict[str, Any], code: str
) -> None:
    there, operation = things(client, database), BY_ID[operation_id]
    valid = call(client, operation, there).request

    response = client.request(
        operation.method, valid.url.path, key=there.key, json=json.loads(valid.content) | wrong
    )

    assert response.status_code == 422
    assert response.json()["code"] == code


def test_a_rule_of_the_leave_type_and_one_between_people_have_documented_codes(
    client: Client, database: Database
) -> None:
    there = things(client, database)
    users, types = "/api/v1/users", "/api/v1/leave-types"
    ada = there.member
    strict = client.post(types, there.key, json={"name": "Strict", "min_notice_days": 300}).json()
    soon = {"leave_type_id": strict["id"], "start_date": "2026-07-06", "end_date": "2026-07-06"}

    responses = [
        client.post("/api/v1/leave-requests", there.key, json=soon),
        client.patch(f"{users}/{ada.manager_id}", there.key, json={"manager_id": ada.id}),
        client.patch(f"{users}/{there.acme.owner.id}", there.key, json={"role": "member"}),
    ]

    assert [response.json()["code"] for response in responses] == [
        "too_little_notice",
        "manager_cycle",
        "last_owner",
    ]
