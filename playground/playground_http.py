"""The requests of the playground's page: read the screens, and act as a person in Slack."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.loopback.blocks import Payload
from playground.loopback.records import Answer, Impossible
from playground.playground import Playground, Unseen, groups_in

# How long a request for the next change waits. A stopping server waits for it, too.
WAIT_SECONDS: Final = 3.0
_POLL_SECONDS: Final = 0.05
_MAX_SHOWN: Final = 6
_MAX_BODY_BYTES: Final = 200_000

Text = Field(default="", max_length=3000)
Kind = Literal[
    "command",
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


def routes(playground: Playground) -> list[Route]:
    """The routes, which the caller restricts to the playground's page."""

    async def state(request: Request) -> Response:
        request.scope["is_polling"] = True
        shown = request.query_params.get("people", "").split(",")[:_MAX_SHOWN]
        after = request.query_params.get("after", "")
        await _wait_for_change(playground, after)
        return _response(playground.state(shown))

    async def act(request: Request) -> Response:
        if not _is_json(request):
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
        if not _is_json(request):
            return _refused(415, "Send JSON.")
        playground.reset()
        return _response({"ok": True})

    return [
        Route("/playground/state", state),
        Route("/playground/act", act, methods=["POST"]),
        Route("/playground/reset", reset, methods=["POST"]),
    ]


def _is_json(request: Request) -> bool:
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
