"""The REST side over a test's database: a client that speaks HTTP to the application itself."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import httpx
import pytest
from starlette.types import ASGIApp

from api.base.settings import ApiSettings
from api.service import app
from api.service.request_middleware import for_server
from storage.db.database import Database
from tests import calendars
from tests.builders import NOW, Acme, a_key, an_organisation
from tests.documented import undocumented

T = TypeVar("T")

# High, so that only the tests of rate limits reach one.
SETTINGS = ApiSettings(base_url="https://hiatus.test", rate_limit="1000000/minute")


@pytest.fixture(scope="session", autouse=True)
def feeds_are_read_alike() -> Iterator[None]:
    """Four calendar programs agree on every feed that a test fetched."""
    yield
    if _FEEDS:
        calendars.read_by_all(sorted(_FEEDS))


# Feeds to read at the end, and the events in them without their numbers and ids.
_FEEDS: set[bytes] = set()
_EVENTS: set[bytes] = set()
_EVENT = re.compile(rb"BEGIN:VEVENT.*?END:VEVENT|END:VCALENDAR", re.DOTALL)
_NUMBER = re.compile(rb"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")


def _collect_feed(content: bytes) -> None:
    """Keep a feed that has a new event: one of the programs takes 0.2 s for each feed."""
    events = {_NUMBER.sub(b"0", event) for event in _EVENT.findall(content.replace(b"\r\n ", b""))}
    if events - _EVENTS:
        _EVENTS.update(events)
        _FEEDS.add(content)


class Client:
    """Sends requests on one event loop; ``key`` becomes the bearer header.

    The loop runs all the time, as a server's does, so that background tasks finish.
    """

    def __init__(self, application: ASGIApp) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(for_server(application)), base_url=SETTINGS.base_url
        )

    def request(
        self, method: str, path: str, *, key: str | None = None, **more: Any
    ) -> httpx.Response:
        headers = httpx.Headers(more.pop("headers", None))
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        response = self._run(self._http.request(method, path, headers=headers, **more))
        # Every response is also checked against its documentation.
        assert undocumented(response) is None, undocumented(response)
        if (
            response.headers.get("Content-Type", "").startswith("text/calendar")
            and response.content
        ):
            _collect_feed(response.content)
        return response

    def get(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("GET", path, key=key, **more)

    def post(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("POST", path, key=key, **more)

    def put(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("PUT", path, key=key, **more)

    def patch(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("PATCH", path, key=key, **more)

    def delete(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("DELETE", path, key=key, **more)

    def close(self) -> None:
        self._run(_given_up())
        self._run(self._http.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


async def _given_up() -> None:
    """Cancel the remaining tasks, such as writing a key's last use a second from now."""
    pending = asyncio.all_tasks() - {asyncio.current_task()}
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)


def application(database: Database, settings: ApiSettings = SETTINGS) -> ASGIApp:
    return app.application(app.routes(database, settings, lambda: NOW), settings)


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


@pytest.fixture
def key(database: Database, acme: Acme) -> str:
    return a_key(database, acme)


@pytest.fixture
def client(database: Database) -> Iterator[Client]:
    client = Client(application(database))
    yield client
    client.close()
