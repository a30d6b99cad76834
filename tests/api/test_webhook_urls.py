"""Which addresses and URLs webhooks may go to; no test looks up a real name."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from api.webhooks.webhook_urls import (
    PooledResolver,
    is_allowed,
    is_public,
    parse_webhook_url,
    resolve_and_check,
)
from storage.base.errors import InvalidInput

PUBLIC_ADDRESSES = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "192.167.255.255",
    "192.169.0.1",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "3ffe:ffff::1",
]
REFUSED_ADDRESSES = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.170",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:0.0.0.0",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:7f00:1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::1",
    "100::1",
    "100:0:0:1::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd12:3456:789a::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "",
    "example.com",
    "127.1",
]


def is_not_mapped(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return not str(address).startswith("::ffff:")


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_public_address_may_be_dialled(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", REFUSED_ADDRESSES)
def test_other_address_may_not_be_dialled(address: str) -> None:
    assert not is_public(address)


@given(st.ip_addresses().filter(is_not_mapped))
def test_addresses_that_the_standard_library_calls_private_are_not_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    known_bad = (
        address.is_private or address.is_multicast or address.is_reserved or address.is_link_local
    )

    assert not (known_bad and is_public(str(address)))


@given(st.ip_addresses(v=4))
def test_mapped_address_is_judged_by_the_address_in_it(address: ipaddress.IPv4Address) -> None:
    assert is_public(f"::ffff:{address}") == is_public(str(address))


ACCEPTED_URLS = [
    "https://hooks.example.com",
    "https://hooks.example.com/",
    "https://hooks.example.com/leave?tenant=7&x=%20",
    "https://HOOKS.Example.COM/a",
    "https://hooks.example.com:8443/a",
    "https://hooks.example.com./a",
    "https://under_score.example.com/",
    "https://xn--bcher-kva.example/",
    "https://bücher.example/",
    "https://1.1.1.1/",
    "https://[2606:4700:4700::1111]/",
    "https://localhost.example.com/",
    "https://10.example.com/",
    "https://127.0.0.1.example.com/",
]


@pytest.mark.parametrize("url", ACCEPTED_URLS)
def test_public_url_comes_back_unchanged(url: str) -> None:
    names = Names({})

    assert asyncio.run(resolve_and_check(url, allow_private=False, resolver=names)) == url


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("https://HOOKS.Example.com", "hooks.example.com", "/"),
        ("https://hooks.example.com?a=1", "hooks.example.com", "/?a=1"),
        ("https://hooks.example.com:443/", "hooks.example.com", "/"),
        ("https://hooks.example.com:08443/", "hooks.example.com:8443", "/"),
        ("https://hooks.example.com./", "hooks.example.com", "/"),
        ("https://bücher.example/", "xn--bcher-kva.example", "/"),
        ("https://BÜCHER。example/", "xn--bcher-kva.example", "/"),
        ("https://[2606:4700:4700:0:0:0:0:1111]/", "[2606:4700:4700::1111]", "/"),
        ("https://[2606:4700:4700::1111]:8443/", "[2606:4700:4700::1111]:8443", "/"),
        # A receiver may compare them with a signature.
        ("https://e.com/%41%7e%2f/%2E/../a//b;c", "e.com", "/%41%7e%2f/%2E/../a//b;c"),
        ("https://e.com/a?sig=x%2Fy%2b%3D+z%20&a=/:@", "e.com", "/a?sig=x%2Fy%2b%3D+z%20&a=/:@"),
        # These are not in URLs.
        ("https://e.com/käse?❤={x|y}", "e.com", "/k%C3%A4se?%E2%9D%A4=%7Bx%7Cy%7D"),
        ("https://e.com/100%?a[]=%zz", "e.com", "/100%25?a%5B%5D=%25zz"),
    ],
)
def test_a_request_has_this_host_and_path(url: str, host: str, path: str) -> None:
    sent = parse_webhook_url(url, allow_private=False)

    assert (sent.host_port_subcomponent, sent.raw_path_qs) == (host, path)


PRIVATE_URLS = [
    "https://127.0.0.1/",
    "https://127.0.0.1./",
    "https://127.1/",
    "https://127.0.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://0X7F.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://0/",
    "https://0.0.0.0/",
    "https://3232235777/",
    "https://0xa9fea9fe/",
    "https://169.254.169.254/latest/meta-data/",
    "https://10.1/",
    "https://192.168.257/",
    "https://224.0.0.1/",
    "https://[::1]/",
    "https://[::]/",
    "https://[0:0:0:0:0:0:0:1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::FFFF:7F00:1]/",
    "https://[::127.0.0.1]/",
    "https://[fe80::1]/",
    "https://[fd00:ec2::254]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[2002:7f00:1::]/",
    "https://[ff02::1]/",
    "https://localhost/",
    "https://LOCALHOST:8443/",
    "https://localhost./",
    "https://hooks.localhost/",
    "https://127。0。0。1/",  # full-width dots
]


@pytest.mark.parametrize("url", PRIVATE_URLS)
def test_every_spelling_of_a_private_host_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_webhook_url(url, allow_private=False)

    assert refusal.value.code == "url_private_address"
    assert refusal.value.errors[0].pointer == "/url"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://hooks.example.com/", "url_not_https"),
        ("ftp://hooks.example.com/", "url_not_https"),
        ("javascript://hooks.example.com/%0a", "url_not_https"),
        ("https://ada:secret@hooks.example.com/", "url_has_user_info"),
        ("https://ada@hooks.example.com/", "url_has_user_info"),
        ("https://@hooks.example.com/", "url_has_user_info"),
        ("https://hooks.example.com@127.0.0.1/", "url_has_user_info"),
        ("https://hooks.example.com/#part", "url_invalid"),
        ("https://hooks.example.com/#", "url_invalid"),
        ("https://hooks.example.com:0/", "url_invalid"),
        ("https://hooks.example.com:65536/", "url_invalid"),
        ("https://hooks.example.com:https/", "url_invalid"),
        ("https://hooks example.com/", "url_invalid"),
        ("https://hooks.example.com/a b", "url_invalid"),
        ("https://hooks.example.com/\r\nX-Injected: 1", "url_invalid"),
        ("https://hooks.example.com/\x00", "url_invalid"),
        ("https://hooks.example.com\\@127.0.0.1/", "url_invalid"),
        ("https://127%2e0.0.1/", "url_invalid"),
        # Resolvers fold these into 127.0.0.1, 127.0.0.1 and localhost.
        ("https://１２７.0.0.1/", "url_invalid"),
        ("https://127\u20240\u20240\u20241/", "url_invalid"),
        ("https://ⓛocalhost/", "url_invalid"),
        ("https://local\u00adhost/", "url_invalid"),
        ("https://ⓔxample.com/", "url_invalid"),
        ("https://256.1.1.1/", "url_invalid"),
        ("https://1.1.1.1./", "url_invalid"),
        ("https://hooks.example.com:４４３/", "url_invalid"),
        ("https://hooks.example.com:+443/", "url_invalid"),
        ("https://hooks.example.com:4_43/", "url_invalid"),
        ("https://hooks.example.com/\ud800", "url_invalid"),
        ("https://[::1", "url_invalid"),
        ("https://[::1]hooks.example.com/", "url_invalid"),
        ("https://hooks.example.com[::1]/", "url_invalid"),
        ("https://[2606:4700:4700::1111]x:443/", "url_invalid"),
        ("https://[v1.fe80::a]/", "url_invalid"),
        ("https://[fe80::1%25eth0]/x", "url_private_address"),
        ("https://[hooks.example.com]/", "url_invalid"),
        ("https://a..example.com/", "url_invalid"),
        ("https://-a.example.com/", "url_invalid"),
        ("https://" + "a" * 64 + ".example.com/", "url_invalid"),
        ("https://" + "a." * 127 + "example/", "url_invalid"),
        ("https://134744072/", "url_invalid"),
        ("https:///path", "url_invalid"),
        ("https:hooks.example.com", "url_invalid"),
        ("hooks.example.com", "url_invalid"),
        ("", "url_invalid"),
        ("https://hooks.example.com/" + "a" * 2_000, "url_invalid"),
    ],
)
def test_malformed_url_is_refused(url: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_webhook_url(url, allow_private=False)

    assert refusal.value.code == code


@given(
    st.sampled_from(["{}", "https://{}/", "https://[{}]/", "https://hooks.example.com{}"]),
    st.text(max_size=40),
)
def test_any_text_is_either_accepted_or_refused(form: str, text: str) -> None:
    url = form.format(text)

    with contextlib.suppress(InvalidInput):
        sent = parse_webhook_url(url, allow_private=False)
        assert re.fullmatch(r"[a-z0-9_.:\[\]-]+", sent.host_port_subcomponent or "")
        assert re.fullmatch(r"/[!-~]*", sent.raw_path_qs)
        assert URL(str(sent), encoded=True) == sent


def test_url_of_2000_characters_is_accepted() -> None:
    url = "https://hooks.example.com/".ljust(2_000, "a")

    assert str(parse_webhook_url(url, allow_private=False)) == url


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9000/", "http://localhost/", "https://10.0.0.1/", "http://[::1]:9000/"],
)
def test_private_host_and_plain_http_are_accepted_where_private_hosts_are_allowed(url: str) -> None:
    assert str(parse_webhook_url(url, allow_private=True)) == url


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://127.0.0.1/", "url_not_https"),
        ("http://ada:secret@127.0.0.1/", "url_has_user_info"),
        ("http://127.1/", "url_invalid"),
    ],
)
def test_form_is_checked_where_private_hosts_are_allowed(url: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_webhook_url(url, allow_private=True)

    assert refusal.value.code == code


class Names:
    """Answers from a table; a name that is not in it does not resolve; records every look-up."""

    def __init__(self, addresses: dict[str, list[str]], delay_seconds: float = 0.0) -> None:
        self._addresses = addresses
        self._delay_seconds = delay_seconds
        self.lookups: list[str] = []

    async def resolve(self, host: str) -> list[str]:
        self.lookups.append(host)
        await asyncio.sleep(self._delay_seconds)
        if host not in self._addresses:
            raise OSError("no such name")
        return self._addresses[host]


@pytest.mark.parametrize(
    "addresses",
    [["10.0.0.7"], ["8.8.8.8", "10.0.0.7"], ["::1"], ["2606:4700::1", "fd00::1"]],
    ids=["private", "public and private", "loopback", "two of version 6"],
)
def test_name_with_a_private_address_is_refused(addresses: list[str]) -> None:
    names = Names({"hooks.example.com": addresses})

    with pytest.raises(InvalidInput) as refusal:
        asyncio.run(
            resolve_and_check("https://hooks.example.com/", allow_private=False, resolver=names)
        )

    assert refusal.value.code == "url_private_address"


def test_name_with_public_addresses_is_accepted() -> None:
    url = "https://Hooks.Example.com/a"
    names = Names({"hooks.example.com": ["8.8.8.8", "2606:4700::1"]})

    assert asyncio.run(resolve_and_check(url, allow_private=False, resolver=names)) == url


def test_name_that_does_not_resolve_is_accepted() -> None:
    url = "https://not-yet.example.com/"

    assert asyncio.run(resolve_and_check(url, allow_private=False, resolver=Names({}))) == url


def test_name_whose_lookup_hangs_is_accepted_in_time() -> None:
    url = "https://slow.example.com/"
    names = Names({"slow.example.com": ["10.0.0.7"]}, delay_seconds=30.0)

    async def check() -> str:
        async with asyncio.timeout(5):
            return await resolve_and_check(
                url, allow_private=False, resolver=names, limit_seconds=0.05
            )

    assert asyncio.run(check()) == url


def test_only_names_are_resolved_and_only_where_private_hosts_are_refused() -> None:
    names = Names({})

    async def check() -> None:
        await resolve_and_check("http://a.example.com/", allow_private=True, resolver=names)
        await resolve_and_check("https://1.1.1.1/", allow_private=False, resolver=names)

    asyncio.run(check())

    assert names.lookups == []


def test_a_malformed_url_is_refused_before_any_lookup() -> None:
    names = Names({})

    with pytest.raises(InvalidInput):
        asyncio.run(resolve_and_check("http://a.example.com/", allow_private=False, resolver=names))

    assert names.lookups == []


def test_the_system_resolver_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(host: str, port: int, *_: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    with pytest.raises(InvalidInput) as refusal:
        asyncio.run(resolve_and_check("https://intranet.example.com/", allow_private=False))

    assert refusal.value.code == "url_private_address"


def test_one_name_that_hangs_leaves_threads_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()
    looked_up: list[str] = []

    def getaddrinfo(host: str, *_: object) -> list[object]:
        looked_up.append(host)
        if host == "hangs.example.com":
            is_over.wait(30)
            raise OSError("no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    async def story() -> None:
        resolver = PooledResolver(max_threads=2)
        hanging = [asyncio.create_task(resolver.resolve("hangs.example.com")) for _ in range(8)]
        await asyncio.sleep(0)
        try:
            assert await resolver.resolve("hooks.example.com") == ["8.8.8.8"]
            assert looked_up.count("hangs.example.com") == 1
            hanging[0].cancel()
            is_over.set()
            done = await asyncio.gather(*hanging[1:], return_exceptions=True)
            assert [type(each) for each in done] == [OSError] * 7
        finally:
            is_over.set()
            resolver.close()

    asyncio.run(asyncio.wait_for(story(), 20))


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8000/in", "https://127.9.9.9/", "http://[::1]:9000/", "http://localhost/"],
)
def test_this_machine_is_accepted_where_loopback_is_allowed(url: str) -> None:
    parse_webhook_url(url, allow_private=False, allow_loopback=True)
    with pytest.raises(InvalidInput):
        parse_webhook_url(url, allow_private=False)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://10.0.0.1/", "url_not_https"),
        ("https://10.0.0.1/", "url_private_address"),
        ("https://169.254.169.254/", "url_private_address"),
        ("https://0.0.0.0/", "url_private_address"),
        ("http://example.com/", "url_not_https"),
        ("http://localhost.example.com/", "url_not_https"),
    ],
)
def test_no_other_private_host_is_accepted_where_loopback_is_allowed(url: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_webhook_url(url, allow_private=False, allow_loopback=True)
    assert refused.value.code == code


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_public_addresses_may_be_dialled_with_or_without_loopback(address: str) -> None:
    assert is_allowed(address, allow_loopback=False)
    assert is_allowed(address, allow_loopback=True)


@pytest.mark.parametrize("address", REFUSED_ADDRESSES)
def test_loopback_adds_only_this_machine_to_what_may_be_dialled(address: str) -> None:
    is_this_machine = address in ("127.0.0.1", "127.255.255.254", "::1")

    assert not is_allowed(address, allow_loopback=False)
    assert is_allowed(address, allow_loopback=True) == is_this_machine
