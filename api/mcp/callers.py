"""Who asks: an API key, or a person for whom Slack signs.

Source: docs.slack.dev, "Connecting an MCP server to the Slackbot MCP Client", Slack identity auth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from urllib.parse import urlsplit

import orjson
from starlette.datastructures import Headers
from starlette.types import Scope

from api.http.endpoints import authenticate
from api.http.errors import OriginNotAllowed
from api.http.operations import Services
from storage.base.errors import DomainError, Unauthenticated
from storage.base.values import Caller
from storage.leave.drafts import Draft

# Of the scope: the ``Call`` of a request.
CALL: Final = "mcp_call"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request. ``caller`` is None where Slack asks for no person; ``refusal`` says why else."""

    caller: Caller | None
    now: datetime
    refusal: DomainError | None = None


class SlackPeople(Protocol):
    """The people of Slack workspaces. ``bot`` has it, and serve.py passes it on."""

    def is_signed(self, headers: Mapping[str, str], body: bytes, *, now: datetime) -> bool:
        """Whether Slack signed the request within the last five minutes."""

    async def caller(self, team_id: str, slack_user_id: str) -> Caller:
        """The person with that account. Raises NotAMember and CannotReachInSlack."""

    async def offer(self, draft: Draft, *, by: Caller, now: datetime) -> None:
        """Send the person the draft with a button that sends it. Raises CannotReachInSlack."""


def check_origin(headers: Headers, base_url: str) -> None:
    """Raises OriginNotAllowed for pages of other websites, which includes DNS rebinding.

    Browsers send ``Origin`` with every POST, other clients do not. The specification demands this
    check (Streamable HTTP, "Security Warning").
    """
    origin = headers.get("origin")
    own = urlsplit(base_url)
    if origin is not None and origin != f"{own.scheme}://{own.netloc}":
        raise OriginNotAllowed


async def caller_of_key(scope: Scope, services: Services, now: datetime) -> Caller:
    """The person of the API key. Raises Unauthenticated or RateLimited."""
    return (await authenticate(scope, services, now)).caller


async def caller_in_slack(
    scope: Scope, body: bytes, services: Services, slack: SlackPeople | None, now: datetime
) -> Caller | None:
    """The person for whom Slack asks; None if it asks for no person, as for the list of tools.

    Raises Unauthenticated, RateLimited, NotAMember or CannotReachInSlack.
    """
    headers = Headers(scope=scope)
    if slack is None or not slack.is_signed(headers, body, now=now):
        if services.rate_limits is not None:
            services.rate_limits.record_failure(scope)
        raise Unauthenticated
    identity = _identity(body)
    if identity is None:
        return None
    if services.rate_limits is not None:
        await services.rate_limits.keys.hit(scope, f"slack:{'/'.join(identity)}")
    return await slack.caller(*identity)


def _identity(body: bytes) -> tuple[str, str] | None:
    """The ids of the workspace and the person in ``params._meta.slack``."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    for member in ("params", "_meta", "slack"):
        value = value.get(member) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return None
    team_id, user_id = value.get("team_id"), value.get("user_id")
    if not isinstance(team_id, str) or not isinstance(user_id, str) or not (team_id and user_id):
        return None
    return team_id, user_id
