"""What ``hiatus doctor`` checks of BASE_URL and Redis, and settings that contradict each other."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from functools import partial
from typing import Final

import httpx
import limits

from api.base.redis_windows import RedisUnavailable, RedisWindows
from api.base.settings import MEMORY_URL, ApiSettings, public_url
from storage.base.ids import random_bytes
from storage.operations.doctor import (
    Check,
    Finding,
    Reader,
    count_processes,
    failed,
    leads_to_this_machine,
    ok,
    warning,
)

# Of each step: connecting, and each part of the response.
HTTP_SECONDS: Final = 5.0
_SUBJECT: Final = "BASE_URL"


def checks(env: Mapping[str, str], settings: ApiSettings) -> list[Check]:
    """Whether Hiatus answers at its public address, and Redis counts if it is set up."""
    found = []
    url = settings.rate_limit_storage
    if url != MEMORY_URL:
        found.append(Check(subject="Redis", look=lambda: asyncio.run(_count(RedisWindows(url)))))
    look = partial(_reach, settings.base_url)
    if not public_url(env):
        text = (
            "is not set: links in feeds and in Slack lead to where the process listens. Set it to "
            "the public address"
        )
        look = partial(warning, _SUBJECT, "base_url_missing", text)
    return [*found, Check(subject=_SUBJECT, look=look)]


def _reach(base_url: str) -> list[Finding]:
    # Hiatus returns the id of a request; other services with a /healthz do not.
    request_id = random_bytes(16).hex()
    try:
        # As other programs of this machine: with the system's certificates, and through the proxy
        # that the environment names.
        with (
            httpx.Client(verify=ssl.create_default_context(), timeout=HTTP_SECONDS) as client,
            client.stream(
                "GET", f"{base_url}/healthz", headers={"X-Request-Id": request_id}
            ) as response,
        ):
            status = response.status_code
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        return failed(_SUBJECT, "not_a_url", "is not a URL")
    except httpx.TransportError as error:
        text = (
            f"cannot be reached from here ({_reason(error)}): check that `hiatus serve` runs, and "
            "the name, the certificate and the proxy"
        )
        return failed(_SUBJECT, "unreachable", text)
    if 300 <= status < 400:
        text = f"redirects with status {status}: set it to the address that it leads to"
        return warning(_SUBJECT, "redirects", text)
    if status >= 500:
        text = f"answers with status {status}: check that `hiatus serve` runs behind the proxy"
        return failed(_SUBJECT, "server_error", text)
    if status != 200 or response.headers.get("X-Request-Id") != request_id:
        text = (
            f"leads to another service, which answers /healthz with status {status}: "
            "correct BASE_URL or the proxy"
        )
        return failed(_SUBJECT, "another_service", text)
    return ok(_SUBJECT, "leads to Hiatus")


def _reason(error: httpx.TransportError) -> str:
    """A few words without the URL, which could contain a password."""
    if isinstance(error, httpx.TimeoutException):
        return f"no response within {HTTP_SECONDS:g} s"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "its certificate is not trusted; SSL_CERT_FILE can name your own authority"
    return "no connection" if isinstance(error, httpx.ConnectError) else type(error).__name__


async def _count(windows: RedisWindows) -> list[Finding]:
    """Count under a separate name for a second: only a write finds a replica or a full memory."""
    try:
        await windows.count(limits.RateLimitItemPerSecond(1), "doctor")
    except RedisUnavailable as error:
        text = (
            f"cannot count, so nothing is limited ({error}): check that it runs, and the address "
            "and the password in HIATUS_RATE_LIMIT_STORAGE"
        )
        return failed("Redis", "redis_unavailable", text)
    finally:
        await windows.close()
    return ok("Redis", "counts rate limits")


def contradictions(
    env: Mapping[str, str], settings: ApiSettings, reader: Reader, *, has_bot: bool
) -> list[Finding]:
    """Valid settings that contradict each other. ``has_bot``: ``hiatus bot`` is set up."""
    found: list[Finding] = []
    base_url = settings.base_url
    if base_url.startswith("http://") and not leads_to_this_machine(base_url):
        found += warning(
            "settings",
            "base_url_insecure",
            "BASE_URL begins with http://: API keys and calendar links can be read on the way. "
            "Terminate TLS in the proxy and set BASE_URL to the https:// address",
        )
    is_of_platform = bool(public_url(env)) and not env.get("BASE_URL", "").strip()
    if is_of_platform and settings.trusted_proxies == ApiSettings.trusted_proxies:
        found += warning(
            "settings",
            "proxy_not_trusted",
            "the hosting platform's router is not in HIATUS_TRUSTED_PROXIES: all clients count as "
            "one address in rate limits and logs. Set it to *",
        )
    # A bot limits no requests.
    count = 0 if settings.rate_limit_storage != MEMORY_URL else count_processes(reader)
    if count > (2 if has_bot else 1):
        found += warning(
            "settings",
            "rate_limits_not_shared",
            f"HIATUS_RATE_LIMIT_STORAGE=memory with {count} processes on this database: each of "
            "them counts for itself. Set it to a redis:// URL to share the counts",
        )
    return found
