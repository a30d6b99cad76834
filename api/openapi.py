"""The OpenAPI 3.1 document, made of the very operations and models that serve the requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from api import errors as http
from api.operations import Operation
from storage import errors
from storage.errors import Refusal

Json = dict[str, Any]

_REF: Final = "#/components/schemas/{model}"
_PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}
_IDS: Final = re.compile(r"\{(\w+)\}")
_REQUEST_ID: Final = {
    "X-Request-Id": {
        "description": "The request's id: as it was sent, or made.",
        "schema": {"type": "string"},
    }
}

_UNCHANGED: Final = {
    "304": {"description": "What `If-None-Match` names is still so.", "headers": _REQUEST_ID}
}

DESCRIPTION: Final = """\
Leave for organisations that live in Slack.

Send `Authorization: Bearer <API key>`. A key acts for the person who made it, within its scopes;
`x-required-scope` names the one that an operation needs, and a `:write` scope includes `:read`.
Refusals are `application/problem+json` (RFC 9457) with a stable `code`. Lists hold 25 items unless
`limit` says otherwise; `pagination.next_cursor` leads to the next page."""


class FieldErrorRecord(TypedDict):
    """One wrong field. `pointer` is a JSON pointer into the body, or `?name` for a parameter."""

    pointer: str
    code: str
    detail: str


class _Schemas(GenerateJsonSchema):
    """Without titles that repeat a field's name, and without null where it only means "absent"."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Any:
        described = super().default_schema(schema)
        if described.get("default", 0) is None:
            del described["default"]
        return described


def document(operations: Sequence[Operation], others: Mapping[str, Any], base_url: str) -> bytes:
    """The whole document as JSON. ``others`` are paths that are no operations."""
    schemas, components = _schemas(operations)
    paths: dict[str, Json] = {}
    for operation in operations:
        path = paths.setdefault(f"/api/v1{operation.path}", {})
        path[operation.method.lower()] = _operation(operation, schemas)
    tags = dict.fromkeys([operation.tag for operation in operations] + ["Health"])
    return orjson.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Hiatus", "version": "1", "description": DESCRIPTION},
            "servers": [{"url": base_url}],
            "tags": [{"name": tag} for tag in tags],
            "paths": {**paths, **others},
            "components": {
                "schemas": components,
                "responses": _shared_responses(),
                "securitySchemes": {"api_key": {"type": "http", "scheme": "bearer"}},
            },
        }
    )


def _schemas(operations: Iterable[Operation]) -> tuple[Mapping[Any, Json], Json]:
    """The schemas by operation id and mode, and the components that they refer to."""
    wanted: list[Any] = [("field_error", "serialization", TypeAdapter(FieldErrorRecord))]
    for one in operations:
        if one.body is not None:
            wanted.append((one.operation_id, "validation", TypeAdapter(one.body)))
        if one.result is not None:
            wanted.append((one.operation_id, "serialization", TypeAdapter(one.result)))
    schemas, definitions = TypeAdapter.json_schemas(
        wanted, ref_template=_REF, schema_generator=_Schemas
    )
    return schemas, {**definitions["$defs"], "Problem": _problem()}


def _problem() -> Json:
    text = {"type": "string"}
    return {
        "type": "object",
        "title": "Problem",
        "description": "RFC 9457. Some codes add members of their own.",
        "required": ["type", "title", "status", "detail", "code", "request_id"],
        "properties": {
            "type": {"type": "string", "format": "uri"},
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "code": {"type": "string", "description": "Stable; for programs."},
            "request_id": {"type": ["string", "null"]},
            "errors": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/FieldErrorRecord"},
            },
        },
    }


