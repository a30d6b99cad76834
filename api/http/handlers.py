"""The inputs, results and signatures of handlers of `/api/v1`.

A handler is a plain function. What it takes and returns is read from its annotations::

    def create(tx: Transaction, context: RequestContext, body: NewUser) -> Result[UserRecord]: ...
    def page(tx: Transaction, context: RequestContext, query: Paged) -> Listing[UserRecord]: ...
    def delete(tx: Transaction, context: RequestContext) -> None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar, get_args, get_origin, get_type_hints

from api.http.auth import Headers, header
from api.http.fields import Body, Query
from api.http.rate_limits import RateLimits
from storage.admin.effects_recorder import EffectsRecorder
from storage.base.values import Caller
from storage.db.database import Database, Transaction

T = TypeVar("T")
Clock = Callable[[], datetime]
# Called with a transaction, a RequestContext and, by name, the ``query`` and ``body`` it declares.
Handler = Callable[..., object]  # type: ignore[explicit-any]  # Signature checks its parameters


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """The services that all endpoints share."""

    database: Database
    clock: Clock
    base_url: str
    allow_private_webhooks: bool
    # None for no limits.
    rate_limits: RateLimits | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestContext:
    """One authenticated request. ``ids`` are those of the path, in lower case.

    ``reference_version`` is for ``organisation_config.of_organisation``; None in a change, which
    reads the version in its own transaction.
    """

    caller: Caller
    reference_version: int | None
    now: datetime
    base_url: str
    ids: Mapping[str, str]
    headers: Headers
    # Set in a dry run: records what the change does to others.
    recorder: EffectsRecorder | None = None

    @property
    def id(self) -> str:
        """The path's ``{id}``."""
        return self.ids["id"]

    def header(self, name: bytes) -> str | None:
        """The first header of that lower-case name."""
        return header(self.headers, name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """The parsed query and body of a request."""

    query: Query
    body: Body | None = None
    # Members of a PATCH that cannot be changed, with the values that were sent.
    read_only: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Result(Generic[T]):
    """A body with response headers."""

    body: T
    headers: Sequence[tuple[bytes, bytes]] = ()


def created(path: str, body: T) -> Result[T]:
    """A new resource with its ``Location``."""
    return Result(body=body, headers=[(b"location", path.encode("ascii"))])


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """The models that a handler declares; None for a query or body that it does not take."""

    query: type[Query] | None
    body: type[Body] | None
    # The type of the response's body; None for an empty one.
    result: object

    @staticmethod
    def of(handler: Handler) -> Signature:
        """Raises TypeError for an unknown parameter or a missing annotation."""
        hints = get_type_hints(handler)
        if "return" not in hints:
            raise TypeError(f"{handler.__qualname__} does not declare its result.")
        result = hints.pop("return")
        if get_origin(result) is Result:
            (result,) = get_args(result)
        query, body = hints.pop("query", None), hints.pop("body", None)
        if list(hints.values()) != [Transaction, RequestContext]:
            raise TypeError(
                f"{handler.__qualname__} takes a Transaction, a RequestContext and at most a "
                "query and a body."
            )
        return Signature(query=query, body=body, result=None if result is type(None) else result)

    def call(
        self, handler: Handler, tx: Transaction, context: RequestContext, inputs: Inputs
    ) -> object:
        """What the handler returns: a body or a Result."""
        arguments: dict[str, Query | Body | None] = {}
        if self.query is not None:
            arguments["query"] = inputs.query
        if self.body is not None:
            arguments["body"] = inputs.body
        return handler(tx, context, **arguments)
