"""A minute of mixed load at a steady rate, and how long each kind of request takes.

People use REST and Slack, calendar programs fetch feeds, webhooks are delivered and jobs run. The
load, Slack and the receiver share the machine with the server. A request's time counts from the
moment when it is due: a server that falls behind is not spared.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPResponse
from itertools import cycle
from pathlib import Path
from socket import create_connection, socket
from typing import Final

from playground.loopback.records import Message
from tests.bench import servers
from tests.bench.filled import TEAM_ID, FilledDatabase, Member, with_entity_tag
from tests.bench.load import UnexpectedResponse
from tests.fakes.slack import LoopbackSlack

# Of 50 requests, one second of load: 5 are writes.
MIX: Final = {
    "list": 12,
    "list, unusual filters": 2,
    "balance": 5,
    "preview": 6,
    "feed, unchanged": 8,
    "feed": 4,
    "Slack: Home": 3,
    "Slack: form": 3,
    "Slack: typed command": 2,
    "Slack: Approve": 1,
    "create": 3,
    "approve": 1,
}
RATE: Final = sum(MIX.values())
_THREADS: Final = 16
# The server closes connections that were idle for 5 seconds.
_MAX_IDLE_SECONDS: Final = 3.0
# Meanwhile everyone is compared with Slack for the first time.
_SETTLE_SECONDS: Final = 15.0
_WARM_UP_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 30.0

# What is sent, once the sender has picked it: the time of picking does not count.
Send = Callable[[], object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixed:
    """Milliseconds by kind, in order; resident megabytes before and after the load."""

    engine: str
    milliseconds: dict[str, list[float]]
    failures: list[str]
    megabytes: tuple[float, float]
    server_cores: float


def measure_mix(engine: str, filled: FilledDatabase, seconds: float, folder: Path) -> Mixed:
    """Serve the filled database under load. Raises UnexpectedResponse if one in 20 fails."""
    with ExitStack() as stack:
        # Checking each Home would take more time than making it.
        slack = stack.enter_context(LoopbackSlack(team_id=TEAM_ID, is_strict=False))
        # Everyone: people whose accounts are missing would be deactivated during the load.
        for number in range(filled.people):
            email = f"person.{number}@example.com"
            slack.add_person(f"U{number}", email, f"Person Number {number}")
        settings = {
            "HIATUS_SLACK_SIGNING_SECRET": slack.signing_secret,
            "HIATUS_SLACK_BOT_TOKEN": slack.token,
            "HIATUS_SLACK_API_URL": slack.api_url,
            "HIATUS_SCHEDULER": "on",
            "HIATUS_WEBHOOK_ALLOW_PRIVATE": "on",
        }
        server = stack.enter_context(
            servers.hiatus(filled.url, filled.secret_key, folder, f"mix-{engine}", **settings)
        )
        slack.app_url = f"http://127.0.0.1:{server.port}"
        load = _Load(filled, slack, server.port)
        load.run(min(_WARM_UP_SECONDS, seconds))
        load.milliseconds.clear()
        time.sleep(_SETTLE_SECONDS)
        before, cpu_before = server.resident_megabytes(), server.cpu_seconds()
        load.run(seconds)
        cpu_seconds = server.cpu_seconds() - cpu_before
        return Mixed(
            engine=engine,
            milliseconds={kind: sorted(load.milliseconds[kind]) for kind in MIX},
            failures=load.failures,
            megabytes=(before, server.resident_megabytes()),
            server_cores=cpu_seconds / seconds,
        )


def schedule() -> list[str]:
    """The kinds of one second of load, each spread evenly."""
    places = [
        ((number + 0.5) / count, kind) for kind, count in MIX.items() for number in range(count)
    ]
    return [kind for _, kind in sorted(places)]


@dataclass(kw_only=True)
class _Pending:
    """Created requests that wait for their approval: over REST, and by a click."""

    over_rest: deque[str] = field(default_factory=deque)
    by_click: deque[tuple[Member, str]] = field(default_factory=deque)


class _Load:
    def __init__(self, filled: FilledDatabase, slack: LoopbackSlack, port: int) -> None:
        self.milliseconds: dict[str, list[float]] = defaultdict(list)
        self.failures: list[str] = []
        self._filled = filled
        self._slack = slack
        self._connections = _Connections(port)
        self._lock = threading.Lock()
        self._pending = _Pending()
        self._entity_tags: dict[str, str] = {}
        self._creations = filled.creations()
        self._requests = {
            "list": cycle(filled.lists()),
            "list, unusual filters": cycle(filled.unusual_lists()),
            "balance": cycle(filled.balances()),
            "preview": cycle(filled.previews()),
            "feed": cycle(filled.feeds()),
            "feed, unchanged": cycle(filled.unchanged_feeds()),
        }
        self._people = cycle([member for member in filled.members if not member.is_manager])
        self._commands = cycle(("balance", "out", "mine"))
        self._typed: Iterator[str] = cycle(("3-7 aug", "next monday", "tomorrow afternoon"))

    def run(self, seconds: float) -> None:
        kinds = cycle(schedule())
        with ThreadPoolExecutor(_THREADS) as pool:
            begins_at = time.perf_counter() + 0.1
            for number in range(round(seconds * RATE)):
                due_at = begins_at + number / RATE
                time.sleep(max(due_at - time.perf_counter(), 0.0))
                pool.submit(self._run_one, next(kinds), due_at)
        self._connections.close()
        if len(self.failures) > seconds * RATE / 20:
            raise UnexpectedResponse(self.failures[0])

    def _run_one(self, kind: str, due_at: float) -> None:
        try:
            with self._lock:
                send = self._next(kind)
            if send is None:
                # No card has arrived yet.
                return
            send()
            self.milliseconds[kind].append((time.perf_counter() - due_at) * 1_000)
        except Exception as error:  # noqa: BLE001  # reported by the thread that waits
            self.failures.append(f"{kind}: {str(error) or repr(error)}"[:1_000])

    def _next(self, kind: str) -> Send | None:
        match kind:
            case "Slack: Home":
                slack_id = next(self._people).slack_id
                return lambda: _check(self._slack.open_home(slack_id).status)
            case "Slack: form":
                slack_id, typed = next(self._people).slack_id, next(self._typed)
                return lambda: self._open_form(slack_id, typed)
            case "Slack: typed command":
                slack_id, typed = next(self._people).slack_id, next(self._commands)
                return lambda: self._command(slack_id, typed)
            case "Slack: Approve":
                return self._click()
            case "create":
                request, member = next(self._creations)
                return lambda: self._create(request, member)
            case "approve":
                if not self._pending.over_rest:
                    return None
                approval = self._filled.approval(self._pending.over_rest.popleft())
                return lambda: self._exchange(approval, 200)
            case "feed, unchanged":
                request = next(self._requests[kind])
                return lambda: self._fetch_again(request)
            case _:
                request = next(self._requests[kind])
                return lambda: self._exchange(request, 200)

    def _create(self, request: str, member: Member) -> None:
        request_id = json.loads(self._exchange(request, 201)[1])["id"]
        pending = self._pending
        if len(pending.by_click) <= len(pending.over_rest):
            pending.by_click.append((member, request_id))
        else:
            pending.over_rest.append(request_id)

    def _fetch_again(self, request: str) -> None:
        """A leave request of a colleague may have changed the feed meanwhile."""
        tag = self._entity_tags.get(request, '"none"')
        response, _ = self._exchange(with_entity_tag(request, tag), 200, 304)
        self._entity_tags[request] = response.getheader("etag", "")

    def _open_form(self, slack_id: str, typed: str) -> None:
        _check(self._slack.command(slack_id, "/timeoff", typed).status)
        self._slack.wait_until(lambda: self._slack.has_modal(slack_id), _PATIENCE_SECONDS)
        self._slack.workspace.close_all(TEAM_ID, slack_id)

    def _command(self, slack_id: str, typed: str) -> None:
        """Until the reply is there: this person has had none before in this second."""
        workspace = self._slack.workspace

        def replies() -> int:
            return sum(message.user == slack_id for message in workspace.ephemerals)

        before = replies()
        _check(self._slack.command(slack_id, "/timeoff", typed).status)
        self._slack.wait_until(lambda: replies() > before, _PATIENCE_SECONDS)

    def _click(self) -> Send | None:
        """Approve on the oldest card that has arrived, until the card is refreshed."""
        if not self._pending.by_click:
            return None
        member, request_id = self._pending.by_click[0]
        manager = self._filled.members[member.manager_number].slack_id
        channel = self._slack.workspace.dm_channel(TEAM_ID, manager)
        messages = [each for each in self._slack.workspace.messages if each.channel == channel]
        card = next((each for each in messages if _approves(each, request_id)), None)
        if card is None:
            return None
        self._pending.by_click.popleft()

        def click() -> None:
            button = next(each for each in card.buttons if each.text == "Approve")
            _check(self._slack.click(manager, card, button.action_id, request_id).status)
            self._slack.wait_until(lambda: not _approves(card, request_id), _PATIENCE_SECONDS)

        return click

    def _exchange(self, request: str, *expected: int) -> tuple[HTTPResponse, bytes]:
        connection = self._connections.take()
        connection.sendall(request.encode())
        response = HTTPResponse(connection, method=request.partition(" ")[0])
        response.begin()
        body = response.read()
        response.close()
        self._connections.put_back(connection)
        if response.status not in expected:
            raise UnexpectedResponse(f"{request.splitlines()[0]}: {response.status} {body[:500]!r}")
        return response, body


class _Connections:
    """Connections to the server, kept alive between requests."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: deque[tuple[socket, float]] = deque()

    def take(self) -> socket:
        while self._idle:
            connection, used_at = self._idle.pop()
            if time.monotonic() - used_at < _MAX_IDLE_SECONDS:
                return connection
            connection.close()
        return create_connection(("127.0.0.1", self._port), _PATIENCE_SECONDS)

    def put_back(self, connection: socket) -> None:
        self._idle.append((connection, time.monotonic()))

    def close(self) -> None:
        while self._idle:
            self._idle.pop()[0].close()


def _approves(message: Message, request_id: str) -> bool:
    return any(
        button.text == "Approve" and button.value == request_id for button in message.buttons
    )


def _check(status: int) -> None:
    if status != 200:
        raise UnexpectedResponse(f"Slack got {status}")
