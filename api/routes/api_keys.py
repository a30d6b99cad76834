"""`/api-keys`: keys for this API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from api.http.fields import (
    CODES_OF_NAMES,
    NO_NUL,
    Body,
    Flag,
    Instant,
    Listing,
    Paged,
    Uuid,
    Word,
    is_true,
    listing,
)
from api.http.operations import Created, RequestContext, Tag, created, operation
from storage.base import errors
from storage.base.values import SCOPES, About, ApiKey, as_dict
from storage.db.database import Transaction
from storage.keys import api_keys

API_KEYS = Tag("API keys", "Keys for this API, with scopes and an optional expiry.", "keys")


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKeyWithSecret(ApiKey):
    """An API key with its value, shown only once."""

    api_key: Annotated[
        str, About(example="hiatus_sk_live_7Qm2xKf9LwTz4RbN8vYc1HsJ5pDgA0eU3iWq6oXtEkMZr0")
    ]


KeyName = Annotated[str, Field(max_length=100), CODES_OF_NAMES, NO_NUL]


class NewApiKey(Body):
    name: KeyName
    scopes: Annotated[
        list[Word],
        Field(max_length=40, description="Only scopes that the key in use has."),
        About(enum=SCOPES),
    ]
    variant: Annotated[
        int, Field(description="The shape of the response of `GET /users`: 1 or 2.")
    ] = 1
    expires_at: Instant | None = None


class ListOfApiKeys(Paged):
    user_id: Annotated[
        Uuid | None, Field(description="Another person's id only for admins and owners.")
    ] = None
    is_revoked: Annotated[
        Flag | None, Field(description="`false` for keys that are not revoked.")
    ] = None


@operation("GET", "/api-keys", tag=API_KEYS, refusals=(errors.InsufficientRole, errors.NotFound))
def page(tx: Transaction, context: RequestContext, query: ListOfApiKeys) -> Listing[ApiKey]:
    """List API keys.

    The caller's own keys; for admins and owners, every key of the organisation. Includes revoked
    keys.
    """
    revoked = is_true(query.is_revoked)
    page = api_keys.page(
        tx, query.page, by=context.caller, user_id=query.user_id, is_revoked=revoked
    )
    return listing(page)


@operation("GET", "/api-keys/{id}", tag=API_KEYS, kind="API key", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> ApiKey:
    """Read an API key.

    One of the caller's own keys; for admins and owners, any key of the organisation. Includes
    revoked keys.
    """
    return api_keys.get(tx, context.id, by=context.caller)


@operation(
    "POST",
    "/api-keys",
    resource=get,
    shows_secret=True,
    rules=("expiry_in_past", "no_scopes", "scope_not_held", "unknown_scope", "unknown_variant"),
    example={"name": "payroll", "scopes": ["users:read", "leave:read"]},
)
def create(tx: Transaction, context: RequestContext, body: NewApiKey) -> Created[ApiKeyWithSecret]:
    """Create an API key.

    Creates a key for the caller. It can only have scopes that the key in use has. `api_key` is
    shown in this response and never again.
    """
    # A key always belongs to a person, so there is one.
    assert context.caller.user_id is not None
    key, secret = api_keys.create_key(
        tx,
        for_user=context.caller.user_id,
        name=body.name,
        scopes=body.scopes,
        variant=body.variant,
        expires_at=body.expires_at,
        by=context.caller,
        now=context.now,
    )
    return created(f"/api/v1/api-keys/{key.id}", ApiKeyWithSecret(**as_dict(key), api_key=secret))


@operation("DELETE", "/api-keys/{id}", resource=get)
def revoke(tx: Transaction, context: RequestContext) -> None:
    """Revoke an API key.

    Takes effect immediately and cannot be undone.
    """
    api_keys.revoke(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, revoke)
