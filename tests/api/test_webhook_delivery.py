"""One webhook attempt, over real loopback connections."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from api.webhooks.webhook_delivery import Attempt, Sender, parse_retry_after, sign
from api.webhooks.webhook_urls import resolve_and_check
from storage.base.secrets import new_signing_secret
from storage.webhooks.deliveries import Outcome

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
BODY = '{"type":"leave_request.approved","data":{"user":"Ada Lovelace \u2764"}}'.encode()

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Receiver:
    """A loopback HTTP server that records requests and sends one scripted reply."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.port = 0
        self.connections = 0
        self.requests: list[tuple[str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks?tenant=7"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            line, *fields = head.strip().split("\r\n")
            headers = {
                name.lower(): value for name, value in (field.split(": ", 1) for field in fields)
            }
            body = await reader.readexactly(int(headers["content-length"]))
            self.requests.append((line, headers, body))
            await self._reply(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving(reply: Reply, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    receiver = Receiver(reply)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    async with server:
        yield receiver


def raw(content: bytes) -> Reply:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()

    return reply


def status(code: int, *fields: str, body: bytes = b"ok") -> Reply:
    head = [f"HTTP/1.1 {code} Word", f"Content-Length: {len(body)}", *fields]
    return raw("\r\n".join(head).encode() + b"\r\n\r\n" + body)


def dripping(head: bytes) -> Reply:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0.02)

    return reply


async def silent(_: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


def attempt_to(url: str, *secrets: str) -> Attempt:
    return Attempt(
        url=url, message_id="msg_1", body=BODY, secrets=secrets or (new_signing_secret(),)
    )


def attempted(
    reply: Reply,
    url: str = "http://127.0.0.1:{port}/hooks?tenant=7",
    tls: ssl.SSLContext | None = None,
    **options: Any,
) -> tuple[Outcome, Receiver]:
    """The outcome of one attempt, and the receiver on this machine to whose port it went."""

    async def run() -> tuple[Outcome, Receiver]:
        async with receiving(reply, tls) as receiver, Sender(**options) as sender:
            attempt = attempt_to(url.format(port=receiver.port))
            return await sender.attempt(attempt, NOW), receiver

    return asyncio.run(run())


def outcome_of(reply: Reply, **options: Any) -> Outcome:
    return attempted(reply, allow_private=True, **options)[0]


class Script:
    """Resolves to one list of addresses after the other; the last one repeats."""

    def __init__(self, *responses: list[str], delay_seconds: float = 0.0) -> None:
        self._answers = list(responses)
        self._delay_seconds = delay_seconds

    async def resolve(self, host: str) -> list[str]:
        await asyncio.sleep(self._delay_seconds)
        addresses = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if not addresses:
            raise OSError("no such name")
        return addresses


def test_the_official_library_accepts_the_received_bytes_and_signature() -> None:
    secret = new_signing_secret()
    now = datetime.fromtimestamp(time.time(), UTC)  # the library compares with the real clock

    async def run() -> tuple[Outcome, Receiver]:
        empty = status(204, body=b"")
        async with receiving(empty) as receiver, Sender(allow_private=True) as sender:
            return await sender.attempt(attempt_to(receiver.url, secret), now), receiver

    outcome, receiver = asyncio.run(run())

    line, headers, body = receiver.requests[0]
    assert outcome.verdict == "delivered"
    assert (outcome.status_code, outcome.error) == (204, None)
    assert line == "POST /hooks?tenant=7 HTTP/1.1"
    assert body == BODY
    assert headers["webhook-id"] == "msg_1"
    assert headers["webhook-timestamp"] == str(int(now.timestamp()))
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == "Hiatus-Webhooks/1"
    assert standardwebhooks.Webhook(secret).verify(body, headers)


def test_a_request_has_only_these_headers() -> None:
    _, receiver = attempted(status(200), allow_private=True)

    _, headers, _ = receiver.requests[0]
    signature = headers.pop("webhook-signature")
    assert signature.startswith("v1,")
    assert headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "user-agent": "Hiatus-Webhooks/1",
        "content-type": "application/json",
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "keep-alive",
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(NOW.timestamp())),
        "content-length": str(len(BODY)),
    }


def test_path_and_query_are_sent_as_they_were_typed() -> None:
    typed = "/%7Ehooks/%2f?sig=a%2Fb%2b%3D&to=/a:b@c+d%20e"

    _, receiver = attempted(status(200), f"http://127.0.0.1:{{port}}{typed}", allow_private=True)

    assert receiver.requests[0][0] == f"POST {typed} HTTP/1.1"


def test_both_secrets_sign_while_one_replaces_the_other() -> None:
    new, old = new_signing_secret(), new_signing_secret()
    now = datetime.fromtimestamp(time.time(), UTC)  # the library compares with the real clock
    timestamp_seconds = int(now.timestamp())

    signature = sign("msg_1", timestamp_seconds, BODY, [new, old])

    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(timestamp_seconds),
        "webhook-signature": signature,
    }
    assert len(signature.split(" ")) == 2
    assert standardwebhooks.Webhook(new).verify(BODY, headers)
    assert standardwebhooks.Webhook(old).verify(BODY, headers)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(new_signing_secret()).verify(BODY, headers)


def test_signature_equals_the_example_of_the_specification() -> None:
    signature = sign(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )

    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_new_secret_is_32_random_bytes() -> None:
    first, second = new_signing_secret(), new_signing_secret()

    assert first != second
    assert first.startswith("whsec_")
    assert len(base64.b64decode(first.removeprefix("whsec_"))) == 32


def test_an_attempt_without_a_secret_sends_nothing() -> None:
    async def story() -> tuple[Outcome, int]:
        async with receiving(status(204)) as receiver, Sender(allow_private=True) as sender:
            outcome = await sender.attempt(
                Attempt(url=receiver.url, message_id="msg_1", body=BODY, secrets=()), NOW
            )
            return outcome, len(receiver.requests)

    outcome, received = asyncio.run(story())

    assert (outcome.verdict, outcome.error, received) == ("unsigned", "secret_unreadable", 0)


@pytest.mark.parametrize(
    ("code", "verdict", "error", "at_least_60_seconds"),
    [
        (200, "delivered", None, False),
        (202, "delivered", None, False),
        (299, "delivered", None, False),
        (300, "retry", "redirect", False),
        (304, "retry", "redirect", False),
        (400, "retry", "bad_status", False),
        (404, "retry", "bad_status", False),
        (410, "gone", "bad_status", False),
        (429, "retry", "bad_status", True),
        (500, "retry", "bad_status", False),
        (503, "retry", "bad_status", False),
        (799, "retry", "bad_status", False),
    ],
)
def test_the_status_decides_the_outcome(
    code: int, verdict: str, error: str | None, at_least_60_seconds: bool
) -> None:
    outcome = outcome_of(status(code, body=b""))

    assert outcome.verdict == verdict
    assert outcome.status_code == code
    assert outcome.error == error
    assert outcome.at_least_60_seconds is at_least_60_seconds


def test_the_response_is_stored_for_admins() -> None:
    outcome = outcome_of(status(500, body=b"\xff\x00 it broke"))

    assert outcome.response_excerpt == b"\xff\x00 it broke"
    assert 0 <= outcome.duration_ms < 30_000


def test_only_4096_bytes_of_an_endless_response_are_read() -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 1_000)
            await writer.drain()

    outcome = outcome_of(endless)

    assert outcome.verdict == "delivered"
    assert outcome.response_excerpt == b"x" * 4_096


