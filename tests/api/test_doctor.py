"""``hiatus doctor`` on BASE_URL, Redis, and settings that contradict each other."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg
import pytest

from api.base.settings import ApiSettings, public_url
from api.service import doctor
from storage.base.secrets import new_secret_key
from storage.base.settings import StorageSettings
from storage.db.connections import PROCESS_NAME
from storage.operations.doctor import Check, Finding, Reader, ok, run
from tests.api.test_webhook_delivery import certificate_for
from tests.fakes.redis import LoopbackRedis
from tests.flows.running import free_port

Respond = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def another_service(respond: Respond, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server on a free port that answers each GET so; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            respond(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def with_status(status: int, **headers: str) -> Respond:
    def respond(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(b'{"status":"ok"}')

    return respond


def reached(base_url: str) -> Finding:
    env = {"BASE_URL": base_url}
    [found] = run(doctor.checks(env, ApiSettings.from_env(env)))
    return found


@pytest.mark.parametrize(
    ("respond", "state", "said"),
    [
        # As many services do, but without returning the request's id.
        (with_status(200), "failed", "another service"),
        (with_status(404), "failed", "another service"),
        (with_status(502), "failed", "status 502"),
        (with_status(301, Location="https://hiatus.example.com/healthz"), "warning", "redirects"),
    ],
)
def test_an_address_that_does_not_lead_to_hiatus_is_reported(
    respond: Respond, state: str, said: str
) -> None:
    with another_service(respond) as url:
        finding = reached(url)

    assert (finding.state, said in finding.text) == (state, True)


def test_an_address_where_nothing_listens_is_a_failure_without_the_urls_password() -> None:
    finding = reached(f"http://hiatus:hunter2@127.0.0.1:{free_port()}")

    assert (finding.state, "no connection" in finding.text) == ("failed", True)
    assert "hunter2" not in finding.text


def test_an_address_whose_certificate_is_not_trusted_is_a_failure(tmp_path: Path) -> None:
    server_tls, _ = certificate_for("hiatus.example.com", tmp_path)

    with another_service(with_status(200), server_tls) as url:
        finding = reached(url)

    assert (finding.state, "certificate is not trusted" in finding.text) == ("failed", True)


def test_an_address_that_trickles_is_a_failure_after_the_checks_time() -> None:
    ended = threading.Event()

    def trickle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        while not ended.wait(0.1):
            request.wfile.write(b"X-More: 1\r\n")
            request.wfile.flush()

    with another_service(trickle) as url:
        env = {"BASE_URL": url}
        [check] = doctor.checks(env, ApiSettings.from_env(env))
        [found] = run([Check(subject=check.subject, look=check.look, seconds=1)])
        ended.set()

    assert (found.state, found.subject) == ("failed", "BASE_URL")


def test_a_missing_address_is_a_warning() -> None:
    [found] = run(doctor.checks({}, ApiSettings()))

    assert (found.state, "is not set" in found.text) == ("warning", True)


def redis_findings(url: str) -> list[Finding]:
    """Without the one of BASE_URL."""
    return [*run(doctor.checks({}, ApiSettings(rate_limit_storage=url)))][:-1]


def test_a_redis_that_counts_is_ok() -> None:
    with LoopbackRedis() as redis:
        assert redis_findings(redis.url) == ok("Redis", "counts rate limits")


def test_a_redis_that_does_not_answer_is_a_failure_that_says_what_to_check() -> None:
    with LoopbackRedis(answers=False) as redis:
        [hanging] = redis_findings(redis.url)
    [away] = redis_findings("redis://:hunter2@127.0.0.1:1")

    assert [finding.state for finding in (hanging, away)] == ["failed", "failed"]
    assert "no answer within 0.25 s" in hanging.text
    assert "no connection" in away.text
    assert "HIATUS_RATE_LIMIT_STORAGE" in away.text
    assert "hunter2" not in away.text


def test_redis_is_not_checked_where_it_is_not_set_up() -> None:
    assert redis_findings(ApiSettings.rate_limit_storage) == []


def contradictions(env: dict[str, str], reader: Reader, *, has_bot: bool = False) -> list[str]:
    """The first words of each contradiction."""
    settings = ApiSettings.from_env({**env, "BASE_URL": public_url(env)})
    findings = doctor.contradictions(env, settings, reader, has_bot=has_bot)
    assert {one.state for one in findings} <= {"warning"}
    return [one.text.partition(" ")[0] for one in findings]


def reader_of(url: str) -> Reader:
    return Reader(settings=StorageSettings(database_url=url, secret_keys=(new_secret_key(),)))


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"BASE_URL": "https://hiatus.example.com"}, []),
        ({"BASE_URL": "http://127.0.0.1:8000"}, []),
        ({"BASE_URL": "http://hiatus.example.com"}, ["BASE_URL"]),
        ({"RENDER_EXTERNAL_URL": "https://hiatus.onrender.com"}, ["the"]),
        (
            {
                "RENDER_EXTERNAL_URL": "https://hiatus.onrender.com",
                "HIATUS_TRUSTED_PROXIES": "*",
            },
            [],
        ),
    ],
)
def test_settings_that_do_not_go_together_are_named(env: dict[str, str], named: list[str]) -> None:
    assert contradictions(env, reader_of("sqlite:///hiatus.db")) == named


def test_counting_in_memory_does_not_go_with_several_processes(postgres_url: str) -> None:
    reader = reader_of(postgres_url)
    env = {"BASE_URL": "https://hiatus.example.com"}
    with closing(psycopg.connect(postgres_url, application_name=f"{PROCESS_NAME} web1:7")):
        assert contradictions(env, reader) == []
        with closing(psycopg.connect(postgres_url, application_name=f"{PROCESS_NAME} web2:7")):
            assert contradictions(env, reader) == ["HIATUS_RATE_LIMIT_STORAGE=memory"]
            assert contradictions(env, reader, has_bot=True) == []
            shared = env | {"HIATUS_RATE_LIMIT_STORAGE": "redis://127.0.0.1"}
            assert contradictions(shared, reader) == []


def test_a_database_that_is_down_does_not_end_the_check_of_settings() -> None:
    reader = reader_of("postgresql://hiatus@127.0.0.1:1/hiatus")

    assert contradictions({"BASE_URL": "http://hiatus.example.com"}, reader) == ["BASE_URL"]
