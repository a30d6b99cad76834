"""The playground's receiver of webhooks, and the page that shows what arrives."""

from __future__ import annotations

import asyncio
import hmac
import html
import itertools
import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import httpx
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from api.webhooks.webhook_delivery import sign
from api.website.pages import Asset, asset_response, page
from playground.loopback.blocks import Payload
from playground.web import FILES, WAIT_SECONDS, LocalOnly, is_json

PATH: Final = "/playground/webhooks"
RECEIVER: Final = f"{PATH}/receive"
# Events that are shown, the newest.
MAX_SHOWN: Final = 50
_MAX_BODY_BYTES: Final = 64_000
# As the libraries of Standard Webhooks.
_TOLERANCE_SECONDS: Final = 300
_POLL_SECONDS: Final = 0.1

_BODY: Final = """
<header class="top">
<h1>Webhooks of the playground</h1>
<p>A receiver in the demo. Connect it, then do something in the playground: what Hiatus sends is
listed here, with its signature checked.</p>
<a href="../playground">Playground</a>
<a href="../docs">API</a>
</header>
<p class="problems" id="problems" role="alert" hidden></p>
<main id="webhooks" data-token="{token}">
<div class="actions">
<button type="button" class="button primary" id="connect">Connect</button>
<button type="button" class="button" id="ping" disabled>Send a ping</button>
<label><input type="checkbox" id="fail" disabled> Fail the next event, to see its retry</label>
</div>
<p id="connected" role="status">Not connected.</p>
<ol id="events" aria-label="Events, newest first"></ol>
<p class="empty" id="nothing">Nothing has arrived yet.</p>
</main>"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """One attempt. ``attempt`` counts those of the same event."""

    number: int
    webhook_id: str
    type: str
    at: str
    is_verified: bool
    attempt: int
    status: int
    body: str


@dataclass
class Inbox:
    """What arrived. ``secret`` is None until the page is connected."""

    webhook_id: str | None = None
    secret: str | None = None
    fails_next: bool = False
    version: int = 0
    events: deque[Received] = field(default_factory=lambda: deque(maxlen=MAX_SHOWN))
    _attempts: Counter[str] = field(default_factory=Counter)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def changed(self) -> None:
        self.version += 1

    def receive(self, headers: Headers, body: bytes, now: datetime) -> int:
        """Keep one attempt; the status to respond with."""
        webhook_id, kind = headers.get("webhook-id", "")[:100], _type_of(body)
        is_verified = self._is_verified(headers, body, now)
        status = 204 if is_verified else 400
        # A ping is sent once, so its failure would show no retry.
        if is_verified and self.fails_next and kind != "ping":
            status, self.fails_next = 500, False
        self._attempts[webhook_id] += 1
        self.events.appendleft(
            Received(
                number=next(self._numbers),
                webhook_id=webhook_id,
                type=kind,
                at=now.isoformat(timespec="seconds"),
                is_verified=is_verified,
                attempt=self._attempts[webhook_id],
                status=status,
                body=_pretty(body),
            )
        )
        if len(self._attempts) > 10 * MAX_SHOWN:
            self._attempts = Counter(event.webhook_id for event in self.events)
        self.changed()
        return status

    def _is_verified(self, headers: Headers, body: bytes, now: datetime) -> bool:
        timestamp = headers.get("webhook-timestamp", "")
        if self.secret is None or not timestamp.isdecimal() or len(timestamp) > 12:
            return False
        if abs(now.timestamp() - int(timestamp)) > _TOLERANCE_SECONDS:
            return False
        expected = sign(headers.get("webhook-id", ""), int(timestamp), body, [self.secret])
        sent = headers.get("webhook-signature", "").split()
        return any(hmac.compare_digest(expected.encode(), each.encode()) for each in sent)

    def state(self) -> Payload:
        return {
            "version": self.version,
            "webhook_id": self.webhook_id,
            "fails_next": self.fails_next,
            "events": [
                {name: getattr(event, name) for name in Received.__slots__} for event in self.events
            ],
        }


def _type_of(body: bytes) -> str:
    try:
        value = json.loads(body)["type"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return "unreadable"
    return str(value)[:100]


def _pretty(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


class Connection:
    """Hiatus's REST API, as the demo's owner uses it. ``url`` is this server's."""

    def __init__(self, url: str, api_key: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {api_key}"}

    async def connect(self, inbox: Inbox) -> None:
        """Register the receiver; a webhook of an earlier start gets a new secret."""
        async with self._client() as client:
            receiver = f"{self._url}{RECEIVER}"
            listed = await client.get("/webhooks", params={"limit": 100})
            existing = [
                each for each in listed.raise_for_status().json()["data"] if each["url"] == receiver
            ]
            if existing:
                path = f"/webhooks/{existing[0]['id']}"
                (await client.patch(path, json={"is_active": True})).raise_for_status()
                made = await client.post(f"{path}/rotate-secret")
            else:
                made = await client.post("/webhooks", json={"url": receiver, "events": ["*"]})
            webhook = made.raise_for_status().json()
        inbox.webhook_id, inbox.secret = webhook["id"], webhook["secret"]
        inbox.changed()

    async def ping(self, inbox: Inbox) -> None:
        async with self._client() as client:
            sent = await client.post(f"/webhooks/{inbox.webhook_id}/test")
            sent.raise_for_status()

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=f"{self._url}/api/v1", headers=self._headers, timeout=10, trust_env=False
        )