def test_compressed_response_is_not_decompressed() -> None:
    outcome = outcome_of(status(200, "Content-Encoding: gzip", body=b"no gzip at all"))

    assert outcome.verdict == "delivered"
    assert outcome.response_excerpt == b"no gzip at all"


def test_redirect_is_not_followed() -> None:
    async def run() -> tuple[Outcome, Receiver, Receiver]:
        async with receiving(status(200)) as target:
            moved = status(302, f"Location: {target.url}")
            async with receiving(moved) as receiver, Sender(allow_private=True) as sender:
                outcome = await sender.attempt(attempt_to(receiver.url), NOW)
                return outcome, receiver, target

    outcome, receiver, target = asyncio.run(run())

    assert (outcome.verdict, outcome.status_code, outcome.error) == ("retry", 302, "redirect")
    assert (receiver.connections, target.connections) == (1, 0)


@pytest.mark.parametrize(
    ("reply", "status_code"),
    [
        (silent, None),
        (dripping(b"HTTP/1.1 200 OK\r\nX-Slow: "), None),
        (dripping(b"HTTP/1.1 200 OK\r\n\r\n"), 200),
        (dripping(b"HTTP/1.1 500 No\r\n\r\n"), 500),
    ],
    ids=["says nothing", "drips its head", "drips its body", "drips a refusal"],
)
def test_whole_attempt_has_one_time_limit(reply: Reply, status_code: int | None) -> None:
    outcome = outcome_of(reply, attempt_seconds=0.8)

    assert (outcome.verdict, outcome.error) == ("retry", "timeout")
    assert outcome.status_code == status_code
    assert outcome.at_least_60_seconds
    assert 780 <= outcome.duration_ms < 10_000


