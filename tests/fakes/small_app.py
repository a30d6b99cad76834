"""A minimal Bolt app with a form, messages and updates, to test the loopback Slack."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any, Self

import uvicorn
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.fakes.slack import LoopbackSlack

Payload = dict[str, Any]


def plain(text: str) -> Payload:
    return {"type": "plain_text", "text": text}


def form(note: str = "") -> Payload:
    """A modal with a date, a type that dispatches changes, and a note."""
    options = [{"text": plain(name.title()), "value": name} for name in ("annual", "sick")]
    element = {"type": "static_select", "action_id": "pick_type", "options": options}
    blocks: list[Payload] = [
        {"type": "input", "block_id": "type", "label": plain("Type"), "element": element},
        {
            "type": "input",
            "block_id": "first_day",
            "label": plain("First day"),
            "element": {"type": "datepicker", "action_id": "pick"},
        },
        {
            "type": "input",
            "block_id": "note",
            "optional": True,
            "label": plain("Note"),
            "element": {"type": "plain_text_input", "action_id": "typed", "max_length": 20},
        },
    ]
    blocks[0]["dispatch_action"] = True
    if note:
        blocks.append({"type": "section", "block_id": "live", "text": plain(note)})
    return {
        "type": "modal",
        "callback_id": "form",
        "title": plain("Time off"),
        "submit": plain("Send"),
        "blocks": blocks,
    }


def question(requester_id: str, day: str) -> Payload:
    """A message with one button."""
    text = f"<@{requester_id}> asks for {day}"
    button = {"type": "button", "action_id": "approve", "value": day, "text": plain("Approve")}
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    return {"text": text, "blocks": [section, {"type": "actions", "elements": [button]}]}


def small_app(slack: LoopbackSlack) -> AsyncApp:
    """Command, form, message to U2, button, update."""
    client = AsyncWebClient(token=slack.token, base_url=slack.api_url)
    app = AsyncApp(client=client, signing_secret=slack.signing_secret)

    @app.command("/timeoff")
    async def ask(ack: Any, body: Payload, client: AsyncWebClient) -> None:
        if body["text"] == "help":
            await ack("Try /timeoff")
            return
        await ack()
        # Raising right after ack() would lose the acknowledgement in Bolt 1.30.
        with contextlib.suppress(SlackApiError):
            await client.views_open(trigger_id=body["trigger_id"], view=form())

    @app.action("pick_type")
    async def picked(ack: Any, body: Payload, client: AsyncWebClient) -> None:
        await ack()
        view, chosen = body["view"], body["actions"][0]["selected_option"]["value"]
        await client.views_update(view_id=view["id"], hash=view["hash"], view=form(f"Is {chosen}"))

    @app.view("form")
    async def submitted(ack: Any, body: Payload, client: AsyncWebClient) -> None:
        day = body["view"]["state"]["values"]["first_day"]["pick"]["selected_date"]
        if day < "2026-01-01":
            await ack(response_action="errors", errors={"first_day": "Too long ago"})
            return
        await ack()
        await client.chat_postMessage(channel="U2", **question(body["user"]["id"], day))

    @app.action("approve")
    async def approved(ack: Any, body: Payload, client: AsyncWebClient, respond: Any) -> None:
        await ack()
        place = {"channel": body["channel"]["id"], "ts": body["message"]["ts"]}
        await client.chat_update(**place, text=f"Approved by {body['user']['name']}")
        await respond("Thank you")

    @app.event("app_home_opened")
    async def opened(event: Payload, client: AsyncWebClient) -> None:
        blocks = [{"type": "header", "text": plain("Your leave")}]
        await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})

    return app


class Served:
    """The app behind /slack/events, under uvicorn in a thread, at `url`."""

    def __init__(self, app: AsyncApp) -> None:
        handler = AsyncSlackRequestHandler(app)

        async def events(request: Request) -> Response:
            return await handler.handle(request)

        web = Starlette(routes=[Route("/slack/events", events, methods=["POST"])])
        config = uvicorn.Config(web, log_config=None, lifespan="off", ws="none")
        self._server = uvicorn.Server(config)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


def by_socket(slack: LoopbackSlack, act: Callable[[], None]) -> None:
    """Runs `act` in a thread while the small app is connected by Socket Mode."""

    async def run() -> None:
        handler = AsyncSocketModeHandler(small_app(slack), slack.app_token, ping_interval=1)
        await handler.connect_async()  # type: ignore[no-untyped-call]
        try:
            await asyncio.to_thread(act)
        finally:
            await handler.close_async()  # type: ignore[no-untyped-call]

    asyncio.run(run())
