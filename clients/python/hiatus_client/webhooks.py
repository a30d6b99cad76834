"""Verifies that a webhook comes from Hiatus (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Final, cast

from hiatus_client.errors import InvalidSignature
from hiatus_client.models import WebhookEvent

TOLERANCE_SECONDS: Final = 300


def verified(
    body: bytes, headers: Mapping[str, str], secret: str, *, now_seconds: float | None = None
) -> WebhookEvent:
    """The event of a request with these bytes and headers, whose names may have any case.

    ``secret`` is the endpoint's, `whsec_…`. Remember the `webhook-id` of what you have handled: an
    event may arrive twice. Raises InvalidSignature.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, timestamp = sent["webhook-id"], sent["webhook-timestamp"]
        signatures = sent["webhook-signature"].split()
        seconds = int(timestamp)
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (KeyError, ValueError, binascii.Error) as error:
        raise InvalidSignature("A header is missing or unreadable, or the secret is.") from error
    now = time.time() if now_seconds is None else now_seconds
    if abs(now - seconds) > TOLERANCE_SECONDS:
        raise InvalidSignature("It was signed more than five minutes ago, or in the future.")
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    expected = f"v1,{digest.decode()}".encode()
    # Two while a secret is rotated.
    if not any(hmac.compare_digest(each.encode(), expected) for each in signatures):
        raise InvalidSignature("No signature is of this body and secret.")
    return cast(WebhookEvent, json.loads(body))
