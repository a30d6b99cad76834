"""Nothing of one organisation can be told apart, by another, from what never was."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from api.http.operations import Operation
from api.service.app import OPERATIONS
from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import a_department, a_leave_type, an_organisation

NEVER = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"
WITH_ID = [operation for operation in OPERATIONS if "{id}" in operation.path]
BODIES: dict[str, Any] = {
    "users.update": {"first_name": "Mallory"},
    "departments.update": {"name": "Ours now"},
    "balances.add_adjustment": {"days": 1, "reason": "Ours now", "leave_year": 2026},
    "leave_requests.edit": {"note": "Hello"},
    "leave_types.update": {"name": "Ours now"},
    "webhooks.update": {"is_active": False},
    "webhooks.redeliver_failed": {"since": "2026-06-01T09:00:00Z"},
    "public_holidays.add_override": {"date": "2026-12-24", "name": "Christmas Eve"},
}


def foreign_ids(client: Client, database: Database) -> dict[str, str]:
    """Ids of things of another organisation, by the first segment of their paths."""
    globex = an_organisation(database, name="Globex")
    key = a_key(database, globex)
    annual = a_leave_type(database, globex, requires_approval=False)
    leave = client.post(
        "/api/v1/leave-requests",
        key,
        json={
            "leave_type_id": annual.id,
            "start_date": "2026-08-03",
            "end_date": "2026-08-03",
        },
    ).json()["id"]
    webhook = {"url": "https://203.0.114.9/hook", "events": ["*"]}
    return {
        "users": globex.owner.id,
        "departments": a_department(database, globex).id,
        "leave-requests": leave,
        "leave": leave,
        "approvals": leave,
        "leave-types": annual.id,
        "calendar-feeds": client.post("/api/v1/calendar-feeds", key).json()["id"],
        "webhooks": client.post("/api/v1/webhooks", key, json=webhook).json()["id"],
        "organisation": client.get("/api/v1/organisation/public-holiday-sets", key).json()["data"][
            0
        ]["id"],
        "api-keys": client.get("/api/v1/api-keys", key).json()["data"][0]["id"],
    }


@pytest.mark.parametrize("operation", WITH_ID, ids=lambda operation: operation.operation_id)
def test_a_foreign_id_is_answered_as_one_that_never_was(
    client: Client, database: Database, operation: Operation
) -> None:
    key = a_key(database, an_organisation(database))
    foreign = foreign_ids(client, database)[operation.path.split("/")[1]]

    def answer(of_id: str) -> httpx.Response:
        path = "/api/v1" + re.sub(r"\{\w+\}", of_id, operation.path)
        body = BODIES.get(operation.operation_id)
        headers = {"X-Request-Id": "same"}
        return client.request(operation.method, path, key=key, json=body, headers=headers)

    expected = answer(NEVER)
    assert expected.status_code == 404
    assert (answer(foreign).status_code, answer(foreign).content) == (404, expected.content)
    assert answer("not-an-id").content == expected.content


def test_foreign_ids_in_bodies_look_unknown(client: Client, database: Database) -> None:
    key = a_key(database, an_organisation(database))
    foreign = foreign_ids(client, database)
    person = {"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"}
    headers = {"X-Request-Id": "same"}

    for field, segment in (("department_id", "departments"), ("manager_id", "users")):
        answers = [
            client.post("/api/v1/users", key, json={**person, field: of_id}, headers=headers)
            for of_id in (foreign[segment], NEVER)
        ]
        assert [answer.status_code for answer in answers] == [422, 422]
        assert answers[0].content == answers[1].content


def test_lists_hold_nothing_foreign(client: Client, database: Database) -> None:
    foreign_ids(client, database)
    acme = an_organisation(database)
    key = a_key(database, acme)

    assert [user["id"] for user in client.get("/api/v1/users", key).json()] == [acme.owner.id]
    for path in ("departments", "leave-requests", "calendar-feeds", "webhooks"):
        assert client.get(f"/api/v1/{path}", key).json()["data"] == []
    assert client.get("/api/v1/leave", key).json() == {"requests": []}
