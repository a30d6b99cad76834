"""The whole Slack side for a test: loopback Slack, the app under uvicorn, a manual clock.

The cast: Ada requests; Grace and Hedy are her department's approvers; Eve is in no department.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, Final, Self, TypeVar

import uvicorn
from starlette.applications import Starlette

from bot.base import ids
from bot.base.settings import SlackSettings
from bot.messages.notifications import Claimed
from bot.service import socket as slack_socket
from bot.service.app import SlackApp, build_app
from storage.base.event_values import AuditAction
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import leave_lists, leave_requests
from storage.leave.drafts import Draft
from storage.notifications.notification_queue import Outcome
from storage.outbox import audit, organisation_config
from storage.workspaces import slack_workspaces
from tests.bot.registrations import Listener, only
from tests.builders import NOW, Acme, a_department, a_person, an_organisation, caller_for
from tests.fakes.slack import Answer, LoopbackSlack, Message, View

T = TypeVar("T")

ADA: Final = "UADA"
ADMIN: Final = "UADMIN"
GRACE: Final = "UGRACE"
HEDY: Final = "UHEDY"
EVE: Final = "UEVE"

# Generous: milliseconds become seconds on a busy machine.
PATIENCE_SECONDS: Final = 60

# For tests that are not about the app's limit of 2.5 seconds; less than the ten seconds after which
# the loopback Slack gives up.
UNHURRIED_SECONDS: Final = 9.0

# A Monday, nine weeks after NOW.
FIRST_DAY: Final = date(2026, 8, 3)
LAST_DAY: Final = date(2026, 8, 5)


def to_decide(message: Message) -> list[str]:
    """The buttons of a card that decide a pending request."""
    return [
        button.text for button in message.buttons if button.action_id in (ids.APPROVE, ids.DECLINE)
    ]


def _shown(attempted: Sequence[tuple[Claimed, Outcome]]) -> int:
    return sum(claimed.notification.kind != "cover_changed" for claimed, _ in attempted)


class Clock:
    """A clock that only tests move."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **how: float) -> None:
        self.now += timedelta(**how)


