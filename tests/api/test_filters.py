"""A filter with a closed set of values refuses any other, and lists the valid ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, get_args

import httpx
import pytest

from storage.base.event_values import AuditAction
from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import a_person, an_organisation
from tests.documented import parameters_of

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

SOME_ID = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"
NONSENSE = "nonsense"


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A query parameter that takes one of a few values."""

    method: str
    path: str
    name: str
    values: tuple[str, ...]


def choices(document: dict[str, Any]) -> list[Choice]:
    """All such parameters in the OpenAPI document."""
    filters = []
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method not in ("get", "post", "patch", "put", "delete"):
                continue
            for parameter in parameters_of(operation, document):
                values = allowed(parameter.get("schema", {}), document)
                if parameter.get("in") == "query" and values:
                    filters.append(
                        Choice(method=method, path=path, name=parameter["name"], values=values)
                    )
    return filters


def allowed(schema: dict[str, Any], document: dict[str, Any]) -> tuple[str, ...]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return allowed(document["components"]["schemas"][name], document)
    if schema.get("type") == "boolean":
        return ("true", "false")
    if "const" in schema:
        return (schema["const"],)
    several = schema.get("anyOf", [])
    inside = tuple(value for alternative in several for value in allowed(alternative, document))
    return tuple(str(value) for value in schema.get("enum", inside))


def refused(client: Client, key: str, choice: Choice) -> httpx.Response:
    path = re.sub(r"\{\w+\}", SOME_ID, choice.path)
    sending: Any = getattr(client, choice.method)
    body: dict[str, Any] = {"json": {}} if choice.method == "patch" else {}
    response: httpx.Response = sending(f"{path}?{choice.name}={NONSENSE}", key, **body)
    return response


def test_every_filter_with_a_closed_set_refuses_other_values(
    client: Client, database: Database
) -> None:
    key = a_key(database, an_organisation(database))
    filters = [
        choice
        for choice in choices(client.get("/openapi.json").json())
        # Feeds and wallcharts check their token first; their own tests have their scopes. A POST
        # reports errors of its body first.
        if not choice.path.startswith(("/cal/", "/wallchart/")) and choice.method != "post"
    ]
    names = {(choice.path, choice.name) for choice in filters if choice.method == "get"}
    assert names >= {
        ("/api/v1/audit", "action"),
        ("/api/v1/users", "status"),
        ("/api/v1/users", "role"),
        ("/api/v1/users", "sort"),
        ("/api/v1/leave-requests", "status"),
        ("/api/v1/leave-requests", "sort"),
        ("/api/v1/leave", "status"),
        ("/api/v1/leave-types", "is_archived"),
        ("/api/v1/webhooks", "is_active"),
        ("/api/v1/webhooks/{id}/deliveries", "status"),
        ("/api/v1/webhooks/{id}/deliveries", "event"),
        ("/api/v1/api-keys", "is_revoked"),
    }

    for choice in filters:
        response = refused(client, key, choice)
        assert response.status_code == 422, (choice, response.text)
        details = {error["pointer"]: error["detail"] for error in response.json()["errors"]}
        detail = details.get(f"?{choice.name}", "")
        assert all(value in detail for value in choice.values), (choice, details)


def test_the_audit_trail_can_be_filtered_by_every_action(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    a_person(database, acme)

    for action in get_args(AuditAction):
        response = client.get(f"/api/v1/audit?action={action}", key)
        assert response.status_code == 200, action
        assert {entry["action"] for entry in response.json()["data"]} <= {action}
    created = client.get("/api/v1/audit?action=user.created", key).json()["data"]
    assert len(created) == 2


def test_every_list_of_a_period_refuses_one_that_ends_before_it_begins(
    client: Client, database: Database
) -> None:
    key = a_key(database, an_organisation(database))
    document = client.get("/openapi.json").json()
    paths = [
        path
        for path, item in document["paths"].items()
        if {"from", "to"} <= {each["name"] for each in parameters_of(item.get("get", {}), document)}
    ]

    assert {*paths} >= {"/api/v1/audit", "/api/v1/leave-requests"}
    for path in paths:
        response = client.get(f"{path}?from=2026-06-02&to=2026-06-01", key)
        assert response.status_code == 422, path
        assert response.json()["errors"] == [
            {
                "pointer": "?to",
                "code": "to_before_from",
                "detail": "to is before from. Swap the two dates, or leave one of them out.",
            }
        ]
        assert client.get(f"{path}?from=2026-06-01&to=2026-06-01", key).status_code == 200
