"""The loopback Slack on the wire: HTTP around the Web API and the response_urls."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import http.client
import json
import socket
import struct
import threading
import time
from base64 import b64decode
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypedDict, TypeVar
from urllib.parse import urlencode, urlsplit

from aiohttp import web

from playground.loopback.blocks import Payload
from playground.loopback.limits import MESSAGE_TEXT_LENGTH
from playground.loopback.records import Answer, Call, Message, ResponsePost, SlackRefusal, View
from playground.loopback.web_api import WebApi, is_true
from playground.loopback.workspace import ResponseAddress

T = TypeVar("T")


class LoopbackServer:
    """One aiohttp application on an ephemeral port, served by its own thread and event loop."""

    def __init__(self, app: web.Application, name: str) -> None:
        self._app = app
        self._name = name
        self._loop: asyncio.AbstractEventLoop
        self._runner: web.AppRunner | None = None
        self._thread: threading.Thread | None = None
        self.port = 0

    def start(self) -> None:
        """Serves until `stop`; `port` is known when this returns."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()
        self.run(self._listen())

    def stop(self) -> None:
        """Closes every connection and waits for the thread; harmless when called twice."""
        if self._thread is None:
            return
        self.run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self._thread = None

    def submit(self, work: Coroutine[object, None, T]) -> Future[T]:
        """Starts `work` on the server's loop; callable from any thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[object, None, T], timeout_seconds: float = 10) -> T:
        """Runs `work` on the server's loop and waits; never call it from that loop."""
        return self.submit(work).result(timeout_seconds)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _listen(self) -> None:
        runner = web.AppRunner(self._app, access_log=None, shutdown_timeout=0.05)
        await runner.setup()
        self._runner = runner
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]

    async def _close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


def reset_connection(transport: asyncio.BaseTransport | None) -> None:
    """Ends a connection with RST, which the other side sees as a connection reset."""
    if transport is None:
        return
    connection = transport.get_extra_info("socket")
    if connection is not None:
        # Lingering for zero seconds turns the close into a reset.
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    abort = getattr(transport, "abort", transport.close)
    abort()


Client = tuple[str, str]


