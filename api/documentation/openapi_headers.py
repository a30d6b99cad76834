"""Response headers: a row for each header, with the responses that have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from api.documentation.openapi_schemas import Json
from api.http.operations import Operation


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentedResponse:
    """A response of an operation, or of another path, with one status.

    ``is_tagged``: a successful one has the entity tag of the resource that GET returns.
    """

    status: int
    operation: Operation | None = None
    is_tagged: bool = False

    @property
    def is_of_post(self) -> bool:
        return self.operation is not None and self.operation.method == "POST"

    @property
    def is_rate_limited(self) -> bool:
        """Whether a rate limit was checked, which needs a valid key."""
        return self.operation is not None and self.status not in (401, 405, 429, 500, 503)

    @property
    def is_success(self) -> bool:
        return self.status < 400


Applies = Callable[[DocumentedResponse], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    name: str
    description: str
    schema: Json
    example: object
    applies: Applies

    @property
    def reference(self) -> Json:
        return {"$ref": f"#/components/headers/{self.name}"}

    @property
    def component(self) -> Json:
        return {"description": self.description, "schema": self.schema, "example": self.example}


HEADERS: Final = (
    Header(
        name="X-Request-Id",
        description="The request's id: the one that you sent in this header, or a new one. "
        "It is in the log, the audit trail and error responses.",
        schema={"type": "string", "maxLength": 128},
        example="5f0c1a7be2d94c3f8a6d0e4b9c7f2a11",
        applies=lambda response: True,
    ),
    Header(
        name="Location",
        description="The path of the created resource.",
        schema={"type": "string", "format": "uri-reference"},
        example="/api/v1/leave-requests/0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        applies=lambda response: response.status == 201,
    ),
    Header(
        name="WWW-Authenticate",
        description="The authentication scheme: a bearer token.",
        schema={"type": "string"},
        example="Bearer",
        applies=lambda response: response.status == 401,
    ),
    Header(
        name="Retry-After",
        description="The number of seconds to wait before trying again.",
        schema={"type": "integer", "minimum": 1},
        example=2,
        applies=lambda response: (
            response.status in (429, 503) or (response.status == 409 and response.is_of_post)
        ),
    ),
    Header(
        name="ETag",
        description="Changes with the content: send it as `If-None-Match` to avoid downloading it "
        "again, or as `If-Match` to change only the version that you have read.",
        schema={"type": "string"},
        example='"5e884898da28047151d0e56f8dc62927"',
        applies=lambda response: response.is_tagged and response.is_success,
    ),
    Header(
        name="Idempotent-Replayed",
        description="`true` if this is the stored response to an earlier request with the same "
        "`Idempotency-Key`; absent otherwise.",
        schema={"type": "string", "const": "true"},
        example="true",
        applies=lambda response: (
            response.is_of_post and (response.is_success or response.status in (404, 409, 422))
        ),
    ),
    Header(
        name="RateLimit-Policy",
        description="The quota: the number of requests (`q`) that an API key can make in a "
        "window of `w` seconds.",
        schema={"type": "string"},
        example='"default";q=600;w=60',
        applies=lambda response: response.is_rate_limited,
    ),
    Header(
        name="RateLimit",
        description="The number of requests left (`r`), and the seconds until the full quota is "
        "available again (`t`).",
        schema={"type": "string"},
        example='"default";r=599;t=60',
        applies=lambda response: response.is_rate_limited,
    ),
)


def headers(response: DocumentedResponse) -> Json:
    """The headers of a response, as references to the components."""
    return {header.name: header.reference for header in HEADERS if header.applies(response)}


def components() -> Json:
    return {header.name: header.component for header in HEADERS}
