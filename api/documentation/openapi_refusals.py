"""The error responses of each operation: statuses, codes and examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from api.documentation import error_codes
from api.documentation.error_codes import Code
from api.documentation.explained_fields import OF_FIELDS
from api.documentation.openapi_headers import DocumentedResponse, headers
from api.documentation.openapi_schemas import Json
from api.http import errors as http
from api.http import idempotency
from api.http.fields import Paged
from api.http.operations import Operation
from storage.base import errors
from storage.base.errors import DomainError, InvalidInput

_PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}
_REQUEST_ID: Final = "5f0c1a7be2d94c3f8a6d0e4b9c7f2a11"
# Errors of every request.
_EVERYWHERE: Final = (429, 500, 503)
_OF_FORMATS: Final = {
    "uuid": "not_a_uuid",
    "date": "invalid_date",
    "date-time": "invalid_date_time",
}
_OF_POST: Final = ("invalid_idempotency_key",)
_INVALID: Final = http.status_of(InvalidInput)


class ErrorResponses:
    """Collects the error responses of operations and their shared examples."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self.examples: dict[str, Json] = {}

    def of_operation(self, operation: Operation, body: Json | None, query: Json) -> dict[str, Json]:
        """Every error status of the operation. ``body`` is its resolved schema."""
        by_status: dict[int, list[Code]] = {}
        for code in (*map(error_codes.of_refusal, _refusals(operation)), *_of_form(operation)):
            by_status.setdefault(code.status, []).append(code)
        responses = {
            status: self._response(operation, status, codes) for status, codes in by_status.items()
        }
        responses[_INVALID] = self._invalid(operation, body, query, by_status.get(_INVALID, []))
        return {str(status): responses[status] for status in sorted(responses)}

    def of_codes(self, *codes: str) -> dict[str, Json]:
        """The error responses of a path without an operation."""
        by_status: dict[int, list[Code]] = {}
        for row in map(error_codes.named, codes):
            by_status.setdefault(row.status, []).append(row)
        return {
            str(status): self._response(None, status, rows) for status, rows in by_status.items()
        }

    def _response(self, operation: Operation | None, status: int, codes: Iterable[Code]) -> Json:
        described = {code.code: code for code in codes}
        return {
            "description": _list_of(described.values()),
            "headers": headers(DocumentedResponse(status=status, operation=operation)),
            "content": {
                "application/problem+json": {
                    "schema": _PROBLEM,
                    "examples": {name: self._shared(code) for name, code in described.items()},
                }
            },
        }

    def _invalid(
        self, operation: Operation, body: Json | None, query: Json, others: list[Code]
    ) -> Json:
        """422: the errors of single fields and of the whole body."""
        codes = (*operation.rules, *_OF_POST) if operation.method == "POST" else operation.rules
        rules = [error_codes.of_field(code) for code in codes]
        # A PATCH may send read-only members.
        read_only = ("read_only",) if operation.method == "PATCH" else ()
        form = sorted({*_codes_of_body(body), *_codes_of_query(query), *read_only})
        response = self._response(operation, _INVALID, [*others, *rules])
        response["description"] += (
            "\n\nInvalid fields: " + ", ".join(f"`{code}`" for code in form) + ". "
            "`invalid_input` stands for several at once; `errors` names each of them."
        )
        examples = response["content"]["application/problem+json"]["examples"]
        for code, field in _typical(body, query):
            examples[code] = self._of_field(code, field)
        return response

    def _shared(self, code: Code) -> Json:
        if code.code not in self.examples:
            value = self._problem(code.code, code.status, code.title, code.detail, code.members)
            self.examples[code.code] = {"summary": code.title, "value": value}
        return {"$ref": f"#/components/examples/{code.code}"}

    def _of_field(self, code: str, pointer: str) -> Json:
        meaning, _ = OF_FIELDS[code]
        field_errors = [{"pointer": pointer, "code": code, "detail": meaning}]
        value = self._problem(code, _INVALID, InvalidInput.title, meaning, {"errors": field_errors})
        return {"summary": meaning, "value": value}

    def _problem(
        self, code: str, status: int, title: str, detail: str, members: Mapping[str, object]
    ) -> Json:
        return {
            "type": f"{self._base_url}/docs/errors#{code}",
            "title": title,
            "status": status,
            "detail": detail,
            "code": code,
            "request_id": _REQUEST_ID,
            **members,
        }


