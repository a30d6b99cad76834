"""What happens around every listener: its person, its errors, and its acknowledgement in time.

Slack shows "did not respond" after three seconds, so slow listeners are acknowledged for them.
Events are answered with 200 only after they were handled, so that Slack resends failed and slow
ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Final, TypeVar

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.listener.async_listener_completion_handler import AsyncListenerCompletionHandler
from slack_bolt.listener.async_listener_start_handler import AsyncListenerStartHandler
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.base import language
from bot.base.language import gettext, gettext_noop
from bot.base.payloads import UnexpectedPayload, inputs
from bot.blocks import layout
from bot.client import slack_web
from bot.interaction import errors
from bot.interaction.interaction import Interaction, Services
from storage.base.errors import DatabaseUnavailable, DomainError, OutcomeUnknown
from storage.base.values import SCOPES, Caller, Organisation, User
from storage.db.database import Transaction
from storage.people import people_rows
from storage.workspaces import join_policy, slack_events, slack_workspaces
from storage.workspaces.join_policy import NotAMember
from storage.workspaces.slack_workspaces import WorkspaceUser

T = TypeVar("T")
Act = Callable[[Interaction], Awaitable[None]]

# The name in Bolt's context under which listeners get their ``Interaction`` as an argument.
INTERACTION = "interaction"

# What Bolt and we raise for payloads that Slack never sends.
UNREADABLE: Final = (ValueError, TypeError, AttributeError, LookupError, RecursionError)

_log = structlog.stdlib.get_logger("hiatus.slack")


def attach(app: AsyncApp, services: Services) -> None:
    """Give each listener its ``interaction``, and answer for those that are slow or fail."""

    async def give_interaction(
        context: AsyncBoltContext, body: dict[str, object], next_: Callable[[], Awaitable[None]]
    ) -> BoltResponse | None:
        if body.get("type") == "app_rate_limited":
            _log.warning(
                "slack.app_rate_limited",
                team_id=body.get("team_id"),
                minute=body.get("minute_rate_limited"),
            )
            return BoltResponse(status=200, body="")
        context[INTERACTION] = Interaction(services, context, body)
        await next_()
        return None

    app.middleware(give_interaction)
    app.error(_on_error)
    app.listener_runner.listener_start_handler = _Started()
    app.listener_runner.listener_completion_handler = _Completed()


class _Started(AsyncListenerStartHandler):
    """Runs in the listener's task, before the listener."""

    async def handle(self, request: AsyncBoltRequest, response: BoltResponse | None) -> None:
        interaction: Interaction = request.context[INTERACTION]
        task = asyncio.current_task()
        assert task is not None
        interaction.services.interactions.add(task)
        interaction.acknowledging = asyncio.create_task(_acknowledge_when_slow(interaction))


class _Completed(AsyncListenerCompletionHandler):
    """Runs in the listener's task, after the listener and the error handler."""

    async def handle(self, request: AsyncBoltRequest, response: BoltResponse | None) -> None:
        interaction: Interaction = request.context[INTERACTION]
        if interaction.acknowledging is not None:
            interaction.acknowledging.cancel()
        # Bolt forgets the acknowledgement of a listener that raised after it.
        request.context.ack.response = interaction.acknowledgement
        await _acknowledge(interaction)
        task = asyncio.current_task()
        assert task is not None
        interaction.services.interactions.discard(task)


def telling(act: Act) -> Act:
    """The same for an event that a person waits for: an error is told to them."""

    async def tells(interaction: Interaction) -> None:
        try:
            await act(interaction)
        except (DatabaseUnavailable, *slack_web.FAILURES):
            raise
        except Exception as error:  # noqa: BLE001  # logged where the sentence is chosen
            await interaction.tell(await _sentence(interaction, error))

    return tells


def on_event(
    app: AsyncApp, name: str | re.Pattern[str], act: Act, *, may_repeat: bool = False
) -> None:
    """Register ``act`` for an event: 200 after it was handled, else 503.

    Slow handling continues after the 503, because it may still succeed: when Slack resends the
    event, it is answered with 200 and not handled again. An ``act`` that ``may_repeat`` is run each
    time, which spares people the two commits that note it.
    """
    run = _run_event if may_repeat else _run_once

    async def handle(interaction: Interaction) -> BoltResponse:
        work = _start(interaction.services, _handle(interaction, run(interaction, act)))
        await asyncio.wait({work}, timeout=interaction.services.answer_seconds)
        is_handled = work.done() and work.result()
        if not work.done():
            _log.warning("slack.event_slow", listener=interaction.name, reason="it takes too long")
        return BoltResponse(status=200 if is_handled else 503, body="")

    # As middleware, because Bolt acknowledges events before it runs their listeners.
    app.event(name, middleware=[handle])(_no_listener)


async def _no_listener() -> None:
    """Bolt requires a listener, although the middleware has responded."""