def test_a_410_counts_with_a_trickling_body() -> None:
    outcome = outcome_of(dripping(b"HTTP/1.1 410 Gone\r\n\r\n"), attempt_seconds=0.8)

    assert outcome.verdict == "gone"


def test_truncated_body_does_not_undo_a_2xx() -> None:
    outcome = outcome_of(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhal"))

    assert (outcome.verdict, outcome.error) == ("delivered", None)
    assert outcome.response_excerpt == b"hal"


ODD: dict[str, tuple[bytes, bytes]] = {
    "a body behind a 204": (b"204 No Content\r\nContent-Length: 5\r\n\r\nhello", b""),
    "a chunked body behind a 204": (
        b"204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"",
    ),
    "a page behind a 204 of HTTP/1.0": (b"204 No Content\r\n\r\n<html>", b""),
    "a length given twice": (
        b"200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        b"ok",
    ),
    "a length and chunks": (
        b"200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"",
    ),
    "a header of 32 KiB": (
        b"200 OK\r\nContent-Length: 2\r\nX: " + b"y" * 32_768 + b"\r\n\r\nok",
        b"ok",
    ),
    "600 cookies": (
        b"200 OK\r\nContent-Length: 2\r\n" + b"Set-Cookie: a=b\r\n" * 600 + b"\r\nok",
        b"ok",
    ),
    "3,000 cookies": (
        b"200 OK\r\nContent-Length: 2\r\n" + b"Set-Cookie: a=b\r\n" * 3_000 + b"\r\nok",
        b"ok",
    ),
    "a reason that is not text": (b"200 \xff\xfe\r\nContent-Length: 2\r\n\r\nok", b"ok"),
    "a header that is none": (b"200 OK\r\nno colon here\r\n\r\nok", b"ok"),
    "an early hint before": (
        b"103 Early Hints\r\nLink: </>\r\n\r\nHTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok",
        b"",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_a_2xx_counts_as_delivered_with_any_body(name: str) -> None:
    content, excerpt = ODD[name]

    outcome = outcome_of(raw(b"HTTP/1.1 " + content))

    assert (outcome.verdict, outcome.error) == ("delivered", None)
    assert outcome.status_code in (200, 204)
    assert outcome.response_excerpt.startswith(excerpt)


LONG_HEADS = {
    "one field": (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1_000),
    "many fields": (b"HTTP/1.1 200 OK\r\n", b"X-Filler: " + b"y" * 988 + b"\r\n"),
    "many early hints": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n" * 20),
    "a status line": (b"HTTP/1.1 200 ", b"y" * 1_000),
    "no line": (b"", b"y" * 1_000),
}


@pytest.mark.parametrize("name", LONG_HEADS)
def test_a_head_of_64_megabytes_fails_after_64_kilobytes(name: str) -> None:
    start, part = LONG_HEADS[name]
    taken = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal taken
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        writer.transport.set_write_buffer_limits(0)
        writer.write(start)
        for _ in range(64_000_000 // len(part)):
            writer.write(part)
            await writer.drain()
            taken += len(part)

    outcome = outcome_of(endless)

    assert (outcome.verdict, outcome.error) == ("retry", "invalid_response")
    assert outcome.status_code is None
    assert outcome.response_excerpt == (start + part * 6)[:4_096]
    # With what the kernel keeps between the two sockets.
    assert 64_000 < taken < 1_000_000


def test_a_long_head_and_the_start_of_a_body_fit() -> None:
    fields = b"X-Filler: " + b"y" * 988 + b"\r\n"

    outcome = outcome_of(raw(b"HTTP/1.1 500 No\r\n" + fields * 60 + b"\r\n" + b"x" * 100_000))

    assert (outcome.status_code, outcome.error) == (500, "bad_status")
    assert outcome.response_excerpt == b"x" * 4_096


@pytest.mark.parametrize(
    ("line", "verdict", "error"),
    [
        (b"500 Oh No", "retry", "bad_status"),
        (b"301 Moved", "retry", "redirect"),
        (b"410 Gone", "gone", "bad_status"),
    ],
)
def test_a_malformed_response_is_judged_by_its_status_line(
    line: bytes, verdict: str, error: str
) -> None:
    twice = b"Content-Length: 2\r\nContent-Length: 2\r\n"
    outcome = outcome_of(raw(b"HTTP/1.1 " + line + b"\r\n" + twice + b"Retry-After: 7\r\n\r\nno"))

    assert (outcome.verdict, outcome.error) == (verdict, error)
    assert outcome.status_code == int(line[:3])
    assert outcome.response_excerpt == b"no"
    assert outcome.retry_after_seconds == (None if verdict == "gone" else 7)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "disconnected"),
        (b"SSH-2.0-OpenSSH_9.7\r\n\r\n", "invalid_response"),
        (b"HTTP/1.1 20", "disconnected"),
    ],
    ids=["hangs up", "speaks something else", "half a status line"],
)
def test_receiver_without_http_is_tried_again(content: bytes, error: str) -> None:
    outcome, receiver = attempted(raw(content), allow_private=True)

    assert (outcome.verdict, outcome.status_code, outcome.error) == ("retry", None, error)
    assert outcome.response_excerpt == content
    assert receiver.connections == 1
    assert not outcome.at_least_60_seconds


def test_closed_port_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        port = closed_soon.getsockname()[1]

    async def run() -> Outcome:
        async with Sender(allow_private=True) as sender:
            return await sender.attempt(attempt_to(f"http://127.0.0.1:{port}/"), NOW)

    outcome = asyncio.run(run())

    assert (outcome.verdict, outcome.error) == ("retry", "connect_failed")


@pytest.mark.parametrize(
    ("resolver", "error"),
    [
        (Script([]), "name_not_resolved"),
        (Script(["127.0.0.1"], delay_seconds=20.0), "timeout"),
    ],
    ids=["unknown name", "lookup hangs"],
)
def test_name_without_answer_is_tried_again(resolver: Script, error: str) -> None:
    async def run() -> Outcome:
        async with Sender(resolver=resolver, connect_seconds=0.1) as sender:
            return await sender.attempt(attempt_to("https://hooks.example.com/"), NOW)

    outcome = asyncio.run(run())

    assert (outcome.verdict, outcome.error) == ("retry", error)
    assert outcome.duration_ms < 10_000


def test_connecting_with_tls_has_a_time_limit_of_its_own() -> None:
    outcome = outcome_of(
        silent, url="https://127.0.0.1:{port}/", connect_seconds=0.2, attempt_seconds=60.0
    )

    assert (outcome.verdict, outcome.error) == ("retry", "timeout")
    assert outcome.duration_ms < 30_000


def test_name_that_becomes_private_is_not_dialled() -> None:
    async def run() -> tuple[Outcome, Receiver]:
        async with receiving(status(200)) as receiver:
            url = f"https://rebind.example.com:{receiver.port}/"
            resolver = Script(["8.8.8.8"], ["127.0.0.1"])
            await resolve_and_check(url, allow_private=False, resolver=resolver)
            async with Sender(resolver=resolver) as sender:
                return await sender.attempt(attempt_to(url), NOW), receiver

    outcome, receiver = asyncio.run(run())

    assert (outcome.verdict, outcome.error) == ("retry", "private_address")
    assert outcome.status_code is None
    assert receiver.connections == 0


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["127.0.0.1", "::1", "10.0.0.7"], ["0.0.0.0"]],
    ids=["loopback", "loopback 6", "mapped", "several", "unspecified"],
)
def test_every_private_address_is_refused(addresses: list[str]) -> None:
    url = "https://hooks.example.com:{port}/"

    outcome, receiver = attempted(status(200), url, resolver=Script(addresses))

    assert (outcome.error, receiver.connections) == ("private_address", 0)


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("https://127.0.0.1:{port}/", "private_address"),
        ("https://[::1]:{port}/", "private_address"),
        ("https://2130706433:{port}/", "private_address"),
        ("https://localhost:{port}/", "private_address"),
        ("http://hooks.example.com:{port}/", "invalid_url"),
        ("https://hooks.example.com:{port}/#x", "invalid_url"),
        ("nonsense", "invalid_url"),
    ],
)
def test_url_is_checked_again_at_every_attempt(url: str, error: str) -> None:
    outcome, receiver = attempted(status(200), url, resolver=Script([]))

    assert (outcome.verdict, outcome.error) == ("retry", error)
    assert receiver.connections == 0


