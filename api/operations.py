"""What an operation of `/api/v1` is, as data, and the one way in which every operation is served.

A handler is an ordinary function of a transaction and a ``Call``; keys, scopes, bodies, queries
and answers are seen to here. Idempotency keys, entity tags and rate limits belong here as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import parse_qsl

import orjson
from pydantic import ValidationError
from starlette.types import Receive, Scope, Send

from api.auth import Headers, api_key_of, header
from api.errors import BodyTooLarge, UnreadableJson, UnsupportedMediaType, refusal_of
from api.fields import Body, Query, canonical_uuid
from api.key_use import KeyUse
from storage import access, rules
from storage.database import Database, Transaction
from storage.errors import FieldError, InsufficientScope, InvalidInput, NotFound, Refusal
from storage.values import Caller, Role

MAX_BODY_BYTES: Final = 256 * 1024
MAX_PARAMETERS: Final = 100

Method = Literal["GET", "POST", "PATCH", "DELETE"]
Clock = Callable[[], datetime]

_JSON_OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC
_JSON: Final = (b"content-type", b"application/json")


@dataclass(slots=True)
class Call:
    """One request, checked: what a handler may look at. ``ids`` are the path's, in lower case.

    ``reference_version`` is the organisation's, for ``reference.of_organisation``; None in a write,
    whose transaction has to see for itself.
    """

    caller: Caller
    reference_version: int | None
    now: datetime
    base_url: str
    ids: Mapping[str, str]
    query: Any
    body: Any
    headers: Headers

    @property
    def id(self) -> str:
        """The path's ``{id}``."""
        return self.ids["id"]

    def header(self, name: bytes) -> str | None:
        """The first header of that lower-case name."""
        return header(self.headers, name)


class Answer(NamedTuple):
    """What a handler returns when it is more than a body."""

    body: Any
    headers: Sequence[tuple[bytes, bytes]] = ()


def created(path: str, body: Any) -> Answer:
    """A new thing and where it now is."""
    return Answer(body, [(b"location", path.encode("ascii"))])


class Edge(NamedTuple):
    """What every endpoint stands on."""

    database: Database
    clock: Clock
    base_url: str
    allow_private_webhooks: bool
    key_use: KeyUse


