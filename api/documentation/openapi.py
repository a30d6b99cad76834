"""The OpenAPI 3.1 document, made from the operations, their models and their errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_type_hints

import orjson
from pydantic import TypeAdapter

from api.documentation import error_codes, events, schemas
from api.documentation.error_codes import Code
from api.documentation.schemas import REF, Examples, Json, class_name
from api.http import conditions
from api.http.errors import Problem
from api.http.operations import Operation
from storage.base.errors import DomainError, InvalidInput
from storage.base.values import ROLES, Role

_IDS: Final = re.compile(r"\{(\w+)\}")
_REQUEST_ID: Final = "5f0c1a7be2d94c3f8a6d0e4b9c7f2a11"
_DONE: Final = {
    201: "Created.",
    202: "Accepted. It is carried out shortly.",
    204: "Done. The response has no body.",
}


def document(operations: Sequence[Operation], others: Mapping[str, Any], base_url: str) -> bytes:
    """The document as JSON. ``others`` are paths without operations.

    Raises NoExample for a field of a model that needs an example.
    """
    return orjson.dumps(_Document(operations, base_url).whole(others))


class _Document:
    def __init__(self, operations: Sequence[Operation], base_url: str) -> None:
        self._operations = operations
        self._base_url = base_url
        self._schemas, self._components = schemas.of_operations(operations)
        self._examples = Examples(self._components)
        self._shared_examples: Json = {}

    def whole(self, others: Mapping[str, Any]) -> Json:
        paths: dict[str, Json] = {}
        for operation in self._operations:
            path = paths.setdefault(f"/api/v1{operation.path}", {})
            path[operation.method.lower()] = self._operation(operation)
        for template, methods in others.items():
            paths[template] = {name: self._other(method) for name, method in methods.items()}
        tags = {operation.tag.name: operation.tag.description for operation in self._operations}
        tags |= {"Health": "For load balancers and monitoring; without a key."} | events.TAG
        webhooks = events.webhooks()
        event_schemas = events.take_schemas(self._components)
        problem = self._components.pop(Problem.__name__)
        described = [
            operation
            for methods in (*paths.values(), *webhooks.values())
            for operation in methods.values()
        ]
        return {
            "openapi": "3.1.0",
            "info": _info(self._base_url),
            "servers": [{"url": self._base_url, "description": "This service."}],
            "tags": [{"name": name, "description": text} for name, text in tags.items()],
            "security": [{"api_key": []}],
            "paths": paths,
            "webhooks": webhooks,
            "components": {
                "schemas": {
                    **schemas.extending(schemas.published(self._components) | event_schemas),
                    "Problem": self._problem_schema(problem),
                    "ErrorCode": self._error_code(),
                },
                "parameters": _share(_parameters_of(described), "parameters"),
                "responses": _share(_responses_of(described), "responses"),
                "examples": self._shared_examples,
                "headers": _HEADERS,
                "securitySchemes": {"api_key": _SECURITY_SCHEME},
            },
        }

    def _operation(self, operation: Operation) -> Json:
        schema = self._schemas.get((operation.operation_id, "validation"))
        described: Json = {
            "operationId": operation.operation_id,
            "summary": operation.summary,
            "description": f"{operation.description}\n\n{_needs(operation)}",
            "tags": [operation.tag.name],
            "parameters": self._parameters(operation),
            "responses": {**self._successes(operation), **self._errors(operation)},
        }
        if operation.scope:
            described["x-required-scope"] = operation.scope
        if operation.deprecation is not None:
            described["deprecated"] = True
        if operation.role is not None:
            described["x-required-role"] = operation.role
        if operation.body is not None:
            described["requestBody"] = {
                "description": f"Codes of invalid fields: {self._field_codes(operation)}.",
                "required": not operation.is_body_optional,
                "content": {"application/json": {"schema": schema, **_examples_of_body(operation)}},
            }
        if operation.form is not None:
            described["requestBody"] = {
                "description": f"Codes of invalid fields: {self._field_codes(operation)}.",
                "required": True,
                "content": {
                    "multipart/form-data": {"schema": schema, "example": operation.form.EXAMPLE}
                },
            }
        return described

    def _parameters(self, operation: Operation) -> list[Json]:
        properties = schemas.of_query(operation).get("properties", {})
        parameters = [
            *(_path_parameter(operation, name) for name in _IDS.findall(operation.path)),
            *(_query_parameter(name, dict(schema)) for name, schema in properties.items()),
            *map(dict, operation.header_parameters),
        ]
        if operation.method == "POST":
            parameters.append(conditions.IDEMPOTENCY_KEY)
        if operation.is_resource:
            parameters.append(conditions.IF_NONE_MATCH)
        if operation.changes_resource:
            parameters.append(conditions.IF_MATCH)
        for parameter in parameters:
            if "example" not in parameter:
                name = parameter["name"]
                parameter["example"] = self._examples.of(parameter["schema"], name, "a query")
        return parameters

    def _successes(self, operation: Operation) -> Json:
        """The responses without an error, by status."""
        headers = _headers_of(operation, operation.status)
        response: Json = {
            "description": _DONE.get(operation.status, "Done."),
            "headers": headers if operation.deprecation is None else headers | _OF_DEPRECATED,
        }
        responses = {str(operation.status): response}
        if operation.dry_run is not None and operation.status != 200:
            schema = self._schemas[f"{operation.operation_id}?dry_run", "serialization"]
            responses["200"] = {
                "description": "The effects of the change. Nothing was changed.",
                "headers": _headers_of(operation, 200, is_tagged=False),
                "content": {"application/json": self._content(schema)},
            }
        if operation.is_resource:
            responses["304"] = {
                "description": "Not modified: your version is current.",
                "headers": headers,
            }
        if operation.result is not None:
            schema = self._schemas[operation.operation_id, "serialization"]
            response["content"] = {"application/json": self._content(schema)}
        if operation.csv_example:
            response["content"]["text/csv"] = {
                "schema": {"type": "string"},
                "example": operation.csv_example,
            }
        return responses

    def _content(self, schema: Json) -> Json:
        # Exactly one matches, because the models have different required members.
        choices = schema.get("anyOf", [schema])
        examples = {
            str(number): self._model_example(choice)
            for number, choice in enumerate(choices, start=1)
        }
        return {"schema": {"oneOf": choices} if "anyOf" in schema else schema, "examples": examples}

    def _model_example(self, schema: Json) -> Json:
        """A reference to the example of a model, or an example of another schema."""
        described = self._examples.resolved(schema)
        summary = str(described.get("description") or "A bare array.").removesuffix(".")
        example = {"summary": summary, "value": self._examples.of(schema)}
        if "$ref" not in schema:
            return example
        self._shared_examples[described["title"]] = example
        return {"$ref": f"#/components/examples/{described['title']}"}

    # Errors.

    def _errors(self, operation: Operation) -> Json:
        """The responses with an error, by status."""
        codes = map(error_codes.of_error, dict.fromkeys(error_codes.errors_of(operation)))
        responses = self._by_status(codes, operation)
        # Described with the body, so that operations share the response.
        fields = (
            "see the body" if operation.body or operation.form else self._field_codes(operation)
        )
        invalid = responses.setdefault("422", self._error([], _headers_of(operation, 422)))
        invalid["description"] = f"{invalid['description']} Invalid fields: {fields}.".lstrip(". ")
        examples = invalid["content"]["application/problem+json"]["examples"]
        examples["invalid_input"] = self._example(error_codes.of_error(InvalidInput))
        return responses

    def _by_status(self, codes: Iterable[Code], operation: Operation | None) -> Json:
        by_status: dict[int, list[Code]] = {}
        for code in codes:
            by_status.setdefault(code.status, []).append(code)
        return {
            str(status): self._error(each, _headers_of(operation, status))
            for status, each in sorted(by_status.items())
        }

    def _field_codes(self, operation: Operation) -> str:
        """Those of its body and query, but for those of every one: `FieldErrorRecord` has them."""
        body = self._schemas.get((operation.operation_id, "validation"), {})
        query = schemas.of_query(operation)
        codes = {
            *operation.rules,
            *schemas.field_codes(self._examples.resolved(body)),
            *schemas.field_codes(query, in_query=True),
        }
        if operation.method == "POST":
            codes.add("invalid_idempotency_key")
        if operation.method == "PATCH":
            codes.add("read_only")
        return ", ".join(f"`{code}`" for code in sorted(codes)) or "`unknown_parameter`"

    def _error(self, codes: Iterable[Code], headers: Json) -> Json:
        described = {code.code: code for code in codes}
        return {
            "description": ", ".join(f"`{name}`" for name in described) + ".",
            **({"headers": headers} if headers else {}),
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": REF.format(model="Problem")},
                    "examples": {name: self._example(code) for name, code in described.items()},
                }
            },
        }

    def _example(self, code: Code) -> Json:
        """A reference to the code's example."""
        value = {
            "type": f"{self._base_url}/docs/errors#{code.code}",
            "title": code.title,
            "status": code.status,
            "detail": code.detail,
            "code": code.code,
            "request_id": _REQUEST_ID,
            **code.members,
        }
        self._shared_examples[code.code] = {
            "summary": code.title,
            "description": f"{code.meaning} {code.cure}",
            "value": value,
        }
        return {"$ref": f"#/components/examples/{code.code}"}

    def _problem_schema(self, schema: Json) -> Json:
        """The schema of errors, with the members that some of them add."""
        members: Json = {}
        for operation in self._operations:
            for kind in error_codes.errors_of(operation):
                if issubclass(kind, DomainError) and kind is not InvalidInput:
                    hints = get_type_hints(kind)
                    members |= {
                        name: _whole(TypeAdapter(hints[name]).json_schema())
                        for name in kind.members
                        if name in hints
                    }
        code = {"code": {"$ref": REF.format(model="ErrorCode")}}
        return {
            **schema,
            "properties": schema["properties"] | code | members,
            "examples": [self._shared_examples["not_found"]["value"]],
        }

    def _error_code(self) -> Json:
        codes = {code.code for code in error_codes.every_code(self._operations)}
        return {
            "type": "string",
            "title": "ErrorCode",
            "description": "A stable code, for programs. New ones may be added. The errors page "
            f"({self._base_url}/docs/errors) says what each means.",
            "enum": sorted(codes),
        }

    # Paths without operations.

    def _other(self, described: Json) -> Json:
        """A path without an operation, with its errors and headers."""
        # Of a code that is also a field's, the whole response's comes first.
        every = {code.code: code for code in reversed(error_codes.every_code(self._operations))}
        errors = self._by_status((every[name] for name in described.get("x-codes", ())), None)
        members = {name: value for name, value in described.items() if name != "x-codes"}
        return {
            **members,
            "parameters": [*described.get("parameters", ())],
            "responses": described["responses"] | errors,
        }


