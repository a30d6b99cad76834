"""Operations with their response headers and entity tags, worked out once at the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeGuard, get_type_hints

import orjson

from api.http.conditions import AUTOMATIC, Tags, tag_of
from api.http.handlers import Inputs, RequestContext, Result
from api.http.operations import Operation
from storage.access.idempotency import StoredResponse
from storage.db.database import Transaction

_JSON_OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC
_JSON: Final = (b"content-type", b"application/json")
# Headers that a 304 omits, because it has no content (RFC 9110, 15.4.5).
_CONTENT_HEADERS: Final = frozenset({b"content-type", b"content-length"})


class ServedOperation:
    """An operation with its precomputed response headers and entity tags.

    ``resource`` is the operation that reads the path's resource, which If-Match is compared with.
    """

    def __init__(self, operation: Operation, others: Sequence[Operation]) -> None:
        self.operation = operation
        self.resource = operation.read_at_path(others) if operation.changes_one else None
        self.read_only = operation.read_only_members(others)
        self._is_tagged = operation.is_single or operation.shown_by(others) is not None
        # The tag leaves out a secret, which is shown only once.
        created = None if self._is_tagged else operation.created_of(others)
        self._tagged_members = frozenset(get_type_hints(created.result)) if created else frozenset()
        caching = b"no-store" if operation.shows_secret else b"private, no-cache"
        varies = ", ".join(("Authorization", *operation.varies_by))
        self._headers = ((b"cache-control", caching), (b"vary", varies.encode("ascii")))

    def run(self, tx: Transaction, context: RequestContext, inputs: Inputs) -> StoredResponse:
        """Call the handler and make the response."""
        return self.response(self.operation.run(tx, context, inputs))

    def response(self, returned: object) -> StoredResponse:
        """The handler's result as status, headers and bytes."""
        result = returned if isinstance(returned, Result) else Result(body=returned)
        headers = [*result.headers, *self._headers]
        if self.operation.status == 204:
            return StoredResponse(status=204, headers=headers, content=b"")
        content = to_json(result.body)
        headers += (_JSON, (b"content-length", b"%d" % len(content)))
        if self._is_tagged:
            headers.append((b"etag", body_tag(result.body, content)))
        elif self._tagged_members:
            assert isinstance(result.body, dict)
            members = self._tagged_members
            tagged = {name: value for name, value in result.body.items() if name in members}
            headers.append((b"etag", body_tag(tagged, to_json(tagged))))
        return StoredResponse(status=self.operation.status, headers=headers, content=content)

    def dry_run_response(self, body: object) -> StoredResponse:
        """The response of a dry run, which has no entity tag."""
        content = to_json(body)
        length = (b"content-length", b"%d" % len(content))
        return StoredResponse(status=200, headers=[*self._headers, _JSON, length], content=content)


def not_modified_or(response: StoredResponse, cached: Tags | None) -> StoredResponse:
    """304 if the client has this version."""
    if cached is None or not cached.match_weakly(dict(response.headers)[b"etag"]):
        return response
    return StoredResponse(
        status=304,
        headers=[header for header in response.headers if header[0] not in _CONTENT_HEADERS],
        content=b"",
    )


def body_tag(body: object, content: bytes) -> bytes:
    """The entity tag of a body whose JSON is ``content``."""
    if not has_automatic(body):
        return tag_of(content)
    rest = {name: value for name, value in body.items() if name not in AUTOMATIC}
    return tag_of(content, to_json(rest))


def has_automatic(body: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(body, dict) and not AUTOMATIC.isdisjoint(body)


def to_json(body: object) -> bytes:
    return orjson.dumps(body, option=_JSON_OPTIONS)
