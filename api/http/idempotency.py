"""`Idempotency-Key`: which requests are equal, and which responses are stored.

Source: draft-ietf-httpapi-idempotency-key-header.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from starlette.types import Scope

from storage.base.errors import (
    DomainError,
    InsufficientRole,
    InsufficientScope,
    InvalidInput,
    Unauthenticated,
)
from storage.base.values import Caller
from storage.keys.idempotency import (
    Claim,
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)
from storage.people.people_changes import ChangedMeanwhile

HEADER: Final[dict[str, object]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": (
        "Makes it safe to send the request again: the first response, even a refusal by a rule, "
        "is stored for 24 hours for this API key and replayed with `Idempotent-Replayed: true`. "
        "The idempotency key stays unused if a request is refused for its form, or because the "
        "API key may not make it. Use a new random UUID for each new request."
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    "example": "3f0b7c1e-5d0c-4c8e-9a52-7c1e6a3d9b20",
}

_VALID: Final = re.compile(rb"[ -~]{1,255}")
# Of every POST.
REFUSALS: Final = (IdempotencyAnswerUnreadable, IdempotencyInProgress, IdempotencyKeyReused)
# Errors that a retry may not meet again, so they are not stored.
_NOT_STORED: Final = (
    Unauthenticated,
    InsufficientScope,
    InsufficientRole,
    ChangedMeanwhile,
    *REFUSALS,
)


def claim_of(scope: Scope, caller: Caller, content: bytes) -> Claim | None:
    """The request with its idempotency key; None if none was sent. Raises InvalidInput."""
    keys = [value for name, value in scope["headers"] if name == b"idempotency-key"]
    if not keys:
        return None
    if len(keys) > 1 or not _VALID.fullmatch(keys[0]):
        raise InvalidInput.at(
            "Idempotency-Key",
            "invalid_idempotency_key",
            "Send the header Idempotency-Key once, with 1 to 255 printable ASCII characters.",
        )
    # Each part on its own line; the first three cannot contain line breaks.
    lines = f"{scope['method']}\n{scope['path']}\n".encode() + scope["query_string"] + b"\n"
    digest = sha256(lines + content).hexdigest()
    assert caller.key_id is not None
    return Claim(
        organisation_id=caller.organisation_id,
        api_key_id=caller.key_id,
        idempotency_key=keys[0].decode("ascii"),
        sha256=digest,
    )


def is_stored(refusal: DomainError) -> bool:
    """Whether an error is stored as the response, instead of being retried."""
    return not isinstance(refusal, _NOT_STORED)