def _whole(schema: Json) -> Json:
    """The schema of a list with that of its items in it."""
    items = schema.pop("$defs", {}).values()
    return schema | {"items": next(iter(items))} if items else schema


def _share(places: Sequence[tuple[Any, Any, str]], section: str) -> Json:
    """Replace equal parts of the document by references; the components that they refer to.

    A place is a list or dict, its key and the name of the part.
    """
    uses = Counter(orjson.dumps(holder[key]) for holder, key, _ in places)
    names: dict[bytes, str] = {}
    shared: Json = {}
    for holder, key, name in places:
        content = orjson.dumps(holder[key])
        if uses[content] == 1:
            continue
        if content not in names:
            number = sum(other.partition("_")[0] == name for other in shared)
            names[content] = f"{name}_{number + 1}" if number else name
            shared[names[content]] = holder[key]
        holder[key] = {"$ref": f"#/components/{section}/{names[content]}"}
    return shared


def _responses_of(described: Sequence[Json]) -> list[tuple[Any, Any, str]]:
    """The responses without a body or with an error, which is named by its first codes."""
    places = []
    for responses in (operation["responses"] for operation in described):
        for status, response in responses.items():
            content = response.get("content", {}).get("application/problem+json", {})
            codes = [*content.get("examples", {})][:2]
            if codes or "content" not in response:
                places.append(
                    (
                        responses,
                        status,
                        "Or".join(map(class_name, codes)) or f"Status{status}",
                    )
                )
    return places


