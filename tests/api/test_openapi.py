from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.documentation import error_codes
from api.documentation.schemas import Examples, NoExample
from api.http.operations import Operation
from api.service.app import OPERATIONS
from storage.base.event_values import EVENT_TYPES
from storage.db.database import Database
from tests import documented
from tests.api import exercising
from tests.api.conftest import Client
from tests.builders import a_key, an_organisation
from tests.documented import parameters_of, resolved

pytestmark = pytest.mark.shared_database

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


@pytest.fixture(scope="module")
def document() -> Document:
    return documented.document()


def test_the_document_is_served(client: Client, document: Document) -> None:
    response = client.get("/openapi.json")

    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    assert response.json() == document


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


def test_every_operation_documents_its_requirements_and_responses(document: Document) -> None:
    operation_ids = set()
    tags = {tag["name"] for tag in document["tags"]}
    assert document["security"] == [{"api_key": []}]
    for _, path, operation in every_operation(document):
        operation_ids.add(operation["operationId"])
        assert operation["summary"]
        assert operation["description"].endswith(".")
        assert set(operation["tags"]) <= tags
        assert set(re.findall(r"\{(\w+)\}", path)) == {
            parameter["name"]
            for parameter in parameters_of(operation, document)
            if parameter["in"] == "path"
        }
        if path.startswith("/api/v1/"):
            assert "security" not in operation
            scope = operation.get("x-required-scope")
            needed = f"scope `{scope}`" if scope else "Needs no scope."
            assert needed in operation["description"]
            assert {"401", "403", "422", "500", "503"} <= operation["responses"].keys()
            if "requestBody" in operation:
                assert {"400", "413", "415"} <= operation["responses"].keys()
    assert len(operation_ids) == sum(1 for _ in every_operation(document))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda item: item.operation_id)
def test_an_operation_is_described_where_it_is_defined(operation: Operation) -> None:
    assert operation.summary, "Say in a few words what it does."
    assert operation.description.endswith("."), "Say who may, and what happens around it."
    assert operation.description.rstrip(".") != operation.summary, "Say more than the summary does."
    assert (operation.example is None) == (operation.body is None), "Give an example of the body."
    assert (operation.result is None) == (operation.status == 204), "Say what it answers with."


def every_parameter(document: Document) -> Iterator[tuple[str, Document]]:
    for method, path, operation in every_operation(document):
        for parameter in parameters_of(operation, document):
            yield f"{method} {path} {parameter['name']}", parameter


def test_every_parameter_is_described_with_an_example(document: Document) -> None:
    lacking = [
        where
        for where, parameter in every_parameter(document)
        if not (parameter.get("description", "").endswith(".") and "example" in parameter)
    ]

    assert lacking == [], "Describe it in its query model."


def contents(document: Document) -> Iterator[tuple[str, Document]]:
    """Every body that the document describes, sent or answered, webhooks' included."""
    for part in ("paths", "webhooks"):
        for path, methods in document[part].items():
            for method, operation in methods.items():
                bodies = {"body": operation.get("requestBody", {}), **operation["responses"]}
                for name, body in bodies.items():
                    body = resolved(body, document)
                    for media_type, content in body.get("content", {}).items():
                        yield f"{method} {path} {name} {media_type}", content


def examples_of(content: Document, document: Document) -> list[Any]:
    named = content.get("examples", {})
    examples = [resolved(example, document)["value"] for example in named.values()]
    return [*examples, content["example"]] if "example" in content else examples


def test_every_body_has_an_example_that_fits_its_schema(document: Document) -> None:
    for where, content in contents(document):
        if "Event" in content["schema"].get("$ref", ""):
            continue
        examples = examples_of(content, document)
        assert examples, f"{where} has no example."
        for example in examples:
            fits(example, content["schema"], document)


def test_leave_for_another_person_has_an_example_of_its_own(document: Document) -> None:
    body = document["paths"]["/api/v1/leave-requests"]["post"]["requestBody"]
    examples = body["content"]["application/json"]["examples"].values()

    assert [(example["summary"], "user_id" in example["value"]) for example in examples] == [
        ("Request leave", False),
        ("Record leave for another person", True),
    ]


def fits(example: Any, schema: Document, document: Document) -> None:
    whole = {**schema, "components": document["components"]}
    Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(
        example
    )


def test_models_and_parameters_have_examples_that_fit(document: Document) -> None:
    for schema in document["components"]["schemas"].values():
        for example in schema.get("examples", ()):
            fits(example, schema, document)
    for _, parameter in every_parameter(document):
        fits(parameter["example"], parameter["schema"], document)


