"""One thing that a person did in Slack, the ways to answer it, and what every listener may use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Concatenate, Final, ParamSpec, TypedDict, Unpack

import structlog
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.base import ids, language, payloads
from bot.base.block_kit import Block, Message, View
from bot.base.payloads import Body, Event, UnexpectedPayload, Values
from bot.blocks import layout
from bot.client import slack_web
from bot.client.modal_updates import ModalRefreshes
from bot.client.workspaces import Workspace, Workspaces, home_url
from bot.interaction import errors
from storage.base.errors import DomainError
from storage.base.values import Caller
from storage.db.database import Database, Transaction
from storage.workspaces.join_policy import NotAMember

P = ParamSpec("P")

# Of the three seconds that Slack waits, this leaves 0.5 s for the network.
ANSWER_SECONDS: Final = 2.5
# Stopping the process waits this long for unfinished interactions.
FINISH_SECONDS: Final = 10.0

CheckUrl = Callable[[str], Awaitable[object]]


@dataclass
class Services:
    """What every listener may use; ``interactions`` are the running ones.

    ``slack`` has no token, but the session of all clients. ``base_url`` is the public URL, without
    a trailing slash. ``check_webhook_url`` raises InvalidInput for forbidden addresses, as in REST.
    After ``answer_seconds`` a slow interaction is acknowledged; ``open_seconds`` is the limit for
    opening a modal. ``install_url`` is the page that installs the app, None with one bot token.
    ``support_contact`` is an e-mail address or a URL, "" if there is none.
    ``refresh_home`` takes the ids of an organisation and a person whose Home tab may be open.
    """

    database: Database
    slack: AsyncWebClient
    workspaces: Workspaces
    clock: Callable[[], datetime]
    base_url: str
    check_webhook_url: CheckUrl
    install_url: str | None = None
    support_contact: str = ""
    refresh_home: Callable[[str, str], None] = lambda organisation_id, user_id: None
    interactions: set[asyncio.Task[object]] = field(default_factory=set)
    refreshes: ModalRefreshes = field(default_factory=ModalRefreshes)
    answer_seconds: float = ANSWER_SECONDS
    open_seconds: float = ANSWER_SECONDS

    async def finish(self) -> None:
        """Wait for running interactions, which Slack believes to be handled."""
        if self.interactions:
            await asyncio.wait(self.interactions, timeout=FINISH_SECONDS)


# The key in Bolt's context under which ``authorize`` stores ``Interaction.workspace``.
WORKSPACE: Final = "hiatus_workspace"


_log = structlog.stdlib.get_logger("hiatus.slack")


class Acknowledgement(TypedDict, total=False):
    """The arguments of Bolt's ``ack`` that we use."""

    text: str
    response_type: str
    response_action: str
    errors: dict[str, str]
    view: View
    options: Sequence[Block]
    option_groups: Sequence[Block]


@dataclass(frozen=True, kw_only=True, slots=True)
class Clicked:
    """A clicked button in a message: its value, as the id of a request, and the message."""

    value: str
    channel: str
    ts: str

    def packed(self) -> str:
        """As a modal's ``private_metadata`` keeps it."""
        return f"{self.value} {self.channel} {self.ts}"