def _operation(operation: Operation, schemas: Mapping[Any, Json]) -> Json:
    described: Json = {
        "operationId": operation.operation_id,
        "summary": operation.summary,
        "description": operation.description or f"{operation.summary}.",
        "tags": [operation.tag],
        "security": [{"api_key": [operation.scope]}],
        "x-required-scope": operation.scope,
        "parameters": _parameters(operation),
        "responses": {
            str(operation.status): _success(operation, schemas),
            **(_UNCHANGED if operation.is_single else {}),
            **_refused(operation),
        },
    }
    if operation.role is not None:
        described["x-required-role"] = operation.role
    if operation.body is not None:
        content: Json = {"schema": schemas[operation.operation_id, "validation"]}
        if operation.example is not None:
            content["example"] = operation.example
        described["requestBody"] = {
            "required": operation.needs_body,
            "content": {"application/json": content},
        }
    return described


def _parameters(operation: Operation) -> list[Json]:
    uuid = {"type": "string", "format": "uuid"}
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": uuid}
        for name in _IDS.findall(operation.path)
    ]
    query = TypeAdapter(operation.query).json_schema(schema_generator=_Schemas)
    in_query = [
        _query_parameter(name, dict(schema)) for name, schema in query.get("properties", {}).items()
    ]
    return [*in_path, *in_query, *(dict(one) for one in operation.header_parameters)]


def _query_parameter(name: str, schema: Json) -> Json:
    # Null is how absence reads in Python; no query string can say it.
    choices = [one for one in schema.pop("anyOf", []) if one != {"type": "null"}]
    if len(choices) == 1:
        schema |= choices[0]
    parameter: Json = {"name": name, "in": "query", "schema": schema}
    if "description" in schema:
        parameter["description"] = schema.pop("description")
    return parameter


def _success(operation: Operation, schemas: Mapping[Any, Json]) -> Json:
    if operation.status == 204:
        return {"description": "Done; there is nothing left to show.", "headers": _REQUEST_ID}
    headers = dict(_REQUEST_ID)
    if operation.status == 201:
        headers["Location"] = {
            "description": "Where the new thing is.",
            "schema": {"type": "string", "format": "uri-reference"},
        }
    if operation.is_single:
        headers["ETag"] = {
            "description": "For `If-None-Match` and `If-Match`.",
            "schema": {"type": "string"},
        }
    schema = schemas[operation.operation_id, "serialization"]
    return {
        "description": "Created." if operation.status == 201 else "Done.",
        "headers": headers,
        "content": {"application/json": {"schema": schema}},
    }


def _refused(operation: Operation) -> dict[str, Json]:
    """Every status that the operation may refuse with, and the codes behind it."""
    codes: dict[int, dict[str, str]] = {}
    for refusal in _refusals(operation):
        codes.setdefault(http.status_of(refusal), {})[refusal.code] = refusal.title
    if operation.body is not None:
        for kind in http.HTTP_REFUSALS:
            codes.setdefault(kind.status, {})[kind.code] = kind.title
    for status in (429, 500, 503, *((412,) if operation.changes_one else ())):
        code, title, _ = http.HTTP_PROBLEMS[status]
        codes[status] = {code: title}
    return {str(status): _response(codes[status]) for status in sorted(codes)}


def _refusals(operation: Operation) -> Iterable[type[Refusal]]:
    yield errors.Unauthenticated
    yield errors.InsufficientScope
    # An unknown query parameter is refused everywhere.
    yield errors.InvalidInput
    if operation.role is not None:
        yield errors.InsufficientRole
    if "{" in operation.path:
        yield errors.NotFound
    yield from operation.refusals


def _response(codes: Mapping[str, str]) -> Json:
    return {
        "description": "\n".join(f"- `{code}`: {title}" for code, title in codes.items()),
        "headers": _REQUEST_ID,
        "content": {"application/problem+json": {"schema": _PROBLEM}},
    }


def _shared_responses() -> Json:
    invalid = errors.InvalidInput
    problems = {status: {code: title} for status, (code, title, _) in http.HTTP_PROBLEMS.items()}
    problems[http.status_of(invalid)] = {invalid.code: invalid.title}
    return {str(status): _response(codes) for status, codes in problems.items()}
