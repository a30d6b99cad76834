"""The signature of a delivery. Source: Standard Webhooks 1.0.0."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from typing import Final

SECRET_PREFIX: Final = "whsec_"


def sign(webhook_id: str, timestamp_seconds: int, body: bytes, secrets: Sequence[str]) -> str:
    """The ``webhook-signature`` header: one ``v1,`` signature per secret, space-separated.

    Source: Standard Webhooks, "Signature scheme".
    """
    message = f"{webhook_id}.{timestamp_seconds}.".encode() + body
    keys = [base64.b64decode(secret.removeprefix(SECRET_PREFIX)) for secret in secrets]
    digests = [hmac.digest(key, message, "sha256") for key in keys]
    return " ".join("v1," + base64.b64encode(digest).decode() for digest in digests)
