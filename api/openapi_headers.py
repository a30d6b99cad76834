"""Headers of answers: one row says what a header is and where it appears."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from api.operations import Operation

Json = dict[str, Any]
# What applies it: the operation, or None for a path that is none, and the answer's status.
Applies = Callable[[Operation | None, int], bool]


class Header(NamedTuple):
    name: str
    description: str
    schema: Json
    example: Any
    applies: Applies

    @property
    def reference(self) -> Json:
        return {"$ref": f"#/components/headers/{self.name}"}

    @property
    def component(self) -> Json:
        return {"description": self.description, "schema": self.schema, "example": self.example}


HEADERS: Final = (
    Header(
        "X-Request-Id",
        "The request's id: the one that you sent in this header, or a new one. The log, the audit "
        "trail and problems name it.",
        {"type": "string", "maxLength": 128},
        "5f0c1a7be2d94c3f8a6d0e4b9c7f2a11",
        lambda operation, status: True,
    ),
    Header(
        "Location",
        "The path of what was created.",
        {"type": "string", "format": "uri-reference"},
        "/api/v1/leave-requests/0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        lambda operation, status: status == 201,
    ),
    Header(
        "WWW-Authenticate",
        "How to authenticate: by a bearer token.",
        {"type": "string"},
        "Bearer",
        lambda operation, status: status == 401,
    ),
    Header(
        "Retry-After",
        "After how many seconds to try again.",
        {"type": "integer", "minimum": 1},
        2,
        lambda operation, status: status in (429, 503),
    ),
)


def headers(operation: Operation | None, status: int) -> Json:
    """The headers of one answer, as references to the components."""
    return {one.name: one.reference for one in HEADERS if one.applies(operation, status)}


def components() -> Json:
    return {one.name: one.component for one in HEADERS}