def _parameters_of(described: Sequence[Json]) -> list[tuple[Any, Any, str]]:
    return [
        (parameters, number, parameter["name"])
        for parameters in (operation.get("parameters", []) for operation in described)
        for number, parameter in enumerate(parameters)
    ]


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
    if not operation.scope:
        return "Needs no scope."
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
    description = schema.pop("description", None)
    parameter: Json = {"name": name, "in": "query", "schema": schema}
    if schema.get("type") == "array":
        # Empty means absence, and Swagger UI would send it.
        schema.pop("default", None)
        schema["minItems"] = 1
        parameter |= {"style": "form", "explode": False}
    return parameter | ({"description": description} if description else {})


def _headers_of(operation: Operation | None, status: int, *, is_tagged: bool = True) -> Json:
    """The headers of a response, as references to the components.

    Those of every response are in the guide: repeated here, they were a twelfth of the document.
    """
    names: list[str] = []
    is_post = operation is not None and operation.method == "POST"
    if status == 201:
        names.append("Location")
    if status == 401:
        names.append("WWW-Authenticate")
    if status in (429, 503) or (status == 409 and is_post):
        names.append("Retry-After")
    if status < 400 and is_tagged and operation is not None and operation.is_tagged:
        names.append("ETag")
    if is_post and (status < 400 or status in (404, 409, 422)):
        names.append("Idempotent-Replayed")
    return _references(names)