def open_routes(inbox: Inbox, token: str, clock: Callable[[], datetime]) -> list[Route]:
    """The page and the receiver, for programs on this machine."""
    made: list[Asset] = []

    async def shown(request: Request) -> Response:
        if not made:
            made.append(
                page(
                    "Webhooks of the Hiatus playground",
                    address="assets",
                    files=FILES,
                    head='<script src="{playground-webhooks.js}" type="module"></script>\n'
                    '<link rel="stylesheet" href="{playground.css}">',
                    body=_BODY.format(token=html.escape(token)),
                )
            )
        response = asset_response(request, made[0])
        response.headers["Cache-Control"] = "no-store"
        return response

    async def receive(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _MAX_BODY_BYTES:
                return Response(status_code=413)
        return Response(status_code=inbox.receive(request.headers, body, clock()))

    served = [Route(PATH, shown), Route(RECEIVER, receive, methods=["POST"])]
    for route in served:
        route.app = LocalOnly(route.app)
    return served


def page_only_routes(inbox: Inbox, connection: Connection) -> list[Route]:
    """What the page requests; the caller restricts them to it."""

    async def state(request: Request) -> Response:
        request.scope["is_polling"] = True
        after, until = request.query_params.get("after", ""), _seconds() + WAIT_SECONDS
        while str(inbox.version) == after and _seconds() < until:
            await asyncio.sleep(_POLL_SECONDS)
        return _answer(inbox.state())

    async def connect(request: Request) -> Response:
        return await _calling(request, connection.connect, inbox)

    async def ping(request: Request) -> Response:
        return await _calling(request, connection.ping, inbox)

    async def fail_next(request: Request) -> Response:
        if not is_json(request):
            return _answer({"problem": "Send JSON."}, 415)
        inbox.fails_next = await request.json() is True
        inbox.changed()
        return _answer({})

    return [
        Route(f"{PATH}/state", state),
        Route(f"{PATH}/connect", connect, methods=["POST"]),
        Route(f"{PATH}/ping", ping, methods=["POST"]),
        Route(f"{PATH}/fail", fail_next, methods=["POST"]),
    ]


async def _calling(
    request: Request, call: Callable[[Inbox], Awaitable[None]], inbox: Inbox
) -> Response:
    if not is_json(request):
        return _answer({"problem": "Send JSON."}, 415)
    try:
        await call(inbox)
    except httpx.HTTPStatusError as refusal:
        detail = refusal.response.json().get("detail", "")
        return _answer({"problem": f"Hiatus refused it: {detail}"}, 409)
    except httpx.HTTPError:
        return _answer({"problem": "Hiatus did not answer. Please try again."}, 409)
    return _answer({})


def _seconds() -> float:
    return asyncio.get_running_loop().time()


def _answer(body: Payload, status: int = 200) -> Response:
    return JSONResponse(body, status, {"Cache-Control": "no-store"})
