"""Connections that are reused between attempts: few, briefly, and only to public addresses."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from api.webhooks.webhook_delivery import Sender
from storage.webhooks.deliveries import Outcome
from tests.api.test_webhook_delivery import NOW, Script, attempt_to, certificate_for

NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"

# The response to a connection's first, second … request; None closes the connection instead.
Reply = Callable[[int], bytes | None]


class Receiver:
    """A loopback HTTP server that serves many requests on each connection.

    ``late`` is sent shortly after each response.
    """

    def __init__(self, reply: Reply, late: bytes) -> None:
        self._reply = reply
        self._late = late
        self.port = 0
        self.connections = 0
        self.heads: list[str] = []
        self.has_sent_late = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = 0
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = head.split("content-length: ")[1].split("\r\n")[0]
                await reader.readexactly(int(length))
                self.heads.append(head)
                number += 1
                reply = self._reply(number)
                if reply is None:
                    break
                writer.write(reply)
                await writer.drain()
                if self._late:
                    await asyncio.sleep(0.02)
                    writer.write(self._late)
                    self.has_sent_late.set()
                if not reply.startswith(b"HTTP/1.1 204") or "connection: close" in head:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving(
    reply: Reply = lambda _: NO_CONTENT, late: bytes = b"", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    receiver = Receiver(reply, late)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    async with server:
        yield receiver


def run(story: Callable[[], Awaitable[None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(60):
            await story()

    asyncio.run(in_time())


def test_consecutive_attempts_share_a_connection() -> None:
    async def story() -> None:
        async with receiving() as receiver, Sender(allow_private=True) as sender:
            for _ in range(3):
                outcome = await sender.attempt(attempt_to(receiver.url), NOW)
                assert outcome.verdict == "delivered"
            assert (receiver.connections, len(receiver.heads)) == (1, 3)

    run(story)


def test_a_connection_is_reused_for_a_few_seconds_only() -> None:
    async def story() -> None:
        sender = Sender(allow_private=True, reuse_seconds=0.05)
        async with receiving() as receiver, sender:
            for _ in range(2):
                await sender.attempt(attempt_to(receiver.url), NOW)
                await asyncio.sleep(0.1)
            assert receiver.connections == 2

    run(story)


def test_a_closed_connection_costs_no_attempt() -> None:
    async def story() -> None:
        first_only: Reply = lambda number: NO_CONTENT if number == 1 else None  # noqa: E731
        async with receiving(first_only) as receiver, Sender(allow_private=True) as sender:
            outcomes = [await sender.attempt(attempt_to(receiver.url), NOW) for _ in range(2)]

            assert [outcome.verdict for outcome in outcomes] == ["delivered"] * 2
            # The second attempt sent the same bytes twice.
            assert receiver.connections == 2
            assert len(receiver.heads) == 3
            assert receiver.heads[1] == receiver.heads[2]

    run(story)


def test_a_partial_response_is_not_requested_again() -> None:
    async def story() -> None:
        broken: Reply = lambda number: NO_CONTENT if number == 1 else b"HTTP/1.1 2"  # noqa: E731
        refused: Reply = (  # noqa: E731
            lambda number: NO_CONTENT if number == 1 else b"HTTP/1.1 500 No\r\nX-Half: "
        )
        for reply in (broken, refused):
            async with receiving(reply) as receiver, Sender(allow_private=True) as sender:
                await sender.attempt(attempt_to(receiver.url), NOW)
                outcome = await sender.attempt(attempt_to(receiver.url), NOW)

                assert outcome.verdict == "retry"

    run(story)


def test_only_one_reused_connection_is_tried() -> None:
    async def story() -> None:
        first_only: Reply = lambda number: NO_CONTENT if number == 1 else None  # noqa: E731
        async with receiving(first_only) as receiver, Sender(allow_private=True) as sender:
            attempts = [sender.attempt(attempt_to(receiver.url), NOW) for _ in range(2)]
            await asyncio.gather(*attempts)
            assert receiver.connections == 2

            outcome = await sender.attempt(attempt_to(receiver.url), NOW)

            assert (outcome.verdict, receiver.connections) == ("delivered", 3)

    run(story)


def test_an_unrequested_response_is_discarded() -> None:
    async def story() -> None:
        async with (
            receiving(late=NO_CONTENT) as receiver,
            Sender(allow_private=True) as sender,
        ):
            for _ in range(2):
                receiver.has_sent_late.clear()
                await sender.attempt(attempt_to(receiver.url), NOW)
                await receiver.has_sent_late.wait()
                await asyncio.sleep(0.05)
            assert (receiver.connections, len(receiver.heads)) == (2, 2)

    run(story)


@pytest.mark.parametrize(
    "head", [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"], ids=["length", "chunks"]
)
def test_a_connection_with_a_body_after_a_204_is_not_reused(head: bytes) -> None:
    async def story() -> None:
        reply: Reply = lambda _: b"HTTP/1.1 204 No Content\r\n" + head + b"\r\n"  # noqa: E731
        async with (
            receiving(reply, late=b"hello") as receiver,
            Sender(allow_private=True) as sender,
        ):
            for _ in range(20):
                outcome = await sender.attempt(attempt_to(receiver.url), NOW)
                assert (outcome.verdict, outcome.status_code) == ("delivered", 204)
            assert (receiver.connections, len(receiver.heads)) == (20, 20)

    run(story)


def test_an_unannounced_body_does_not_fail_the_delivery() -> None:
    async def story() -> None:
        stray: Reply = lambda number: NO_CONTENT if number == 1 else b"hello" + NO_CONTENT  # noqa: E731
        async with receiving(stray) as receiver, Sender(allow_private=True) as sender:
            outcomes = [await sender.attempt(attempt_to(receiver.url), NOW) for _ in range(2)]

            assert [outcome.verdict for outcome in outcomes] == ["delivered"] * 2
            assert receiver.connections == 2

    run(story)


def test_idle_connections_have_the_limit_of_open_ones() -> None:
    async def story() -> None:
        sender = Sender(allow_private=True, max_connections=1)
        async with receiving() as first, receiving() as second, sender:
            for receiver in (first, second, first):
                await sender.attempt(attempt_to(receiver.url), NOW)
            assert (first.connections, second.connections) == (2, 1)

    run(story)


def test_a_truncated_response_closes_its_connection() -> None:
    long = b"HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n" + b"x" * 500_000

    async def story() -> None:
        async with receiving(lambda _: long) as receiver, Sender(allow_private=True) as sender:
            for _ in range(2):
                outcome: Outcome = await sender.attempt(attempt_to(receiver.url), NOW)
                assert outcome.response_excerpt == b"x" * 4_096
            assert receiver.connections == 2

    run(story)


def test_a_connection_is_reused_for_the_same_name_only(tmp_path: Path) -> None:
    server_tls, ca_file = certificate_for("right.example.com", tmp_path)

    async def story() -> None:
        sender = Sender(allow_private=True, resolver=Script(["127.0.0.1"]), ca_file=ca_file)
        async with receiving(tls=server_tls) as receiver, sender:
            outcomes = [
                await sender.attempt(attempt_to(f"https://{name}:{receiver.port}/"), NOW)
                for name in ("right.example.com", "wrong.example.com", "right.example.com")
            ]
            assert [outcome.error for outcome in outcomes] == [None, "tls_failed", None]
            assert len(receiver.heads) == 2

    run(story)
