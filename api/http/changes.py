"""The steps of a change inside its transaction: conditions, dry runs, stored responses."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import orjson

from api.http.conditions import AUTOMATIC, Tags
from api.http.errors import PreconditionFailed
from api.http.handlers import Inputs, RequestContext
from api.http.operations import Operation
from api.http.served_operations import ServedOperation, body_tag, has_automatic, to_json
from storage.access import idempotency as stored_responses
from storage.access.idempotency import Claim, StoredResponse
from storage.admin.effects_recorder import EffectsRecorder
from storage.base.errors import FieldError, InvalidInput
from storage.db.database import Transaction
from storage.events import organisation_config

_REPLAYED: Final = (b"idempotent-replayed", b"true")


def change_if_match(
    tx: Transaction,
    served: ServedOperation,
    context: RequestContext,
    inputs: Inputs,
    if_match: Tags | None,
) -> StoredResponse:
    """Change the path's resource if it still matches the client's version.

    Raises PreconditionFailed, NotFound, or InvalidInput for a read-only member that differs.
    """
    assert served.resource is not None
    served.operation.lock(tx, context)
    body = _read_resource(tx, served.resource, context)
    current = to_json(body)
    if if_match is not None:
        matches = if_match.match_except_automatic if has_automatic(body) else if_match.match
        if not matches(body_tag(body, current)):
            raise PreconditionFailed
    # With If-Match the client has read the current version.
    _check_read_only(inputs, current, frozenset() if if_match is None else AUTOMATIC)
    return served.run(tx, context, inputs)


def change_once(
    tx: Transaction,
    served: ServedOperation,
    context: RequestContext,
    inputs: Inputs,
    claim: Claim,
) -> StoredResponse:
    """Make the change and store its response, or replay the response of the first request."""
    stored = stored_responses.begin(tx, claim, now=context.now)
    if stored is not None:
        return replay(stored)
    response = served.run(tx, context, inputs)
    stored_responses.store(tx, claim, response, now=context.now)
    return response


def replay(stored: StoredResponse) -> StoredResponse:
    return replace(stored, headers=[*stored.headers, _REPLAYED])


def dry_run(
    tx: Transaction, served: ServedOperation, context: RequestContext, inputs: Inputs
) -> object:
    """Make the change, which the caller rolls back, and return its effects.

    Raises the handler's errors, and InvalidInput for a read-only member that differs.
    """
    operation = served.operation
    assert operation.show_effects is not None
    if inputs.read_only and served.resource is not None:
        _check_read_only(inputs, to_json(_read_resource(tx, served.resource, context)))
    config = organisation_config.of_organisation(tx, context.caller.organisation_id)
    recorder = EffectsRecorder()
    operation.run(tx, replace(context, recorder=recorder), inputs)
    return operation.show_effects(config, recorder.effects)


def _read_resource(tx: Transaction, resource: Operation, context: RequestContext) -> object:
    """The body of a read without parameters."""
    return resource.run(tx, context, Inputs(query=resource.query()))


def _check_read_only(
    inputs: Inputs, current: bytes, may_differ: frozenset[str] = frozenset()
) -> None:
    if not inputs.read_only:
        return
    members = orjson.loads(current)
    differing = sorted(
        name
        for name, value in inputs.read_only.items()
        if value != members.get(name) and name not in may_differ
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
