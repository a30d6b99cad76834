"""The decorator that makes a function an operation of `/api/v1`, and what its handler gets.

A handler is a plain function that runs in one transaction. Its annotations say which query and body
it takes and what it returns, and its docstring is what the documentation says::

    @operation("PATCH", "/departments/{id}", scope="departments:write", resource=get, ...)
    def update(tx: Transaction, context: RequestContext, body: Changes) -> DepartmentRecord:
        \"\"\"Change a department.

        Omitted fields stay unchanged.
        \"\"\"
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, datetime
from email.utils import format_datetime
from functools import cached_property
from typing import Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from starlette.datastructures import Headers

from api.http.fields import Body, DryRun, Form, Query, canonical_uuid
from api.http.rate_limits import RateLimits
from storage.admin.effects import Effects, EffectsRecorder
from storage.base.errors import DomainError, InsufficientScope, NotFound
from storage.base.values import Caller, Role, local_day, members
from storage.db import locks
from storage.db.database import Database, Part, Transaction
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import roles

T = TypeVar("T")
Clock = Callable[[], datetime]


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """The services that all endpoints share."""

    database: Database
    clock: Clock
    base_url: str
    allow_private_webhooks: bool
    # In the demo, whose receiver is in the same process.
    allow_loopback_webhooks: bool = False
    # None for no limits.
    rate_limits: RateLimits | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestContext:
    """One authenticated request. ``ids`` are those of the path, in lower case.

    ``reference_version`` is that of the organisation's configuration; None in a change, which reads
    the version in its own transaction.
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

    def config(self, tx: Transaction) -> OrganisationConfig:
        """The configuration of the caller's organisation."""
        return organisation_config.of_organisation(
            tx, self.caller.organisation_id, self.reference_version
        )

    def today(self, tx: Transaction) -> date:
        """The date in the organisation's time zone."""
        return local_day(self.now, self.config(tx).organisation.timezone)


