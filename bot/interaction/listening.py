"""Wraps every listener: it is acknowledged in time, and its errors are shown to the user.

Slack shows "did not respond" after three seconds, and Bolt loses the acknowledgement of a listener
that raises right after it. So no listener raises, and slow ones are acknowledged for them. Events
are answered with 200 only after they were handled, so that Slack resends failed and slow ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse

from bot.base import language
from bot.base.language import gettext
from bot.base.payloads import Body, UnexpectedPayload, inputs
from bot.client import slack_web
from bot.interaction import errors, slack_errors
from bot.interaction.interaction import Interaction, Kind
from bot.interaction.services import Services
from bot.views import notice
from storage.base.errors import DatabaseUnavailable, DomainError, OutcomeUnknown
from storage.slack import slack_events
from storage.slack.join_policy import NotAMember

T = TypeVar("T")

_ANY_NAME: Final = re.compile("")

_log = structlog.stdlib.get_logger("hiatus.slack")


Act = Callable[[Interaction], Awaitable[None]]
BoltListener = Callable[[AsyncBoltContext, Body], Awaitable[None]]
BoltMiddleware = Callable[[AsyncBoltContext, Body], Awaitable[BoltResponse]]
# Bolt's own decorators, which are untyped.
Registrar = Callable[[str | re.Pattern[str]], Callable[[BoltListener], object]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Listener:
    """The function for Slack payloads of that ``kind`` and ``name``.

    The name is a command, a callback id, an action id or an event's type; "" stands for any.
    """

    kind: Kind
    name: str
    act: Act


def register(app: AsyncApp, services: Services, listeners: Sequence[Listener]) -> None:
    """Register the wrapped listeners with Bolt, which calls the first that matches."""
    for listener in listeners:
        name = listener.name or _ANY_NAME
        if listener.kind == "event":
            # As middleware, because Bolt acknowledges events before it runs their listeners.
            app.event(name, middleware=[_event_middleware(services, listener.act)])(_no_listener)
        else:
            _registrar(app, listener.kind)(name)(
                bolt_listener(services, listener.act, listener.kind)
            )


def _registrar(app: AsyncApp, kind: Kind) -> Registrar:
    registrars: Mapping[Kind, Registrar] = {
        "command": app.command,
        "shortcut": app.shortcut,
        "action": app.action,
        "options": app.options,
        "view": app.view_submission,
        "view_closed": app.view_closed,
    }
    return registrars[kind]


def bolt_listener(services: Services, act: Act, kind: Kind) -> BoltListener:
    """The Bolt listener that runs ``act``; it never raises."""

    async def listener(context: AsyncBoltContext, body: Body) -> None:
        interaction = Interaction(services, kind, context, body)
        work = _start(services, _run(interaction, act))
        await asyncio.wait({work}, timeout=services.answer_seconds)
        if not interaction.is_answered:
            await _acknowledge_slow(interaction)
        await asyncio.wait({work})

    return listener


def _event_middleware(services: Services, act: Act) -> BoltMiddleware:
    """The middleware that handles an event: 200 after it was handled, else 503.

    Slow handling continues after the 503, because it may still succeed: when Slack resends the
    event, it is answered with 200 and not handled again.
    """

    async def middleware(context: AsyncBoltContext, body: Body) -> BoltResponse:
        work = _start(services, _handle_once(Interaction(services, "event", context, body), act))
        await asyncio.wait({work}, timeout=services.answer_seconds)
        is_handled = work.done() and work.result()
        if not work.done():
            _log.warning("slack.event_slow", listener=act.__name__, reason="it takes too long")
        return BoltResponse(status=200 if is_handled else 503, body="")

    return middleware


async def _no_listener() -> None:
    """Bolt requires a listener, although the middleware has responded."""


def _start(services: Services, work: Coroutine[object, None, T]) -> asyncio.Task[T]:
    # Keep a reference: asyncio only keeps weak references to tasks.
    task = asyncio.create_task(work)
    services.interactions.add(task)
    task.add_done_callback(services.interactions.discard)
    return task


async def _run(interaction: Interaction, act: Act) -> None:
    try:
        await act(interaction)
    except DomainError as refusal:
        await _show_error(interaction, errors.sentence(refusal))
    except OutcomeUnknown:
        _log.exception("slack.outcome_unknown", listener=act.__name__)
        await _show_error(interaction, gettext(errors.UNKNOWN_OUTCOME))
    except DatabaseUnavailable as error:
        _log_unavailable(act, error)
        await _show_error(interaction, gettext(errors.BUSY))
    except slack_web.FAILURES as failure:
        await _record_failed_call(interaction, act, failure)
        await _show_error(
            interaction, slack_errors.sentence(failure, interaction.services.install_url)
        )
    except UnexpectedPayload as missing:
        _log.warning("slack.payload_incomplete", listener=act.__name__, member=str(missing))
        await _show_error(interaction, gettext(notice.OUTDATED))
    except Exception:  # noqa: BLE001  # show the user that any error occurred
        _log.exception("slack.listener_failed", listener=act.__name__)
        await _show_error(interaction, gettext(errors.BROKEN))
    else:
        await _acknowledge(interaction)


async def _handle_once(interaction: Interaction, act: Act) -> bool:
    """Handle an event once; False asks Slack to resend it."""
    event_id = str(interaction.body.get("event_id") or "")
    write = interaction.services.database.write
    try:
        if event_id and not await write(slack_events.claim, event_id, now=interaction.now):
            # The process that is handling it may crash, so only a finished one counts.
            is_handled = await interaction.services.database.read(slack_events.is_handled, event_id)
            if not is_handled:
                _log.warning("slack.event_in_progress", listener=act.__name__)
            return is_handled
        is_done = await _run_event(interaction, act)
        if event_id and is_done:
            await write(slack_events.finish, event_id, now=interaction.now)
        elif event_id:
            await write(slack_events.release, event_id)
    except DatabaseUnavailable as error:
        _log_unavailable(act, error)
        return False
    return is_done


def _log_unavailable(act: Act, error: DatabaseUnavailable) -> None:
    _log.warning(
        "slack.database_unavailable", listener=act.__name__, reason=str(error), kind=error.kind
    )


async def _run_event(interaction: Interaction, act: Act) -> bool:
    """Run ``act`` without telling anyone about errors; False if Slack should resend the event."""
    try:
        await act(interaction)
    except DomainError as refusal:
        _log.info("slack.event_refused", listener=act.__name__, code=refusal.code)
    except slack_web.FAILURES as failure:
        await _record_failed_call(interaction, act, failure)
        return not slack_web.is_temporary(failure)
    except UnexpectedPayload as missing:
        _log.warning("slack.payload_incomplete", listener=act.__name__, member=str(missing))
    except DatabaseUnavailable:
        raise
    except Exception:  # noqa: BLE001  # Slack sends it again
        _log.exception("slack.listener_failed", listener=act.__name__)
        return False
    return True


async def _record_failed_call(interaction: Interaction, act: Act, failure: Exception) -> None:
    # No traceback: the exception's message has Slack's response.
    _log.warning("slack.call_failed", listener=act.__name__, reason=slack_web.summary(failure))
    if slack_web.error_code(failure) in slack_web.TOKEN_REFUSED:
        # If this fails, the next refused call tries again.
        with contextlib.suppress(DatabaseUnavailable, NotAMember):
            await interaction.services.workspaces.token_refused(interaction.workspace)


async def _show_error(interaction: Interaction, sentence: str) -> None:
    """Show it, inline if a form is open; acknowledge even if it cannot be shown."""
    try:
        block = _first_input(interaction)
        if interaction.kind == "options":
            await interaction.ack(options=[])
        elif block is not None and not interaction.is_answered:
            await interaction.ack(response_action="errors", errors={block: sentence})
        else:
            await interaction.tell(sentence)
    except slack_web.FAILURES as failure:
        _log.warning("slack.error_not_shown", reason=slack_web.summary(failure))
    except (DatabaseUnavailable, NotAMember) as failure:
        # Without the workspace's token the person cannot be reached.
        _log.warning("slack.error_not_shown", reason=type(failure).__name__)
    await _acknowledge(interaction)


async def _acknowledge_slow(interaction: Interaction) -> None:
    if interaction.is_submission:
        # The language was set in the listener's task, not in this one.
        with language.using_locale(interaction.locale):
            view = notice.view("Hiatus", gettext(errors.SLOW))
        await interaction.ack(response_action="update", view=view)
    else:
        await _acknowledge(interaction)


async def _acknowledge(interaction: Interaction) -> None:
    if interaction.kind == "options":
        await interaction.ack(options=[])
    else:
        await interaction.ack()


def _first_input(interaction: Interaction) -> str | None:
    return next(iter(inputs(interaction.body["view"])), None) if interaction.is_submission else None
