"""The page of the playground, its requests, and who may use them: local browsers alone."""

from __future__ import annotations

import asyncio
import contextlib
import html
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.rate_limits import client_address
from api.website.pages import ICON, Asset, asset_response, asset_route, page
from playground.loopback.blocks import Payload
from playground.loopback.records import Answer, Impossible
from playground.playground import Playground, Unseen, groups_in

_TOKEN_HEADER: Final = "x-playground-token"
# A proxy adds these. A request with any of them does not come from this machine.
_PROXY_HEADERS: Final = (
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
)
_LOOPBACK_HOST: Final = re.compile(
    r"(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?", re.IGNORECASE
)


def from_page_only(routes: Sequence[Route], token: str) -> Sequence[Route]:
    """The routes, which then serve only the page that has this token."""
    for route in routes:
        route.app = LocalOnly(_FromPageOnly(route.app, token))
    return routes


class LocalOnly:
    """Serves only programs on this machine that use a loopback address or localhost.

    ``Host`` reveals a website whose name resolves to 127.0.0.1 (DNS rebinding).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        address = client_address(scope)
        is_local = (
            not any(name in headers for name in _PROXY_HEADERS)
            and address != ""
            and ip_address(address).is_loopback
            and _LOOPBACK_HOST.fullmatch(headers.get("host", "")) is not None
        )
        app = (
            self._app
            if is_local
            else _not_local("Only a browser on this machine can use the playground.")
        )
        await app(scope, receive, send)


class _FromPageOnly:
    """Serves only requests with the page's token and of the same origin."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        # Browsers send Origin with every POST; older ones do not send Sec-Fetch-Site.
        is_from_page = headers.get("sec-fetch-site", "same-origin") == "same-origin" and (
            scope["method"] in ("GET", "HEAD") or headers.get("origin") == _origin(headers)
        )
        app = self._app
        if not is_from_page:
            app = _not_local("Only the playground's page can do this.")
        elif not secrets.compare_digest(headers.get(_TOKEN_HEADER, "").encode(), self._token):
            app = _not_local("The playground was restarted. Reload this page.")
        await app(scope, receive, send)


def _origin(headers: Headers) -> str:
    return f"http://{headers['host']}"


def _not_local(reason: str) -> Response:
    return JSONResponse({"ok": False, "problem": reason}, 403, {"Cache-Control": "no-store"})


_STATIC: Final = Path(__file__).parent / "static"
FILES: Final = (ICON, *sorted(_STATIC.iterdir()))
_BODY: Final = """
<header class="top">
<h1>Hiatus playground</h1>
<p>A simulated Slack. Choose who each panel belongs to, write to Hiatus, type <code>{command}</code>
or press a button. Hiatus sends the same messages to the real Slack.</p>
<a href="playground/webhooks">Webhooks</a>
<a href="docs">API</a>
<button type="button" class="button" id="start-tour" hidden>Tour</button>
<button type="button" class="button" id="reset">Clear Slack</button>
</header>
<section class="tour" id="tour" aria-label="Tour" hidden></section>
<nav class="jump" aria-label="People" hidden></nav>
<p class="problems" id="problems" role="alert" hidden></p>
<div class="heard" id="news" role="log" aria-label="New messages"></div>
<main id="playground" data-people="{people}" data-command="{command}" data-token="{token}">
<p class="empty">The playground needs JavaScript.</p>
</main>"""


def page_routes(people: Iterable[str], command: str, token: str) -> list[Route]:
    """The page. ``people`` are the Slack ids that it shows first; ``token`` authenticates it."""
    body = _BODY.format(
        people=html.escape(",".join(people)), command=html.escape(command), token=html.escape(token)
    )
    rendered: list[Asset] = []

    async def playground(request: Request) -> Response:
        if not rendered:
            rendered.append(
                page(
                    "Hiatus playground",
                    address="playground/assets",
                    files=FILES,
                    head='<script src="{playground.js}" type="module"></script>\n'
                    '<link rel="stylesheet" href="{playground.css}">',
                    body=body,
                )
            )
        response = asset_response(request, rendered[0])
        response.headers["Cache-Control"] = "no-store"
        return response

    served = [
        Route("/playground", playground),
        asset_route("/playground/assets/{version}/{name}", FILES),
    ]
    for route in served:
        route.app = LocalOnly(route.app)
    return served


# How long a request for the next change waits. A stopping server waits for it, too.
WAIT_SECONDS: Final = 3.0
_POLL_SECONDS: Final = 0.05
_MAX_SHOWN: Final = 6
_MAX_BODY_BYTES: Final = 200_000

Text = Field(default="", max_length=3000)
Kind = Literal[
    "command",
    "write",
    "shortcut",
    "click",
    "pick",
    "suggest",
    "submit",
    "close",
    "open_home",
    "language",
]


class Act(BaseModel):
    """One action of one person. ``filled`` are the values in the open form."""

    model_config = ConfigDict(extra="forbid")

    user: str
    kind: Kind
    text: str = Text
    channel: str = Text
    ts: str = Text
    view_id: str = Text
    block_id: str = Text
    action_id: str = Text
    value: object = None
    filled: list[tuple[str, str, object]] = Field(default_factory=list, max_length=100)
    is_cleared: bool = False


