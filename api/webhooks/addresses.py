"""Which addresses webhooks may be sent to.

The check when a URL is registered only gives early feedback. The defence is ``is_public``
on the very address that is about to be dialled (``webhook_delivery``), because a name may answer
differently later.
"""

from __future__ import annotations

import asyncio
import re
import socket
import unicodedata
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpx
from aiohttp.abc import AbstractResolver

from api.webhooks.name_lookup import PooledResolver
from storage.base.errors import Figure, InvalidInput

MAX_URL_CHARACTERS: Final = 2_000

# The standard library's is_global and is_private both let some of these through (multicast, 6to4,
# NAT64, site-local, IPv4-compatible), and what they say differs between Python versions.
_REFUSED_IPV4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network, RFC 791 3.2; Linux dials 0.0.0.0 as itself
        "10.0.0.0/8",  # private, RFC 1918
        "100.64.0.0/10",  # carrier-grade NAT, RFC 6598; Alibaba's metadata is 100.100.100.200
        "127.0.0.0/8",  # loopback, RFC 1122 3.2.1.3
        "168.63.129.16/32",  # Azure's host agent: a public number that only virtual machines reach
        "169.254.0.0/16",  # link-local, RFC 3927; metadata of most clouds is 169.254.169.254
        "172.16.0.0/12",  # private, RFC 1918
        "192.0.0.0/24",  # protocol assignments, RFC 6890; Oracle's old metadata is 192.0.0.192
        "192.0.2.0/24",  # documentation, RFC 5737
        "192.88.99.0/24",  # 6to4 relay anycast, RFC 7526
        "192.168.0.0/16",  # private, RFC 1918
        "198.18.0.0/15",  # benchmarking, RFC 2544
        "198.51.100.0/24",  # documentation, RFC 5737
        "203.0.113.0/24",  # documentation, RFC 5737
        "224.0.0.0/4",  # multicast, RFC 5771
        "240.0.0.0/4",  # reserved, RFC 1112 4; holds the broadcast address
    )
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")  # all that is handed out so far, RFC 3587 and IANA
_REFUSED_IPV6: Final = tuple(
    IPv6Network(network)
    for network in (
        "::/96",  # unspecified, loopback and IPv4-compatible, RFC 4291 2.5.5.1
        "64:ff9b::/96",  # NAT64: reaches any IPv4 address, RFC 6052
        "64:ff9b:1::/48",  # local-use NAT64, RFC 8215
        "100::/64",  # discard, RFC 6666
        "100:0:0:1::/64",  # dummy prefix, RFC 9780
        "2001::/23",  # protocol assignments, RFC 2928: Teredo, ORCHID, benchmarking
        "2001:db8::/32",  # documentation, RFC 3849
        "2002::/16",  # 6to4: holds any IPv4 address, RFC 3056
        "3fff::/20",  # documentation, RFC 9637
        "5f00::/16",  # segment routing, RFC 9602
        "fc00::/7",  # unique local, RFC 4193; Amazon's metadata is fd00:ec2::254
        "fe80::/10",  # link-local, RFC 4291 2.5.6
        "fec0::/10",  # site-local, RFC 3879
        "ff00::/8",  # multicast, RFC 4291 2.7
    )
)

_NEVER_IN_A_URL = re.compile(r"[\x00-\x20\x7f\\]|\s")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST_NAME = re.compile(rf"(?=.{{1,254}}\Z){_LABEL}(?:\.{_LABEL})*\.?")


@lru_cache(maxsize=10_000)
def is_public(address: str) -> bool:
    """Whether an address, as passed to a socket, is on the public internet.

    IPv4-mapped IPv6 is judged by the IPv4 address in it. What is no address is not public.

    >>> is_public("93.184.215.14"), is_public("::ffff:10.0.0.1"), is_public("ff02::1")
    (True, False, False)
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _REFUSED_IPV4)
    return parsed in _GLOBAL_UNICAST and not any(parsed in network for network in _REFUSED_IPV6)


def check_webhook_url(url: str, *, allow_private: bool) -> str:
    """The URL unchanged, if its form and any address in it are allowed; resolves no names.

    Any port from 1 to 65535 will do. Raises InvalidInput with ``url_invalid``, ``url_not_https``,
    ``url_has_user_info`` or ``url_private_address``.
    """
    if len(url) > MAX_URL_CHARACTERS:
        raise _refusal(
            "url_invalid", "A URL can have at most {most} characters.", most=MAX_URL_CHARACTERS
        )
    if _NEVER_IN_A_URL.search(url):
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

    A name with no answer within ``limit_seconds`` is accepted; its deliveries are vetted when
    dialled. Raises what ``check_webhook_url`` raises.
    """
    check_webhook_url(url, allow_private=allow_private)
    parts = urlsplit(url)
    host = _host_of(parts)
    if allow_private or _address_in(host) is not None:
        return url
    lookup = resolver or PooledResolver(max_threads=1)
    try:
        async with asyncio.timeout(limit_seconds):
            answers = await lookup.resolve(host, parts.port or 443, socket.AF_UNSPEC)
    except OSError:  # TimeoutError is one of them
        return url
    finally:
        if resolver is None:
            await lookup.close()
    if not all(is_public(answer["host"]) for answer in answers):
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
    # RFC 6761 6.3: localhost and every name below it are this machine.
    is_here = name == "localhost" or name.endswith(".localhost")
    if not allow_private and (is_here or (address is not None and not is_public(address))):
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
