"""Round every listener: it answers within three seconds and tells people what went wrong.

Slack shows "did not respond" after three seconds, and Bolt loses the acknowledgement of a listener
that raises right after it. So nothing is raised here, and whoever is slow is answered for. Events
are answered 200 only when they have been handled, so that Slack repeats those that failed or are
not finished in time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeVar

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.base import language
from bot.base.language import gettext
from bot.client import slack_web
from bot.client.modal_updates import ModalRefreshes
from bot.client.workspaces import Workspace, Workspaces
from bot.interaction import errors
from bot.views import replies, text
from storage.base.errors import DatabaseUnavailable, OutcomeUnknown, Refusal
from storage.db.database import Database
from storage.slack import slack_events
from storage.slack.provisioning import NotAMember

T = TypeVar("T")

# Of Slack's three seconds, half a one is left for the way.
ANSWER_SECONDS: Final = 2.5
# Those who stop the process wait so long for what was begun.
FINISH_SECONDS: Final = 10.0
# Where authorizing leaves what it found for ``Interaction.workspace``.
FOUND: Final = "hiatus_workspace"

# As Slack tells them apart; "action" is a click or a pick, "options" a search in a select menu.
Kind = Literal["command", "shortcut", "action", "options", "view", "view_closed", "event"]

CheckUrl = Callable[[str], Awaitable[object]]

_log = structlog.stdlib.get_logger("hiatus.slack")


class UnexpectedPayload(Exception):
    """Slack sent something without a member that its listener needs, maybe for an older version."""


class Payload(dict[str, Any]):
    """What Slack sent. Reading a member that it does not have raises UnexpectedPayload."""

    @classmethod
    def of(cls, sent: Any) -> Any:
        """The same, with every object in it made a Payload."""
        if isinstance(sent, dict):
            return cls((name, cls.of(value)) for name, value in sent.items())
        return [cls.of(value) for value in sent] if isinstance(sent, list) else sent

    def __missing__(self, name: str) -> Any:
        raise UnexpectedPayload(name)


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
    interactions: set[asyncio.Task[Any]] = field(default_factory=set)
    refreshes: ModalRefreshes = field(default_factory=ModalRefreshes)
    answer_seconds: float = ANSWER_SECONDS
    open_seconds: float = ANSWER_SECONDS

    async def finish(self) -> None:
        """Wait for what people have begun: Slack was told already that it was received."""
        if self.interactions:
            await asyncio.wait(self.interactions, timeout=FINISH_SECONDS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clicked:
    """A button of a message: its value, and the message."""

    value: str
    channel: str
    ts: str


class Interaction:
    """One thing that one person did in Slack, and the ways to answer it."""

    def __init__(
        self, services: Services, kind: Kind, context: AsyncBoltContext, body: dict[str, Any]
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
        """Speaks to the visit's own workspace. Raises as ``workspace``."""
        return self.workspace.client

    @property
    def event(self) -> dict[str, Any]:
        """What happened, without its envelope."""
        event: dict[str, Any] = self.body["event"]
        return event

    @property
    def slack_user_id(self) -> str:
        """Who it was; "" where Slack names nobody."""
        user = self.body.get("user") or (self.body.get("event") or {}).get("user")
        found = self.body.get("user_id") or (user.get("id") if isinstance(user, dict) else user)
        return str(found or "")

    @property
    def is_submission(self) -> bool:
        return self.kind == "view"

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
        return Clicked(value=value, channel=container["channel_id"], ts=container["message_ts"])

    @property
    def value(self) -> str:
        """What the button that was clicked stands for, wherever it is."""
        return str(self.body["actions"][0].get("value", ""))

    def set_locale(self, locale: str | None) -> None:
        """Answer in the language of a Slack locale from here on."""
        self.locale = locale
        language.set_locale(locale)

    async def ack(self, *args: Any, **kwargs: Any) -> None:
        """Answer Slack; the first answer counts, later ones are dropped."""
        if not self.is_answered:
            self.is_answered = True
            if self._ack is not None:
                await self._ack(*args, **kwargs)

    async def open(self, view: dict[str, Any]) -> None:
        """Show a modal, on top of the one that it comes from.

        Raises what ``slack_web.FAILURES`` names.
        """
        is_in_modal = (self.body.get("view") or {}).get("type") == "modal"
        show = self.client.views_push if is_in_modal else self.client.views_open
        async with asyncio.timeout(self.services.open_seconds):
            await show(trigger_id=self.body["trigger_id"], view=view)

    async def reply(self, message: dict[str, Any]) -> None:
        """Show the person alone a message, beside the command or message that he used."""
        await self.ack()
        await self._respond(response_type="ephemeral", replace_original=False, **message)

    async def refresh(self, message: dict[str, Any]) -> None:
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

    async def _respond(self, **message: Any) -> None:
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