class World:
    """Use as a context manager. ``via`` is "http" or "socket"; ``settings`` are Acme's.

    ``app_database`` stands between the app and the database, ``listeners`` take the place of all
    that are registered, ``slack_settings`` are laid over those of one workspace by token.
    """

    def __init__(
        self,
        database: Database,
        slack: LoopbackSlack,
        *,
        via: str = "http",
        app_database: Any = None,
        listeners: Sequence[Listener] | None = None,
        slack_settings: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.database = database
        self.slack = slack
        self.clock = Clock()
        self.via = slack.via = via
        self._port = socket.create_server(("127.0.0.1", 0))
        slack.app_url = f"http://127.0.0.1:{self._port.getsockname()[1]}"
        self.app: SlackApp = build_app(
            SlackSettings(
                **{
                    "signing_secret": slack.signing_secret,
                    "bot_token": slack.token,
                    "app_token": slack.app_token,
                    "api_url": slack.api_url,
                    "base_url": slack.app_url,
                }
                | (slack_settings or {})
            ),
            app_database or database,
            self.clock,
            None if listeners is None else only(*listeners),
        )
        # Longer than Slack waits: a busy machine fails no test. Tests of a limit set their own.
        self.app.services.answer_seconds = self.app.services.open_seconds = UNHURRIED_SECONDS
        slack.keep_triggers(PATIENCE_SECONDS)
        self.acme: Acme = an_organisation(database, **settings)
        self._cast()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def _cast(self) -> None:
        team = a_department(self.database, self.acme, name="Engineering")
        people: dict[str, dict[str, Any]] = {
            ADA: {"first_name": "Ada", "last_name": "Lovelace", "department_id": team.id},
            GRACE: {
                "first_name": "Grace",
                "last_name": "Hopper",
                "role": "approver",
                "department_id": team.id,
            },
            HEDY: {
                "first_name": "Hedy",
                "last_name": "Lamarr",
                "role": "approver",
                "department_id": team.id,
            },
            EVE: {"first_name": "Eve", "last_name": "Elsewhere"},
        }
        self.people: dict[str, User] = {}
        for slack_id, fields in people.items():
            user = a_person(self.database, self.acme, **fields)
            self.people[slack_id] = user
            self.slack.add_person(slack_id, user.email, user.name, tz="Europe/London")

    def add_admin(self) -> User:
        """Anna, an admin, who is ``ADMIN`` in Slack."""
        anna = a_person(
            self.database, self.acme, first_name="Anna", last_name="Admin", role="admin"
        )
        self.people[ADMIN] = anna
        self.slack.add_person(ADMIN, anna.email, anna.name)
        return anna

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(PATIENCE_SECONDS), "the app did not start"
        if self.via == "socket":
            self.slack.wait_for_socket()
        return self

    def __exit__(self, *failure: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "the app did not stop"
        self._port.close()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.app.running())
            if self.via == "socket":
                serving = asyncio.create_task(
                    slack_socket.run(
                        self.app,
                        self.slack.app_token,
                        self._stop,
                        health=slack_socket.Health(),
                        ping_seconds=1,
                    )
                )
                self._ready.set()
                await serving
                return
            config = uvicorn.Config(
                Starlette(routes=self.app.routes()), log_config=None, lifespan="off", ws="none"
            )
            server = uvicorn.Server(config)
            config.load()
            server.lifespan = config.lifespan_class(config)
            await server.startup([self._port])
            self._ready.set()
            await self._stop.wait()
            # Not `server.serve` with `should_exit`: it looks every 0.1 s and then waits 0.1 s.
            server.servers[0].close()
            for connection in list(server.server_state.connections):
                connection.shutdown()
            await asyncio.gather(*server.server_state.tasks, return_exceptions=True)

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run something on the app's own event loop."""

        async def working() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(working(), self._loop).result(PATIENCE_SECONDS)

    def settled(self) -> None:
        """Wait until every listener has finished."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.app.services.interactions and time.monotonic() < deadline:
            time.sleep(0.005)
        assert not self.app.services.interactions

    def deliver(self, *, meanwhile: Callable[[], object] = lambda: None) -> int:
        """Let listeners finish, then send the due notifications; returns the attempts.

        Searches for cards that show a colleague's leave are not counted: they send nothing.
        ``meanwhile`` is called after the first batch was sent and before its results are recorded.
        """
        self.settled()
        first = self.run(self._attempted)
        meanwhile()
        self.run(lambda: self.app.notifier.record_results(first))
        return _shown(first) + self.run(self._drained)

    async def _drained(self) -> int:
        attempts = 0
        while attempted := await self._attempted():
            await self.app.notifier.record_results(attempted)
            attempts += _shown(attempted)
        return attempts

    def deliver_and_die(self) -> int:
        """Send due notifications without recording the results, as a killed process does."""
        self.settled()
        return len(self.run(self._attempted))

    async def _attempted(self) -> list[tuple[Claimed, Outcome]]:
        claimed = await self.app.notifier.claim(100)
        return [(each, await self.app.notifier.deliver(each)) for each in claimed]

    # What people do

    def open_form(self, who: str = ADA) -> View:
        self.slack.command(who, "/timeoff")
        self.settled()  # A form that was open before is not this one.
        return self.slack.open_modal(who, ids.REQUEST_FORM)

    def send_form(self, who: str = ADA, **filled: Any) -> Answer:
        """Fill in the form and submit it; by default three days of annual leave."""
        values: dict[str, Any] = {
            ids.LEAVE_TYPE: self.leave_type("annual"),
            ids.FIRST_DAY: FIRST_DAY.isoformat(),
            ids.LAST_DAY: LAST_DAY.isoformat(),
        } | filled
        form = self.open_form(who)
        if filled.keys() & {ids.BEGINS, ids.ENDS}:
            # The form has the halves of both ends once the days differ.
            self.pick(who, form, ids.LAST_DAY, ids.RECOUNT, values[ids.LAST_DAY])
            form = self.slack.open_modal(who, ids.REQUEST_FORM)
        answer = self.slack.submit(who, form, values)
        if not self.slack.has_modal(who):
            return answer
        # Leave without approval that starts far ahead is sent once it is confirmed.
        shown = self.slack.open_modal(who)
        boxes = [name for name in shown.values if name.startswith(ids.FAR_AHEAD)]
        if not boxes:
            return answer
        return self.slack.submit(who, shown, {boxes[0]: [ids.FAR_AHEAD]})

    def a_request(self, who: str = ADA, **filled: Any) -> LeaveRequest:
        """Request leave in Slack, and deliver all notifications."""
        assert self.send_form(who, **filled).errors == {}
        self.deliver()
        return self.request(who)

    def click(self, who: str, action_id: str, message: Message | None = None) -> Answer:
        """Press a button of a message, by default of the person's card."""
        response = self.slack.click(who, message or self.card(who), action_id)
        self.settled()
        return response

    def press(self, who: str, action_id: str, message: Message | None = None) -> Answer:
        """As ``click``, and deliver all notifications."""
        response = self.click(who, action_id, message)
        self.deliver()
        return response

    def command(self, who: str, text: str = "") -> None:
        """Type the command with this text."""
        self.slack.command(who, "/timeoff", text)
        self.settled()

    def say(self, who: str, text: str, **how: Any) -> Message:
        """Write to the app in the conversation with it; its answer, the last message there."""
        at_seconds = self.clock.now.timestamp()
        assert self.slack.write(who, text, **{"at_seconds": at_seconds} | how).status == 200
        self.settled()
        return self.slack.dm(who)[-1]

    def home(self, who: str) -> View:
        """Open the Home tab."""
        assert self.slack.open_home(who).ok
        self.settled()
        return self.slack.home(who)

    def submit(self, *form: Any, **how: Any) -> Answer:
        """As ``slack.submit``, and let the listener finish."""
        answer = self.slack.submit(*form, **how)
        self.settled()
        return answer

    def pick(self, *choice: Any, **how: Any) -> Answer:
        """As ``slack.pick``, and let the listener finish."""
        answer = self.slack.pick(*choice, **how)
        self.settled()
        return answer

    def click_in_view(self, *button: Any, **how: Any) -> Answer:
        """As ``slack.click_in_view``, and let the listener finish."""
        answer = self.slack.click_in_view(*button, **how)
        self.settled()
        return answer

    # What Slack and the database have

    def delete(self, message: Message) -> None:
        """Delete a message of the app."""

        async def deleting() -> None:
            workspace = await self.app.workspaces.for_delivery(message.team_id)
            assert workspace is not None
            await workspace.client.chat_delete(channel=message.channel, ts=message.ts)

        self.run(deleting)

    def card(self, who: str) -> Message:
        """The person's last card."""
        return self.slack.wait_until(lambda: self.cards(who))[-1]

    def cards(self, who: str) -> list[Message]:
        """The person's cards, without the replies in their threads."""
        return [
            message
            for message in self.slack.dm(who)
            if any(block["type"] == "card" for block in message.blocks[:2])
            and not message.thread_ts
        ]

    def own_message(self, who: str) -> Message:
        """The requester's last message that is no reply in a thread."""
        return [message for message in self.slack.dm(who) if not message.thread_ts][-1]

    def replies(self, first: Message) -> list[Message]:
        """The replies in the thread of a message, oldest first."""
        return [
            message
            for message in self.slack.in_channel(first.channel)
            if message.thread_ts == first.ts
        ]

    def ephemerals(self, who: str) -> list[str]:
        """Texts of ephemeral messages to this user, oldest first."""
        return [message.text for message in self.slack.ephemerals if message.user == who]

    def write(self, change: Callable[..., T], *args: Any, by: str | None = None, **how: Any) -> T:
        """Change something now without Slack, by default as Acme's owner."""
        caller = self.acme.caller if by is None else self.caller(by)
        return self.database.write_now(change, *args, by=caller, now=self.clock(), **how)

    def change(self, change: Callable[..., T], *args: Any, **how: Any) -> T:
        """As ``write``, and deliver all notifications."""
        changed = self.write(change, *args, **how)
        self.deliver()
        return changed

    def caller(self, who: str) -> Caller:
        return caller_for(self.acme, self.people[who])

    def leave_type(self, code: str) -> str:
        config = self.database.read_now(organisation_config.of_organisation, self.acme.id)
        return next(
            leave_type.id for leave_type in config.leave_types.values() if leave_type.code == code
        )

    def request(self, who: str = ADA) -> LeaveRequest:
        """The person's newest request."""
        page = self.database.read_now(leave_lists.filtered, PageOf(limit=1), by=self.caller(who))
        return page.items[0]

    def submit_over_rest(self, who: str = ADA, **fields: Any) -> LeaveRequest:
        """Request three days of annual leave as REST does."""
        draft = replace(
            Draft(leave_type_id=self.leave_type("annual"), start_date=FIRST_DAY, end_date=LAST_DAY),
            **fields,
        )
        return self.database.write_now(
            leave_requests.submit, by=self.caller(who), draft=draft, now=self.clock()
        )

    def link(self) -> None:
        """Link the organisation to the workspace, as the first start does."""
        self.database.write_now(
            slack_workspaces.link_only_organisation, self.slack.team_id, now=self.clock()
        )

    def audited(self, action: AuditAction) -> int:
        """The number of such entries in the audit trail."""
        page = self.database.read_now(
            audit.entries, PageOf(limit=100), by=self.acme.caller, action=action
        )
        return len(page.items)