def _references(names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _header(description: str, schema: Json, example: object) -> Json:
    return {"description": description, "schema": schema, "example": example}


_HEADERS: Final[Json] = {
    "Location": _header(
        "The path of the created resource.",
        {"type": "string", "format": "uri-reference"},
        "/api/v1/leave-requests/0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
    ),
    "WWW-Authenticate": _header(
        "The authentication scheme: a bearer token.", {"type": "string"}, "Bearer"
    ),
    "Retry-After": _header(
        "The number of seconds to wait before trying again.", {"type": "integer", "minimum": 1}, 2
    ),
    "ETag": _header(
        "Changes with the content: send it as `If-None-Match` to avoid downloading it again, or as "
        "`If-Match` to change only the version that you have read.",
        {"type": "string"},
        '"5e884898da28047151d0e56f8dc62927"',
    ),
    "Idempotent-Replayed": _header(
        "`true` if this is the stored response to an earlier request with the same "
        "`Idempotency-Key`; absent otherwise.",
        {"type": "string", "const": "true"},
        "true",
    ),
}

_OF_DEPRECATED: Final[Json] = {
    "Deprecation": _header(
        "Since when the operation is deprecated (RFC 9745).", {"type": "string"}, "@1798761600"
    ),
    "Sunset": _header(
        "When it goes (RFC 8594), if that is known.",
        {"type": "string"},
        "Thu, 01 Jul 2027 00:00:00 GMT",
    ),
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


def changelog() -> str:
    """What changed in this API, by date, as Markdown."""
    return _text("changelog.md")


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _info(base_url: str) -> Json:
    guide = f"{_text('guide.md').strip()}\n\n{changelog()}"
    return {
        "title": "Hiatus",
        "version": "1",
        "summary": "Leave management for organisations that live in Slack.",
        "description": guide.strip().replace("{base_url}", base_url),
        "contact": {"name": "The operator of this service", "url": f"{base_url}/docs"},
        "license": {"name": "MIT", "url": "https://opensource.org/license/mit"},
    }