def test_the_next_address_is_tried_if_one_refuses_the_connection() -> None:
    names = Script(["127.0.0.2", "127.0.0.1"])

    outcome = outcome_of(status(200), url="http://hooks.example.com:{port}/", resolver=names)

    assert outcome.verdict == "delivered"


def test_refusal_of_one_attempt_is_not_blamed_on_another() -> None:
    async def run() -> tuple[Outcome, Outcome]:
        async with Sender(resolver=Script(["127.0.0.1"], [])) as sender:
            return await asyncio.gather(
                sender.attempt(attempt_to("https://a.example.com/"), NOW),
                sender.attempt(attempt_to("https://b.example.com/"), NOW),
            )

    assert [outcome.error for outcome in asyncio.run(run())] == [
        "private_address",
        "name_not_resolved",
    ]


def test_cookies_are_not_carried_from_one_attempt_to_the_next() -> None:
    async def run() -> Receiver:
        baking = status(200, "Set-Cookie: who=ada; Path=/")
        async with receiving(baking) as receiver, Sender(allow_private=True) as sender:
            await sender.attempt(attempt_to(receiver.url), NOW)
            await sender.attempt(attempt_to(receiver.url), NOW)
            return receiver

    receiver = asyncio.run(run())

    assert ["cookie" in headers for _, headers, _ in receiver.requests] == [False, False]
    assert receiver.connections == 2


