"""The REST side over a test's database: a client that speaks HTTP to the application itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import httpx
import pytest
from starlette.types import ASGIApp

from api.base.settings import ApiSettings
from api.service import app
from api.service.request_middleware import for_server
from storage.access import api_keys
from storage.base.values import SCOPES, User
from storage.db.database import Database
from tests import calendars
from tests.builders import NOW, Acme, caller_for
from tests.documented import undocumented

T = TypeVar("T")

# No test but those of the limits themselves is to meet one.
SETTINGS = ApiSettings(base_url="https://hiatus.test", rate_limit="1000000/minute")


@pytest.fixture(scope="session", autouse=True)
def every_feed_is_read_alike() -> Iterator[None]:
    """Four readers agree, in the end, on every calendar that a test was given."""
    yield
    if _FEEDS_SEEN:
        calendars.read_by_all(sorted(_FEEDS_SEEN))


_FEEDS_SEEN: set[bytes] = set()


class Client:
    """Sends requests on one event loop; ``key`` becomes the bearer header.

    The loop runs all the time, as a server's does: what a request leaves behind comes to its end.
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
        answer = self._run(self._http.request(method, path, headers=headers, **more))
        # Every test of the interface is one of its documentation, too.
        assert undocumented(answer) is None, undocumented(answer)
        if answer.headers.get("Content-Type", "").startswith("text/calendar") and answer.content:
            _FEEDS_SEEN.add(answer.content)
        return answer

    def get(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("GET", path, key=key, **more)

    def post(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("POST", path, key=key, **more)

    def patch(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("PATCH", path, key=key, **more)

    def delete(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.request("DELETE", path, key=key, **more)

    def settle(self) -> None:
        """Let what the requests left running come to its end."""
        self._run(_settled())

    def close(self) -> None:
        self._run(_given_up())
        self._run(self._http.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


async def _settled() -> None:
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))


async def _given_up() -> None:
    """End what is left, such as a key's last use, which would be written a second from now."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def application(database: Database, settings: ApiSettings = SETTINGS) -> ASGIApp:
    return app.application(app.routes(database, settings, lambda: NOW), settings)


@pytest.fixture
def client(database: Database) -> Iterator[Client]:
    client = Client(application(database))
    yield client
    client.close()


def a_key(
    database: Database,
    acme: Acme,
    user: User | None = None,
    *,
    scopes: list[str] | None = None,
    variant: int = 1,
) -> str:
    """An API key of the person, the owner unless named, with every scope unless some are named."""
    user = user or acme.owner
    _, key = database.write_now(
        api_keys.create_key,
        for_user=user.id,
        name="test",
        scopes=list(SCOPES) if scopes is None else scopes,
        variant=variant,
        expires_at=None,
        by=caller_for(acme, user),
        now=NOW,
    )
    return key
