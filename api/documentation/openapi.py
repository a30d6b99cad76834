"""The OpenAPI 3.1 document, generated from the operations and models.

Schemas come from ``openapi_schemas``, examples from ``openapi_examples``, errors from
``openapi_refusals``, headers from ``openapi_headers``, events from ``openapi_webhooks`` and the
text from ``openapi_guide``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Union

import orjson
from pydantic import TypeAdapter

from api.documentation import openapi_guide, openapi_headers, openapi_webhooks
from api.documentation.openapi_examples import Examples
from api.documentation.openapi_headers import DocumentedResponse, headers
from api.documentation.openapi_refusals import PROBLEM, ErrorResponses
from api.documentation.openapi_schemas import Json, Model, SchemaGenerator, SchemaKey, generate
from api.http import conditions, idempotency
from api.http.errors import FieldErrorRecord
from api.http.operations import Operation
from api.schemas.effects import EffectsRecord
from storage.base.values import ROLES, Role

# The key of the dry-run response among the schemas.
_DRY_RUN: Final = ("dry_run", "serialization")
_IDS: Final = re.compile(r"\{(\w+)\}")


def document(operations: Sequence[Operation], others: Mapping[str, Any], base_url: str) -> bytes:
    """The document as JSON. ``others`` are paths without operations.

    Raises NoExample or LookupError for missing descriptions.
    """
    return _Document(operations, base_url).as_json(others)


class _Document:
    def __init__(self, operations: Sequence[Operation], base_url: str) -> None:
        self._operations = operations
        self._base_url = base_url
        self._schemas, self._components = _schemas(operations)
        self._examples = Examples(self._components)
        self._errors = ErrorResponses(base_url)

    def as_json(self, others: Mapping[str, Any]) -> bytes:
        paths: dict[str, Json] = {}
        for operation in self._operations:
            path = paths.setdefault(f"/api/v1{operation.path}", {})
            path[operation.method.lower()] = self._operation(operation)
        for template, methods in others.items():
            paths[template] = {name: self._other(method) for name, method in methods.items()}
        webhooks = openapi_webhooks.webhooks(self._schemas, self._examples)
        return orjson.dumps(
            {
                "openapi": "3.1.0",
                "info": _info(self._base_url),
                "servers": [{"url": self._base_url, "description": "This service."}],
                "tags": [
                    {"name": name, "description": text} for name, text in openapi_guide.TAGS.items()
                ],
                "paths": paths,
                "webhooks": webhooks,
                "components": {
                    "schemas": self._with_examples(),
                    "examples": self._errors.examples,
                    "headers": openapi_headers.components(),
                    "securitySchemes": {"api_key": _SECURITY_SCHEME},
                },
            }
        )

    def _with_examples(self) -> Json:
        """The components, with an example of each response model."""
        described = {**self._components, "Problem": PROBLEM}
        for name, schema in self._components.items():
            if name.endswith(("Record", "Listing")):
                described[name] = {**schema, "examples": [self._examples.of_model(name)]}
        return described

    def _operation(self, operation: Operation) -> Json:
        schema = self._schemas.get((operation.operation_id, "validation"))
        query = TypeAdapter(operation.query).json_schema(schema_generator=SchemaGenerator)
        described: Json = {
            "operationId": operation.operation_id,
            "summary": operation.summary,
            "description": f"{operation.description}\n\n{_needs(operation)}",
            "tags": [operation.tag],
            "security": [{"api_key": []}],
            "x-required-scope": operation.scope,
            "parameters": self._parameters(operation, query),
            "responses": {
                **self._dry_run(operation),
                str(operation.status): self._success(operation),
                **self._unchanged(operation),
                **self._errors.of_operation(operation, self._resolved(schema), query),
            },
        }
        if operation.role is not None:
            described["x-required-role"] = operation.role
        if operation.body is not None:
            described["requestBody"] = {
                "required": not operation.is_body_optional,
                "content": {"application/json": {"schema": schema, **_examples_of_body(operation)}},
            }
        return described

    def _resolved(self, schema: Json | None) -> Json | None:
        if schema is not None and "$ref" in schema:
            component: Json = self._components[schema["$ref"].rpartition("/")[2]]
            return component
        return schema

    def _parameters(self, operation: Operation, query: Json) -> list[Json]:
        in_path = [_path_parameter(operation, name) for name in _IDS.findall(operation.path)]
        in_query = [
            _query_parameter(name, dict(schema))
            for name, schema in query.get("properties", {}).items()
        ]
        parameters = [
            *in_path,
            *in_query,
            *(dict(parameter) for parameter in _header_parameters(operation)),
        ]
        for parameter in parameters:
            if "example" not in parameter:
                example = self._examples.of_parameter(operation.operation_id, parameter)
                parameter["example"] = example
        return parameters

    def _success(self, operation: Operation) -> Json:
        response: Json = {
            "description": _DONE.get(operation.status, "Done."),
            "headers": headers(self._response(operation)),
        }
        if operation.status == 204:
            return response
        schema = self._schemas[operation.operation_id, "serialization"]
        content: Json = {"schema": schema}
        choices = schema.get("anyOf")
        if choices:
            # Exactly one matches, because the models have different required members.
            content["schema"] = {"oneOf": choices}
            content["examples"] = {
                str(number): {
                    "summary": self._summary_of(choice),
                    "value": self._examples.of(choice, "", operation.operation_id),
                }
                for number, choice in enumerate(choices, start=1)
            }
        else:
            content["example"] = self._examples.of_response(operation.operation_id, schema)
        response["content"] = {"application/json": content}
        return response

    def _dry_run(self, operation: Operation) -> Json:
        """The dry-run response, if its status differs from the operation's."""
        if operation.dry_run is None or operation.status == 200:
            return {}
        schema = self._schemas[_DRY_RUN]
        example = self._examples.of_model(EffectsRecord.__name__)
        return {
            "200": {
                "description": "The effects of the change. Nothing was changed.",
                "headers": headers(replace(self._response(operation), status=200, is_tagged=False)),
                "content": {"application/json": {"schema": schema, "example": example}},
            }
        }

    def _unchanged(self, operation: Operation) -> Json:
        if not operation.is_resource:
            return {}
        response = replace(self._response(operation), status=304)
        return {
            "304": {
                "description": "Not modified: your version is current.",
                "headers": headers(response),
            }
        }

    def _response(self, operation: Operation) -> DocumentedResponse:
        return DocumentedResponse(
            status=operation.status, operation=operation, is_tagged=operation.is_tagged
        )

    def _summary_of(self, choice: Json) -> str:
        described = (self._resolved(choice) or {}).get("description")
        return str(described or "A bare array.").removesuffix(".")

    def _other(self, described: Json) -> Json:
        """A path without an operation, with its errors and headers."""
        codes = described.get("x-codes", ())
        responses = {
            status: {
                **response,
                "headers": {
                    **response.get("headers", {}),
                    **headers(DocumentedResponse(status=200)),
                },
            }
            for status, response in described["responses"].items()
        }
        members = {name: value for name, value in described.items() if name != "x-codes"}
        return {**members, "responses": {**responses, **self._errors.of_codes(*codes)}}