def test_proxy_settings_of_the_machine_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9/")

    assert outcome_of(status(200)).verdict == "delivered"


def test_waiting_for_a_connection_is_not_held_against_the_receiver() -> None:
    async def slowly(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.6)
        await status(200)(writer)

    async def run() -> list[Outcome]:
        # The last of four waits for longer than an attempt may take.
        sender = Sender(allow_private=True, max_connections=1, attempt_seconds=1.7)
        async with receiving(slowly) as receiver, sender:
            attempts = [sender.attempt(attempt_to(receiver.url), NOW) for _ in range(4)]
            return await asyncio.gather(*attempts)

    assert [outcome.verdict for outcome in asyncio.run(run())] == ["delivered"] * 4


def test_no_more_connections_than_allowed_are_open_at_once() -> None:
    open_now: list[int] = [0]
    most_open: list[int] = [0]

    async def slowly(writer: asyncio.StreamWriter) -> None:
        open_now[0] += 1
        most_open[0] = max(most_open[0], open_now[0])
        await asyncio.sleep(0.2)
        open_now[0] -= 1
        await status(200)(writer)

    async def run() -> list[Outcome]:
        sender = Sender(allow_private=True, max_connections=3)
        async with receiving(slowly) as receiver, sender:
            attempts = [sender.attempt(attempt_to(receiver.url), NOW) for _ in range(9)]
            return await asyncio.gather(*attempts)

    assert [outcome.verdict for outcome in asyncio.run(run())] == ["delivered"] * 9
    assert most_open == [3]


