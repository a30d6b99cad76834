"""The URLs that webhooks may have.

The check when a URL is registered only gives early feedback. The defence is ``is_public``, applied
to each address that a delivery connects to (``vetted_connections``), because a name may resolve
differently later.
"""

from __future__ import annotations

import asyncio
import functools
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Protocol
from urllib.parse import quote

import idna
from yarl import URL

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


def parse_webhook_url(url: str, *, allow_private: bool, allow_loopback: bool = False) -> URL:
    """The URL that requests are sent to, if its form and any address in it are allowed.

    ``allow_loopback`` is that of the demo: this machine alone may be reached, also by http.

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
    allow_private = allow_private or (allow_loopback and _is_this_machine(host.lower()))
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
    allow_loopback: bool = False,
    resolver: Resolver | None = None,
    limit_seconds: float = 2.0,
) -> str:
    """The URL unchanged, if its form is allowed and its host has no private address now.

    A name that does not resolve within ``limit_seconds`` is accepted: addresses are checked again
    at delivery. Raises what ``parse_webhook_url`` raises.
    """
    parsed = parse_webhook_url(url, allow_private=allow_private, allow_loopback=allow_loopback)
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
    if not all(is_allowed(address, allow_loopback=allow_loopback) for address in addresses):
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
    is_private = _is_local_name(name) or (address is not None and not is_public(address))
    if not allow_private and is_private:
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


def _is_local_name(name: str) -> bool:
    """RFC 6761, 6.3: localhost and every name below it."""
    return name == "localhost" or name.endswith(".localhost")


def _is_this_machine(host: str) -> bool:
    name = host.rstrip(".")
    address = _address_in(name)
    return _is_local_name(name) or (address is not None and ip_address(address).is_loopback)


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


# The standard library's is_global and is_private both let some of these through (multicast, 6to4,
# NAT64, site-local, IPv4-compatible), and what they say differs between Python versions.
_NOT_PUBLIC_IPV4: Final = tuple(
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
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")  # all that is allocated so far, RFC 3587 and IANA
_NOT_PUBLIC_IPV6: Final = tuple(
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


@lru_cache(maxsize=4_096)
def is_public(address: str) -> bool:
    """Whether an address, as passed to a socket, is on the public internet.

    IPv4-mapped IPv6 is judged by the IPv4 address in it. A text that is not an address is not
    public.

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
        return not any(parsed in network for network in _NOT_PUBLIC_IPV4)
    return parsed in _GLOBAL_UNICAST and not any(parsed in network for network in _NOT_PUBLIC_IPV6)


def is_allowed(address: str, *, allow_loopback: bool) -> bool:
    """Whether a delivery may connect to an address, as passed to a socket."""
    return is_public(address) or (allow_loopback and _is_loopback(address))


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


class Resolver(Protocol):
    async def resolve(self, host: str) -> list[str]:
        """Every address of a name, the best first. Raises OSError if it has none."""


class PooledResolver:
    """Uses the system's resolver for at most ``max_threads`` names at once.

    A lookup that hangs blocks a thread here. In the event loop's own pool, uvloop runs two lookups
    at a time: two dead names would block every other lookup of the process, including Slack's.
    """

    def __init__(self, max_threads: int = 16) -> None:
        self._threads = ThreadPoolExecutor(max_threads, thread_name_prefix="name-lookup")
        self._running: dict[str, asyncio.Future[list[str]]] = {}

    async def resolve(self, host: str) -> list[str]:
        lookup = self._running.get(host)
        if lookup is None:
            # One thread for all attempts at a name, also if the first of them ends before it.
            lookup = asyncio.get_running_loop().run_in_executor(self._threads, _addresses_of, host)
            self._running[host] = lookup
            lookup.add_done_callback(functools.partial(self._forget, host))
        return await asyncio.shield(lookup)

    def _forget(self, host: str, lookup: asyncio.Future[list[str]]) -> None:
        del self._running[host]
        if not lookup.cancelled():
            lookup.exception()  # No one may be waiting for it.

    def close(self) -> None:
        """Cancel queued lookups; running ones finish."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses_of(host: str) -> list[str]:
    try:
        addresses = socket.getaddrinfo(host, None, 0, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
    except UnicodeError as error:
        raise OSError(f"not a host name: {host!r}") from error
    return [str(address[0]) for *_, address in addresses]
