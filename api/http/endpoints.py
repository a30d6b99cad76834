"""Serves operations: key, scope, role, query, body, If-Match, dry run, Idempotency-Key, ETag.

Each path is one route of Starlette, so that a method without an operation gets 405 and all methods
of the path in Allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import is_dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Final

import orjson
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from api.http import conditions
from api.http.conditions import AUTOMATIC, Headers, Tags, body_tag, has_automatic, tags_in, to_json
from api.http.errors import PreconditionFailed, problem
from api.http.fields import Body, DryRun, check_members, parse_body, parse_query, read_content
from api.http.forms import MAX_FORM_BYTES, parse_form
from api.http.operations import (
    Inputs,
    Operation,
    RequestContext,
    Result,
    Services,
    Streamed,
)
from storage.admin.effects import EffectsRecorder
from storage.base.errors import (
    DatabaseUnavailable,
    DomainError,
    FieldError,
    InvalidInput,
    Unauthenticated,
)
from storage.base.secrets import fingerprint
from storage.base.values import record
from storage.db.database import Database, Transaction
from storage.keys import authentication
from storage.keys import idempotency as stored_responses
from storage.keys.authentication import Authenticated, is_well_formed
from storage.keys.idempotency import Claim, StoredResponse
from storage.outbox import organisation_config

_JSON: Final = (b"content-type", b"application/json")
# Headers that a 304 omits, because it has no content (RFC 9110, 15.4.5).
_CONTENT_HEADERS: Final = frozenset({b"content-type", b"content-length"})
_REPLAYED: Final = (b"idempotent-replayed", b"true")


def routes(operations: Iterable[Operation], services: Services) -> list[Route]:
    """One route for each path, fixed paths before those with ids.

    No ``Mount``: it matches only below its path, and ``/users`` is a path itself. Each route takes
    every method: otherwise a path with an id would serve a method that a fixed path refuses.
    """
    # "{" sorts after all letters, so a fixed path comes before one with an id.
    in_order = sorted(operations, key=attrgetter("path"))
    return [
        Route(f"/api/v1{path}", _Path(list(of_path), services))
        for path, of_path in groupby(in_order, attrgetter("path"))
    ]


class _Path:
    """The operations of one path."""

    def __init__(self, operations: Sequence[Operation], services: Services) -> None:
        self._operations: dict[str, Operation] = {
            operation.method: operation for operation in operations
        }
        # HEAD is served like GET; the server drops the body.
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = self._operations.get(scope["method"])
        if operation is None:
            raise HTTPException(405, headers={"Allow": ", ".join(self._operations)})
        services = self._services
        try:
            response = await respond(operation, Request(scope, receive), services)
            await response(scope, receive, send)
        finally:
            if "authenticated" in scope:
                await record_use(services.database, scope["authenticated"], services.clock())


async def respond(operation: Operation, request: Request, services: Services) -> Response:
    """Carry out one request. Raises DomainError, HttpError or DatabaseUnavailable."""
    context = await _authenticate(operation, request, services)
    query_string = request.scope["query_string"]
    if operation.method == "GET":
        inputs = Inputs(query=parse_query(operation.query, query_string))
        if operation.is_streamed:
            return await _stream(operation, context, inputs, request, services)
        if operation.writes:
            stored = await services.database.write(_run, operation, context, inputs)
        else:
            stored = await services.database.read(_run, operation, context, inputs)
    else:
        stored = await _change(operation, request, services, context)
    if operation.is_resource:
        stored = _not_modified_or(stored, tags_in(request.headers.raw, b"if-none-match"))
    response = Response(stored.content, stored.status)
    response.raw_headers = list(stored.headers)
    return response


async def _stream(
    operation: Operation,
    context: RequestContext,
    inputs: Inputs,
    request: Request,
    services: Services,
) -> Response:
    """The response, once its first part is read: errors of the query are still a response.

    Raises DatabaseUnavailable in a later part, which ends the connection before the body's end.
    """
    streamed = await services.database.read(operation.run, context, inputs)
    assert isinstance(streamed, Streamed)

    first = streamed.first if request.method != "HEAD" else replace(streamed.first, more=None)
    response = StreamingResponse(services.database.read_parts(first))
    response.raw_headers = [*streamed.headers, *operation.response_headers]
    return response


async def authenticate(scope: Scope, services: Services, now: datetime) -> Authenticated:
    """The caller of a request with an API key.

    The key's own rate limit counts after the look-up: a wrong key leaves no counter behind.
    Raises Unauthenticated or RateLimited.
    """
    try:
        key_sha256 = scope["key_sha256"] = fingerprint_of(scope["headers"])
        key = await services.database.read(authentication.find_key, key_sha256)
        authenticated = authentication.caller_of(key, now=now, request_id=scope["request_id"])
    except Unauthenticated:
        if services.rate_limits is not None:
            services.rate_limits.record_failure(scope)
        raise
    scope["caller"] = authenticated.caller
    if services.rate_limits is not None:
        await services.rate_limits.keys.hit(scope, key_sha256)
    scope["authenticated"] = authenticated
    return authenticated


async def _authenticate(
    operation: Operation, request: Request, services: Services
) -> RequestContext:
    """The request of an authenticated caller who may use this operation.

    Raises Unauthenticated, RateLimited, Forbidden or NotFound.
    """
    now, scope = services.clock(), request.scope
    authenticated = await authenticate(scope, services, now)
    caller = authenticated.caller
    operation.admit(caller)
    return RequestContext(
        caller=caller,
        reference_version=None if operation.writes else authenticated.key.reference_version,
        now=now,
        base_url=services.base_url,
        ids=operation.ids_of(request.path_params),
        headers=request.headers,
    )


async def _change(
    operation: Operation, request: Request, services: Services, context: RequestContext
) -> StoredResponse:
    database = services.database
    body: Body | None
    read_only: dict[str, object] = {}
    if operation.form is not None:
        content = await read_content(request, MAX_FORM_BYTES)
        body, content = await parse_form(operation.form, content, request)
    else:
        content = await read_content(request)
        body, read_only = _body_of(operation, content, request)
    query = parse_query(operation.query, request.scope["query_string"])
    inputs = Inputs(query=query, body=body, read_only=read_only)
    is_post = operation.method == "POST"
    claim = conditions.claim_of(request.scope, context.caller, content) if is_post else None
    if isinstance(query, DryRun) and query.dry_run:
        return await database.dry_run(_dry_run, operation, context, inputs)
    prepare = operation.prepare
    if claim is not None and prepare is not None:
        # Skipped for a replay: a check that passed the first time may fail now.
        stored = await database.read(stored_responses.find, claim, now=context.now)
        if stored is not None:
            return _replay(stored)
    if prepare is not None and body is not None:
        await prepare(body, services)
    if claim is not None:
        try:
            return await database.write(_run_once, operation, context, inputs, claim)
        except DomainError as refusal:
            if not conditions.is_stored(refusal):
                raise
            return await _store_refusal(refusal, request, services, context, claim)
    if operation.changes_resource:
        if_match = tags_in(request.headers.raw, b"if-match")
        if if_match is not None or read_only:
            return await database.write(_run_if_match, operation, context, inputs, if_match)
    run = database.write if operation.writes else database.read
    return await run(_run, operation, context, inputs)


def _body_of(
    operation: Operation, content: bytes, request: Request
) -> tuple[Body | None, dict[str, object]]:
    """The body, and the read-only members that were sent with it.

    Raises UnsupportedMediaType, UnreadableJson or InvalidInput. A body that an operation does not
    take is ignored.
    """
    model = operation.body
    if model is None:
        return None, {}
    if not content and operation.is_body_optional:
        return model(), {}
    media_type = request.headers.get("content-type", "")
    try:
        return parse_body(model, content, media_type), {}
    except InvalidInput as refusal:
        unknown = {error.pointer[1:] for error in refusal.errors if error.code == "unknown_field"}
        if unknown.isdisjoint(operation.read_only_members):
            raise
    check_members(content)
    members = orjson.loads(content)
    read_only = {name: members.pop(name) for name in unknown & operation.read_only_members}
    return parse_body(model, orjson.dumps(members), media_type), read_only


async def _store_refusal(
    refusal: DomainError,
    request: Request,
    services: Services,
    context: RequestContext,
    claim: Claim,
) -> StoredResponse:
    refused = problem(request, services.base_url, refusal)
    response = StoredResponse(
        status=refused.status_code, headers=refused.raw_headers, content=bytes(refused.body)
    )
    stored = await services.database.write(
        stored_responses.store_error, claim, response, now=context.now
    )
    return response if stored is None else _replay(stored)


def _replay(stored: StoredResponse) -> StoredResponse:
    return replace(stored, headers=[*stored.headers, _REPLAYED])


# What follows runs in a transaction.


def _run(
    tx: Transaction, operation: Operation, context: RequestContext, inputs: Inputs
) -> StoredResponse:
    """Call the handler and make the response."""
    returned = operation.run(tx, context, inputs)
    result = returned if isinstance(returned, Result) else Result(body=returned)
    body = record(result.body) if is_dataclass(result.body) else result.body
    headers = [*result.headers, *operation.response_headers]
    if operation.status == 204:
        return StoredResponse(status=204, headers=headers, content=b"")
    content = to_json(body)
    headers += (_JSON, (b"content-length", b"%d" % len(content)))
    if operation.is_tagged and not inputs.query.changes_representation:
        headers.append((b"etag", _tag(operation, body, content)))
    return StoredResponse(status=operation.status, headers=headers, content=content)


def _tag(operation: Operation, body: object, content: bytes) -> bytes:
    """The tag that the GET of the resource would give it: without a secret that is shown once."""
    resource = operation.resource or operation
    if resource.result is operation.result:
        return body_tag(body, content)
    assert isinstance(body, dict)
    shown = {name: value for name, value in body.items() if name in resource.members}
    return body_tag(shown, to_json(shown))


def _run_once(
    tx: Transaction, operation: Operation, context: RequestContext, inputs: Inputs, claim: Claim
) -> StoredResponse:
    """Make the change and store its response, or replay the response of the first request."""
    stored = stored_responses.begin(tx, claim, now=context.now)
    if stored is not None:
        return _replay(stored)
    response = _run(tx, operation, context, inputs)
    stored_responses.store(tx, claim, response, now=context.now)
    return response


def _run_if_match(
    tx: Transaction,
    operation: Operation,
    context: RequestContext,
    inputs: Inputs,
    if_match: Tags | None,
) -> StoredResponse:
    """Change the path's resource if it still matches the client's version.

    Raises PreconditionFailed, NotFound, or InvalidInput for a read-only member that differs.
    """
    operation.lock(tx, context)
    body = _read_resource(tx, operation, context)
    current = to_json(body)
    if if_match is not None:
        matches = if_match.match_except_automatic if has_automatic(body) else if_match.match
        if not matches(body_tag(body, current)):
            raise PreconditionFailed
    # With If-Match the client has read the current version.
    _check_read_only(inputs, current, frozenset() if if_match is None else AUTOMATIC)
    return _run(tx, operation, context, inputs)


def _dry_run(
    tx: Transaction, operation: Operation, context: RequestContext, inputs: Inputs
) -> StoredResponse:
    """Make the change, which the caller rolls back, and respond with its effects.

    Raises the handler's errors, and InvalidInput for a read-only member that differs.
    """
    if operation.dry_run is None:
        return _run(tx, operation, context, inputs)
    if inputs.read_only:
        _check_read_only(inputs, to_json(_read_resource(tx, operation, context)))
    config = organisation_config.of_organisation(tx, context.caller.organisation_id)
    recorder = EffectsRecorder()
    operation.run(tx, replace(context, recorder=recorder), inputs)
    content = to_json(operation.dry_run(config, recorder.effects))
    headers = [*operation.response_headers, _JSON, (b"content-length", b"%d" % len(content))]
    return StoredResponse(status=200, headers=headers, content=content)


def _read_resource(tx: Transaction, operation: Operation, context: RequestContext) -> object:
    """The body of the GET of the resource that the operation changes."""
    assert operation.resource is not None
    body = operation.resource.run(tx, context, Inputs(query=operation.resource.query()))
    return record(body) if is_dataclass(body) else body


def _check_read_only(
    inputs: Inputs, current: bytes, may_differ: frozenset[str] = frozenset()
) -> None:
    if not inputs.read_only:
        return
    members = orjson.loads(current)
    differing = sorted(
        name
        for name, value in inputs.read_only.items()
        if name in members and value != members[name] and name not in may_differ
    )
    if differing:
        raise InvalidInput(
            [
                FieldError(
                    pointer=f"/{name}",
                    code="read_only",
                    detail=f"{name} cannot be changed; omit it.",
                )
                for name in differing
            ]
        )


def _not_modified_or(response: StoredResponse, cached: Tags | None) -> StoredResponse:
    """304 if the client has this version."""
    tag = dict(response.headers).get(b"etag")
    if cached is None or tag is None or not cached.match_weakly(tag):
        return response
    return StoredResponse(
        status=304,
        headers=[header for header in response.headers if header[0] not in _CONTENT_HEADERS],
        content=b"",
    )


# RFC 6750, 2.1: the scheme in any case, one or more spaces, b64token. Ours are about 60 long.
_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9._~+/-]{1,200}=*)", re.IGNORECASE)
_log = structlog.stdlib.get_logger("hiatus.api")


def api_key_of(headers: Headers) -> str:
    """The key as sent. Raises Unauthenticated unless there is exactly one well-formed key."""
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1:
        raise Unauthenticated
    match = _BEARER.fullmatch(values[0])
    if match is None:
        raise Unauthenticated
    return match[1].decode("ascii")


def fingerprint_of(headers: Headers) -> str:
    """The SHA-256 by which a key is looked up. Raises Unauthenticated for malformed keys."""
    key = api_key_of(headers)
    if not is_well_formed(key):
        raise Unauthenticated
    return fingerprint(key)


async def record_use(database: Database, authenticated: Authenticated, now: datetime) -> None:
    """Record the minute of a key's use, after the response; a use is not worth an error."""
    if not authentication.is_use_due(authenticated, now):
        return
    key = authenticated.key
    try:
        await database.write(authentication.record_use, key.organisation_id, key.key_id, now=now)
    except DatabaseUnavailable as error:
        # What the outage is, is told by the requests that it fails.
        _log.info("key use not recorded", reason=str(error))