def test_cancelled_attempt_ends_at_once_and_frees_its_connection() -> None:
    async def run() -> Outcome:
        sender = Sender(allow_private=True, max_connections=1)
        async with receiving(silent) as hung, receiving(status(200)) as receiver, sender:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(sender.attempt(attempt_to(hung.url), NOW), 0.1)
            return await sender.attempt(attempt_to(receiver.url), NOW)

    assert asyncio.run(run()).verdict == "delivered"


def certificate_for(name: str, directory: Path) -> tuple[ssl.SSLContext, str]:
    """A server's context with a self-signed certificate, and the file that makes it trusted."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    names = [x509.DNSName(name), x509.IPAddress(ipaddress.ip_address("192.0.2.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate_pem = certificate.public_bytes(serialization.Encoding.PEM)
    key_pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    both = directory / "both.pem"
    both.write_bytes(key_pem + certificate_pem)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(both)
    ca_file = directory / "ca.pem"
    ca_file.write_bytes(certificate_pem)
    return server, str(ca_file)


@pytest.mark.parametrize(
    ("host", "error"),
    [
        ("right.example.com", None),
        ("right.example.com.", None),
        ("wrong.example.com", "tls_failed"),
        ("127.0.0.1", "tls_failed"),
    ],
)
def test_certificate_must_bear_the_host_of_the_url(
    host: str, error: str | None, tmp_path: Path
) -> None:
    server_tls, ca_file = certificate_for("right.example.com", tmp_path)

    outcome, receiver = attempted(
        status(200),
        f"https://{host}:{{port}}/",
        server_tls,
        allow_private=True,
        resolver=Script(["127.0.0.1"]),
        ca_file=ca_file,
    )

    assert outcome.error == error
    assert len(receiver.requests) == (1 if error is None else 0)


def test_certificate_of_an_unknown_issuer_is_refused(tmp_path: Path) -> None:
    server_tls, _ = certificate_for("right.example.com", tmp_path)

    url, names = "https://right.example.com:{port}/", Script(["127.0.0.1"])

    assert outcome_of(status(200), url=url, tls=server_tls, resolver=names).error == "tls_failed"


def test_certificates_of_the_system_and_of_the_ca_file_are_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("public.example.com", "internal.example.com", "unknown.example.com")
    for name in names:
        (tmp_path / name).mkdir()
    servers = {name: certificate_for(name, tmp_path / name) for name in names}
    # Where OpenSSL finds the system's certificates.
    monkeypatch.setenv("SSL_CERT_FILE", servers["public.example.com"][1])

    outcomes = [
        outcome_of(
            status(200),
            url=f"https://{name}:{{port}}/",
            tls=servers[name][0],
            resolver=Script(["127.0.0.1"]),
            ca_file=servers["internal.example.com"][1],
        )
        for name in names
    ]

    assert [outcome.error for outcome in outcomes] == [None, None, "tls_failed"]


def test_retry_after_is_read_from_an_answer() -> None:
    later = NOW + timedelta(minutes=5)

    in_seconds = outcome_of(status(503, "Retry-After: 120"))
    as_date = outcome_of(status(429, f"Retry-After: {later:%a, %d %b %Y %H:%M:%S} GMT"))
    delivered = outcome_of(status(200, "Retry-After: 120"))

    assert in_seconds.retry_after_seconds == 120
    assert as_date.retry_after_seconds == 300
    assert delivered.retry_after_seconds is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        (" 17 ", 17),
        ("Mon, 02 Mar 2026 09:31:00 GMT", 60),
        ("Monday, 02-Mar-26 09:31:00 GMT", 60),
        ("Mon Mar  2 09:31:00 2026", 60),
        ("Mon, 02 Mar 2026 09:00:00 GMT", 0),
        ("Mon, 02 Mar 2026 10:31:00 +0100", 60),
        (None, None),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("9" * 5_000, None),
        ("soon", None),
        ("Mon, 99 Mar 2026 09:31:00 GMT", None),
        ("Mon, 02 Mar 99999999 09:31:00 GMT", None),
        ("\u0661\u0662", None),
    ],
)
def test_retry_after_may_be_seconds_or_a_date(value: str | None, seconds: int | None) -> None:
    assert parse_retry_after(value, NOW) == seconds
