"""The text of the OpenAPI document: a guide, and a description of each tag."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

# Of what is not an operation.
TAGS: Final[Mapping[str, str]] = {
    "Health": "For load balancers and monitoring; without a key.",
    "Events": (
        "What is sent to webhooks, signed as [Standard Webhooks](https://www.standardwebhooks.com) "
        "describes. Check the signature over the bytes as they arrived, with any of its libraries "
        "and the webhook's secret; respond with a 2xx status within 15 seconds, and do the work "
        "afterwards. Anything else is retried after about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, "
        "14 h, 20 h and 24 h; 410 disables the webhook. An event may arrive more than once, "
        "always with the same bytes and the same `webhook-id`: ignore those that you have seen. "
        "`data.sequence` grows with every event of one leave request."
    ),
}


def description(base_url: str) -> str:
    """The guide, whose code blocks are ready to be pasted into a shell."""
    guide = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    return guide.strip().replace("{base_url}", base_url)


WEBHOOK_HEADERS: Final = [
    {
        "name": "webhook-id",
        "in": "header",
        "required": True,
        "description": "The event's id, the same on every attempt.",
        "schema": {"type": "string", "format": "uuid"},
        "example": "0197c2a4-9d20-7e66-8a31-50fb7c2d4e12",
    },
    {
        "name": "webhook-timestamp",
        "in": "header",
        "required": True,
        "description": "When this attempt was made, in seconds since 1970. Reject it if it differs "
        "from your clock by minutes.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
        "example": "1781615100",
    },
    {
        "name": "webhook-signature",
        "in": "header",
        "required": True,
        "description": "`v1,` and the base64 of the HMAC-SHA256 over "
        "`<webhook-id>.<webhook-timestamp>.<body>`. While a secret is being rotated there are two "
        "signatures, space-separated.",
        "schema": {"type": "string"},
        "example": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    },
]
WEBHOOK_RESPONSES: Final = {
    "2XX": {
        "description": "Accepted. The first 4 KiB of the response are kept in the delivery log."
    },
    "410": {"description": "Gone: the webhook is disabled immediately."},
    "default": {
        "description": "Retried later; redirects are not followed. After a 429, the next attempt "
        "is at least a minute later, and `Retry-After` is respected within bounds."
    },
}