class Interaction:
    """One payload of one person, and the ways to respond to it."""

    def __init__(
        self, services: Services, context: AsyncBoltContext, body: Mapping[str, object]
    ) -> None:
        self.services = services
        self.body: Body = payloads.read(body)
        self.now = services.clock()
        self.is_answered = False
        self.acknowledgement: BoltResponse | None = None
        # Acknowledges for a slow listener; None before the listener begins.
        self.acknowledging: asyncio.Task[None] | None = None
        self.locale: str | None = None
        # Set once the person is authenticated.
        self.by: Caller | None = None
        # Bolt's value is also right for forms that were opened in another workspace.
        self.team_id: str = context.team_id or ""
        self._workspace = context.get(WORKSPACE)
        self._ack: AsyncAck = context.ack

    @property
    def database(self) -> Database:
        return self.services.database

    @property
    def workspace(self) -> Workspace:
        """The interaction's workspace. Raises NotAMember if the app is not installed."""
        if isinstance(self._workspace, Exception):
            raise self._workspace
        if self._workspace is None:
            install_url = self.services.install_url
            if install_url is None:
                raise NotAMember(errors.UNKNOWN_WORKSPACE)
            raise NotAMember(errors.NOT_INSTALLED, url=install_url)
        workspace: Workspace = self._workspace
        return workspace

    @property
    def client(self) -> AsyncWebClient:
        """The client of the interaction's workspace. Raises as ``workspace``."""
        return self.workspace.client

    @property
    def home_url(self) -> str | None:
        """Opens the app's Home tab in Slack. Unlike ``workspace.home_url``, always known."""
        app_id = self.body.get("api_app_id")
        return home_url(self.team_id, app_id) if app_id else None

    @property
    def event(self) -> Event:
        """The event without its envelope."""
        return self.body["event"]

    @property
    def message(self) -> Event | None:
        """The message that was written to the app; None for every other interaction."""
        event = self.body.get("event")
        return event if event is not None and event.get("type") == "message" else None

    @property
    def command(self) -> str:
        """The command that was typed, "" in a conversation, which needs none."""
        return str(self.body.get("command") or "")

    @property
    def slack_user_id(self) -> str:
        """The acting user's id; "" if the payload has none."""
        event = self.body.get("event")
        user = self.body.get("user") or (event and event.get("user"))
        user_id = self.body.get("user_id") or (user.get("id") if isinstance(user, dict) else user)
        return str(user_id or "")

    @property
    def name(self) -> str:
        """The command, action id, callback id or event type, for the log."""
        if actions := self.body.get("actions"):
            return str(actions[0].get("action_id"))
        if event := self.body.get("event"):
            return str(event.get("type"))
        view = self.body.get("view") or self.body
        named = self.body.get("command") or self.body.get("action_id") or view.get("callback_id")
        return str(named)

    @property
    def is_submission(self) -> bool:
        return self.body.get("type") == "view_submission"

    @property
    def is_search(self) -> bool:
        """A search in a select menu, which is answered with its options."""
        return self.body.get("type") == "block_suggestion"

    @property
    def values(self) -> Values:
        """The values of the submitted view."""
        return self.body["view"]["state"]["values"]

    @property
    def clicked(self) -> Clicked:
        container = self.body["container"]
        return Clicked(
            value=self.value, channel=container["channel_id"], ts=container["message_ts"]
        )

    @property
    def clicked_before_form(self) -> Clicked:
        """What was ``clicked`` to open the submitted form, which keeps it packed."""
        try:
            value, channel, ts = self.private_metadata.split(" ")
        except ValueError as error:
            raise UnexpectedPayload("private_metadata") from error
        return Clicked(value=value, channel=channel, ts=ts)

    @property
    def value(self) -> str:
        """The value of the clicked button or selected option, in a message or view."""
        action = self.body["actions"][0]
        selected = action.get("selected_option")
        value = action.get("value") or (selected and selected["value"]) or ""
        return value.rpartition(" ")[2] if action.get("type") == "overflow" else value

    @property
    def choice(self) -> str:
        """What was chosen in the overflow menu of a row; ``value`` is the row's id."""
        selected = self.body["actions"][0].get("selected_option")
        return selected["value"].partition(" ")[0] if selected else ""

    @property
    def private_metadata(self) -> str:
        """The private metadata of the view: an id or ""."""
        return str(self.body["view"].get("private_metadata") or "")

    def set_locale(self, locale: str | None) -> None:
        """Respond in the language of a Slack locale from now on."""
        self.locale = locale
        language.set_locale(locale)

    async def ack(self, **response: Unpack[Acknowledgement]) -> None:
        """Acknowledge; only the first call counts."""
        if not self.is_answered:
            self.is_answered = True
            self.acknowledgement = await self._ack(**response)

    async def open(self, view: View) -> None:
        """Open a modal, on top of the current one. Raises the errors in ``slack_web.FAILURES``.

        In place of the menu of the settings: Slack shows three modals on top of each other, which
        the settings of a person need.
        """
        below = self.body.get("view")
        is_in_modal = below is not None and below["type"] == "modal"
        async with asyncio.timeout(self.services.open_seconds):
            if below is not None and below.get("callback_id") == ids.SETTINGS:
                await self.client.views_update(view_id=below["id"], view=view)
                return
            show = self.client.views_push if is_in_modal else self.client.views_open
            await show(trigger_id=self.body["trigger_id"], view=view)

    async def reply(self, message: Message) -> None:
        """Send an ephemeral message beside the command or message that was used.

        In a conversation with the app it is a message of its own.
        """
        if self.message is not None:
            await self._answer(self.message, message)
            return
        await self.ack()
        await self._respond(response_type="ephemeral", replace_original=False, **message)

    async def refresh(self, message: Message) -> None:
        """Replace the message that was clicked."""
        await self._respond(replace_original=True, **message)

    async def refresh_clicked(self, clicked: Clicked, message: Message) -> None:
        """As ``refresh``, also from the form that the click opened. A failure is logged."""
        try:
            if self.is_submission:
                await self.client.chat_update(channel=clicked.channel, ts=clicked.ts, **message)
            else:
                await self.refresh(message)
        except slack_web.FAILURES as failure:
            _log.warning("slack.card_not_refreshed", reason=slack_web.summary(failure))

    async def tell(self, sentence: str) -> None:
        """Show one plain sentence to the person, where they are looking.

        In place of a modal that is not acknowledged yet; else beside the message or command, in a
        new modal, or in a DM.
        """
        if self.is_submission and not self.is_answered:
            await self.ack(response_action="update", view=layout.notice("Hiatus", sentence))
            return
        if self.message is not None:
            await self._answer(self.message, {"text": layout.escaped(sentence)})
            return
        await self.ack()
        if self.body.get("response_url"):
            message = layout.escaped(sentence)
            await self._respond(text=message, response_type="ephemeral", replace_original=False)
        elif self.is_submission:
            await self.client.chat_postMessage(
                channel=self.slack_user_id, text=layout.escaped(sentence)
            )
        elif self.body.get("trigger_id"):
            await self.open(layout.notice("Hiatus", sentence))

    async def write_or_tell(
        self,
        explain: Callable[[DomainError], str],
        use_case: Callable[Concatenate[Transaction, P], object],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> None:
        """Run a use case in one transaction; if it is refused, tell the person why."""
        try:
            await self.database.write(use_case, *args, **kwargs)
        except DomainError as refusal:
            await self.tell(explain(refusal))

    async def _answer(self, written: Event, message: Message) -> None:
        """Post a message where the person wrote, in the same thread."""
        await self.client.chat_postMessage(
            channel=written["channel"], thread_ts=written.get("thread_ts"), **message
        )

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
        with slack_web.measured("response_url"):
            response = await client.send_dict(message)
        if response.status_code != 200:
            _log.warning("slack.response_url_refused", status=response.status_code)