def _start(services: Services, work: Coroutine[object, None, T]) -> asyncio.Task[T]:
    # Keep a reference: asyncio only keeps weak references to tasks.
    task = asyncio.create_task(work)
    services.interactions.add(task)
    task.add_done_callback(services.interactions.discard)
    return task


async def _on_error(error: Exception, context: AsyncBoltContext) -> BoltResponse | None:
    """Show the error to the person. Bolt calls it in the task that raised.

    400 for what Bolt cannot read, such as a malformed timestamp of the signature; 503 for other
    errors outside listeners, so that Slack resends events.
    """
    interaction: Interaction | None = context.get(INTERACTION)
    if interaction is None or interaction.acknowledging is None:
        if isinstance(error, UNREADABLE):
            _log.warning("slack.payload_refused", reason=type(error).__name__)
            return BoltResponse(status=400, body={"error": "invalid request"})
        _log.error("slack.failed_outside_listeners", reason=type(error).__name__, exc_info=error)
        return BoltResponse(status=503, body="")
    was_acknowledged = interaction.is_answered
    await _show_error(interaction, await _sentence(interaction, error))
    # Bolt takes no second response.
    return None if was_acknowledged else interaction.acknowledgement


async def _sentence(interaction: Interaction, error: Exception) -> str:
    """What to tell the person; logs errors that are not theirs."""
    name = interaction.name
    if isinstance(error, DomainError):
        return errors.sentence(error)
    if isinstance(error, OutcomeUnknown):
        _log.error("slack.outcome_unknown", listener=name, exc_info=error)
        return gettext(errors.UNKNOWN_OUTCOME)
    if isinstance(error, DatabaseUnavailable):
        _log_unavailable(name, error)
        return gettext(errors.BUSY)
    if isinstance(error, slack_web.FAILURES):
        await _record_failed_call(interaction, error)
        return errors.slack_failure(error, interaction.services.install_url)
    if isinstance(error, UnexpectedPayload):
        _log.warning("slack.payload_incomplete", listener=name, member=str(error))
        return gettext(errors.OUTDATED)
    _log.error("slack.listener_failed", listener=name, exc_info=error)
    return gettext(errors.BROKEN)


async def _handle(interaction: Interaction, run: Coroutine[object, None, bool]) -> bool:
    """Whether the event is handled; False asks Slack to resend it."""
    try:
        return await run
    except DatabaseUnavailable as error:
        _log_unavailable(interaction.name, error)
        return False


async def _run_once(interaction: Interaction, act: Act) -> bool:
    """As ``_run_event``, unless the event was handled before."""
    event_id = str(interaction.body.get("event_id") or "")
    write = interaction.database.write
    if event_id and not await write(slack_events.claim, event_id, now=interaction.now):
        # The process that is handling it may crash, so only a finished one counts.
        is_handled = await interaction.database.read(slack_events.is_handled, event_id)
        if not is_handled:
            _log.warning("slack.event_in_progress", listener=interaction.name)
        return is_handled
    is_done = await _run_event(interaction, act)
    if event_id and is_done:
        await write(slack_events.finish, event_id, now=interaction.now)
    elif event_id:
        await write(slack_events.release, event_id)
    return is_done


def _log_unavailable(listener: str, error: DatabaseUnavailable) -> None:
    _log.warning(
        "slack.database_unavailable", listener=listener, reason=str(error), kind=error.kind
    )


async def _run_event(interaction: Interaction, act: Act) -> bool:
    """Run ``act`` without telling anyone about errors; False if Slack should resend the event."""
    try:
        await act(interaction)
    except DomainError as refusal:
        _log.info("slack.event_refused", listener=interaction.name, code=refusal.code)
    except slack_web.FAILURES as failure:
        await _record_failed_call(interaction, failure)
        return not slack_web.is_temporary(failure)
    except UnexpectedPayload as missing:
        _log.warning("slack.payload_incomplete", listener=interaction.name, member=str(missing))
    except DatabaseUnavailable:
        raise
    except Exception:  # noqa: BLE001  # Slack sends it again
        _log.exception("slack.listener_failed", listener=interaction.name)
        return False
    return True


async def _record_failed_call(interaction: Interaction, failure: Exception) -> None:
    # No traceback: the exception's message has Slack's response.
    _log.warning("slack.call_failed", listener=interaction.name, reason=slack_web.summary(failure))
    if slack_web.error_code(failure) in slack_web.TOKEN_REFUSED:
        # If this fails, the next refused call tries again.
        with contextlib.suppress(DatabaseUnavailable, NotAMember):
            await interaction.services.workspaces.token_refused(interaction.workspace)


async def _show_error(interaction: Interaction, sentence: str) -> None:
    """Show it, inline if a form is open; acknowledge even if it cannot be shown."""
    try:
        block = _first_input(interaction)
        if interaction.is_search:
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


