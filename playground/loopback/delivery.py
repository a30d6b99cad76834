"""Sends payloads to the app over HTTP, signed as by Slack."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import time
from typing import Any, TypedDict
from urllib.parse import urlencode, urlsplit

from playground.loopback.blocks import Payload
from playground.loopback.records import Answer


class How(TypedDict, total=False):
    """How to send something, and how to tamper with it.

    `timestamp` and `signature` replace the headers; `signing_secret` signs with another key;
    `team_id` is another workspace; `via` is "http" or "socket"; `overrides` replaces keys of the
    payload; `force` allows what Slack's client would prevent.
    """

    timestamp: int | str
    signature: str
    signing_secret: str
    team_id: str
    via: str
    overrides: Payload
    force: bool
    timeout_seconds: float


def signature_of(secret: str, timestamp: int | str, body: bytes) -> str:
    """Slack's v0 signature (docs.slack.dev/authentication/verifying-requests-from-slack)."""
    signed = f"v0:{timestamp}:".encode() + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class Delivery:
    """Sends to one app; `app_url` is where it listens, without the path."""

    def __init__(self, signing_secret: str) -> None:
        self.app_url = ""
        self.events_path = "/slack/events"
        self.signing_secret = signing_secret

    def deliver(self, kind: str, payload: Payload, how: How, **retry: object) -> Answer:
        """Sends a payload of "slash_commands", "interactive" or "events_api" and waits.

        `retry`: `retry_num` and `retry_reason` of an event that is sent again.
        """
        payload = payload | how.get("overrides", {})
        response = self._send(kind, payload, how, retry)
        response.payload = payload
        return response

    def post(
        self, body: bytes, content_type: str, how: How, headers: dict[str, str] | None = None
    ) -> Answer:
        """Posts these very bytes, signed unless `how` has another signature; status 0 if too late.

        A `signature` or `timestamp` of "" leaves the header out.
        """
        timestamp = how.get("timestamp", int(time.time()))
        secret = how.get("signing_secret", self.signing_secret)
        signature = how.get("signature", signature_of(secret, timestamp, body))
        request_headers = {"Content-Type": content_type, "User-Agent": "Slackbot 1.0"} | (
            headers or {}
        )
        if timestamp != "":
            request_headers["X-Slack-Request-Timestamp"] = str(timestamp)
        if signature != "":
            request_headers["X-Slack-Signature"] = signature
        address = urlsplit(self.app_url)
        connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=how.get("timeout_seconds", 10)
        )
        started = time.monotonic()
        try:
            connection.request("POST", address.path + self.events_path, body, request_headers)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            headers = {name.lower(): value for name, value in response.getheaders()}
            elapsed = time.monotonic() - started
            return Answer(response.status, _parsed(text, headers), headers, elapsed)
        except TimeoutError:
            return Answer(0, "", {}, time.monotonic() - started)
        finally:
            connection.close()

    def _send(self, kind: str, payload: Payload, how: How, retry: Payload) -> Answer:
        headers = {}
        if retry:
            headers["X-Slack-Retry-Num"] = str(retry["retry_num"])
            headers["X-Slack-Retry-Reason"] = str(retry["retry_reason"])
        if kind == "events_api":
            return self.post(json.dumps(payload).encode(), "application/json", how, headers)
        fields = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
        body = urlencode(fields).encode()
        return self.post(body, "application/x-www-form-urlencoded", how, headers)


def _parsed(text: str, headers: dict[str, str]) -> Any:
    if "json" in headers.get("content-type", ""):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
