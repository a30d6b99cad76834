"""One thing that a person did in Slack, and the ways to answer it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypedDict, Unpack

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.base import language
from bot.base.block_kit import Block, Message, View
from bot.base.payloads import Body, Event, Values
from bot.client import slack_web
from bot.client.modal_updates import ModalRefreshes
from bot.client.workspaces import Workspace, Workspaces
from bot.interaction import errors
from bot.views import replies, text
from storage.db.database import Database
from storage.slack.provisioning import NotAMember

# Of the three seconds that Slack waits, this leaves 0.5 s for the network.
ANSWER_SECONDS: Final = 2.5
# Stopping the process waits this long for unfinished interactions.
FINISH_SECONDS: Final = 10.0
# Where authorizing leaves what it found for ``Interaction.workspace``.
FOUND: Final = "hiatus_workspace"

# As Slack tells them apart; "action" is a click or a pick, "options" a search in a select menu.
Kind = Literal["command", "shortcut", "action", "options", "view", "view_closed", "event"]

CheckUrl = Callable[[str], Awaitable[object]]

_log = structlog.stdlib.get_logger("hiatus.slack")


@dataclass
class Services:
    """What every listener works with; ``interactions`` are those that are not finished yet.

    ``slack`` has no token, and the session of all clients. ``base_url`` is where the world reaches
    us, without a slash at its end. ``check_webhook_url`` raises InvalidInput for an address that
    nothing may be sent to, as REST has it. ``answer_seconds`` is when whoever is slow is answered
    for, ``open_seconds`` is how long opening a modal may take. ``install_url`` is where workspaces
    install the app, None where it has one bot token.
    """

    database: Database
    slack: AsyncWebClient
    workspaces: Workspaces
    clock: Callable[[], datetime]
    base_url: str
    check_webhook_url: CheckUrl
    install_url: str | None = None
    interactions: set[asyncio.Task[object]] = field(default_factory=set)
    refreshes: ModalRefreshes = field(default_factory=ModalRefreshes)
    answer_seconds: float = ANSWER_SECONDS
    open_seconds: float = ANSWER_SECONDS

    async def finish(self) -> None:
        """Wait for what people have begun: Slack was told already that it was received."""
        if self.interactions:
            await asyncio.wait(self.interactions, timeout=FINISH_SECONDS)


class Acknowledgement(TypedDict, total=False):
    """What Bolt's ``ack`` takes of what we answer with."""

    text: str
    response_type: str
    response_action: str
    errors: dict[str, str]
    view: View
    options: Sequence[Block]


@dataclass(frozen=True, kw_only=True, slots=True)
class Clicked:
    """A button of a message: its value, and the message."""

    value: str
    channel: str
    ts: str


class Interaction:
    """One thing that one person did in Slack, and the ways to answer it."""

    def __init__(
        self, services: Services, kind: Kind, context: AsyncBoltContext, body: Body
    ) -> None:
        self.services = services
        self.kind = kind
        self.body = body
        self.now = services.clock()
        self.is_answered = False
        self.locale: str | None = None
        # Bolt's reading: also right for forms that were opened in somebody else's workspace.
        self.team_id: str = context.team_id or ""
        self._found = context.get(FOUND)
        # An event is answered by what becomes of it.
        self._ack: AsyncAck | None = None if kind == "event" else context.ack

    @property
    def workspace(self) -> Workspace:
        """Whose token answers. Raises NotAMember where the app is not installed."""
        if isinstance(self._found, Exception):
            raise self._found
        if self._found is None:
            install_url = self.services.install_url
            if install_url is None:
                raise NotAMember(errors.UNKNOWN_WORKSPACE)
            raise NotAMember(errors.NOT_INSTALLED, url=install_url)
        found: Workspace = self._found
        return found

    @property
    def client(self) -> AsyncWebClient:
        """Speaks to the interaction's own workspace. Raises as ``workspace``."""
        return self.workspace.client

    @property
    def event(self) -> Event:
        """What happened, without its envelope."""
        return self.body["event"]

    @property
    def slack_user_id(self) -> str:
        """Who it was; "" where Slack names nobody."""
        event = self.body.get("event")
        user = self.body.get("user") or (event and event.get("user"))
        found = self.body.get("user_id") or (user.get("id") if isinstance(user, dict) else user)
        return str(found or "")

    @property
    def is_submission(self) -> bool:
        return self.kind == "view"

    @property
    def values(self) -> Values:
        """What was filled into the submitted view."""
        return self.body["view"]["state"]["values"]

    @property
    def clicked(self) -> Clicked:
        """The button, and the message that it belongs to."""
        container = self.body["container"]
        value = str(self.body["actions"][0].get("value", ""))
        return Clicked(value=value, channel=container["channel_id"], ts=container["message_ts"])

    @property
    def value(self) -> str:
        """What the button that was clicked stands for, wherever it is."""
        return str(self.body["actions"][0].get("value", ""))

    def set_locale(self, locale: str | None) -> None:
        """Answer in the language of a Slack locale from here on."""
        self.locale = locale
        language.set_locale(locale)

    async def ack(self, **answer: Unpack[Acknowledgement]) -> None:
        """Answer Slack; the first answer counts, later ones are dropped."""
        if not self.is_answered:
            self.is_answered = True
            if self._ack is not None:
                await self._ack(**answer)

    async def open(self, view: View) -> None:
        """Show a modal, on top of the one that it comes from.

        Raises what ``slack_web.FAILURES`` names.
        """
        below = self.body.get("view")
        is_in_modal = below is not None and below["type"] == "modal"
        show = self.client.views_push if is_in_modal else self.client.views_open
        async with asyncio.timeout(self.services.open_seconds):
            await show(trigger_id=self.body["trigger_id"], view=view)

    async def reply(self, message: Message) -> None:
        """Show the person alone a message, beside the command or message that he used."""
        await self.ack()
        await self._respond(response_type="ephemeral", replace_original=False, **message)

    async def refresh(self, message: Message) -> None:
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
            await self.client.chat_postMessage(
                channel=self.slack_user_id, text=text.escaped(sentence)
            )
        elif self.body.get("trigger_id"):
            await self.open(replies.notice("Hiatus", sentence))

    async def _respond(self, **message: object) -> None:
        url = self.body.get("response_url")
        if not url:
            return
        client = AsyncWebhookClient(
            url,
            session=self.services.slack.session,
            timeout=slack_web.CALL_SECONDS,
            logger=slack_web.LOGGER,
            retry_handlers=[],
        )
        answer = await client.send_dict(message)
        if answer.status_code != 200:
            _log.warning("slack.response_url_refused", status=answer.status_code)