Act = Callable[[Interaction], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Listener:
    """What is done when Slack sends something of that ``kind`` and ``name``.

    The name is a command, a callback id, an action id or an event's type.
    """

    kind: Kind
    name: Any
    act: Act


def register(app: AsyncApp, services: Services, listeners: Sequence[Listener]) -> None:
    """Have Bolt call each listener, wrapped; the first that fits is called."""
    for one in listeners:
        if one.kind == "event":
            # What a listener's own middleware answers is the answer; as a listener it would be
            # acknowledged before it has begun.
            app.event(one.name, middleware=[_handling(services, one.act)])(_never)
        else:
            _registrar(app, one.kind)(one.name)(listening(services, one.act, one.kind))


def _registrar(app: AsyncApp, kind: Kind) -> Any:
    return {
        "command": app.command,
        "shortcut": app.shortcut,
        "action": app.action,
        "options": app.options,
        "view": app.view_submission,
        "view_closed": app.view_closed,
    }[kind]


def listening(
    services: Services, act: Act, kind: Kind
) -> Callable[[AsyncBoltContext, dict[str, Any]], Awaitable[None]]:
    """The Bolt listener that carries out ``act``; it never raises."""

    async def listener(context: AsyncBoltContext, body: dict[str, Any]) -> None:
        interaction = Interaction(services, kind, context, body)
        work = _begun(services, _carried_out(interaction, act))
        await asyncio.wait({work}, timeout=services.answer_seconds)
        if not interaction.is_answered:
            await _answer_for(interaction)
        await asyncio.wait({work})

    return listener


def _handling(
    services: Services, act: Act
) -> Callable[[AsyncBoltContext, dict[str, Any]], Awaitable[BoltResponse]]:
    """The middleware that handles an event: 200 when that is done, else 503.

    Handling that takes too long continues after the 503, because it may still succeed: a repeat
    that comes later finds the event handled, and is answered 200 without handling it again.
    """

    async def handling(context: AsyncBoltContext, body: dict[str, Any]) -> BoltResponse:
        work = _begun(services, _handled(Interaction(services, "event", context, body), act))
        await asyncio.wait({work}, timeout=services.answer_seconds)
        is_handled = work.done() and work.result()
        if not work.done():
            _log.warning("slack.event_slow", listener=act.__name__)
        return BoltResponse(status=200 if is_handled else 503, body="")

    return handling


async def _never() -> None:
    """What Bolt wants beside a middleware that has answered."""


def _begun(services: Services, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    # Kept: asyncio drops tasks that nobody refers to.
    task = asyncio.create_task(work)
    services.interactions.add(task)
    task.add_done_callback(services.interactions.discard)
    return task


async def _carried_out(interaction: Interaction, act: Act) -> None:
    try:
        await act(interaction)
    except Refusal as refusal:
        await _told(interaction, errors.sentence(refusal))
    except OutcomeUnknown:
        _log.exception("slack.outcome_unknown", listener=act.__name__)
        await _told(interaction, gettext(errors.UNKNOWN_OUTCOME))
    except DatabaseUnavailable:
        _log.exception("slack.database_unavailable", listener=act.__name__)
        await _told(interaction, gettext(errors.BUSY))
    except slack_web.FAILURES as failure:
        await _call_failed(interaction, act, failure)
        await _told(interaction, errors.slack_failed(failure, interaction.services.install_url))
    except UnexpectedPayload as missing:
        _log.warning("slack.payload_incomplete", listener=act.__name__, member=str(missing))
        await _told(interaction, gettext(replies.OUTDATED))
    except Exception:  # noqa: BLE001  # whoever clicked is owed an answer, whatever it was
        _log.exception("slack.listener_failed", listener=act.__name__)
        await _told(interaction, gettext(errors.BROKEN))
    else:
        await _acknowledged(interaction)


async def _handled(interaction: Interaction, act: Act) -> bool:
    """Handle an event unless that has been done; False asks Slack to send it again."""
    event_id = str(interaction.body.get("event_id") or "")
    write = interaction.services.database.write
    try:
        if event_id and not await write(slack_events.claim, event_id, now=interaction.now):
            # Whoever is at it may die: Slack repeats what is not answered as handled.
            is_handled = await interaction.services.database.read(slack_events.is_handled, event_id)
            if not is_handled:
                _log.warning("slack.event_under_way", listener=act.__name__)
            return is_handled
        is_done = await _carried_out_quietly(interaction, act)
        if event_id and is_done:
            await write(slack_events.finish, event_id, now=interaction.now)
        elif event_id:
            await write(slack_events.release, event_id)
    except DatabaseUnavailable:
        _log.exception("slack.database_unavailable", listener=act.__name__)
        return False
    return is_done


async def _carried_out_quietly(interaction: Interaction, act: Act) -> bool:
    """Nobody waits for an answer; whether there is nothing more to do."""
    try:
        await act(interaction)
    except Refusal as refusal:
        _log.info("slack.event_refused", listener=act.__name__, code=refusal.code)
    except slack_web.FAILURES as failure:
        await _call_failed(interaction, act, failure)
        return not slack_web.is_temporary(failure)
    except UnexpectedPayload as missing:
        _log.warning("slack.payload_incomplete", listener=act.__name__, member=str(missing))
    except DatabaseUnavailable:
        raise
    except Exception:  # noqa: BLE001  # Slack sends it again
        _log.exception("slack.listener_failed", listener=act.__name__)
        return False
    return True


async def _call_failed(interaction: Interaction, act: Act, failure: Exception) -> None:
    # No traceback: the exception's words hold what Slack answered.
    _log.warning("slack.call_failed", listener=act.__name__, reason=slack_web.summary(failure))
    if slack_web.error_code(failure) in slack_web.TOKEN_REFUSED:
        # Where this does not work, the next call notices again.
        with contextlib.suppress(DatabaseUnavailable, NotAMember):
            await interaction.services.workspaces.token_refused(interaction.workspace)


async def _told(interaction: Interaction, sentence: str) -> None:
    """Say it, inline where a form is still open; who cannot be told is at least acknowledged."""
    try:
        block = _first_input(interaction)
        if interaction.kind == "options":
            await interaction.ack(options=[])
        elif block is not None and not interaction.is_answered:
            await interaction.ack(response_action="errors", errors={block: sentence})
        else:
            await interaction.tell(sentence)
    except slack_web.FAILURES as failure:
        _log.warning("slack.nobody_told", reason=slack_web.summary(failure))
    except (DatabaseUnavailable, NotAMember) as failure:
        # Without the workspace's token there is no way to him.
        _log.warning("slack.nobody_told", reason=type(failure).__name__)
    await _acknowledged(interaction)


async def _answer_for(interaction: Interaction) -> None:
    if interaction.is_submission:
        # The listener's task, which knows the language, is another one.
        with language.locale_set(interaction.locale):
            view = replies.notice("Hiatus", gettext(errors.SLOW))
        await interaction.ack(response_action="update", view=view)
    else:
        await _acknowledged(interaction)


async def _acknowledged(interaction: Interaction) -> None:
    if interaction.kind == "options":
        await interaction.ack(options=[])
    else:
        await interaction.ack()


def _first_input(interaction: Interaction) -> str | None:
    if not interaction.is_submission:
        return None
    blocks = interaction.body["view"]["blocks"]
    return next((block["block_id"] for block in blocks if block["type"] == "input"), None)