def test_every_refusal_is_described_by_code_and_has_the_codes_address(document: Document) -> None:
    codes = {entry.code for entry in error_codes.every_code(OPERATIONS)}
    for _, content in contents(document):
        if content["schema"] == {"$ref": "#/components/schemas/Problem"}:
            for example in examples_of(content, document):
                assert example["code"] in codes
                assert example["type"] == f"https://hiatus.test/docs/errors#{example['code']}"


def test_responses_document_their_headers(document: Document) -> None:
    def headers(method: str, path: str, status: str) -> set[str]:
        response = document["paths"][path][method]["responses"][status]
        return set(resolved(response, document).get("headers", {}))

    assert {"ETag", "Location"} <= headers("post", "/api/v1/users", "201")
    assert "WWW-Authenticate" in headers("get", "/api/v1/users", "401")
    assert "Retry-After" in headers("get", "/api/v1/users", "503")
    assert "ETag" in headers("get", "/cal/{token}", "200")


def test_responses_of_several_shapes_are_one_of_schemas(document: Document) -> None:
    def shapes(path: str) -> int:
        response = document["paths"][path]["get"]["responses"]["200"]
        return len(response["content"]["application/json"]["schema"]["oneOf"])

    assert shapes("/api/v1/users") == 3
    assert shapes("/api/v1/leave") == 2


def test_every_event_is_described(document: Document) -> None:
    assert document["webhooks"].keys() == {*EVENT_TYPES, "ping"}
    for event, methods in document["webhooks"].items():
        body = methods["post"]["requestBody"]["content"]["application/json"]
        schema = resolved(body["schema"], document)
        assert schema["properties"]["type"] == {"const": event}
        names = [parameter["name"] for parameter in parameters_of(methods["post"], document)]
        assert names == ["webhook-id", "webhook-timestamp", "webhook-signature"]


def test_a_field_without_an_example_is_named() -> None:
    hue = {"type": "object", "properties": {"hue": {"type": "string"}}, "required": ["hue"]}
    reference = {"$ref": "#/components/schemas/NewThingRecord"}

    with pytest.raises(NoExample, match="Give hue an example in NewThingRecord"):
        Examples({"NewThingRecord": hue}).of(reference)


def test_the_document_is_small_enough_for_tools(document: Document) -> None:
    assert len(json.dumps(document, separators=(",", ":"))) < 560_000


def test_no_required_member_has_a_default(document: Document) -> None:
    for name, schema in document["components"]["schemas"].items():
        for member in schema.get("required", ()):
            assert "default" not in schema["properties"][member], (name, member)


def test_no_default_is_null(document: Document) -> None:
    assert '"default": null' not in json.dumps(document)


def test_every_reference_resolves(document: Document) -> None:
    for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document)):
        part_of_document: Any = document
        for part in reference.split("/"):
            part_of_document = part_of_document[part]
        assert part_of_document


def test_a_list_that_has_pages_on_request_has_no_page_size_by_default(document: Document) -> None:
    def limit(path: str) -> Document:
        schema: Document = next(
            parameter["schema"]
            for parameter in parameters_of(document["paths"][path]["get"], document)
            if parameter["name"] == "limit"
        )
        return schema

    assert limit("/api/v1/departments") == {"type": "integer", "minimum": 1, "default": 25}
    assert limit("/api/v1/users") == limit("/api/v1/leave") == {"type": "integer", "minimum": 1}


def test_model_names_are_unique(document: Document) -> None:
    schemas = document["components"]["schemas"]

    assert [name for name, schema in schemas.items() if schema["title"] != name] == []
    assert "UserRecord" in schemas
    assert "DepartmentRecordListing" in schemas
    assert [name for name in schemas if "_" in name] == []


# Only on some responses: after a replay, or with a wait.
SOMETIMES: Final = frozenset({"Idempotent-Replayed", "Retry-After"})


def promised(document: Any, operation: Operation, status: int) -> set[str]:
    described = document["paths"][f"/api/v1{operation.path}"][operation.method.lower()]
    response = resolved(described["responses"][str(status)], document)
    return set(response.get("headers", {})) - SOMETIMES


@pytest.mark.parametrize("way", ["works", "has no key", "is malformed"])
def test_every_response_has_its_documented_headers(
    client: Client, database: Database, document: Document, way: str
) -> None:
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
        for name in ("X-Request-Id", *promised(document, operation, response.status_code)):
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
