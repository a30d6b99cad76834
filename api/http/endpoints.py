"""Serves every operation: authentication, rate limits, conditions, body and response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeGuard, get_type_hints

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from api.http import idempotency
from api.http.auth import fingerprint_of
from api.http.conditions import OBSERVED, Tags, tag_of, tags_in
from api.http.errors import BodyTooLarge, PreconditionFailed, UnreadableJson, refusal_problem
from api.http.fields import DryRun
from api.http.handlers import Inputs, RequestContext, Result, Services
from api.http.operations import MAX_BODY_BYTES, Operation
from storage.access import authentication
from storage.access import idempotency as stored_responses
from storage.access.idempotency import Claim, StoredResponse
from storage.admin.effects import EffectsRecorder
from storage.base.errors import DomainError, FieldError, InvalidInput, Unauthenticated
from storage.db.database import Transaction
from storage.events import organisation_config

_JSON_OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC
_JSON: Final = (b"content-type", b"application/json")
_REPLAYED: Final = (b"idempotent-replayed", b"true")
# Headers that a 304 omits, because it has no content (RFC 9110, 15.4.5).
_OF_CONTENT: Final = frozenset({b"content-type", b"content-length"})


class _Served:
    """An operation with its precomputed response headers and entity tags.

    ``resource`` is the operation that reads the path's resource, which If-Match is compared with.
    """

    def __init__(self, operation: Operation, others: Sequence[Operation]) -> None:
        self.operation = operation
        self.is_tagged = operation.is_single or operation.shown_by(others) is not None
        # The tag leaves out a secret, which is shown only once.
        self._created = None if self.is_tagged else operation.created_of(others)
        self._tagged_members = (
            frozenset(get_type_hints(self._created.result)) if self._created else frozenset()
        )
        self.is_conditional_read = operation.is_single
        self.resource = operation.read_at_path(others) if operation.changes_one else None
        self.read_only = operation.read_only_members(others)
        caching = b"no-store" if operation.shows_secret else b"private, no-cache"
        varies = ", ".join(("Authorization", *operation.varies_by))
        self._headers = ((b"cache-control", caching), (b"vary", varies.encode("ascii")))

    def dry_run_answer(self, body: object) -> StoredResponse:
        """The response of a dry run, which has no entity tag."""
        content = _json(body)
        length = (b"content-length", b"%d" % len(content))
        return StoredResponse(status=200, headers=[*self._headers, _JSON, length], content=content)

    def answer(self, returned: object) -> StoredResponse:
        """The handler's result as status, headers and bytes."""
        result = returned if isinstance(returned, Result) else Result(body=returned)
        headers = [*result.headers, *self._headers]
        if self.operation.status == 204:
            return StoredResponse(status=204, headers=headers, content=b"")
        content = _json(result.body)
        headers += (_JSON, (b"content-length", b"%d" % len(content)))
        if self.is_tagged:
            headers.append((b"etag", _tag_of(result.body, content)))
        elif self._tagged_members:
            assert isinstance(result.body, dict)
            members = self._tagged_members
            kept = {name: value for name, value in result.body.items() if name in members}
            headers.append((b"etag", _tag_of(kept, _json(kept))))
        return StoredResponse(status=self.operation.status, headers=headers, content=content)

    def run(self, tx: Transaction, context: RequestContext, sent: Inputs) -> StoredResponse:
        """The response to what the client sent."""
        return self.answer(self.operation.run(tx, context, sent))


