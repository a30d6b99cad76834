"""The operations of `/api/v1` as data, which `api.http.endpoints` serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Literal, get_type_hints

import orjson

from api.http import conditions, idempotency
from api.http.auth import Headers
from api.http.fields import Body, DryRun, Query, canonical_uuid
from api.http.handlers import Handler, Inputs, RequestContext, Services, Signature
from api.http.parsing import check_members, parse_body, parse_query
from storage.access.idempotency import (
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)
from storage.admin.effects import Effects
from storage.base.errors import DomainError, InsufficientScope, InvalidInput, NotFound
from storage.base.values import Caller, Role
from storage.db import locks
from storage.db.database import Transaction
from storage.events.organisation_config import OrganisationConfig
from storage.rules import roles

Method = Literal["GET", "POST", "PATCH", "DELETE"]


def lock_organisation(tx: Transaction, context: RequestContext) -> None:
    locks.organisation(tx, context.caller.organisation_id)


# The body of a dry run's response; the configuration is from before the change.
ShowEffects = Callable[[OrganisationConfig, Effects], object]
Preparation = Callable[[Body, Services], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one path, as it is served and documented.

    The models of its query and body and the type of its result come from the handler's
    annotations. ``kind`` names the objects of the path's ids in messages. ``prepare`` gets the body
    before the transaction begins, on the event loop. ``lock`` prevents other changes of the path's
    resource until the transaction ends, so that ``If-Match`` holds throughout.
    """

    method: Method
    path: str
    summary: str
    handler: Handler
    tag: str
    scope: str
    description: str = ""
    role: Role | None = None
    kind: str = "object"
    needs_body: bool = True
    status: int = 200
    # A GET that may write; all other methods may write anyway.
    writes: bool = False
    # May take many milliseconds, so it runs on a thread on both engines.
    is_long: bool = False
    # A POST that only reads.
    stores_nothing: bool = False
    # Query parameters, or their first characters, with which it is long.
    long_parameters: tuple[bytes, ...] = ()
    prepare: Preparation | None = None
    # Supports `?dry_run=true`, with this response.
    show_effects: ShowEffects | None = None
    lock: Callable[[Transaction, RequestContext], object] = lock_organisation
    # The response has a secret, so it must not be cached.
    shows_secret: bool = False
    # One resource, although the path does not end with an id.
    is_of_one: bool = False
    refusals: tuple[type[DomainError], ...] = ()
    # Field codes of domain rules, in addition to those of the schema.
    rules: tuple[str, ...] = ()
    header_parameters: tuple[Mapping[str, object], ...] = ()
    example: Mapping[str, object] | None = None
    # Further examples of the body by their summaries.
    other_examples: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    # Request headers that select the response (Vary).
    varies_by: tuple[str, ...] = field(init=False)
    signature: Signature = field(init=False)
    _empty_query: Query = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", Signature.of(self.handler))
        object.__setattr__(self, "_empty_query", self.query())
        own = tuple(str(parameter["name"]) for parameter in self.header_parameters)
        object.__setattr__(self, "varies_by", own)
        shared: list[Mapping[str, object]] = []
        if self.method == "POST":
            shared.append(idempotency.HEADER)
            refusals = (
                *self.refusals,
                IdempotencyAnswerUnreadable,
                IdempotencyInProgress,
                IdempotencyKeyReused,
            )
            object.__setattr__(self, "refusals", refusals)
        if self.is_single:
            shared.append(conditions.IF_NONE_MATCH)
        if self.changes_one:
            shared.append(conditions.IF_MATCH)
        object.__setattr__(self, "header_parameters", (*self.header_parameters, *shared))

    @property
    def operation_id(self) -> str:
        """``decisions.approve``: the module and the handler."""
        return f"{self.handler.__module__.rpartition('.')[2]}.{self.handler.__name__}"

    @property
    def query(self) -> type[Query]:
        return self.signature.query or (Query if self.show_effects is None else DryRun)

    @property
    def body(self) -> type[Body] | None:
        return self.signature.body

    @property
    def result(self) -> object:
        """The type of the response's body, which its schema is made from; None for no body."""
        return self.signature.result

    @property
    def is_write(self) -> bool:
        return self.writes or self.method != "GET"

    @property
    def is_single(self) -> bool:
        """Whether it reads a single resource, which has an entity tag."""
        return self.method == "GET" and (self.is_of_one or self.path.endswith("/{id}"))

    @property
    def changes_one(self) -> bool:
        """Whether it changes or deletes the path's resource, with If-Match."""
        return self.method in ("PATCH", "DELETE") and (
            self.is_of_one or self.path.endswith("/{id}")
        )

    def shown_by(self, others: Iterable[Operation]) -> Operation | None:
        """The operation whose response equals this one's byte for byte, if there is one."""
        if self.method == "POST" and self.kind == Operation.kind:
            paths: tuple[str, ...] = (f"{self.path}/{{id}}",)
        else:
            paths = (self.path,)
        for other in others:
            is_of_kind = other.kind == self.kind != Operation.kind
            if (
                other.is_single
                and other.result is self.result
                and (is_of_kind or other.path in paths)
            ):
                return other
        return None

    def created_of(self, others: Iterable[Operation]) -> Operation | None:
        """The operation that reads the resource that this one creates, if there is one."""
        if self.status != 201:
            return None
        members = get_type_hints(self.result).keys()
        for other in others:
            is_its = other.is_single and other.path == f"{self.path}/{{id}}"
            if is_its and get_type_hints(other.result).keys() <= members:
                return other
        return None

    def read_only_members(self, others: Iterable[Operation]) -> frozenset[str]:
        """Read-only members, which a PATCH may send unchanged."""
        read = self.read_at_path(others) if self.method == "PATCH" else None
        if read is None or self.body is None:
            return frozenset()
        return frozenset(get_type_hints(read.result)) - self.body.model_fields.keys()

    def read_at_path(self, others: Iterable[Operation]) -> Operation | None:
        """The operation that reads this path's resource, if there is one."""
        return next(
            (other for other in others if other.is_single and other.path == self.path), None
        )

    def run(self, tx: Transaction, context: RequestContext, inputs: Inputs) -> object:
        """What the handler returns: a body or a Result."""
        return self.signature.call(self.handler, tx, context, inputs)

    def takes_long(self, query_string: bytes) -> bool:
        """Whether this read runs on a thread."""
        return self.is_long or any(start in query_string for start in self.long_parameters)

    def admit(self, caller: Caller) -> None:
        """Raises InsufficientScope or InsufficientRole."""
        if self.scope not in caller.scopes:
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

    def query_of(self, query_string: bytes) -> Query:
        """The parameters. Raises InvalidInput."""
        return parse_query(self.query, query_string) if query_string else self._empty_query

    def body_of(self, content: bytes, headers: Headers) -> Body | None:
        """The body. Raises UnsupportedMediaType, UnreadableJson or InvalidInput.

        None for an operation without a body: a body that is sent is ignored.
        """
        if self.body is None:
            return None
        if not content and not self.needs_body:
            return self.body()
        return parse_body(self.body, content, headers)

    def body_and_read_only(
        self, content: bytes, headers: Headers, read_only: Set[str]
    ) -> tuple[Body | None, Mapping[str, object]]:
        """The body without its ``read_only`` members, and those. Raises what ``body_of`` raises."""
        try:
            return self.body_of(content, headers), {}
        except InvalidInput as refusal:
            unknown = {
                error.pointer[1:] for error in refusal.errors if error.code == "unknown_field"
            }
            if unknown.isdisjoint(read_only):
                raise
        check_members(content)
        members = orjson.loads(content)
        read_only_members = {name: members.pop(name) for name in unknown & read_only}
        return self.body_of(orjson.dumps(members), headers), read_only_members
