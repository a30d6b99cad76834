"""The status, code and members of each error; ``problems`` makes the responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from typing_extensions import TypedDict

from storage.access.idempotency import IdempotencyKeyReused
from storage.base import errors
from storage.base.amounts import days_of
from storage.base.errors import DomainError
from storage.base.values import as_dict

# An error has the status of its nearest ancestor in this table.
STATUS: Final[Mapping[type[DomainError], int]] = {
    errors.UnusableCursor: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.InvalidInput: 422,
    errors.InsufficientAllowance: 422,
    IdempotencyKeyReused: 422,
}


class HttpRefusal(Exception):
    """A malformed request, which is refused before it reaches the domain."""

    status = 400
    code = "bad_request"
    title = "The request cannot be read."

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class UnreadableJson(HttpRefusal):
    code = "invalid_json"
    title = "The body is not valid JSON."


class BodyTooLarge(HttpRefusal):
    status = 413
    code = "body_too_large"
    title = "The body is too large."


class UnsupportedMediaType(HttpRefusal):
    status = 415
    code = "unsupported_media_type"
    title = "The body's media type is not supported."


class PreconditionFailed(HttpRefusal):
    status = 412
    code = "precondition_failed"
    title = "This was changed since you read it."
    cure = "Read it again and send its current ETag."

    def __init__(self) -> None:
        super().__init__(self.cure)


class RateLimited(HttpRefusal):
    """``retry_after_seconds`` is when the limit allows the next request."""

    status = 429
    code = "rate_limited"
    title = "Too many requests."
    cure = "Wait for the number of seconds in Retry-After."

    def __init__(self, detail: str, retry_after_seconds: int) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


# Errors of every operation with a body.
HTTP_REFUSALS: Final = (UnreadableJson, BodyTooLarge, UnsupportedMediaType)

# Code, title and detail of errors without an exception of their own, by status.
HTTP_PROBLEMS: Final[Mapping[int, tuple[str, str, str]]] = {
    404: (
        "not_found",
        errors.NotFound.title,
        "There is no such path. /docs lists the paths of this API.",
    ),
    405: (
        "method_not_allowed",
        "The method is not allowed.",
        "Use one of the methods in the header Allow.",
    ),
    412: (PreconditionFailed.code, PreconditionFailed.title, PreconditionFailed.cure),
    429: (RateLimited.code, RateLimited.title, RateLimited.cure),
    500: (
        "internal_error",
        "Something went wrong on our side.",
        "If it happens again, send the request_id to the operator.",
    ),
    501: (
        "pictures_unavailable",
        "This server draws no PNG pictures.",
        "Use the SVG: .svg instead of .png in the address. The operator can install the extra "
        "`pictures`.",
    ),
    503: ("unavailable", "The database is unavailable.", "Nothing was changed. Try again soon."),
}
# A 503 after which something may have changed.
OUTCOME_UNKNOWN: Final = (
    "outcome_unknown",
    "The outcome is unknown.",
    "The change may or may not have been saved. Repeat the request with the same "
    "Idempotency-Key, or check the current state first.",
)


def status_of(refusal: type[DomainError]) -> int:
    return next(STATUS[kind] for kind in refusal.__mro__ if kind in STATUS)


class FieldErrorRecord(TypedDict):
    """One wrong field. `pointer` is a JSON pointer into the body, or `?name` for a parameter."""

    pointer: str
    code: str
    detail: str


def extension_members(error: DomainError) -> dict[str, object]:
    """The extension members of an error, for programs."""
    match error:
        case errors.InvalidInput():
            return {"errors": [as_dict(field) for field in error.errors]}
        case errors.InsufficientAllowance() | errors.DaysNoLongerFit():
            return {
                "remaining_days": days_of(error.remaining_half_days),
                "needed_days": days_of(error.needed_half_days),
                "leave_year": error.leave_year,
            }
        case errors.OverlappingLeave():
            return {"leave_request_id": error.other_id}
        case errors.NameTaken():
            return {"other_id": error.other_id}
        case errors.InvalidTransition():
            return {"leave_status": error.status}
        case errors.InsufficientScope():
            return {"missing_scope": error.missing}
        case errors.InsufficientRole():
            return {"needed_role": error.needed}
        case errors.NotYourField():
            return {"fields": error.fields}
        case errors.Forbidden(field=str(field)):
            pointer = f"/{field}"
            return {"errors": [{"pointer": pointer, "code": error.code, "detail": error.detail}]}
    return {}