class Endpoint:
    """One path as an ASGI application, which dispatches each method to its operation.

    ``others`` are all operations, to find the one that reads what another changes.
    """

    def __init__(
        self, operations: Sequence[Operation], services: Services, others: Sequence[Operation]
    ) -> None:
        self._served: dict[str, _Served] = {
            operation.method: _Served(operation, others) for operation in operations
        }
        methods = [*self._served, *(["HEAD"] if "GET" in self._served else [])]
        self._not_allowed = HTTPException(405, headers={"Allow": ", ".join(methods)})
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # HEAD is served like GET; the server drops the body.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if method not in self._served:
            raise self._not_allowed
        try:
            answer = await self._answered(self._served[method], scope, receive)
        except Unauthenticated:
            if self._services.rate_limits is not None:
                self._services.rate_limits.record_failure(scope)
            raise
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": answer.headers,
            }
        )
        await send({"type": "http.response.body", "body": answer.content})
        self._services.key_use.write_soon()

    async def _answered(self, served: _Served, scope: Scope, receive: Receive) -> StoredResponse:
        operation = served.operation
        context = await self._admitted(operation, scope)
        if operation.is_write:
            answer = await self._written(served, scope, receive, context)
        else:
            answer = await self._read(served, scope, context)
        if served.is_conditional_read:
            return _not_modified_or(answer, tags_in(scope["headers"], b"if-none-match"))
        return answer

    async def _read(self, served: _Served, scope: Scope, context: RequestContext) -> StoredResponse:
        database = self._services.database
        is_long = served.operation.takes_long(scope["query_string"])
        read = database.read_long if is_long else database.read
        sent = Inputs(query=served.operation.query_of(scope["query_string"]))
        return await read(served.run, context, sent)

    async def _written(
        self, served: _Served, scope: Scope, receive: Receive, context: RequestContext
    ) -> StoredResponse:
        operation, database = served.operation, self._services.database
        write = database.write_long if operation.is_long else database.write
        content = await _content(receive)
        body, read_only = operation.body_and_read_only(content, scope["headers"], served.read_only)
        query = operation.query_of(scope["query_string"])
        sent = Inputs(query=query, body=body, read_only=read_only)
        is_post = operation.method == "POST"
        claim = idempotency.claim_of(scope, context.caller, content) if is_post else None
        if isinstance(query, DryRun) and query.dry_run:
            return served.dry_run_answer(await database.dry_run(_dry_run, served, context, sent))
        if claim is not None:
            return await self._written_once(served, scope, context, sent, claim)
        await self._prepare(operation, sent)
        if served.resource is not None:
            wanted = tags_in(scope["headers"], b"if-match")
            if wanted is not None or read_only:
                return await write(_change_if_match, served, context, sent, wanted)
        run = database.read_long if operation.stores_nothing else write
        return await run(served.run, context, sent)

    async def _prepare(self, operation: Operation, sent: Inputs) -> None:
        if operation.prepare is not None and sent.body is not None:
            await operation.prepare(sent.body, self._services)

    async def _written_once(
        self, served: _Served, scope: Scope, context: RequestContext, sent: Inputs, claim: Claim
    ) -> StoredResponse:
        """The first response to this idempotency key, stored in the transaction of the change."""
        database = self._services.database
        write = database.write_long if served.operation.is_long else database.write
        if served.operation.prepare is not None:
            # Skipped for a replay: a check that passed the first time may fail now.
            first = await database.read(stored_responses.find, claim, now=context.now)
            if first is not None:
                return _replay(first)
            await self._prepare(served.operation, sent)
        try:
            return await write(_change_once, served, context, sent, claim)
        except DomainError as refusal:
            if not idempotency.is_stored(refusal):
                raise
            shown = refusal_problem(Request(scope), self._services.base_url, refusal)
            answer = StoredResponse(
                status=shown.status_code, headers=shown.raw_headers, content=bytes(shown.body)
            )
            first = await database.write(
                stored_responses.store_error, claim, answer, now=context.now
            )
            return answer if first is None else _replay(first)

    async def _admitted(self, operation: Operation, scope: Scope) -> RequestContext:
        """The request of an authenticated caller who may use this operation.

        The key's own rate limit counts after the look-up: a wrong key leaves no counter behind.
        Raises Unauthenticated, RateLimited, Forbidden.
        """
        now, headers = self._services.clock(), scope["headers"]
        key_sha256 = scope["key_sha256"] = fingerprint_of(headers)
        key = await self._services.database.read(authentication.find_key, key_sha256)
        authenticated = authentication.caller_of(key, now=now, request_id=scope["request_id"])
        caller = scope["caller"] = authenticated.caller
        if self._services.rate_limits is not None:
            await self._services.rate_limits.keys.hit(scope, key_sha256)
        self._services.key_use.record(authenticated, now)
        operation.admit(caller)
        return RequestContext(
            caller=caller,
            reference_version=None if operation.is_write else authenticated.key.reference_version,
            now=now,
            base_url=self._services.base_url,
            ids=operation.ids_of(scope["path_params"]),
            headers=headers,
        )