@dataclass(frozen=True, kw_only=True, slots=True)
class Result(Generic[T]):
    """A body with response headers."""

    body: T
    headers: Sequence[tuple[bytes, bytes]] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Created(Result[T]):
    """A new resource with its ``Location``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Streamed(Generic[T]):
    """A body of the type ``T`` in parts.

    Each is read in a transaction of its own, when the client has taken the one before it.
    """

    first: Part
    headers: Sequence[tuple[bytes, bytes]]


def created(path: str, body: T) -> Created[T]:
    """A new resource at that path."""
    return Created(body=body, headers=[(b"location", path.encode("ascii"))])


# Called with a transaction, a RequestContext and, by name, the ``query`` and ``body`` it declares.
Handler = Callable[..., object]  # type: ignore[explicit-any]  # its parameters are checked
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """The parsed query and body of a request."""

    query: Query
    body: Body | None = None
    # Members of a PATCH that cannot be changed, with the values that were sent.
    read_only: Mapping[str, object] = field(default_factory=dict)


def lock_organisation(tx: Transaction, context: RequestContext) -> None:
    locks.organisation(tx, context.caller.organisation_id)


@dataclass(frozen=True, slots=True)
class Tag:
    """A group of operations in the documentation. They need `<scope>:read` or `<scope>:write`.

    ``scope`` is empty for operations of every key.
    """

    name: str
    description: str
    scope: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Deprecation:
    """An operation that is to go: since when, when it goes, and a page that says what to use.

    Sources: RFC 9745 and RFC 8594.
    """

    deprecated_at: datetime
    sunset_at: datetime | None = None
    link: str

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        since = int(self.deprecated_at.timestamp())
        headers = [
            (b"deprecation", b"@%d" % since),
            (b"link", f'<{self.link}>; rel="deprecation"; type="text/html"'.encode("ascii")),
        ]
        if self.sunset_at is not None:
            headers.append((b"sunset", format_datetime(self.sunset_at, usegmt=True).encode()))
        return headers


@dataclass(frozen=True)
class Facts:
    """All that is served and documented of an operation, besides its handler.

    ``tag`` and ``kind`` are by default those of ``resource``; ``kind`` names the objects of the
    path's ids in messages. ``scope`` is by default that of the tag: the one to read for a GET and
    for a POST that only reads, else the one to write; the operations of a tag without a scope
    need none. ``status`` is by default 201 for a handler
    that returns ``Created``, 204 for one that returns None, and 200 for others. ``prepare`` gets
    the body before the transaction begins, on the event loop. ``lock`` prevents other changes of
    the path's resource until the transaction ends, so that ``If-Match`` holds throughout.
    """

    method: Method
    path: str
    _: KW_ONLY
    tag: Tag | None = None
    scope: str = ""
    role: Role | None = None
    kind: str = ""
    status: int = 0
    # A GET of a single resource, which has an entity tag.
    is_resource: bool = False
    # The GET of the resource that this changes or responds with. A PUT, PATCH or DELETE honours
    # If-Match; a response has the entity tag that the GET would give it.
    resource: Operation | None = None
    # A GET that may write; all other methods may write anyway.
    may_write: bool = False
    # A POST that only reads.
    only_reads: bool = False
    # A GET whose handler returns ``Streamed`` and which also has this format, with an example.
    csv_example: str = ""
    is_body_optional: bool = False
    prepare: Callable[[Body, Services], Awaitable[None]] | None = None
    # Supports `?dry_run=true`; makes its response, with the configuration from before the change.
    # Without it, a handler whose query is a DryRun responds itself.
    dry_run: Callable[[OrganisationConfig, Effects], object] | None = None
    lock: Callable[[Transaction, RequestContext], object] = lock_organisation
    # The response has a secret, so it must not be cached.
    shows_secret: bool = False
    refusals: tuple[type[DomainError], ...] = ()
    # Field codes of domain rules, in addition to those of the fields' types.
    rules: tuple[str, ...] = ()
    # Request headers that select the response (Vary), as OpenAPI describes them.
    header_parameters: tuple[Mapping[str, object], ...] = ()
    deprecation: Deprecation | None = None
    example: Mapping[str, object] | None = None
    # Further examples of the body by their summaries.
    other_examples: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


class operation(Facts):
    """The decorator. Raises TypeError for a handler with unknown parameters or no annotations."""

    def __call__(self, handler: Handler) -> Operation:
        name, hints = handler.__qualname__, get_type_hints(handler)
        if "return" not in hints:
            raise TypeError(f"{name} does not declare its result.")
        returned = hints.pop("return")
        query, body = hints.pop("query", None), hints.pop("body", None)
        if list(hints.values()) != [Transaction, RequestContext]:
            raise TypeError(
                f"{name} takes a Transaction, a RequestContext and at most a query and a body."
            )
        tag = self.tag or (self.resource.tag if self.resource else None)
        if tag is None:
            raise TypeError(f"{name} has no tag.")
        is_reading = self.method == "GET" or self.only_reads
        result = None if returned is type(None) else returned
        status = 204 if result is None else 200
        if get_origin(returned) in (Created, Result, Streamed):
            (result,) = get_args(returned)
            status = 201 if get_origin(returned) is Created else 200
        scope = f"{tag.scope}:{'read' if is_reading else 'write'}" if tag.scope else ""
        computed = {
            "tag": tag,
            "scope": self.scope or scope,
            "kind": self.kind or (self.resource.kind if self.resource else "object"),
            "status": self.status or status,
        }
        is_form = body is not None and issubclass(body, Form)
        return Operation(
            **vars(self) | computed,
            handler=handler,
            form=body if is_form else None,
            query=query or (DryRun if self.dry_run else Query),
            takes_query=query is not None,
            is_streamed=get_origin(returned) is Streamed,
            body=None if is_form else body,
            result=result,
        )


@dataclass(frozen=True, kw_only=True)
class Operation(Facts):
    """One method of one path, as it is served and documented."""

    tag: Tag
    handler: Handler
    query: type[Query]
    takes_query: bool
    is_streamed: bool
    # None for an operation without a body, and for one with a form.
    body: type[Body] | None
    form: type[Form] | None
    # The type of the response's body, which its schema is made from; None for an empty one.
    result: object

    @cached_property
    def operation_id(self) -> str:
        """``decisions.approve``: the module and the handler."""
        return f"{self.handler.__module__.rpartition('.')[2]}.{self.handler.__name__}"

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return self._paragraphs[0].removesuffix(".")

    @property
    def description(self) -> str:
        """The rest of the handler's docstring."""
        return "\n\n".join(self._paragraphs[1:])

    @property
    def _paragraphs(self) -> list[str]:
        text = inspect.cleandoc(self.handler.__doc__ or "")
        return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]

    @property
    def writes(self) -> bool:
        return self.may_write or (self.method != "GET" and not self.only_reads)

    @property
    def changes_resource(self) -> bool:
        """Whether it changes or deletes the path's resource, with If-Match."""
        return self.method in ("PUT", "PATCH", "DELETE") and self.resource is not None

    @property
    def is_tagged(self) -> bool:
        """Whether its response has the entity tag of a resource."""
        return self.is_resource or (self.resource is not None and self.result is not None)

    @property
    def dry_run_result(self) -> object:
        """The type of a dry run's response; None without dry runs."""
        return None if self.dry_run is None else get_type_hints(self.dry_run)["return"]

    @cached_property
    def response_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Those of every response."""
        caching = b"no-store" if self.shows_secret else b"private, no-cache"
        own = [str(parameter["name"]) for parameter in self.header_parameters]
        varies = ", ".join(("Authorization", *own))
        warnings = self.deprecation.headers if self.deprecation else ()
        return (b"cache-control", caching), (b"vary", varies.encode("ascii")), *warnings

    @cached_property
    def read_only_members(self) -> frozenset[str]:
        """Members that a PATCH may send unchanged."""
        if self.method != "PATCH" or self.resource is None or self.body is None:
            return frozenset()
        fields = self.body.model_fields
        shown = self.resource.members | self.members
        return shown - {field.alias or name for name, field in fields.items()}

    @cached_property
    def members(self) -> frozenset[str]:
        """The members of its response, which is one object."""
        return members(self.result)

    def run(self, tx: Transaction, context: RequestContext, inputs: Inputs) -> object:
        """What the handler returns: a body or a Result."""
        arguments: dict[str, Query | Body | None] = {}
        if self.takes_query:
            arguments["query"] = inputs.query
        if self.body is not None or self.form is not None:
            arguments["body"] = inputs.body
        return self.handler(tx, context, **arguments)

    def admit(self, caller: Caller) -> None:
        """Raises InsufficientScope or InsufficientRole."""
        if self.scope and self.scope not in caller.scopes:
            raise InsufficientScope(self.scope)
        if self.role is not None:
            roles.check_role(caller.role, self.role)

    def ids_of(self, path_params: Mapping[str, str]) -> Mapping[str, str]:
        """The path's ids in lower case. Raises NotFound for a malformed id."""
        ids = {}
        for name, text in path_params.items():
            uuid = canonical_uuid(text)
            if uuid is None:
                raise NotFound(self.kind)
            ids[name] = uuid
        return ids
