"""The client's address, from the server and its trusted proxies."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from starlette.types import Scope


def client_address(scope: Scope) -> str:
    """The client's IP address in its shortest form; "" if the forwarded value is not an address."""
    client = scope.get("client")
    return _shortest(client[0]) if client else ""


@lru_cache(maxsize=4_096)
def customer_network(address: str) -> str:
    """The usual range of one customer: the IPv4 address, or the /64 of an IPv6 address."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))


@lru_cache(maxsize=4_096)
def _shortest(text: str) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)