def _change_if_match(
    tx: Transaction, served: _Served, context: RequestContext, sent: Inputs, wanted: Tags | None
) -> StoredResponse:
    """Change the path's resource if it still matches the caller's version.

    Raises PreconditionFailed, NotFound, or InvalidInput for a read-only member that differs.
    """
    assert served.resource is not None
    served.operation.lock(tx, context)
    body = _read_resource(tx, served.resource, context)
    current = _json(body)
    if wanted is not None:
        have = wanted.have_but_for_observed if _has_observed(body) else wanted.have
        if not have(_tag_of(body, current)):
            raise PreconditionFailed
    # With If-Match the caller has read the current version.
    _check_read_only(sent, current, frozenset() if wanted is None else OBSERVED)
    return served.run(tx, context, sent)


def _read_resource(tx: Transaction, resource: Operation, context: RequestContext) -> object:
    """The body of a read without parameters."""
    return resource.run(tx, context, Inputs(query=resource.query()))


def _has_observed(body: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(body, dict) and not OBSERVED.isdisjoint(body)


def _tag_of(body: object, content: bytes) -> bytes:
    """The tag of a body whose JSON is ``content``."""
    if not _has_observed(body):
        return tag_of(content)
    rest = {name: value for name, value in body.items() if name not in OBSERVED}
    return tag_of(content, _json(rest))


def _dry_run(tx: Transaction, served: _Served, context: RequestContext, sent: Inputs) -> object:
    """Make the change, which the caller rolls back, and return its effects.

    Raises the handler's errors, and InvalidInput for a read-only member that differs.
    """
    operation = served.operation
    assert operation.show_effects is not None
    if sent.read_only and served.resource is not None:
        _check_read_only(sent, _json(_read_resource(tx, served.resource, context)))
    reference = organisation_config.of_organisation(tx, context.caller.organisation_id)
    recorder = EffectsRecorder()
    operation.run(tx, replace(context, recorder=recorder), sent)
    return operation.show_effects(reference, recorder.effects)


def _check_read_only(
    sent: Inputs, current: bytes, may_differ: frozenset[str] = frozenset()
) -> None:
    if not sent.read_only:
        return
    stored = orjson.loads(current)
    differing = sorted(
        name
        for name, value in sent.read_only.items()
        if value != stored.get(name) and name not in may_differ
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


def _change_once(
    tx: Transaction, served: _Served, context: RequestContext, sent: Inputs, claim: Claim
) -> StoredResponse:
    """Make the change and store its response in one transaction, or replay a stored response."""
    first = stored_responses.begin(tx, claim, now=context.now)
    if first is not None:
        return _replay(first)
    answer = served.run(tx, context, sent)
    stored_responses.store(tx, claim, answer, now=context.now)
    return answer


def _replay(first: StoredResponse) -> StoredResponse:
    return replace(first, headers=[*first.headers, _REPLAYED])


def _not_modified_or(answer: StoredResponse, cached: Tags | None) -> StoredResponse:
    """304 if the caller has this version."""
    if cached is None or not cached.have_weakly(dict(answer.headers)[b"etag"]):
        return answer
    return StoredResponse(
        status=304,
        headers=[header for header in answer.headers if header[0] not in _OF_CONTENT],
        content=b"",
    )


def _json(body: object) -> bytes:
    return orjson.dumps(body, option=_JSON_OPTIONS)


async def _content(receive: Receive) -> bytes:
    """The body. Raises BodyTooLarge as soon as the limit is exceeded."""
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UnreadableJson("The body ended early.")
        content += message.get("body", b"")
        if len(content) > MAX_BODY_BYTES:
            raise BodyTooLarge(f"A body can have at most {MAX_BODY_BYTES // 1024} KiB.")
        if not message.get("more_body"):
            return bytes(content)