async def _acknowledge_when_slow(interaction: Interaction) -> None:
    await asyncio.sleep(interaction.services.answer_seconds)
    if interaction.is_submission:
        # The language was set in the listener's task, not in this one.
        with language.using_locale(interaction.locale):
            view = layout.notice("Hiatus", gettext(errors.SLOW))
        await interaction.ack(response_action="update", view=view)
    else:
        await _acknowledge(interaction)


async def _acknowledge(interaction: Interaction) -> None:
    if interaction.is_search:
        await interaction.ack(options=[])
    else:
        await interaction.ack()


def _first_input(interaction: Interaction) -> str | None:
    return next(iter(inputs(interaction.body["view"])), None) if interaction.is_submission else None


_SCOPES: Final = frozenset(SCOPES)
# The user is waiting for a form.
_LOOKUP_SECONDS: Final = 2.0
_NO_FULL_MEMBER: Final = gettext_noop(
    "Hiatus is for full members of this workspace. Guests, bots and people from other "
    "workspaces can't use it."
)


async def caller(interaction: Interaction) -> Caller:
    """The active person behind an interaction: one database read for known people.

    Raises NotAMember for guests, strangers, bots, deactivated people and unknown workspaces; also
    DatabaseUnavailable and the errors in ``slack_web.FAILURES``.
    """
    if not interaction.slack_user_id:
        raise NotAMember(errors.UNKNOWN_WORKSPACE)
    person, locale = await interaction.database.read(
        _load_person, interaction.team_id, interaction.slack_user_id
    )
    # Before the workspace is checked, so that its error is in the person's language.
    interaction.set_locale(locale)
    _ = interaction.workspace
    if person is not None and person.user is not None and person.user.status == "active":
        interaction.by = as_caller(person.organisation, person.user)
        return interaction.by
    organisation = person.organisation if person is not None else await _organisation(interaction)
    interaction.by = as_caller(organisation, await _provision(interaction, organisation))
    return interaction.by


async def acknowledged(interaction: Interaction) -> Caller:
    """As ``caller``, for what is answered by separate calls: acknowledges first."""
    await interaction.ack()
    return await caller(interaction)


async def _organisation(interaction: Interaction) -> Organisation:
    async with asyncio.timeout(_LOOKUP_SECONDS):
        organisation = await interaction.services.workspaces.organisation_of(interaction.team_id)
    if organisation is None:
        raise NotAMember(errors.UNKNOWN_WORKSPACE)
    return organisation


async def greet(interaction: Interaction) -> None:
    """Set the person's language when nothing else about them is needed.

    Calls Slack for people who are new here.
    """
    if not interaction.team_id or not interaction.slack_user_id:
        return
    _, locale = await interaction.database.read(
        _load_person, interaction.team_id, interaction.slack_user_id
    )
    if locale is None:
        # The message matters more than its language.
        with contextlib.suppress(NotAMember, *slack_web.FAILURES):
            name = (await _look_up(interaction, interaction.slack_user_id)).get("locale")
            locale = name if isinstance(name, str) else None
    interaction.set_locale(locale)


def _load_person(
    tx: Transaction, team_id: str, slack_user_id: str
) -> tuple[WorkspaceUser | None, str | None]:
    person = slack_workspaces.find_person(tx, team_id, slack_user_id)
    if person is None or person.user is None:
        return person, None
    return person, people_rows.locale_of(tx, person.organisation.id, person.user.id)


async def full_member(interaction: Interaction, slack_user_id: str) -> Mapping[str, object]:
    """Slack's user object of a full member.

    Raises NotAMember for others; also the errors in ``slack_web.FAILURES``.
    """
    user = await _look_up(interaction, slack_user_id)
    if not slack_web.is_full_member(user, interaction.team_id):
        raise NotAMember(_NO_FULL_MEMBER)
    return user


async def _provision(interaction: Interaction, organisation: Organisation) -> User:
    user = await full_member(interaction, interaction.slack_user_id)
    profile = slack_web.profile_of(user)
    interaction.set_locale(profile.locale)
    return await interaction.database.write(
        join_policy.join_from_slack, organisation.id, profile, now=interaction.now
    )


async def _look_up(interaction: Interaction, slack_user_id: str) -> Mapping[str, object]:
    try:
        async with asyncio.timeout(_LOOKUP_SECONDS):
            response = await interaction.client.users_info(user=slack_user_id, include_locale=True)
    except slack_web.FAILURES as failure:
        if slack_web.error_code(failure) in ("user_not_found", "user_not_visible"):
            raise NotAMember(_NO_FULL_MEMBER) from failure
        raise
    user: Mapping[str, object] = response["user"]
    return user


def as_caller(organisation: Organisation, user: User) -> Caller:
    return Caller(
        organisation_id=organisation.id,
        user_id=user.id,
        role=user.role,
        scopes=_SCOPES,
        source="slack",
    )
