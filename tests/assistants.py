"""Assistants: clients of `/mcp` with the SDK's own client, over HTTP."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, TypeVar

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

T = TypeVar("T")

Mode = Literal["auto", "legacy"]
# The protocol without a handshake, and the one before it.
MODES: Final[tuple[Mode, ...]] = ("auto", "legacy")


class ByKey(httpx2.Auth):
    """Sends an API key."""

    def __init__(self, key: str) -> None:
        self._key = key

    def auth_flow(self, request: Any) -> Any:
        request.headers["Authorization"] = f"Bearer {self._key}"
        yield request


class BySlack(httpx2.Auth):
    """Signs each request as Slack does. Source: docs.slack.dev, "Verifying requests"."""

    requires_request_body = True

    def __init__(self, signing_secret: str, seconds: Callable[[], float]) -> None:
        self._secret = signing_secret
        self._seconds = seconds

    def auth_flow(self, request: Any) -> Any:
        request.headers.update(signed(request.content, self._secret, self._seconds()))
        yield request


def signed(body: bytes, signing_secret: str, seconds: float) -> dict[str, str]:
    """The headers of a request that Slack signed then."""
    timestamp = str(int(seconds))
    signature = hmac.new(
        signing_secret.encode(), b"v0:%s:%s" % (timestamp.encode(), body), hashlib.sha256
    )
    return {
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": f"v0={signature.hexdigest()}",
    }


class Assistant:
    """Asks one server. ``slack`` names the person, as Slack does: a workspace and an account."""

    def __init__(
        self,
        url: str,
        auth: httpx2.Auth,
        *,
        slack: tuple[str, str] | None = None,
        mode: Mode = "auto",
    ) -> None:
        self._url = f"{url}/mcp"
        self._mode = mode
        self._auth = auth
        self._slack = slack

    def tools(self) -> list[Any]:
        async def listed(client: Client) -> list[Any]:
            return list((await client.list_tools()).tools)

        return self._run(listed)

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer, which the text repeats."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        (text,) = result.content
        assert isinstance(text, TextContent)
        assert json.loads(text.text) == result.structured_content
        answer: dict[str, Any] = result.structured_content
        return answer

    def refused(self, tool: str, **arguments: Any) -> str:
        """What the model reads."""
        result = self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        (text,) = result.content
        assert isinstance(text, TextContent)
        return text.text.removeprefix(f"Error executing tool {tool}: ")

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        meta: Any = None
        if self._slack is not None:
            team_id, user_id = self._slack
            meta = {"slack": {"team_id": team_id, "user_id": user_id}}

        async def called(client: Client) -> CallToolResult:
            return await client.call_tool(tool, arguments, meta=meta)

        return self._run(called)

    def _run(self, work: Callable[[Client], Awaitable[T]]) -> T:
        async def working() -> T:
            async with (
                httpx2.AsyncClient(auth=self._auth, timeout=60) as http,
                Client(
                    streamable_http_client(self._url, http_client=http), mode=self._mode
                ) as client,
            ):
                return await work(client)

        return asyncio.run(working())
