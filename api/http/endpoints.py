"""Serves the operations of one path: authentication, rate limits, body, transaction, response."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from api.http import changes, idempotency
from api.http.auth import fingerprint_of, record_use
from api.http.conditions import tags_in
from api.http.fields import DryRun
from api.http.handlers import Inputs, RequestContext, Services
from api.http.operations import Operation
from api.http.parsing import read_content
from api.http.problems import refusal_problem
from api.http.served_operations import ServedOperation, not_modified_or
from storage.access import authentication
from storage.access import idempotency as stored_responses
from storage.access.idempotency import Claim, StoredResponse
from storage.base.errors import DomainError, Unauthenticated


class Endpoint:
    """One path as an ASGI application, which dispatches each method to its operation.

    ``others`` are all operations, to find the one that reads what another changes.
    """

    def __init__(
        self, operations: Sequence[Operation], services: Services, others: Sequence[Operation]
    ) -> None:
        self._served: dict[str, ServedOperation] = {
            operation.method: ServedOperation(operation, others) for operation in operations
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
            response = await self._respond(self._served[method], scope, receive)
            await send(
                {
                    "type": "http.response.start",
                    "status": response.status,
                    "headers": response.headers,
                }
            )
            await send({"type": "http.response.body", "body": response.content})
        except Unauthenticated:
            if self._services.rate_limits is not None:
                self._services.rate_limits.record_failure(scope)
            raise
        finally:
            if "authenticated" in scope:
                await record_use(
                    self._services.database, scope["authenticated"], self._services.clock()
                )

    async def _respond(
        self, served: ServedOperation, scope: Scope, receive: Receive
    ) -> StoredResponse:
        operation = served.operation
        context = await self._authenticate(operation, scope)
        if operation.is_write:
            response = await self._write(served, scope, receive, context)
        else:
            response = await self._read(served, scope, context)
        if operation.is_single:
            return not_modified_or(response, tags_in(scope["headers"], b"if-none-match"))
        return response

    async def _authenticate(self, operation: Operation, scope: Scope) -> RequestContext:
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
        scope["authenticated"] = authenticated
        operation.admit(caller)
        may_change = operation.is_write and not operation.stores_nothing
        return RequestContext(
            caller=caller,
            reference_version=None if may_change else authenticated.key.reference_version,
            now=now,
            base_url=self._services.base_url,
            ids=operation.ids_of(scope["path_params"]),
            headers=headers,
        )

    async def _read(
        self, served: ServedOperation, scope: Scope, context: RequestContext
    ) -> StoredResponse:
        database = self._services.database
        is_long = served.operation.takes_long(scope["query_string"])
        read = database.read_long if is_long else database.read
        inputs = Inputs(query=served.operation.query_of(scope["query_string"]))
        return await read(served.run, context, inputs)

    async def _write(
        self, served: ServedOperation, scope: Scope, receive: Receive, context: RequestContext
    ) -> StoredResponse:
        operation, database = served.operation, self._services.database
        write = database.write_long if operation.is_long else database.write
        content = await read_content(receive)
        body, read_only = operation.body_and_read_only(content, scope["headers"], served.read_only)
        query = operation.query_of(scope["query_string"])
        inputs = Inputs(query=query, body=body, read_only=read_only)
        is_post = operation.method == "POST"
        claim = idempotency.claim_of(scope, context.caller, content) if is_post else None
        if isinstance(query, DryRun) and query.dry_run:
            effects = await database.dry_run(changes.dry_run, served, context, inputs)
            return served.dry_run_response(effects)
        if claim is not None:
            return await self._write_once(served, scope, context, inputs, claim)
        await self._prepare(operation, inputs)
        if served.resource is not None:
            if_match = tags_in(scope["headers"], b"if-match")
            if if_match is not None or read_only:
                return await write(changes.change_if_match, served, context, inputs, if_match)
        run = database.read if operation.stores_nothing else write
        return await run(served.run, context, inputs)

    async def _write_once(
        self,
        served: ServedOperation,
        scope: Scope,
        context: RequestContext,
        inputs: Inputs,
        claim: Claim,
    ) -> StoredResponse:
        """The first response to this idempotency key, stored in the transaction of the change."""
        database = self._services.database
        write = database.write_long if served.operation.is_long else database.write
        if served.operation.prepare is not None:
            # Skipped for a replay: a check that passed the first time may fail now.
            stored = await database.read(stored_responses.find, claim, now=context.now)
            if stored is not None:
                return changes.replay(stored)
            await self._prepare(served.operation, inputs)
        try:
            return await write(changes.change_once, served, context, inputs, claim)
        except DomainError as refusal:
            if not idempotency.is_stored(refusal):
                raise
            problem = refusal_problem(Request(scope), self._services.base_url, refusal)
            response = StoredResponse(
                status=problem.status_code, headers=problem.raw_headers, content=bytes(problem.body)
            )
            stored = await database.write(
                stored_responses.store_error, claim, response, now=context.now
            )
            return response if stored is None else changes.replay(stored)

    async def _prepare(self, operation: Operation, inputs: Inputs) -> None:
        if operation.prepare is not None and inputs.body is not None:
            await operation.prepare(inputs.body, self._services)