Handler = Callable[[Transaction, Call], Any]
Preparation = Callable[[Call, Edge], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one path: what is served and what is documented.

    ``kind`` is what the path's ids name, in words. ``result`` is the type that the handler's
    result has; it makes the schema and checks nothing. ``prepare`` runs before the transaction,
    outside any thread of the database's.
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
    query: type[Query] = Query
    body: type[Body] | None = None
    needs_body: bool = True
    result: Any = None
    status: int = 200
    # A GET that may change something; every other method writes anyway.
    writes: bool = False
    # A read that may take many milliseconds: it goes to a thread on either engine.
    is_long: bool = False
    prepare: Preparation | None = None
    refusals: tuple[type[Refusal], ...] = ()
    header_parameters: tuple[Mapping[str, Any], ...] = ()
    example: Any = None
    _unasked: Query = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_unasked", self.query())

    @property
    def operation_id(self) -> str:
        """``leave_requests.approve``: the module and the handler."""
        return f"{self.handler.__module__.rpartition('.')[2]}.{self.handler.__name__}"

    @property
    def is_write(self) -> bool:
        return self.writes or self.method != "GET"

    def admit(self, caller: Caller) -> None:
        """Raises InsufficientScope or InsufficientRole."""
        if self.scope not in caller.scopes:
            raise InsufficientScope(self.scope)
        if self.role is not None:
            rules.check_role(caller.role, self.role)

    def ids_of(self, path_params: Mapping[str, str]) -> Mapping[str, str]:
        """The path's ids in lower case. Raises NotFound for what can be nobody's id."""
        ids = {}
        for name, text in path_params.items():
            found = canonical_uuid(text)
            if found is None:
                raise NotFound(self.kind)
            ids[name] = found
        return ids

    def query_of(self, query_string: bytes) -> Query:
        """The parameters. Raises InvalidInput for an unknown, repeated or unreadable one."""
        if not query_string:
            return self._unasked
        try:
            pairs = parse_qsl(
                query_string.decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=MAX_PARAMETERS,
            )
        except ValueError as error:
            raise InvalidInput(
                [FieldError("?", "wrong_format", "The query string cannot be read.")]
            ) from error
        sent = dict(pairs)
        if len(sent) < len(pairs):
            names = [name for name, _ in pairs]
            raise InvalidInput(
                [
                    FieldError(f"?{name}", "repeated_parameter", f"Send {name} once.")
                    for name in sent
                    if names.count(name) > 1
                ]
            )
        try:
            return self.query.model_validate(sent)
        except ValidationError as error:
            raise refusal_of(error, in_query=True) from error

    def body_of(self, content: bytes, headers: Headers) -> Body | None:
        """The body. Raises UnsupportedMediaType, UnreadableJson or InvalidInput.

        None for an operation that takes no body: whatever a client sends there is ignored.
        """
        if self.body is None:
            return None
        if not content and not self.needs_body:
            return self.body()
        media_type = (header(headers, b"content-type") or "").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise UnsupportedMediaType("Send the body as application/json.")
        if not content:
            raise UnreadableJson("The body is empty.")
        try:
            return self.body.model_validate_json(content)
        except ValidationError as error:
            raise refusal_of(error) from error


class Endpoint:
    """One path as an ASGI application: hands each method to its operation."""

    def __init__(self, operations: Sequence[Operation], edge: Edge) -> None:
        self._operations: dict[str, Operation] = {one.method: one for one in operations}
        self._template = f"/api/v1{operations[0].path}"
        self._edge = edge

    @property
    def methods(self) -> list[str]:
        return list(self._operations)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route_template"] = self._template
        # Starlette lets HEAD through to whatever answers GET; the server drops the body.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        operation = self._operations[method]
        if operation.is_write:
            result = await self._written(operation, scope, receive)
        else:
            database = self._edge.database
            read = database.read_long if operation.is_long else database.read
            result = await read(self._read, operation, scope)
        await _send(operation, result, send)
        self._edge.key_use.write_soon()

    def _read(self, tx: Transaction, operation: Operation, scope: Scope) -> Any:
        """Key, permission, parameters and result in a single visit to the database."""
        call = self._admitted(tx, operation, scope)
        call.query = operation.query_of(scope["query_string"])
        call.ids = operation.ids_of(scope["path_params"])
        return operation.handler(tx, call)

    async def _written(self, operation: Operation, scope: Scope, receive: Receive) -> Any:
        call = await self._edge.database.read(self._admitted, operation, scope)
        call.reference_version = None
        call.body = operation.body_of(await _content(receive), scope["headers"])
        call.query = operation.query_of(scope["query_string"])
        call.ids = operation.ids_of(scope["path_params"])
        if operation.prepare is not None:
            await operation.prepare(call, self._edge)
        return await self._edge.database.write(operation.handler, call)

    def _admitted(self, tx: Transaction, operation: Operation, scope: Scope) -> Call:
        """Who calls, once he may use this operation at all. Raises Unauthenticated, Forbidden."""
        now, headers = self._edge.clock(), scope["headers"]
        recognised = access.recognise_key(
            tx, api_key_of(headers), now=now, request_id=scope["request_id"]
        )
        caller = scope["caller"] = recognised.caller
        self._edge.key_use.note(recognised, now)
        operation.admit(caller)
        return Call(
            caller, recognised.reference_version, now, self._edge.base_url, {}, None, None, headers
        )


async def _content(receive: Receive) -> bytes:
    """The body's bytes. Raises BodyTooLarge as soon as there are too many."""
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UnreadableJson("The body ended early.")
        content += message.get("body", b"")
        if len(content) > MAX_BODY_BYTES:
            raise BodyTooLarge(f"A body has at most {MAX_BODY_BYTES // 1024} KiB.")
        if not message.get("more_body"):
            return bytes(content)


async def _send(operation: Operation, result: Any, send: Send) -> None:
    """The answer, written straight to the server: no response object stands between."""
    answer = result if type(result) is Answer else Answer(result)
    headers = [*answer.headers]
    content = b""
    if operation.status != 204:
        content = orjson.dumps(answer.body, option=_JSON_OPTIONS)
        headers += (_JSON, (b"content-length", b"%d" % len(content)))
    await send({"type": "http.response.start", "status": operation.status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
