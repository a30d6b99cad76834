"""Reading the loopback Slack's records in tests, always as copies, and waiting for changes."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Final, TypeVar

from playground.loopback.records import Call, Message, ResponsePost, View, Violation
from playground.loopback.workspace import Workspace

T = TypeVar("T")

# Generous: milliseconds become seconds on a busy machine.
PATIENCE_SECONDS: Final = 30.0


def _copy(thing: T) -> T:
    """As ``copy.deepcopy``, in a tenth of the time: tests copy thousands of views."""
    copied: T = pickle.loads(pickle.dumps(thing))
    return copied


class Reading:
    """The reading half of `LoopbackSlack`, which sets the attributes declared here."""

    team_id: str
    _workspace: Workspace

    def _copied(self, things: list[T]) -> list[T]:
        with self._workspace.changed:
            return _copy(things)

    @property
    def messages(self) -> list[Message]:
        """Messages, oldest first, without ephemeral and deleted ones."""
        return self._copied(self._workspace.messages)

    @property
    def ephemerals(self) -> list[Message]:
        """Messages to `message.user` only: postEphemeral, response_urls, replies to commands."""
        return self._copied(self._workspace.ephemerals)

    @property
    def views(self) -> list[View]:
        """Every view, also closed ones, oldest first."""
        return self._copied(list(self._workspace.views.values()))

    @property
    def violations(self) -> list[Violation]:
        return self._copied(self._workspace.violations)

    @property
    def response_posts(self) -> list[ResponsePost]:
        return self._copied(self._workspace.response_posts)

    @property
    def call_count(self) -> int:
        """The number of calls of all methods."""
        return len(self._workspace.calls)

    @property
    def methods_called(self) -> set[str]:
        with self._workspace.changed:
            return {call.method for call in self._workspace.calls}

    def calls(self, method: str | None = None, *, since: int = 0) -> list[Call]:
        """The calls of a method, or all, oldest first, including failed ones.

        ``since`` is an earlier ``call_count``: copying thousands of calls takes long.
        """
        with self._workspace.changed:
            calls = self._workspace.calls[since:]
            return _copy([call for call in calls if method in {None, call.method}])

    def dm(self, user_id: str, *, team_id: str | None = None) -> list[Message]:
        """The app's conversation with a person."""
        channel = self._workspace.dm_channel(team_id or self.team_id, user_id)
        return self.in_channel(channel)

    def in_channel(self, channel: str) -> list[Message]:
        with self._workspace.changed:
            messages = self._workspace.messages
            return _copy([message for message in messages if message.channel == channel])

    def has_modal(self, user_id: str, *, team_id: str | None = None) -> bool:
        return bool(self._workspace.stack(team_id or self.team_id, user_id))

    def open_modal(self, user_id: str, showing: str = "", *, team_id: str | None = None) -> View:
        """The modal on top; waits until its text or callback_id contains `showing`."""

        def top() -> View | None:
            stack = self._workspace.stack(team_id or self.team_id, user_id)
            return _copy(stack[-1]) if stack and _shows(stack[-1], showing) else None

        return self.wait_until(top)

    def home(self, user_id: str, showing: str = "", *, team_id: str | None = None) -> View:
        """A person's Home tab; waits until its text contains `showing`."""

        def published() -> View | None:
            view_id = self._workspace.homes.get((team_id or self.team_id, user_id))
            view = self._workspace.views[view_id] if view_id is not None else None
            return _copy(view) if view is not None and _shows(view, showing) else None

        return self.wait_until(published)

    def wait_for_dm(self, user_id: str, showing: str = "") -> Message:
        """The last message to a person that contains `showing`, once there is one."""

        def matching() -> list[Message]:
            return [
                message
                for message in self.dm(user_id)
                if showing in f"{message.text}\n{message.visible_text}"
            ]

        return self.wait_until(matching)[-1]

    def wait_for_call(self, method: str, count: int = 1) -> list[Call]:
        """The calls of `method`, once there are `count` of them."""
        return self.wait_until(lambda: calls if len(calls := self.calls(method)) >= count else [])

    def wait_until(
        self, predicate: Callable[[], T | None], timeout_seconds: float = PATIENCE_SECONDS
    ) -> T:
        """The first true result of `predicate`, which is called again at every change.

        Raises TimeoutError with the calls so far.
        """
        deadline = time.monotonic() + timeout_seconds
        with self._workspace.changed:
            while True:
                result = predicate()
                if result:
                    return result
                seconds_left = deadline - time.monotonic()
                if seconds_left <= 0:
                    calls = [(call.method, call.status) for call in self._workspace.calls]
                    raise TimeoutError(f"nothing in {timeout_seconds} s; calls so far: {calls}")
                self._workspace.changed.wait(min(seconds_left, 0.1))


def _shows(view: View, words: str) -> bool:
    return words in f"{view.title}\n{view.callback_id}\n{view.visible_text}"
