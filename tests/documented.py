"""Compares the responses that tests get with those that the documentation lists."""

from __future__ import annotations

import json
import re
from functools import cache, reduce
from typing import Any

import httpx

from api.documentation import openapi
from api.service import app

# Any path may respond with these before an operation runs.
_OF_NO_OPERATION = frozenset({"method_not_allowed"})
# The documentation lists these once, for all bodies and queries.
_OF_EVERY_INPUT = frozenset(
    {
        *("invalid_input", "repeated_field", "repeated_parameter", "unknown_field"),
        *("unknown_parameter", "wrong_format", "wrong_type"),
    }
)


def undocumented(response: httpx.Response) -> str | None:
    """A refusal with codes that the operation's documentation lacks, or None."""
    is_problem = response.headers.get("Content-Type", "").startswith("application/problem+json")
    # HEAD has no content that could name a code.
    if not is_problem or not response.content:
        return None
    request, problem = response.request, response.json()
    code = problem["code"]
    if code in _OF_NO_OPERATION:
        return None
    method = request.method
    for pattern, described in _operations().get(method, []):
        if pattern.fullmatch(request.url.path):
            documented = described["responses"].get(str(response.status_code), {})
            description = documented.get("description", "")
            if response.status_code == 422:
                description += described.get("requestBody", {}).get("description", "")
            documented_codes = {*re.findall(r"`(\w+)`", description), *_OF_EVERY_INPUT}
            codes = {code, *(error["code"] for error in problem.get("errors", ()))}
            missing = codes - documented_codes
            return (
                f"{method} {request.url.path}: {response.status_code} {missing}"
                if missing
                else None
            )
    return None


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of the service, made once: that takes half a second."""
    parsed: dict[str, Any] = json.loads(
        openapi.document(app.OPERATIONS, app.OTHER_PATHS, "https://hiatus.test")
    )
    return parsed


def resolved(part: Any, document: Any) -> Any:
    """A part of an OpenAPI document, or the component that it refers to."""
    while "$ref" in part:
        reference = part["$ref"].removeprefix("#/").split("/")
        part = reduce(lambda holder, name: holder[name], reference, document)
    return part


def parameters_of(operation: dict[str, Any], document: Any) -> list[dict[str, Any]]:
    """The parameters of an operation of an OpenAPI document."""
    return [resolved(parameter, document) for parameter in operation.get("parameters", [])]


@cache
def _operations() -> dict[str, list[tuple[re.Pattern[str], Any]]]:
    whole = document()
    operations: dict[str, list[tuple[re.Pattern[str], Any]]] = {}
    # Fixed paths before those that hold ids, as they are served.
    for path, methods in sorted(whole["paths"].items(), key=lambda item: "{" in item[0]):
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        for method, described in methods.items():
            responses = {
                status: resolved(response, whole)
                for status, response in described["responses"].items()
            }
            described = {**described, "responses": responses}
            operations.setdefault(method.upper(), []).append((pattern, described))
    return operations
