"""Requests and their repetitions. A write is never carried out twice.

A POST has an idempotency key, so the service carries it out once however often it is sent. What
has none, and would not do the same again, is only repeated if the service refused it unread.
"""

from __future__ import annotations

import hashlib
import random
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import httpx

from hiatus_client.errors import NoResponse, Problem, problem_of

VERSION: Final = "1.0.0"
# The longest that one Retry-After is followed.
MAX_WAIT_SECONDS: Final = 120.0
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_PASSING: Final = frozenset({502, 503, 504})
QueryValue = str | float | Sequence[str] | None


class Transport:
    """Sends requests of one API key. ``sleep`` waits for so many seconds."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: int = 3,
        timeout_seconds: float = 30.0,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._owns_http = http is None
        self._http = http or httpx.Client(timeout=timeout_seconds)
        self._base_url = f"{base_url.rstrip('/')}/api/v1"
        self._headers = {
            "Authorization": f"Bearer {api_key}",
            "Accept": "application/json",
            "User-Agent": f"hiatus-client-python/{VERSION}",
        }
        self._retries = retries
        self._sleep = sleep

    def close(self) -> None:
        """Close its connections; not those of an ``http`` that it was given."""
        if self._owns_http:
            self._http.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, QueryValue] | None = None,
        body: object = None,
        file: bytes | None = None,
        form: Mapping[str, QueryValue] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> object:
        """The decoded response; None if it has no body, a text if it is not JSON.

        A ``file`` is sent as a form with the fields of ``form``. Parameters, fields and headers
        that are None are left out. Raises Problem or NoResponse.
        """
        sent = self._headers | {
            name: value for name, value in (headers or {}).items() if value is not None
        }
        if method == "POST":
            # The same for every repetition.
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        parts: dict[str, Any] = {"json": body}
        if file is not None:
            # The same file has the same bytes in every process, as its idempotency key needs.
            boundary = hashlib.sha256(file).hexdigest()
            sent["Content-Type"] = f"multipart/form-data; boundary={boundary}"
            parts = {"files": {"file": ("file.csv", file, "text/csv")}, "data": _params(form or {})}
        request = self._http.build_request(
            method, self._base_url + path, params=_params(query or {}), headers=sent, **parts
        )
        is_repeatable = method != "DELETE" and "If-Match" not in sent
        response = self._send(request, is_repeatable)
        if not response.content:
            return None
        is_json = response.headers.get("content-type", "").startswith("application/json")
        decoded: object = response.json() if is_json else response.text
        return decoded

    def _send(self, request: httpx.Request, is_repeatable: bool) -> httpx.Response:
        for attempt in range(self._retries + 1):
            is_last = attempt == self._retries
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                if is_last or not (is_repeatable or isinstance(error, _NEVER_SENT)):
                    raise NoResponse(str(error) or type(error).__name__) from error
                self._sleep(_backoff_seconds(attempt))
                continue
            if response.is_success:
                return response
            problem = problem_of(response)
            if is_last or not _is_passing(problem, is_repeatable):
                raise problem
            self._sleep(_retry_after_seconds(response) or _backoff_seconds(attempt))
        raise AssertionError("The last attempt returns or raises.")


def _is_passing(problem: Problem, is_repeatable: bool) -> bool:
    """Whether the same request may succeed later, and does no harm."""
    if problem.status == 429:
        return True
    if problem.code == "idempotency_in_progress":
        return True
    return is_repeatable and problem.status in _PASSING


def _retry_after_seconds(response: httpx.Response) -> float:
    text = response.headers.get("retry-after", "")
    return min(float(text), MAX_WAIT_SECONDS) if text.isdecimal() else 0.0


def _backoff_seconds(attempt: int) -> float:
    # Spread, so that many clients do not come back at once.
    return float(2**attempt) * random.uniform(0.25, 0.75)


def _params(query: Mapping[str, QueryValue]) -> dict[str, str]:
    return {name: _text(value) for name, value in query.items() if value is not None}


def _text(value: str | float | Sequence[str]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ",".join(value)
