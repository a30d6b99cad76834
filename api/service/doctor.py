"""What ``hiatus doctor`` checks of BASE_URL and Redis, and settings that contradict each other."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import httpx
import limits

from api.base.redis_windows import RedisUnavailable, RedisWindows
from api.base.settings import MEMORY_URL, ApiSettings, public_url
from api.webhooks.webhook_urls import is_public
from storage.base.errors import DatabaseUnavailable
from storage.base.ids import random_bytes
from storage.cli.doctor.database import count_processes
from storage.cli.doctor.findings import Check, Finding, failed, leads_to_this_machine, ok, warning
from storage.cli.doctor.reading import Reader

# Of each step: connecting, and each part of the response.
HTTP_SECONDS: Final = 5.0
# Each with the time-out of a process that serves.
_REDIS_ATTEMPTS: Final = 3
_MAX_BYTES: Final = 1_024
_SUBJECT: Final = "BASE_URL"


def base_url_check(env: Mapping[str, str], settings: ApiSettings) -> Check:
    """Whether Hiatus answers at its public address."""
    if not public_url(env):
        text = (
            "is not set: links in feeds and in Slack lead to where the process listens. Set it to "
            "the public address"
        )
        return Check(subject=_SUBJECT, look=partial(warning, _SUBJECT, text))
    return Check(subject=_SUBJECT, look=partial(_reach, settings.base_url))


def _reach(base_url: str) -> list[Finding]:
    # Hiatus returns the id of a request; other services with a /healthz do not.
    request_id = random_bytes(16).hex()
    try:
        status, is_hiatus = _get_health(f"{base_url}/healthz", request_id)
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        return failed(_SUBJECT, "is not a URL")
    except httpx.TransportError as error:
        text = (
            f"cannot be reached from here ({_reason(error)}): check that `hiatus serve` runs, and "
            "the name, the certificate and the proxy"
        )
        return failed(_SUBJECT, text)
    if 300 <= status < 400:
        text = f"redirects with status {status}: set it to the address that it leads to"
        return warning(_SUBJECT, text)
    if status >= 500:
        text = f"answers with status {status}: check that `hiatus serve` runs behind the proxy"
        return failed(_SUBJECT, text)
    if status != 200 or not is_hiatus:
        text = (
            f"leads to another service, which answers /healthz with status {status}: "
            "correct BASE_URL or the proxy"
        )
        return failed(_SUBJECT, text)
    return ok(_SUBJECT, "leads to Hiatus")


def _get_health(url: str, request_id: str) -> tuple[int, bool]:
    """The status, and whether the response is Hiatus's. Raises InvalidURL, TransportError."""
    # As other programs of this machine: with the system's certificates, and through the proxy that
    # the environment names.
    with (
        httpx.Client(verify=ssl.create_default_context(), timeout=HTTP_SECONDS) as client,
        client.stream("GET", url, headers={"X-Request-Id": request_id}) as response,
    ):
        body = next(response.iter_raw(_MAX_BYTES), b"")
    is_hiatus = response.headers.get("X-Request-Id") == request_id and b'"ok"' in body
    return response.status_code, is_hiatus


def _reason(error: httpx.TransportError) -> str:
    """A few words without the URL, which could contain a password."""
    if isinstance(error, httpx.TimeoutException):
        return f"no response within {HTTP_SECONDS:g} s"
    if isinstance(error, httpx.ConnectError):
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return "its certificate is not trusted; SSL_CERT_FILE can name your own authority"
        return "no connection"
    return type(error).__name__


def redis_checks(settings: ApiSettings) -> list[Check]:
    """Whether Redis counts; none if it is not set up."""
    url = settings.rate_limit_storage
    return [] if url == MEMORY_URL else [Check(subject="Redis", look=partial(_count, url))]


def _count(url: str) -> list[Finding]:
    reason = asyncio.run(_failure_of(RedisWindows(url)))
    if reason is None:
        return ok("Redis", "counts rate limits")
    text = (
        f"cannot count, so nothing is limited ({reason}): check that it runs, and the address and "
        "the password in HIATUS_RATE_LIMIT_STORAGE"
    )
    return failed("Redis", text)


async def _failure_of(windows: RedisWindows) -> str | None:
    """Count under a separate name for a second: only a write finds a replica or a full memory."""
    reason = None
    try:
        # Retry as a process does after a failure: connecting may have taken the first time-out.
        for _ in range(_REDIS_ATTEMPTS):
            try:
                await windows.count(limits.RateLimitItemPerSecond(1), "doctor")
            except RedisUnavailable as error:
                reason = str(error)
            else:
                return None
    finally:
        await windows.close()
    return reason


def contradictions(
    env: Mapping[str, str], settings: ApiSettings, reader: Reader, *, has_bot: bool
) -> list[Finding]:
    """Valid settings that contradict each other. ``has_bot``: ``hiatus bot`` is set up."""
    return [
        *_about_address(env, settings),
        *_about_rate_limits(settings, reader, has_bot=has_bot),
    ]


def _about_address(env: Mapping[str, str], settings: ApiSettings) -> list[Finding]:
    found: list[Finding] = []
    address = public_url(env)
    if settings.webhook_allow_private and _is_public(settings.base_url):
        found += warning(
            "settings",
            "HIATUS_WEBHOOK_ALLOW_PRIVATE=on with a public BASE_URL: admins of every organisation "
            "can send requests into your network. Set it to off unless you trust them all",
        )
    base_url = settings.base_url
    if base_url.startswith("http://") and not leads_to_this_machine(base_url):
        found += warning(
            "settings",
            "BASE_URL begins with http://: API keys and calendar links can be read on the way. "
            "Terminate TLS in the proxy and set BASE_URL to the https:// address",
        )
    is_of_platform = bool(address) and not env.get("BASE_URL", "").strip()
    if is_of_platform and settings.trusted_proxies == ApiSettings.trusted_proxies:
        found += warning(
            "settings",
            "the hosting platform's router is not in HIATUS_TRUSTED_PROXIES: all clients count as "
            "one address in rate limits and logs. Set it to *",
        )
    return found


def _about_rate_limits(settings: ApiSettings, reader: Reader, *, has_bot: bool) -> list[Finding]:
    if settings.rate_limit_storage != MEMORY_URL or reader.sqlite_path is not None:
        return []
    try:
        count = reader.read(count_processes)
    except DatabaseUnavailable:
        return []
    # A bot limits no requests.
    if count <= (2 if has_bot else 1):
        return []
    return warning(
        "settings",
        f"HIATUS_RATE_LIMIT_STORAGE=memory with {count} processes on this database: each of them "
        "counts for itself. Set it to a redis:// URL to share the counts",
    )


def _is_public(url: str) -> bool:
    """Whether the host has a public address; False if its name cannot be resolved."""
    try:
        found = socket.getaddrinfo(urlsplit(url).hostname, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return any(is_public(str(address[0])) for *_, address in found)
