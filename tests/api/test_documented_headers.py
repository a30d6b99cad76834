"""Every answer has the headers that the OpenAPI document says it has."""

from __future__ import annotations

from typing import Any, Final

import pytest

from api.http.operations import Operation
from api.service.app import OPERATIONS
from storage.db.database import Database
from tests.api import exercising
from tests.api.conftest import Client, a_key
from tests.builders import an_organisation

# Not on every answer: after a replay, and after a wait only.
SOMETIMES: Final = frozenset({"Idempotent-Replayed", "Retry-After"})


def promised(document: Any, operation: Operation, status: int) -> set[str]:
    described = document["paths"][f"/api/v1{operation.path}"][operation.method.lower()]
    answer = described["responses"][str(status)]
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    return set(answer.get("headers", {})) - SOMETIMES


@pytest.mark.parametrize("way", ["works", "has no key", "is malformed"])
def test_promised_headers_stand_on_every_answer(
    client: Client, database: Database, way: str
) -> None:
    document = client.get("/openapi.json").json()
    missing = []

    there = exercising.things(client, database)
    # What removes things comes last.
    for operation in sorted(OPERATIONS, key=lambda one: one.method == "DELETE"):
        if way == "works":
            answer = exercising.call(client, operation, there)
        elif way == "has no key":
            answer = client.request(operation.method, exercising.path_of(operation, there))
        else:
            answer = exercising.call(client, operation, there, params={"nonsense": "1"})
        for name in promised(document, operation, answer.status_code):
            if name not in answer.headers:
                missing.append((operation.operation_id, answer.status_code, name))

    assert missing == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("departments", {"name": "Research"}),
        ("leave-types", {"name": "Sabbatical"}),
        ("calendar-feeds", {"name": "Phone"}),
        ("api-keys", {"name": "payroll", "scopes": ["leave:read"]}),
        ("webhooks", {"url": "https://203.0.114.9/hook", "events": ["*"]}),
        ("users", {"email": "new@example.com", "first_name": "A", "last_name": "B"}),
    ],
)
def test_a_created_resource_has_its_tag(
    client: Client, database: Database, path: str, body: dict[str, Any]
) -> None:
    key = a_key(database, an_organisation(database))

    made = client.post(f"/api/v1/{path}", key, json=body)
    read = client.get(made.headers["Location"], key)

    assert (made.status_code, read.status_code) == (201, 200)
    assert made.headers["ETag"] == read.headers["ETag"]


def test_an_unknown_leave_type_names_the_codes_and_where_they_are_listed(
    client: Client, database: Database
) -> None:
    key = a_key(database, an_organisation(database))
    days = {"start_date": "2026-09-07", "end_date": "2026-09-07"}

    by_word = client.post("/api/v1/leave", key, json=days | {"leave_type": "annul"})
    by_id = client.post(
        "/api/v1/leave-requests", key, json=days | {"leave_type_id": exercising.NEVER}
    )

    for answer in (by_word, by_id):
        (error,) = answer.json()["errors"]
        assert error["code"] == "unknown_leave_type"
        assert "annual, compassionate, parental, sick, unpaid" in error["detail"]
        assert "GET /api/v1/leave-types" in error["detail"]
