"""nginx and Caddy with the documented files, in front of real processes."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from api.http.rate_limits import FAILURE_LIMIT
from tests import outside, reverse_proxies
from tests.flows.running import Deployment
from tests.reverse_proxies import CADDY_THAT_REPEATS, NAME, Proxy

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize(
        "name",
        [
            pytest.param(
                name,
                marks=pytest.mark.skipif(
                    reverse_proxies.PROGRAMS[name] is None,
                    reason=f"{name} is not installed: `apt-get install {name}` adds it.",
                ),
            )
            for name in ("nginx", "caddy")
        ],
    ),
]

# Clients at other addresses of this machine are no proxies.
PROXY_ALONE = {"HIATUS_TRUSTED_PROXIES": "127.0.0.1"}
CLIENT, ANOTHER_CLIENT = "127.0.0.2", "127.0.0.3"
KEY_NAMES = [f"key {number}" for number in range(150)]
# More than the work takes, on a machine that is busy with something else.
GIVE_UP_SECONDS = 90
OK, STOP = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", b"stop"
# More than the documented 30, and less than nginx allows by itself.
SLOW_SECONDS = 50


@pytest.fixture
def deployment(sqlite_url: str) -> Deployment:
    return Deployment(sqlite_url, **PROXY_ALONE, HIATUS_SCHEDULER="off")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The proxy's files."""
    folder = tmp_path / "proxy"
    folder.mkdir()
    return folder


def test_http_is_redirected_to_https(name: str, folder: Path, deployment: Deployment) -> None:
    with (
        deployment.serving() as server,
        reverse_proxies.running(name, folder, [server.port]) as proxy,
        proxy.client() as http,
    ):
        redirect = httpx.get(f"http://127.0.0.1:{proxy.http_port}/docs", headers={"Host": NAME})
        page = http.get("/docs")

    assert redirect.status_code in (301, 308)
    location = httpx.URL(redirect.headers["Location"])
    assert (location.scheme, location.host, location.path) == ("https", NAME, "/docs")
    assert page.status_code == 200
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_paths_for_operators_are_hidden(
    name: str, path: str, folder: Path, deployment: Deployment
) -> None:
    encoded = f"/%{ord(path[1]):x}{path[2:]}"
    spellings = [path, f"{path}?x=1", f"/{path}", f"{path}/", f"/docs/..{path}", encoded]
    with (
        deployment.serving() as server,
        reverse_proxies.running(name, folder, [server.port]) as proxy,
    ):
        direct = httpx.get(f"{server.url}{path}")
        statuses = {spelling: _status_of(proxy, spelling) for spelling in spellings}

    assert direct.status_code == 200
    assert {spelling: status for spelling, status in statuses.items() if status == 200} == {}
    assert statuses[path] == 404


def _status_of(proxy: Proxy, target: str) -> int:
    """The status of a GET whose path is sent exactly so."""
    with _connection(proxy) as connection:
        head = f"GET {target} HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        return int(connection.recv(4096).split()[1])


@contextmanager
def _connection(proxy: Proxy) -> Iterator[socket.socket]:
    with (
        socket.create_connection(("127.0.0.1", proxy.https_port), SLOW_SECONDS) as plain,
        proxy.tls.wrap_socket(plain, server_hostname=NAME) as connection,
    ):
        yield connection


def test_the_client_is_whom_the_proxy_sees(name: str, folder: Path, deployment: Deployment) -> None:
    with (
        deployment.serving() as server,
        reverse_proxies.running(name, folder, [server.port]) as proxy,
        proxy.client(local_address=CLIENT) as http,
    ):
        http.get("/healthz", headers={"X-Forwarded-For": "203.0.113.9"})

    lines = [json.loads(line) for line in server.logged().splitlines() if line.startswith("{")]
    clients = [line["client_address"] for line in lines if line.get("route") == "/healthz"]
    assert clients == [CLIENT]


def test_wrong_tokens_are_limited_by_client(
    name: str, folder: Path, deployment: Deployment
) -> None:
    with (
        deployment.serving(HIATUS_RATE_LIMIT="600/minute") as server,
        reverse_proxies.running(name, folder, [server.port]) as proxy,
        proxy.client(local_address=CLIENT) as http,
        proxy.client(local_address=ANOTHER_CLIENT) as elsewhere,
    ):
        for number in range(FAILURE_LIMIT.amount):
            http.get("/cal/wrong", headers={"X-Forwarded-For": f"203.0.113.{number}"})

        limited, served = http.get("/cal/wrong"), elsewhere.get("/cal/wrong")

    assert [limited.status_code, served.status_code] == [429, 404]