def _schemas(operations: Iterable[Operation]) -> tuple[Mapping[SchemaKey, Json], Json]:
    """The schemas by operation id and mode, and the components that they refer to."""
    models: list[Model] = [
        ("field_error", "serialization", TypeAdapter(FieldErrorRecord)),
        (*_DRY_RUN, TypeAdapter(EffectsRecord)),
        *openapi_webhooks.models(),
    ]
    for operation in operations:
        if operation.body is not None:
            models.append((operation.operation_id, "validation", TypeAdapter(operation.body)))
        if operation.result is not None:
            result: Any = operation.result
            if operation.dry_run is not None and operation.status == 200:
                result = Union[operation.result, EffectsRecord]  # noqa: UP007  # types made at run time
            models.append((operation.operation_id, "serialization", TypeAdapter(result)))
    return generate(models)


def _info(base_url: str) -> Json:
    return {
        "title": "Hiatus",
        "version": "1",
        "summary": "Leave management for organisations that live in Slack.",
        "description": openapi_guide.description(base_url),
        "contact": {"name": "The operator of this service", "url": f"{base_url}/docs"},
        "license": {"name": "MIT", "url": "https://opensource.org/license/mit"},
    }


def _header_parameters(operation: Operation) -> Iterator[Mapping[str, object]]:
    yield from operation.header_parameters
    if operation.method == "POST":
        yield idempotency.HEADER
    if operation.is_resource:
        yield conditions.IF_NONE_MATCH
    if operation.changes_resource:
        yield conditions.IF_MATCH


def _examples_of_body(operation: Operation) -> Json:
    if not operation.other_examples:
        return {"example": operation.example}
    examples = {operation.summary: operation.example, **operation.other_examples}
    return {
        "examples": {
            str(number): {"summary": summary, "value": example}
            for number, (summary, example) in enumerate(examples.items(), start=1)
        }
    }


def _needs(operation: Operation) -> str:
    """The scope and role as text, because clients show descriptions but not extensions."""
    role = f"; role: {_at_least(operation.role)}" if operation.role is not None else "; any role"
    return f"Needs the scope `{operation.scope}`{role}."


def _at_least(role: Role) -> str:
    *others, last = ROLES[ROLES.index(role) :]
    return f"{', '.join(others)} or {last}" if others else last


def _path_parameter(operation: Operation, name: str) -> Json:
    kind = operation.kind if name == "id" else name.removesuffix("_id").replace("_", " ")
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": f"The {kind}'s id.",
        "schema": {"type": "string", "format": "uuid"},
    }


def _query_parameter(name: str, schema: Json) -> Json:
    # Null means absence in Python and cannot be sent in a query string.
    choices = [choice for choice in schema.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        schema = {**choices[0], **schema}
    parameter: Json = {"name": name, "in": "query", "schema": schema}
    text = schema.pop("description", None) or _PARAMETERS.get(name)
    if text is not None:
        parameter["description"] = text
    return parameter


# Descriptions of filters with the same meaning everywhere.
_PARAMETERS: Final = {
    "actor_id": "Only changes made by this person.",
    "department_id": "Only people of this department.",
    "leave_type_id": "Only leave of this type.",
    "role": "Only people with this role.",
    "sort": "The sort order; a minus sorts in descending order.",
    "status": "Only items with this status.",
    "subject_id": "Only changes to the object with this id.",
    "user_id": "Only items of this person.",
}

_DONE: Final = {
    201: "Created.",
    202: "Accepted. It is carried out shortly.",
    204: "Done. The response has no body.",
}

_SECURITY_SCHEME: Final = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "hiatus_sk_live_...",
    "description": (
        "An API key. It acts for the person it belongs to, within its scopes; each operation "
        "lists the scope that it needs."
    ),
}
