"""The URLs that webhooks may have.

The check when a URL is registered only gives early feedback. The defence is ``is_public``, applied
to each address that a delivery connects to (``vetted_connections``), because a name may resolve
differently later.
"""

from __future__ import annotations

import asyncio
import re
import socket
from ipaddress import ip_address
from typing import Final
from urllib.parse import quote

import idna
from yarl import URL

from api.webhooks.name_lookup import PooledResolver, Resolver
from api.webhooks.public_addresses import is_public
from storage.base.errors import Figure, InvalidInput

MAX_URL_CHARACTERS: Final = 2_000

# Half of a surrogate pair has no bytes.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\\ud800-\udfff]|\s")
# A user, a name or an address in brackets, and a port in ASCII digits.
_AUTHORITY = re.compile(r"(?:.*@)?(?:\[[^@\[\]]+\]|[^@:\[\]]+)(?::[0-9]*)?")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
# Not of digits alone: 256.1.1.1 is an address gone wrong.
_HOST_NAME = re.compile(rf"(?=.{{1,254}}\Z)(?![0-9.]+\Z){_LABEL}(?:\.{_LABEL})*\.?")
# A percent sign that begins no escape, and characters that are not in URLs (RFC 3986).
_NOT_IN_URLS = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9._~:/?@!$&'()*+,;=%-]")


def parse_webhook_url(url: str, *, allow_private: bool) -> URL:
    """The URL that requests are sent to, if its form and any address in it are allowed.

    What is checked is what is sent: httpx takes the host, the port, the path and the query from
    this URL. The host is in ASCII and in lower case; path and query are as they were typed, escapes
    included, except that characters which URLs cannot have are escaped. Resolves no names.

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
    typed, host, port = _parse(url)
    if typed.scheme != "https" and not (allow_private and typed.scheme == "http"):
        raise _refusal("url_not_https", "Use a URL that starts with https://.")
    if "@" in typed.raw_authority:
        raise _refusal("url_has_user_info", "Remove the user name and password from the URL.")
    if "#" in url:
        raise _refusal("url_invalid", "Remove the fragment (#…) from the URL. It is never sent.")
    return URL.build(
        scheme=typed.scheme,
        host=_checked_host(host, allow_private=allow_private),
        port=port,
        path=_NOT_IN_URLS.sub(_escape, typed.raw_path),
        query_string=_NOT_IN_URLS.sub(_escape, typed.raw_query_string),
        encoded=True,
    )


async def resolve_and_check(
    url: str,
    *,
    allow_private: bool,
    resolver: Resolver | None = None,
    limit_seconds: float = 2.0,
) -> str:
    """The URL unchanged, if its form is allowed and its host has no private address now.

    A name that does not resolve within ``limit_seconds`` is accepted: addresses are checked again
    at delivery. Raises what ``parse_webhook_url`` raises.
    """
    parsed = parse_webhook_url(url, allow_private=allow_private)
    host = parsed.raw_host or ""
    if allow_private or _address_in(host) is not None:
        return url
    own_resolver = PooledResolver(max_threads=1)
    try:
        async with asyncio.timeout(limit_seconds):
            addresses = await (resolver or own_resolver).resolve(host)
    except OSError:  # TimeoutError is one of them
        return url
    finally:
        own_resolver.close()
    if not all(is_public(address) for address in addresses):
        raise _private_address()
    return url


def _parse(url: str) -> tuple[URL, str, int | None]:
    """The URL as typed, with its host (without the brackets of IPv6) and its port."""
    try:
        typed = URL(url, encoded=True)
        host, port = typed.raw_host, typed.explicit_port
    except ValueError as error:
        raise _refusal("url_invalid", "This is not a complete URL.") from error
    if not host or port == 0 or not _AUTHORITY.fullmatch(typed.raw_authority):
        raise _refusal("url_invalid", "This is not a complete URL.")
    return typed, host, port


def _checked_host(typed: str, *, allow_private: bool) -> str:
    """The host as in a request: in ASCII and in lower case, IPv6 in brackets."""
    try:
        # IDNA 2008 refuses what resolvers and browsers fold, such as full-width digits.
        host = typed.lower() if typed.isascii() else idna.encode(typed.lower()).decode("ascii")
    except UnicodeError as error:
        raise _refusal("url_invalid", "The URL's host is not a valid name.") from error
    name = host.rstrip(".")
    address = _address_in(name)
    # RFC 6761, 6.3: localhost and every name below it.
    is_this_machine = name == "localhost" or name.endswith(".localhost")
    if not allow_private and (is_this_machine or (address is not None and not is_public(address))):
        raise _private_address()
    if address is None:
        if not _HOST_NAME.fullmatch(host):
            raise _refusal("url_invalid", "The URL's host is not a valid name.")
        return host
    if ":" in address:
        return f"[{address}]"
    if address != host:
        raise _refusal(
            "url_invalid", "Use the standard form of the address: {address}.", address=address
        )
    return host


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


def _escape(characters: re.Match[str]) -> str:
    return quote(characters[0], safe="")