class SlackServer:
    """The aiohttp application."""

    def __init__(self, api: WebApi) -> None:
        self.api = api
        self.app = web.Application(client_max_size=8 << 20)
        self.app.router.add_route("*", "/api/{method}", self._call)
        self.app.router.add_post("/response/{response_id}", self._response)
        self.app.router.add_post("/upload/{file_id}", self._upload)

    async def _call(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["method"] == "oauth.v2.access" and request.query:
            # Stricter than Slack: a code or secret in a query string ends up in logs.
            return web.json_response({"ok": False, "error": "invalid_post_type"})
        arguments = await _arguments(request)
        token, client = _credentials(request, arguments)
        return await self._handle(request, arguments, token, client)

    async def _handle(
        self, request: web.Request, arguments: Payload, token: str | None, client: Client | None
    ) -> web.StreamResponse:
        return self._respond(request.match_info["method"], arguments, token, client)

    def _respond(
        self, method: str, arguments: Payload, token: str | None, client: Client | None
    ) -> web.Response:
        status, response = self.api.call(method, arguments, token, client)
        self._record(method, arguments, token, status, response)
        scopes = self._scopes(token)
        return web.json_response(response, status=status, headers={"x-oauth-scopes": scopes})

    def _record(
        self, method: str, arguments: Payload, token: str | None, status: int, response: object
    ) -> None:
        with self.api.workspace.changed:
            call = Call(
                method=method,
                arguments=arguments,
                token=token,
                at_seconds=time.monotonic(),
                status=status,
                answer=response,
            )
            self.api.workspace.calls.append(call)
            self.api.workspace.note_change()

    def _scopes(self, token: str | None) -> str:
        for team in self.api.workspace.teams.values():
            if token is not None and team.token == token:
                return ",".join(sorted(team.scopes))
        return ""

    async def _response(self, request: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
        except ValueError:
            return web.Response(status=400, text="invalid_payload")
        status, response = take_response(self.api, request.match_info["response_id"], body)
        if isinstance(response, str):
            return web.Response(text=response, status=status)
        return web.json_response(response, status=status)

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        file = self.api.workspace.files.get(request.match_info["file_id"])
        content = await request.read()
        if file is None or len(content) != file.length:
            return web.Response(status=400, text="Length mismatch")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")


async def _arguments(request: web.Request) -> Payload:
    arguments: Payload = dict(request.query)
    if request.content_type == "application/json":
        body = await request.read()
        members = json.loads(body) if body else {}
        return arguments | members if isinstance(members, dict) else arguments
    if request.can_read_body:
        arguments |= {key: str(value) for key, value in (await request.post()).items()}
    return arguments


def _credentials(request: web.Request, arguments: Payload) -> tuple[str | None, Client | None]:
    """The token, taken out of the arguments, and the client of basic auth."""
    token = arguments.pop("token", None)
    header = request.headers.get("Authorization", "")
    if header.startswith("Basic "):
        login, _, password = b64decode(header.removeprefix("Basic ")).decode().partition(":")
        return None, (login, password)
    if header.startswith("Bearer "):
        token = header.removeprefix("Bearer ")
    return token, None


class How(TypedDict, total=False):
    """How to send something, and how to tamper with it.

    `timestamp` and `signature` replace the headers; `signing_secret` signs with another key;
    `team_id` is another workspace; `via` is "http" or "socket"; `overrides` replaces keys of the
    payload; `force` allows what Slack's client would prevent.
    """

    timestamp: int | str
    signature: str
    signing_secret: str
    team_id: str
    via: str
    overrides: Payload
    force: bool
    timeout_seconds: float


def signature_of(secret: str, timestamp: int | str, body: bytes) -> str:
    """Slack's v0 signature (docs.slack.dev/authentication/verifying-requests-from-slack)."""
    signed = f"v0:{timestamp}:".encode() + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class Delivery:
    """Sends to one app; `app_url` is where it listens, without the path."""

    def __init__(self, signing_secret: str) -> None:
        self.app_url = ""
        self.events_path = "/slack/events"
        self.signing_secret = signing_secret

    def deliver(self, kind: str, payload: Payload, how: How, **retry: object) -> Answer:
        """Sends a payload of "slash_commands", "interactive" or "events_api" and waits.

        `retry`: `retry_num` and `retry_reason` of an event that is sent again.
        """
        payload = payload | how.get("overrides", {})
        response = self._send(kind, payload, how, retry)
        response.payload = payload
        return response

    def post(
        self, body: bytes, content_type: str, how: How, headers: dict[str, str] | None = None
    ) -> Answer:
        """Posts these very bytes, signed unless `how` has another signature; status 0 if too late.

        A `signature` or `timestamp` of "" leaves the header out.
        """
        timestamp = how.get("timestamp", int(time.time()))
        secret = how.get("signing_secret", self.signing_secret)
        signature = how.get("signature", signature_of(secret, timestamp, body))
        request_headers = {"Content-Type": content_type, "User-Agent": "Slackbot 1.0"} | (
            headers or {}
        )
        if timestamp != "":
            request_headers["X-Slack-Request-Timestamp"] = str(timestamp)
        if signature != "":
            request_headers["X-Slack-Signature"] = signature
        address = urlsplit(self.app_url)
        connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=how.get("timeout_seconds", 10)
        )
        started = time.monotonic()
        try:
            connection.request("POST", address.path + self.events_path, body, request_headers)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            headers = {name.lower(): value for name, value in response.getheaders()}
            elapsed = time.monotonic() - started
            return Answer(response.status, _parsed(text, headers), headers, elapsed)
        except TimeoutError:
            return Answer(0, "", {}, time.monotonic() - started)
        finally:
            connection.close()

    def _send(self, kind: str, payload: Payload, how: How, retry: Payload) -> Answer:
        headers = {}
        if retry:
            headers["X-Slack-Retry-Num"] = str(retry["retry_num"])
            headers["X-Slack-Retry-Reason"] = str(retry["retry_reason"])
        if kind == "events_api":
            return self.post(json.dumps(payload).encode(), "application/json", how, headers)
        fields = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
        body = urlencode(fields).encode()
        return self.post(body, "application/x-www-form-urlencoded", how, headers)


def _parsed(text: str, headers: dict[str, str]) -> Any:
    if "json" in headers.get("content-type", ""):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def take_reply(api: WebApi, team_id: str, user_id: str, channel: str, body: object) -> None:
    """Shows the message in the response to a command, if there is one."""
    reply = {"text": body} if isinstance(body, str) else body
    if isinstance(reply, dict) and (reply.get("text") or reply.get("blocks")):
        try:
            _show(api, "command reply", team_id, user_id, channel, reply)
        except SlackRefusal:
            return  # Recorded as a violation; the person sees nothing.


def take_response(api: WebApi, response_id: str, body: Payload) -> tuple[int, Payload | str]:
    """One POST to a response_url: its status and body; at most five within thirty minutes."""
    workspace = api.workspace
    with workspace.changed:
        issued = workspace.responses.get(response_id)
        user_id, channel = (issued.user_id, issued.channel) if issued else ("", "")
        status: int = 200
        answer: Payload | str = "ok"
        try:
            _respond(api, workspace.use_response(response_id), body)
        except SlackRefusal as refusal:
            status = refusal.status
            answer = {"ok": False, "error": refusal.code} | refusal.fields
        workspace.response_posts.append(
            ResponsePost(
                response_id=response_id, user_id=user_id, channel=channel, body=body, status=status
            )
        )
        workspace.note_change()
        return status, answer


def _respond(api: WebApi, address: ResponseAddress, body: Payload) -> None:
    workspace = api.workspace
    original = _original(api, address)
    if is_true(body.get("delete_original")):
        if original is not None:
            workspace.delete(original)
        return
    if is_true(body.get("replace_original")) and original is not None:
        api.check_message("response_url", body, longest=MESSAGE_TEXT_LENGTH)
        workspace.rewrite(original, body.get("text") or "", body.get("blocks") or [])
        return
    _show(api, "response_url", address.team_id, address.user_id, address.channel, body)


def _original(api: WebApi, address: ResponseAddress) -> Message | None:
    for message in [*api.workspace.messages, *api.workspace.ephemerals]:
        if (message.channel, message.ts) == (address.channel, address.message_ts):
            return message
    return None


def _show(
    api: WebApi, where: str, team_id: str, user_id: str, channel: str, body: Payload
) -> Message:
    api.check_message(where, body, longest=MESSAGE_TEXT_LENGTH)
    is_for_all = body.get("response_type") == "in_channel"
    is_dm = channel == api.workspace.dm_channel(team_id, user_id)
    return api.workspace.add_message(
        Message(
            team_id=team_id,
            channel=channel,
            ts=api.workspace.next_ts(),
            text=body.get("text") or "",
            blocks=body.get("blocks") or [],
            author_id=api.workspace.teams[team_id].bot_user_id,
            user=user_id if is_dm or not is_for_all else None,
            ephemeral=not is_for_all,
        )
    )


def take_submission(api: WebApi, view: View, response: Answer) -> None:
    """Changes the modal as the response to its submission says.

    Inline errors go to `response.errors`; a late or failed response leaves the modal unchanged.
    """
    if not response.ok:
        return
    body = response.body if isinstance(response.body, dict) else {}
    action = body.get("response_action")
    try:
        if action == "errors":
            response.errors = _inline_errors(api, view, body)
        elif action == "update":
            new = api.check_view("response_action update", body.get("view"), "modal")
            api.workspace.update_view(view, new)
        elif action == "push":
            new = api.check_view("response_action push", body.get("view"), "modal")
            api.workspace.push_view(view.team_id, view.user_id, new)
        elif action == "clear":
            api.workspace.close_all(view.team_id, view.user_id)
        elif action is None:
            api.workspace.close_view(view)
        else:
            api.violation("view_submission", "unknown_action", [str(action)], body)
    except SlackRefusal as refusal:
        # Slack shows its own "trouble connecting" line and keeps the modal.
        response.errors = {"": refusal.code}


def _inline_errors(api: WebApi, view: View, body: Payload) -> dict[str, str]:
    errors: dict[str, str] = body.get("errors") or {}
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    strays = [f"{name!r} is no input block of this view" for name in errors if name not in inputs]
    if strays or not errors:
        problems = strays or ["no errors given"]
        api.violation("response_action errors", "invalid_errors", problems, body)
    return dict(errors)
