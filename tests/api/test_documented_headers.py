"""Every response has the headers that the OpenAPI document lists for it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from api.http.operations import Operation
from api.service.app import OPERATIONS
from storage.db.database import Database
from tests.api import exercising
from tests.api.conftest import Client, a_key
from tests.builders import an_organisation
from tests.documented import resolved

pytestmark = pytest.mark.shared_database

# Only on some responses: after a replay, or with a wait.
SOMETIMES: Final = frozenset({"Idempotent-Replayed", "Retry-After"})


def promised(document: Any, operation: Operation, status: int) -> set[str]:
    described = document["paths"][f"/api/v1{operation.path}"][operation.method.lower()]
    response = resolved(described["responses"][str(status)], document)
    return set(response.get("headers", {})) - SOMETIMES


@pytest.mark.parametrize("way", ["works", "has no key", "is malformed"])
def test_every_response_has_its_documented_headers(
    client: Client, database: Database, way: str
) -> None:
    document = client.get("/openapi.json").json()
    missing = []

    there = exercising.things(client, database)
    # Deletions come last.
    for operation in sorted(OPERATIONS, key=lambda item: item.method == "DELETE"):
        if way == "works":
            response = exercising.call(client, operation, there)
        elif way == "has no key":
            response = client.request(operation.method, exercising.path_of(operation, there))
        else:
            response = exercising.call(client, operation, there, params={"nonsense": "1"})
        for name in promised(document, operation, response.status_code):
            if name not in response.headers:
                missing.append((operation.operation_id, response.status_code, name))

    assert missing == []


def test_an_unknown_leave_type_error_lists_the_codes(client: Client, database: Database) -> None:
    key = a_key(database, an_organisation(database))
    days = {"start_date": "2026-09-07", "end_date": "2026-09-07"}

    by_word = client.post("/api/v1/leave", key, json=days | {"leave_type": "annul"})
    by_id = client.post(
        "/api/v1/leave-requests", key, json=days | {"leave_type_id": exercising.NEVER}
    )

    for response in (by_word, by_id):
        (error,) = response.json()["errors"]
        assert error["code"] == "unknown_leave_type"
        assert "annual, compassionate, parental, sick, unpaid" in error["detail"]
        assert "GET /api/v1/leave-types" in error["detail"]
