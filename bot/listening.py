"""Round every listener: it answers within three seconds and tells people what went wrong.

Slack shows "did not respond" after three seconds, and Bolt loses the acknowledgement of a listener
that raises right after it. So nothing is raised here, and whoever is slow is answered for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Any, Final, NamedTuple

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot import errors, slack_web
from bot.views import replies, text
from bot.workspace import Workspace
from storage.database import Database
from storage.errors import DatabaseUnavailable, Refusal

# Of Slack's three seconds, half a one is left for the way.
ANSWER_SECONDS: Final = 2.5
# Those who stop the process wait so long for what was begun.
FINISH_SECONDS: Final = 10.0

_log = structlog.stdlib.get_logger("hiatus.slack")


@dataclass
class Edge:
    """What every listener works with; ``visits`` are those that are not finished yet."""

    database: Database
    client: AsyncWebClient
    workspace: Workspace
    clock: Callable[[], datetime]
    visits: set[asyncio.Task[None]] = field(default_factory=set)

    async def finish(self) -> None:
        """Wait for what people have begun: Slack was told already that it was received."""
        if self.visits:
            await asyncio.wait(self.visits, timeout=FINISH_SECONDS)


class Clicked(NamedTuple):
    """A button of a message: its value, and the message."""

    value: str
    channel: str
    ts: str


class Visit:
    """One thing that one person did in Slack, and the ways to answer it."""

    def __init__(self, edge: Edge, body: dict[str, Any], ack: AsyncAck) -> None:
        self.edge = edge
        self.body = body
        self.now = edge.clock()
        self.is_answered = False
        self._ack = ack

    @property
    def team_id(self) -> str:
        """Whose workspace it was done in; "" where Slack names none."""
        return str(self.body.get("team_id") or (self.body.get("team") or {}).get("id") or "")

    @property
    def slack_user_id(self) -> str:
        return str(self.body.get("user_id") or (self.body.get("user") or {}).get("id") or "")

    @property
    def is_submission(self) -> bool:
        return self.body.get("type") == "view_submission"

    @property
    def values(self) -> dict[str, Any]:
        """What was filled into the submitted view."""
        values: dict[str, Any] = self.body["view"]["state"]["values"]
        return values

    @property
    def clicked(self) -> Clicked:
        """The button, and the message that it belongs to."""
        container = self.body["container"]
        value = str(self.body["actions"][0].get("value", ""))
        return Clicked(value, container["channel_id"], container["message_ts"])

    async def ack(self, *args: Any, **kwargs: Any) -> None:
        """Answer Slack; the first answer counts, later ones are dropped."""
        if not self.is_answered:
            self.is_answered = True
            await self._ack(*args, **kwargs)

    async def open(self, view: dict[str, Any]) -> None:
        """Show a modal. Raises what ``slack_web.FAILURES`` names."""
        async with asyncio.timeout(ANSWER_SECONDS):
            await self.edge.client.views_open(trigger_id=self.body["trigger_id"], view=view)

    async def redraw(self, message: dict[str, Any]) -> None:
        """Replace the message that was clicked."""
        await self._respond(replace_original=True, **message)

    async def tell(self, sentence: str) -> None:
        """Say one plain sentence to the person alone, where he is looking.

        Inline or in place of a modal while its answer is due; else beside the message or command,
        in a modal, or in a DM.
        """
        if self.is_submission and not self.is_answered:
            await self.ack(response_action="update", view=replies.notice("Hiatus", sentence))
            return
        await self.ack()
        if self.body.get("response_url"):
            message = text.escaped(sentence)
            await self._respond(text=message, response_type="ephemeral", replace_original=False)
        elif self.is_submission:
            await self.edge.client.chat_postMessage(
                channel=self.slack_user_id, text=text.escaped(sentence)
            )
        else:
            await self.open(replies.notice("Hiatus", sentence))

    async def _respond(self, **message: Any) -> None:
        url = self.body.get("response_url")
        if not url:
            return
        client = AsyncWebhookClient(
            url,
            session=self.edge.client.session,
            timeout=slack_web.CALL_SECONDS,
            logger=slack_web.LOGGER,
            retry_handlers=[],
        )
        answer = await client.send_dict(message)
        if answer.status_code != 200:
            _log.warning("slack.response_url_refused", status=answer.status_code)


Listener = Callable[[Visit], Awaitable[None]]


def listening(edge: Edge, act: Listener) -> Callable[[AsyncAck, dict[str, Any]], Awaitable[None]]:
    """The Bolt listener that carries out ``act``; it never raises."""

    @wraps(act)
    async def listener(ack: AsyncAck, body: dict[str, Any]) -> None:
        visit = Visit(edge, body, ack)
        # Kept: asyncio drops tasks that nobody refers to.
        work = asyncio.create_task(_carried_out(visit, act))
        edge.visits.add(work)
        work.add_done_callback(edge.visits.discard)
        await asyncio.wait({work}, timeout=ANSWER_SECONDS)
        if not visit.is_answered:
            await _answer_for(visit)
        await asyncio.wait({work})

    # Bolt asks the innermost function which arguments it wants.
    del listener.__wrapped__
    return listener


async def _carried_out(visit: Visit, act: Listener) -> None:
    try:
        await act(visit)
    except Refusal as refusal:
        await _told(visit, errors.sentence(refusal))
    except DatabaseUnavailable:
        _log.exception("slack.database_unavailable", listener=act.__name__)
        await _told(visit, errors.BUSY)
    except slack_web.FAILURES:
        _log.exception("slack.call_failed", listener=act.__name__)
        await _told(visit, errors.SLACK_FAILED)
    except Exception:  # noqa: BLE001  # whoever clicked is owed an answer, whatever it was
        _log.exception("slack.listener_failed", listener=act.__name__)
        await _told(visit, errors.BROKEN)
    else:
        await visit.ack()


async def _told(visit: Visit, sentence: str) -> None:
    """Say it, inline where a form is still open; who cannot be told is at least acknowledged."""
    try:
        block = _first_input(visit)
        if block is not None and not visit.is_answered:
            await visit.ack(response_action="errors", errors={block: sentence})
        else:
            await visit.tell(sentence)
    except slack_web.FAILURES as failure:
        _log.warning("slack.nobody_told", reason=slack_web.summary(failure))
    await visit.ack()


async def _answer_for(visit: Visit) -> None:
    if visit.is_submission:
        await visit.ack(response_action="update", view=replies.notice("Hiatus", errors.SLOW))
    else:
        await visit.ack()


def _first_input(visit: Visit) -> str | None:
    if not visit.is_submission:
        return None
    blocks = visit.body["view"]["blocks"]
    return next((block["block_id"] for block in blocks if block["type"] == "input"), None)
