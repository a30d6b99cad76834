"""The first bytes of a response, for responses that h11 refuses.

h11 refuses a whole response for unusual headers. The status line decides whether a webhook was
delivered, and it has arrived by then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [^\r\n]*)?\r?\n")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
# Statuses without a body (RFC 9112): bytes after the head would be parsed as the next response.
_WITHOUT_BODY: Final = re.compile(rb"HTTP/1\.[01] (?:204|304)\b")
_ANNOUNCES_BODY: Final = re.compile(
    rb"\n(?:content-length[ \t]*:[ \t]*0*[1-9]|transfer-encoding[ \t]*:)", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RawResponse:
    """A partial response: its status, its head, and the start of its body."""

    status_code: int
    head: bytes
    body: bytes


def parse_raw_response(received: bytes | bytearray) -> RawResponse | None:
    """The response that starts with these bytes; None until the status line is complete."""
    rest = bytes(received)
    while (line := _STATUS_LINE.match(rest)) is not None:
        end = _HEAD_END.search(rest)
        head, body = (rest, b"") if end is None else (rest[: end.start()], rest[end.end() :])
        if not line[1].startswith(b"1"):
            return RawResponse(status_code=int(line[1]), head=head, body=body)
        rest = body  # An interim response such as 103.
    return None


def has_unexpected_body(received: bytes | bytearray) -> bool:
    """Whether a body follows, or will follow, a response that cannot have one."""
    if _WITHOUT_BODY.match(received) is None:
        return False
    response = parse_raw_response(received)
    return response is not None and bool(response.body or _ANNOUNCES_BODY.search(response.head))
