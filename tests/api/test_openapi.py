from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.app import OPERATIONS
from api.operations import Operation
from storage.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import an_organisation

# Every method and path of the customer's interface document.
INTERFACE = """
GET /api/v1/users
POST /api/v1/users
GET /api/v1/users/{id}
PATCH /api/v1/users/{id}
DELETE /api/v1/users/{id}
GET /api/v1/leave-requests
POST /api/v1/leave-requests
GET /api/v1/leave-requests/{id}
PATCH /api/v1/leave-requests/{id}
POST /api/v1/leave-requests/{id}/cancel
GET /api/v1/leave
POST /api/v1/leave
DELETE /api/v1/leave/{id}
GET /api/v1/departments
POST /api/v1/departments
PATCH /api/v1/departments/{id}
DELETE /api/v1/departments/{id}
GET /api/v1/approvals/pending
POST /api/v1/approvals/{id}/approve
POST /api/v1/approvals/{id}/decline
GET /api/v1/calendar-feeds
POST /api/v1/calendar-feeds
DELETE /api/v1/calendar-feeds/{id}
GET /api/v1/calendar-feeds/token
POST /api/v1/calendar-feeds/regenerate
GET /api/v1/organisation
PATCH /api/v1/organisation
GET /api/v1/organisation/public-holiday-sets
POST /api/v1/organisation/public-holiday-sets
GET /api/v1/webhooks
POST /api/v1/webhooks
PATCH /api/v1/webhooks/{id}
DELETE /api/v1/webhooks/{id}
GET /api/v1/audit
GET /cal/{token}
"""

Document = dict[str, Any]


@pytest.fixture
def document(client: Client) -> Document:
    answer = client.get("/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    found: Document = answer.json()
    return found


def test_the_document_is_openapi_3_1(document: Document) -> None:
    assert document["openapi"].startswith("3.1.")
    OpenAPIV31SpecValidator(document).validate()


def every_operation(document: Document) -> Iterator[tuple[str, str, Document]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_the_customers_whole_interface_is_documented(document: Document) -> None:
    documented = {f"{method} {path}" for method, path, _ in every_operation(document)}

    assert set(INTERFACE.split("\n")[1:-1]) <= documented


def test_every_operation_says_what_it_needs_and_answers(document: Document) -> None:
    seen = set()
    tags = {tag["name"] for tag in document["tags"]}
    for _, path, operation in every_operation(document):
        seen.add(operation["operationId"])
        assert operation["summary"]
        assert operation["description"].endswith(".")
        assert set(operation["tags"]) <= tags
        assert set(re.findall(r"\{(\w+)\}", path)) == {
            one["name"] for one in operation.get("parameters", []) if one["in"] == "path"
        }
        if path.startswith("/api/v1/"):
            assert operation["security"] == [{"api_key": [operation["x-required-scope"]]}]
            assert {"401", "403", "422", "500", "503"} <= operation["responses"].keys()
    assert len(seen) == sum(1 for _ in every_operation(document))


def test_null_is_no_default(document: Document) -> None:
    assert '"default": null' not in json.dumps(document)


def test_every_reference_leads_somewhere(document: Document) -> None:
    for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document)):
        found: Any = document
        for part in reference.split("/"):
            found = found[part]
        assert found


def test_every_schema_is_a_json_schema_and_every_example_fits_its_body(
    document: Document,
) -> None:
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema({**schema, "components": document["components"]})
    examples = 0
    for _, _, operation in every_operation(document):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        if "example" in content:
            examples += 1
            schema = {**content["schema"], "components": document["components"]}
            Draft202012Validator(schema).validate(content["example"])
    assert examples == sum(1 for one in OPERATIONS if one.body is not None)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.operation_id)
def test_every_operation_is_served_under_lock_and_key(client: Client, operation: Operation) -> None:
    path = "/api/v1" + re.sub(r"\{\w+\}", "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11", operation.path)

    assert client.request(operation.method, path).status_code == 401


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.operation_id)
def test_every_operation_wants_its_own_scope(
    client: Client, database: Database, operation: Operation
) -> None:
    acme = an_organisation(database)
    other = "audit:read" if operation.scope != "audit:read" else "users:write"
    path = "/api/v1" + re.sub(r"\{\w+\}", "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11", operation.path)

    refused = client.request(operation.method, path, key=a_key(database, acme, scopes=[other]))

    assert (refused.status_code, refused.json()["missing_scope"]) == (403, operation.scope)


def test_answers_have_the_shape_that_is_documented(
    client: Client, database: Database, document: Document
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    client.post(
        "/api/v1/leave",
        key,
        json={
            "leave_type": "annual",
            "start_date": "2026-08-03",
            "end_date": "2026-08-03",
        },
    )
    checked = 0
    for method, path, operation in every_operation(document):
        if method == "GET" and path.startswith("/api/v1/"):
            answer = client.get(path.replace("{id}", acme.owner.id), key)
            if answer.status_code == 200:
                content = operation["responses"]["200"]["content"]["application/json"]
                schema = {**content["schema"], "components": document["components"]}
                Draft202012Validator(
                    schema, format_checker=Draft202012Validator.FORMAT_CHECKER
                ).validate(answer.json())
                checked += 1
    assert checked >= 12