Handler = Callable[[Playground, Act], Answer]


def game_routes(playground: Playground) -> list[Route]:
    """The routes, which the caller restricts to the playground's page."""

    async def state(request: Request) -> Response:
        request.scope["is_polling"] = True
        shown = request.query_params.get("people", "").split(",")[:_MAX_SHOWN]
        after = request.query_params.get("after", "")
        await _wait_for_change(playground, after)
        return _response(playground.state(shown))

    async def act(request: Request) -> Response:
        if not is_json(request):
            return _refused(415, "Send JSON.")
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _MAX_BODY_BYTES:
                return _refused(413, "The request is larger than any that Slack sends.")
        try:
            action = Act.model_validate_json(body)
            if action.user not in playground.players:
                raise Unseen("There is no such person.")
            return _response(await run_in_threadpool(_perform, playground, action))
        except ValidationError:
            return _refused(422, "This is not possible in Slack.")
        except Unseen as refusal:
            return _refused(409, str(refusal))
        except Impossible:
            return _refused(409, "The form has changed, or a field is empty. Please try again.")

    async def reset(request: Request) -> Response:
        if not is_json(request):
            return _refused(415, "Send JSON.")
        playground.reset()
        return _response({"ok": True})

    return [
        Route("/playground/state", state),
        Route("/playground/act", act, methods=["POST"]),
        Route("/playground/reset", reset, methods=["POST"]),
    ]


def is_json(request: Request) -> bool:
    """Whether browsers ask first: other websites may POST other media types without preflight."""
    return request.headers.get("content-type", "").partition(";")[0] == "application/json"


async def _wait_for_change(playground: Playground, after: str) -> None:
    until = asyncio.get_running_loop().time() + WAIT_SECONDS
    while str(playground.version) == after and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(_POLL_SECONDS)


def _perform(playground: Playground, act: Act) -> Payload:
    if act.kind in ("pick", "submit", "suggest"):
        _fill(playground, act)
    response = _HANDLERS[act.kind](playground, act)
    playground.forget_old()
    return {
        "ok": response.ok,
        "errors": response.errors,
        "groups": groups_in(response.body) if act.kind == "suggest" else [],
        "problem": None if response.ok else _problem(response),
    }


def _problem(response: Answer) -> str:
    """The problem as the page shows it."""
    if not response.in_time or response.status == 0:
        return "Hiatus did not answer within three seconds."
    return f"Hiatus answered {response.status}; Slack shows that something went wrong."


def _fill(playground: Playground, act: Act) -> None:
    view = playground.view(act.user, act.view_id)
    for block_id, action_id, value in act.filled:
        # As in Slack, the form may have changed meanwhile.
        with contextlib.suppress(Impossible):
            playground.slack.fill(view, block_id, action_id, value)


def _command(playground: Playground, act: Act) -> Answer:
    name, _, text = act.text.strip().partition(" ")
    return playground.slack.command(act.user, name, text.strip(), channel=act.channel)


def _write(playground: Playground, act: Act) -> Answer:
    return playground.slack.write(act.user, act.text.strip())


def _shortcut(playground: Playground, act: Act) -> Answer:
    return playground.slack.shortcut(act.user, act.text)


def _click(playground: Playground, act: Act) -> Answer:
    message = playground.message(act.user, act.channel, act.ts)
    return playground.slack.click(
        act.user, message, act.action_id, act.value, block_id=act.block_id
    )


def _pick(playground: Playground, act: Act) -> Answer:
    view = playground.view(act.user, act.view_id)
    try:
        return playground.slack.pick(act.user, view, act.block_id, act.action_id, act.value)
    except Impossible:
        # The view was published again meanwhile, with new block ids. Slack sends such a press, too.
        return playground.slack.pick(act.user, view, None, act.action_id, act.value)


def _suggest(playground: Playground, act: Act) -> Answer:
    view = playground.view(act.user, act.view_id)
    return playground.slack.suggest(act.user, view, act.action_id, act.text)


def _submit(playground: Playground, act: Act) -> Answer:
    return playground.slack.submit(act.user, playground.view(act.user, act.view_id))


def _close(playground: Playground, act: Act) -> Answer:
    view = playground.view(act.user, act.view_id)
    return playground.slack.close(act.user, view, is_cleared=act.is_cleared)


def _open_home(playground: Playground, act: Act) -> Answer:
    return playground.slack.open_home(act.user)


def _language(playground: Playground, act: Act) -> Answer:
    return playground.choose_language(act.user, act.text)


_HANDLERS: Final[dict[str, Handler]] = {
    "command": _command,
    "write": _write,
    "shortcut": _shortcut,
    "click": _click,
    "pick": _pick,
    "suggest": _suggest,
    "submit": _submit,
    "close": _close,
    "open_home": _open_home,
    "language": _language,
}


def _refused(status: int, reason: str) -> Response:
    return _response({"ok": False, "problem": reason}, status)


def _response(body: Payload, status: int = 200) -> Response:
    return JSONResponse(body, status, {"Cache-Control": "no-store"})