def test_no_log_has_a_token_or_a_query(name: str, folder: Path, deployment: Deployment) -> None:
    api_key = deployment.init()["api_key"]
    secret = "f00dfacef00dface"
    targets = [
        f"/cal/{secret}",
        f"/cal/{secret}.ics?scope=team",
        f"/slack/oauth_redirect?code={secret}&state={secret}",
        f"/api/v1/users?q={secret}",
    ]
    with (
        deployment.serving() as server,
        reverse_proxies.running(name, folder, [server.port]) as proxy,
        proxy.client(api_key) as http,
    ):
        for target in targets:
            http.get(target, headers={"Referer": f"https://{NAME}/cal/{secret}"})
            httpx.get(f"http://127.0.0.1:{proxy.http_port}{target}", headers={"Host": NAME})
        # Failures have log lines of their own.
        server.kill()
        statuses = [_status_of(proxy, target) for target in [*targets, f"//cal/{secret}"]]
        logged = proxy.logged()

    assert {*statuses} <= {502, 503}
    assert "/api/v1/users" in logged
    assert secret not in logged
    assert api_key not in logged


def test_a_body_that_is_too_large_is_413(name: str, folder: Path, deployment: Deployment) -> None:
    api_key = deployment.init()["api_key"]
    with (
        deployment.serving() as server,
        reverse_proxies.running(name, folder, [server.port]) as proxy,
        proxy.client(api_key) as http,
    ):
        # Not much larger: Hiatus closes the connection without reading the rest, and a proxy that
        # is still sending then may answer 502.
        for_hiatus = http.post("/api/v1/api-keys", content=b"[" + b" " * 256 * 1024 + b"]")
        for_the_proxy = http.post("/api/v1/api-keys", content=b"[" + b" " * 1100 * 1024 + b"]")

    assert [for_hiatus.status_code, for_the_proxy.status_code] == [413, 413]
    assert for_hiatus.json()["code"] == "body_too_large"
    assert "X-Request-Id" not in for_the_proxy.headers


def test_slow_clients_are_disconnected(name: str, folder: Path, deployment: Deployment) -> None:
    head = f"POST /api/v1/api-keys HTTP/1.1\r\nHost: {NAME}\r\n"
    unfinished = [head, f"{head}Content-Length: 1000\r\n\r\n{{"]
    with (
        deployment.serving() as server,
        reverse_proxies.running(name, folder, [server.port]) as proxy,
        ThreadPoolExecutor(len(unfinished)) as pool,
    ):
        answers = [*pool.map(lambda sent: _answer_to_unfinished(proxy, sent), unfinished)]

    assert not any(answer.startswith(b"HTTP/1.1 2") for answer in answers)


def _answer_to_unfinished(proxy: Proxy, sent: str) -> bytes:
    """What comes back until the proxy closes the connection. Raises TimeoutError if it does not."""
    with _connection(proxy) as connection:
        connection.sendall(sent.encode())
        received = b""
        while part := connection.recv(4096):
            received += part
        return received


class Upstream:
    """A server that sends the same bytes to every request, and closes the connection."""

    def __init__(self, response: bytes, port: int = 0) -> None:
        self.methods: list[str] = []
        self._response = response
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                request = connection.recv(65536)
                if request == STOP:
                    return
                self.methods.append(request.decode().split()[0])
                connection.sendall(self._response)

    def close(self) -> None:
        """Stop, if it still runs; from then on connections are refused."""
        if self._thread.is_alive():
            with socket.create_connection(("127.0.0.1", self.port)) as connection:
                connection.sendall(STOP)
            self._thread.join()
        self._listener.close()


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_only_reads_are_sent_to_the_next_process(name: str, method: str, folder: Path) -> None:
    with ExitStack() as stack:
        quitters = [stack.enter_context(closing(Upstream(b""))) for _ in range(2)]
        ports = [quitter.port for quitter in quitters]
        proxy = stack.enter_context(reverse_proxies.running(name, folder, ports))
        http = stack.enter_context(proxy.client())
        response = http.request(method, "/api/v1/leave-requests", json={})

    requests = [len(quitter.methods) for quitter in quitters]
    assert response.status_code in (502, 503)
    if method == "GET":
        assert min(requests) >= 1
    else:
        assert sum(requests) == 1


