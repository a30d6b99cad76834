"""The URLs that webhooks may have.

The check when a URL is registered only gives early feedback. The defence is ``is_public``, applied
to each address that a delivery connects to (``vetted_connections``), because a name may resolve
differently later.
"""

from __future__ import annotations

import asyncio
import re
import socket
import unicodedata
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpx
from aiohttp.abc import AbstractResolver

from api.webhooks.name_lookup import PooledResolver
from api.webhooks.public_addresses import is_public
from storage.base.errors import Figure, InvalidInput

MAX_URL_CHARACTERS: Final = 2_000


_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]|\s")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST_NAME = re.compile(rf"(?=.{{1,254}}\Z){_LABEL}(?:\.{_LABEL})*\.?")


def check_webhook_url(url: str, *, allow_private: bool) -> str:
    """The URL unchanged, if its form and any address in it are allowed; resolves no names.

    Any port from 1 to 65535 is allowed. Raises InvalidInput with ``url_invalid``,
    ``url_not_https``, ``url_has_user_info`` or ``url_private_address``.
    """
    if len(url) > MAX_URL_CHARACTERS:
        raise _refusal(
            "url_invalid", "A URL can have at most {most} characters.", most=MAX_URL_CHARACTERS
        )
    if _FORBIDDEN.search(url):
        raise _refusal(
            "url_invalid", "A URL cannot contain spaces, control characters or backslashes."
        )
    parts = _split(url)
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        raise _refusal("url_not_https", "Use a URL that starts with https://.")
    if "@" in parts.netloc:
        raise _refusal("url_has_user_info", "Remove the user name and password from the URL.")
    if "#" in url:
        raise _refusal("url_invalid", "Remove the fragment (#…) from the URL. It is never sent.")
    _check_host(_host_of(parts), allow_private=allow_private)
    try:
        httpx.URL(url)
    except httpx.InvalidURL as error:
        raise _refusal("url_invalid", "Requests cannot be sent to this URL.") from error
    return url


async def resolve_and_check(
    url: str,
    *,
    allow_private: bool,
    resolver: AbstractResolver | None = None,
    limit_seconds: float = 2.0,
) -> str:
    """The URL unchanged, if its form is allowed and its host has no private address now.

    A name that does not resolve within ``limit_seconds`` is accepted: addresses are checked again
    at delivery. Raises what ``check_webhook_url`` raises.
    """
    check_webhook_url(url, allow_private=allow_private)
    parts = urlsplit(url)
    host = _host_of(parts)
    if allow_private or _address_in(host) is not None:
        return url
    lookup = resolver or PooledResolver(max_threads=1)
    try:
        async with asyncio.timeout(limit_seconds):
            resolved = await lookup.resolve(host, parts.port or 443, socket.AF_UNSPEC)
    except OSError:  # TimeoutError is one of them
        return url
    finally:
        if resolver is None:
            await lookup.close()
    if not all(is_public(address["host"]) for address in resolved):
        raise _private_address()
    return url


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _refusal("url_invalid", "This is not a complete URL.") from error
    if not parts.hostname or port == 0:
        raise _refusal("url_invalid", "This is not a complete URL.")
    return parts


def _host_of(parts: SplitResult) -> str:
    """The host in lower case and ASCII if possible, without the brackets of IPv6."""
    # Resolvers fold full-width digits and dots into ASCII, so this check must, too.
    host = unicodedata.normalize("NFKC", parts.hostname or "").replace("\u3002", ".")
    if host.isascii():
        return host.lower()
    try:
        return httpx.URL(scheme="https", host=host).raw_host.decode("ascii")
    except httpx.InvalidURL as error:
        raise _refusal("url_invalid", "The URL's host is not a valid name.") from error


def _check_host(host: str, *, allow_private: bool) -> None:
    name = host.rstrip(".")
    address = _address_in(name)
    # RFC 6761, 6.3: localhost and every name below it.
    is_this_machine = name == "localhost" or name.endswith(".localhost")
    if not allow_private and (is_this_machine or (address is not None and not is_public(address))):
        raise _private_address()
    if address is not None and address != host and ":" not in host:
        raise _refusal(
            "url_invalid", "Use the standard form of the address: {address}.", address=address
        )
    if ":" not in host and not _HOST_NAME.fullmatch(host):
        raise _refusal("url_invalid", "The URL's host is not a valid name.")


def _address_in(name: str) -> str | None:
    """The address in a host, also in the forms of inet_aton (127.1, 0x7f.1, 2130706433)."""
    if ":" in name:
        try:
            return str(ip_address(name))
        except ValueError as error:
            raise _refusal("url_invalid", "The URL's host is not a valid address.") from error
    try:
        return socket.inet_ntoa(socket.inet_aton(name))
    except OSError:
        return None


def _private_address() -> InvalidInput:
    return _refusal("url_private_address", "Webhooks are sent to public internet addresses only.")


def _refusal(code: str, template: str, **figures: Figure) -> InvalidInput:
    return InvalidInput.of("url", code, template, **figures)
