"""Trailer fields of a chunked request are not headers; over raw sockets to real processes."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from tests.flows.running import Deployment, Server

pytestmark = pytest.mark.slow

CLOSE = "Connection: close"
BODY = b'{"name":"Research"}'


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return Deployment(f"sqlite:///{tmp_path_factory.mktemp('trailers')}/hiatus.db")


@pytest.fixture(scope="module")
def api_key(deployment: Deployment) -> str:
    deployment.command("migrate")
    return str(deployment.init()["api_key"])


@pytest.fixture(scope="module")
def server(deployment: Deployment, api_key: str) -> Iterator[Server]:
    with deployment.serving() as server:
        yield server


def chunked(path: str, fields: list[str], trailer: list[str], body: bytes = BODY) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", *fields, "", ""]
    end = ["", "0", *trailer, "", ""]
    return "\r\n".join(head).encode() + b"%x\r\n" % len(body) + body + "\r\n".join(end).encode()


def answered(server: Server, *requests: bytes) -> list[tuple[int, str]]:
    """Status and body of each response on one connection, which ends with the last."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"".join(requests))
        received = b""
        while True:
            part = connection.recv(65_536)
            if not part:
                break
            received += part
    responses = received.split(b"HTTP/1.1 ")[1:]
    return [
        (int(response[:3]), response.partition(b"\r\n\r\n")[2].decode()) for response in responses
    ]


def test_a_key_in_a_trailer_does_not_authenticate(server: Server, api_key: str) -> None:
    key, json_type = f"Authorization: Bearer {api_key}", "Content-Type: application/json"

    [(in_head, _), (in_trailer, _)] = answered(
        server,
        chunked("/api/v1/departments", [key, json_type], []),
        chunked("/api/v1/departments", [json_type, CLOSE], [key]),
    )

    assert (in_head, in_trailer) == (201, 401)


def test_the_address_in_the_log_and_the_request_id_are_not_those_of_a_trailer(
    deployment: Deployment, api_key: str
) -> None:
    forged = ["X-Forwarded-For: 203.0.113.9", "X-Request-Id: forged"]
    fields = ["X-Forwarded-For: 198.51.100.7", "X-Request-Id: given", CLOSE]
    with deployment.serving() as server:
        answered(server, chunked("/api/v1/departments", fields, forged))
        answered(server, chunked("/api/v1/departments", [CLOSE], forged))
        server.stop()
        lines = [json.loads(line) for line in server.logged().splitlines()]

    requests = [line for line in lines if line.get("route") == "/api/v1/departments"]
    assert [line["client_address"] for line in requests] == ["198.51.100.7", "127.0.0.1"]
    assert requests[0]["request_id"] == "given"
    assert requests[1]["request_id"] != "forged"


@pytest.mark.parametrize(
    "framing",
    [
        ["Transfer-Encoding: chunked", "Content-Length: 5"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: +5"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding : chunked"],
    ],
)
def test_a_request_of_unclear_length_is_refused(server: Server, framing: list[str]) -> None:
    head = "\r\n".join(["POST /api/v1/departments HTTP/1.1", "Host: a", *framing, "", ""])
    smuggled = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

    [(status, _)] = answered(server, f"{head}0\r\n\r\n{smuggled}".encode())

    assert status == 400


def test_a_length_in_a_trailer_does_not_move_the_next_request(server: Server) -> None:
    trailer = ["Content-Length: 30", "Transfer-Encoding: gzip"]
    request = chunked("/no-such-path", [], trailer)

    answers = answered(
        server, request, f"GET /healthz HTTP/1.1\r\nHost: a\r\n{CLOSE}\r\n\r\n".encode()
    )

    assert [status for status, _ in answers] == [400]
