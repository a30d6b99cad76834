"""What goes wrong, as types. ``code`` is stable; `/docs/errors` of the service explains each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import httpx


class HiatusError(Exception):
    """Everything that this client raises by itself."""


class NoResponse(HiatusError):
    """The service could not be reached, or its response was lost, also when it was asked again."""


class InvalidSignature(HiatusError):
    """A webhook was not signed with the secret, or too long ago."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldError:
    """What is wrong with one field: its pointer (`/start_date`, `?limit`), a code, a sentence."""

    pointer: str
    code: str
    detail: str


class Problem(HiatusError):
    """An error response (RFC 9457). ``members`` are all that it has, such as `remaining_days`."""

    def __init__(self, status: int, members: Mapping[str, object], headers: httpx.Headers) -> None:
        self.status = status
        self.code = str(members.get("code", "unknown"))
        self.title = str(members.get("title", ""))
        self.detail = str(members.get("detail", ""))
        self.request_id = headers.get("x-request-id")
        self.members = members
        self.headers = headers
        listed = members.get("errors", [])
        entries = listed if isinstance(listed, list) else []
        self.errors = [
            FieldError(pointer=entry["pointer"], code=entry["code"], detail=entry["detail"])
            for entry in entries
        ]
        super().__init__(f"{status} {self.code}: {self.detail}")


class BadRequest(Problem):
    """400: an unreadable body or cursor."""


class Unauthenticated(Problem):
    """401: the key is missing, wrong, expired or revoked."""


class Forbidden(Problem):
    """403: the key's scopes or the person's role do not suffice."""


class NotFound(Problem):
    """404: it does not exist, or the key may not see it."""


class Conflict(Problem):
    """409: the state of the resource does not allow it."""


class PreconditionFailed(Problem):
    """412: the resource has changed since it was read."""


class Invalid(Problem):
    """422: a field or a rule; ``errors`` has the fields."""


class RateLimited(Problem):
    """429: too many requests, also after waiting."""


class ServerError(Problem):
    """5xx: the service or its database is away."""


_BY_STATUS: Final = {
    400: BadRequest,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    422: Invalid,
    429: RateLimited,
}


def problem_of(response: httpx.Response) -> Problem:
    """The error of a response; a proxy's has the code `unknown`."""
    try:
        members = response.json()
    except ValueError:
        members = None
    if not isinstance(members, dict):
        members = {"detail": response.text[:200]}
    other = ServerError if response.status_code >= 500 else Problem
    kind = _BY_STATUS.get(response.status_code, other)
    return kind(response.status_code, members, response.headers)
