"""Public internet addresses, the only ones that webhooks are sent to."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

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