def _list_of(codes: Iterable[Code]) -> str:
    return "\n".join(f"- `{code.code}`: {code.meaning}" for code in codes)


def _refusals(operation: Operation) -> Iterator[type[DomainError]]:
    """The errors that the operation may raise, including authentication; without 422."""
    yield errors.Unauthenticated
    yield errors.InsufficientScope
    if operation.role is not None:
        yield errors.InsufficientRole
    if issubclass(operation.query, Paged):
        yield errors.UnusableCursor
    if "{" in operation.path:
        yield errors.NotFound
    for kind in operation.refusals:
        if kind is not InvalidInput:
            yield kind
    if operation.method == "POST":
        yield from idempotency.REFUSALS


def _of_form(operation: Operation) -> Iterator[Code]:
    if operation.body is not None:
        yield from (error_codes.of_form(kind.code) for kind in http.HTTP_REFUSALS)
    elif operation.writes:
        # An unexpected body is read, too.
        yield error_codes.of_form(http.BodyTooLarge.code)
    statuses = (*_EVERYWHERE, 412) if operation.changes_resource else _EVERYWHERE
    for status in statuses:
        code, _, _ = http.HTTP_PROBLEMS[status]
        yield error_codes.of_form(code)
    if operation.writes or operation.method == "POST":
        yield error_codes.of_form(http.OUTCOME_UNKNOWN[0])


def _codes_of_body(body: Json | None) -> Iterator[str]:
    if body is None:
        return
    yield from ("repeated_field", "unknown_field", "wrong_type")
    if body.get("required"):
        yield "required"
    for schema in body["properties"].values():
        yield from _codes_of_schema(schema)


def _codes_of_query(query: Json) -> Iterator[str]:
    yield from ("unknown_parameter", "repeated_parameter", "wrong_format")
    for schema in query.get("properties", {}).values():
        yield from _codes_of_schema(schema)
        if schema.get("type") == "integer":
            yield "not_a_number"
        kinds = {choice.get("type") for choice in (schema, *schema.get("anyOf", ()))}
        if not kinds.isdisjoint({"boolean", "integer"}):
            yield "wrong_type"


def _codes_of_schema(schema: Json) -> Iterator[str]:
    for choice in (schema, schema.get("items", {}), *schema.get("anyOf", ())):
        if "enum" in choice:
            yield "not_one_of"
        if "maxLength" in choice or "maxItems" in choice:
            yield "too_long"
        if "minLength" in choice:
            yield "too_short"
        if "minimum" in choice:
            yield "out_of_range"
        if choice.get("format") in _OF_FORMATS:
            yield _OF_FORMATS[choice["format"]]
        elif choice.get("type") == "string" and "enum" not in choice:
            yield "contains_nul"


def _typical(body: Json | None, query: Json) -> Iterator[tuple[str, str]]:
    """The most common mistakes, with the field."""
    if body is not None:
        required = body.get("required")
        if required:
            yield "required", f"/{required[0]}"
        yield "unknown_field", "/colour" if "colour" not in body["properties"] else "/color"
    elif query.get("properties"):
        yield "unknown_parameter", "?page"
    else:
        yield "unknown_parameter", "?verbose"


PROBLEM: Final[Json] = {
    "type": "object",
    "title": "Problem",
    "description": "An error (RFC 9457). Some codes add their own members.",
    "required": ["type", "title", "status", "detail", "code", "request_id"],
    "properties": {
        "type": {
            "type": "string",
            "format": "uri",
            "description": "A link to the explanation of the code.",
        },
        "title": {"type": "string", "description": "The meaning of the code, for people."},
        "status": {"type": "integer", "description": "The HTTP status of the response."},
        "detail": {"type": "string", "description": "What is wrong with this request, for people."},
        "code": {"type": "string", "description": "A stable code, for programs."},
        "request_id": {
            "type": ["string", "null"],
            "description": "Include it when you ask for help.",
        },
        "errors": {
            "type": "array",
            "description": "Every invalid field, if fields are invalid.",
            "items": {"$ref": "#/components/schemas/FieldErrorRecord"},
        },
    },
    "examples": [
        {
            "type": "https://hiatus.example.com/docs/errors#not_found",
            "title": "This does not exist, or you cannot see it.",
            "status": 404,
            "detail": "There is no such leave request.",
            "code": "not_found",
            "request_id": "5f0c1a7be2d94c3f8a6d0e4b9c7f2a11",
        }
    ],
}