def test_a_process_that_is_back_is_used_at_once(name: str, folder: Path) -> None:
    with ExitStack() as stack:
        first, second = (stack.enter_context(closing(Upstream(OK))) for _ in range(2))
        ports = [first.port, second.port]
        proxy = stack.enter_context(reverse_proxies.running(name, folder, ports))
        http = stack.enter_context(proxy.client())
        first.close()
        while_one_is_away = {http.get("/docs").status_code for _ in range(4)}
        stack.enter_context(closing(Upstream(OK, first.port)))
        second.close()
        while_the_other_is_away = {http.get("/docs").status_code for _ in range(4)}

    assert (while_one_is_away, while_the_other_is_away) == ({200}, {200})


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_the_only_process_that_is_left_gets_every_request(
    name: str, method: str, folder: Path
) -> None:
    body = b"{}" if method in ("POST", "PATCH") else None
    if name == "caddy" and body and reverse_proxies.caddy_version() < CADDY_THAT_REPEATS:
        pytest.skip("this Caddy cannot send a body to a second process; 2.11.2 and newer can")
    with ExitStack() as stack:
        upstreams = [stack.enter_context(closing(Upstream(OK))) for _ in range(4)]
        ports = [upstream.port for upstream in upstreams]
        proxy = stack.enter_context(reverse_proxies.running(name, folder, ports))
        http = stack.enter_context(proxy.client())
        for upstream in upstreams[:3]:
            upstream.close()
        statuses = [http.request(method, "/docs", content=body).status_code for _ in range(8)]

    assert statuses == [200] * 8
    assert len(upstreams[3].methods) == 8


def test_a_killed_process_costs_no_read_and_doubles_no_write(
    name: str, folder: Path, postgres_url: str
) -> None:
    deployment = Deployment(postgres_url, HIATUS_SCHEDULER="off")
    api_key = deployment.init()["api_key"]
    statuses: dict[str, int] = {}
    reads: Counter[int | None] = Counter()
    with ExitStack() as stack:
        first, second = (stack.enter_context(deployment.serving()) for _ in range(2))
        ports = [first.port, second.port]
        proxy = stack.enter_context(reverse_proxies.running(name, folder, ports))
        pool = stack.enter_context(ThreadPoolExecutor(4))
        http = stack.enter_context(proxy.client(api_key))
        names = iter(KEY_NAMES)
        lock = threading.Lock()

        def write() -> None:
            while True:
                with lock:
                    key_name = next(names, None)
                if key_name is None:
                    return
                body = {"name": key_name, "scopes": ["leave:read"]}
                statuses[key_name] = _status_unless_cut(http, "POST", body) or 502
                read = _status_unless_cut(http, "GET") or _status_unless_cut(http, "GET")
                reads[read] += 1

        clients = [pool.submit(write) for _ in range(4)]
        _wait_until(lambda: len(statuses) > 40)
        first.kill()
        for client in clients:
            client.result(GIVE_UP_SECONDS)

    created = [row[0] for row in outside.rows(postgres_url, "SELECT name FROM api_keys")]
    acknowledged = [key_name for key_name, status in statuses.items() if status == 201]
    assert {*statuses.values()} <= {201, 502, 503}
    assert {*reads} == {200}
    assert {*acknowledged} - {*created} == set()
    assert [key_name for key_name, count in Counter(created).items() if count > 1] == []
    # Only what was sent to the killed process has failed: of each client what it was working on,
    # and one more if the proxy had not yet noticed that another connection is closed, too.
    assert len(statuses) - len(acknowledged) <= 8


def _status_unless_cut(
    http: httpx.Client, method: str, body: Mapping[str, object] | None = None
) -> int | None:
    """The status, or None if the process died between the head and the body of its response.

    A proxy has passed the head on by then, and can ask no other process; a client asks again.
    """
    try:
        return http.request(method, "/api/v1/api-keys", json=body).status_code
    except httpx.RemoteProtocolError:
        return None


def _wait_until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + GIVE_UP_SECONDS
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.01)
