"""A typed client of Hiatus' REST API.

``models`` and ``operations`` are generated from the OpenAPI document; do not edit them.
"""

from hiatus_client.client import Hiatus, updated_since
from hiatus_client.errors import (
    BadRequest,
    Conflict,
    FieldError,
    Forbidden,
    HiatusError,
    Invalid,
    InvalidSignature,
    NoResponse,
    NotFound,
    PreconditionFailed,
    Problem,
    RateLimited,
    ServerError,
    Unauthenticated,
)
from hiatus_client.webhooks import verified

__all__ = [
    "BadRequest",
    "Conflict",
    "FieldError",
    "Forbidden",
    "Hiatus",
    "HiatusError",
    "Invalid",
    "InvalidSignature",
    "NoResponse",
    "NotFound",
    "PreconditionFailed",
    "Problem",
    "RateLimited",
    "ServerError",
    "Unauthenticated",
    "updated_since",
    "verified",
]
