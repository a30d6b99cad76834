"""The state of the loopback Slack: directory, messages, views, triggers, response addresses.

Thread-safe: every public method takes the same lock. Knows neither HTTP nor methods of the Web API.
"""

from __future__ import annotations

import copy
import itertools
import secrets
import threading
import time
from dataclasses import dataclass

from playground.loopback.blocks import Payload, carried_over, first_state, with_ids
from playground.loopback.records import (
    Call,
    Channel,
    File,
    Impossible,
    Message,
    Person,
    ResponsePost,
    SlackRefusal,
    Team,
    View,
    Violation,
)

TRIGGER_SECONDS = 3.0
RESPONSE_URL_USES = 5
RESPONSE_URL_SECONDS = 30 * 60


@dataclass
class Trigger:
    """A trigger_id: works once, for `trigger_seconds` after `issued_at` (monotonic seconds)."""

    team_id: str
    user_id: str
    issued_at: float
    used: bool = False


@dataclass
class ResponseAddress:
    """A response_url: its person and channel, and the message that it belongs to, if any."""

    id: str
    team_id: str
    user_id: str
    channel: str
    message_ts: str | None
    issued_at: float
    uses: int = 0


@dataclass(frozen=True)
class OAuthCode:
    """What a person agreed to: the app's installation, or scopes of a token of their own."""

    team_id: str
    user_id: str
    user_scopes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class UserToken:
    """The token of one person, as of an OAuth flow that asked for user scopes."""

    team_id: str
    user_id: str
    scopes: frozenset[str]


class Workspace:
    """The state of the loopback Slack, for all of its teams."""

    def __init__(self, app_id: str) -> None:
        self.app_id = app_id
        self.trigger_seconds = TRIGGER_SECONDS
        self.changed = threading.Condition(threading.RLock())
        self.teams: dict[str, Team] = {}
        self.channels: dict[str, Channel] = {}
        self.people: dict[tuple[str, str], Person] = {}
        self.messages: list[Message] = []
        self.files: dict[str, File] = {}
        self.ephemerals: list[Message] = []
        self.deleted: list[Message] = []
        self.views: dict[str, View] = {}
        self.homes: dict[tuple[str, str], str] = {}
        self.stacks: dict[tuple[str, str], list[str]] = {}
        self.triggers: dict[str, Trigger] = {}
        self.responses: dict[str, ResponseAddress] = {}
        self.response_posts: list[ResponsePost] = []
        self.calls: list[Call] = []
        self.violations: list[Violation] = []
        self.oauth_codes: dict[str, OAuthCode] = {}
        self.user_tokens: dict[str, UserToken] = {}
        # Names that a status is refused for, as of a custom emoji that was deleted.
        self.unknown_emoji: set[str] = set()
        self.revoked_tokens: set[str] = set()
        self._numbers = itertools.count(1)
        # Increases with every change.
        self.version = 0

    def note_change(self) -> None:
        """Notify the threads that wait for a change."""
        with self.changed:
            self.version += 1
            self.changed.notify_all()

    def forget(self, *, keep: int = 0) -> None:
        """Deletes all but the last `keep` messages, calls and so on. Open views and homes stay.

        With 0 they are deleted, too: only the directory stays.
        """
        with self.changed:
            if not keep:
                self.stacks.clear()
                self.homes.clear()
                self.views.clear()
            shown = {
                *self.homes.values(),
                *(view_id for stack in self.stacks.values() for view_id in stack),
            }
            hidden = [view_id for view_id in self.views if view_id not in shown]
            for view_id in hidden[: -keep or None]:
                del self.views[view_id]
            for by_id in (self.triggers, self.responses):
                for name in list(by_id)[: -keep or None]:
                    del by_id[name]
            for messages in (self.messages, self.ephemerals, self.deleted):
                del messages[: -keep or None]
            del self.calls[: -keep or None]
            del self.violations[: -keep or None]
            del self.response_posts[: -keep or None]
            for message in [*self.messages, *self.ephemerals]:
                del message.history[:-1]
            for view in self.views.values():
                view.history.clear()
            self.note_change()

    def next_number(self) -> int:
        return next(self._numbers)

    # Directory

    def person(self, team_id: str, user_id: str) -> Person:
        with self.changed:
            if (team_id, user_id) not in self.people:
                raise Impossible(f"there is no {user_id} in {team_id}")
            return self.people[team_id, user_id]

    def people_of(self, team_id: str) -> list[Person]:
        with self.changed:
            return [person for person in self.people.values() if person.team_id == team_id]

    def dm_channel(self, team_id: str, user_id: str) -> str:
        """The D… id of a person's conversation with the app."""
        return f"D{team_id[1:]}X{user_id[1:]}"

    def dm_person(self, team_id: str, channel: str) -> str | None:
        """The user id behind a D… id."""
        for person in self.people_of(team_id):
            if self.dm_channel(team_id, person.id) == channel:
                return person.id
        return None

    # Messages

    def add_message(self, message: Message) -> Message:
        with self.changed:
            with_ids(message.blocks)
            (self.ephemerals if message.ephemeral else self.messages).append(message)
            self.note_change()
            return message

    def next_ts(self) -> str:
        return f"{int(time.time())}.{self.next_number():06d}"

    def message(self, team_id: str, channel: str, ts: str) -> Message | None:
        with self.changed:
            for message in self.messages:
                if (message.team_id, message.channel, message.ts) == (team_id, channel, ts):
                    return message
            return None

    def replies_to(self, message: Message) -> list[Message]:
        """The replies in the message's thread, oldest first."""
        with self.changed:
            thread = (message.team_id, message.channel, message.ts)
            return [
                other
                for other in self.messages
                if (other.team_id, other.channel, other.thread_ts) == thread
            ]

    def to_slack(self, message: Message) -> Payload:
        """The `message` object of Slack's answers and payloads."""
        shape = message.to_slack(self.app_id, self.teams[message.team_id].bot_id)
        replies = self.replies_to(message)
        if replies:
            shape |= {
                "thread_ts": message.ts,
                "reply_count": len(replies),
                "reply_users_count": len({reply.author_id for reply in replies}),
                "latest_reply": replies[-1].ts,
            }
        return shape

    def rewrite(self, message: Message, text: str, blocks: list[Payload]) -> None:
        with self.changed:
            message.history.append((message.text, message.blocks))
            message.text = text
            message.blocks = with_ids(copy.deepcopy(blocks))
            self.note_change()

    def delete(self, message: Message) -> None:
        with self.changed:
            self.messages = [other for other in self.messages if other is not message]
            self.ephemerals = [other for other in self.ephemerals if other is not message]
            self.deleted.append(message)
            self.note_change()

    # Triggers and views

    def issue_trigger(self, team_id: str, user_id: str) -> str:
        with self.changed:
            trigger_id = f"{int(time.time() * 1000)}.{self.next_number()}.{secrets.token_hex(8)}"
            self.triggers[trigger_id] = Trigger(team_id, user_id, time.monotonic())
            return trigger_id

    def use_trigger(self, team_id: str, trigger_id: str) -> Trigger:
        """Raises SlackRefusal: invalid_trigger_id, exchanged_trigger_id, expired_trigger_id."""
        with self.changed:
            trigger = self.triggers.get(trigger_id)
            if trigger is None or trigger.team_id != team_id:
                raise SlackRefusal("invalid_trigger_id")
            if trigger.used:
                raise SlackRefusal("exchanged_trigger_id")
            if time.monotonic() - trigger.issued_at > self.trigger_seconds:
                raise SlackRefusal("expired_trigger_id")
            trigger.used = True
            return trigger

    def stack(self, team_id: str, user_id: str) -> list[View]:
        """The open modals of a person, the visible one last."""
        with self.changed:
            return [self.views[view_id] for view_id in self.stacks.get((team_id, user_id), [])]

    def open_view(self, team_id: str, user_id: str, body: Payload) -> View:
        """Opens a modal and closes all others of the person."""
        with self.changed:
            self.close_all(team_id, user_id)
            return self._show(team_id, user_id, body, None)

    def push_view(self, team_id: str, user_id: str, body: Payload) -> View:
        """Opens a modal on top. Raises SlackRefusal push_limit_reached for a fourth one."""
        with self.changed:
            below = self.stack(team_id, user_id)
            if not below:
                raise SlackRefusal("invalid_trigger_id")
            if len(below) >= 3:
                raise SlackRefusal("push_limit_reached")
            return self._show(team_id, user_id, body, below[-1])

    def update_view(self, view: View, body: Payload, view_hash: str | None = None) -> View:
        """Replaces what a view shows; values of unchanged fields stay.

        Raises SlackRefusal not_found for a closed view, hash_conflict for a stale hash.
        """
        with self.changed:
            if not view.is_open:
                raise SlackRefusal("not_found")
            if view_hash is not None and view_hash != view.hash:
                raise SlackRefusal("hash_conflict")
            view.history.append(view.body)
            ids = {key: view.body[key] for key in ("id", "previous_view_id", "root_view_id")}
            values = view.values
            view.body = self._view_body(view.team_id, body) | ids
            view.body["state"] = {"values": carried_over(values, view.body["blocks"])}
            self.note_change()
            return view

    def publish_view(
        self, team_id: str, user_id: str, body: Payload, view_hash: str | None
    ) -> View:
        """Sets a person's Home tab."""
        with self.changed:
            view_id = self.homes.get((team_id, user_id))
            if view_id is not None:
                return self.update_view(self.views[view_id], body, view_hash)
            view = self._add_view(team_id, user_id, body)
            self.homes[team_id, user_id] = view.id
            return view

    def close_view(self, view: View) -> None:
        with self.changed:
            stack = self.stacks.get((view.team_id, view.user_id), [])
            if view.id in stack:
                stack.remove(view.id)
            view.is_open = False
            self.note_change()

    def close_all(self, team_id: str, user_id: str) -> None:
        with self.changed:
            for view in self.stack(team_id, user_id):
                self.close_view(view)

    def fill_in(self, view: View, block_id: str, action_id: str, state: Payload) -> None:
        """Stores what a person typed or picked, without changing the view's hash."""
        with self.changed:
            view.values.setdefault(block_id, {})[action_id] = state

    def _show(self, team_id: str, user_id: str, body: Payload, below: View | None) -> View:
        view = self._add_view(team_id, user_id, body)
        if below is not None:
            view.body["previous_view_id"] = below.id
            view.body["root_view_id"] = below.body["root_view_id"]
        self.stacks.setdefault((team_id, user_id), []).append(view.id)
        return view

    def _add_view(self, team_id: str, user_id: str, body: Payload) -> View:
        full = self._view_body(team_id, body)
        full |= {"id": f"V{self.next_number():08d}", "previous_view_id": None}
        full |= {"root_view_id": full["id"]}
        full["state"] = {"values": first_state(full["blocks"])}
        view = View(full["id"], team_id, user_id, full)
        self.views[view.id] = view
        self.note_change()
        return view

    def _view_body(self, team_id: str, body: Payload) -> Payload:
        defaults: Payload = {
            "callback_id": "",
            "private_metadata": "",
            "external_id": "",
            "title": {"type": "plain_text", "text": "View Title", "emoji": True},
            "submit": None,
            "close": None,
            "clear_on_close": False,
            "notify_on_close": False,
        }
        full = defaults | copy.deepcopy(body)
        with_ids(full["blocks"])
        return full | {
            "team_id": team_id,
            "app_id": self.app_id,
            "app_installed_team_id": team_id,
            "bot_id": self.teams[team_id].bot_id,
            "hash": f"{int(time.time())}.{secrets.token_hex(4)}",
        }

    # Response addresses

    def issue_response(
        self, team_id: str, user_id: str, channel: str, message_ts: str | None = None
    ) -> ResponseAddress:
        with self.changed:
            response_id = f"{team_id}-{self.next_number()}-{secrets.token_hex(8)}"
            address = ResponseAddress(
                response_id, team_id, user_id, channel, message_ts, time.monotonic()
            )
            self.responses[response_id] = address
            return address

    def use_response(self, response_id: str) -> ResponseAddress:
        """Raises SlackRefusal used_url after five uses, expired_url after thirty minutes."""
        with self.changed:
            address = self.responses.get(response_id)
            if address is None:
                raise SlackRefusal("invalid_url", status=404)
            if time.monotonic() - address.issued_at > RESPONSE_URL_SECONDS:
                raise SlackRefusal("expired_url", status=404)
            if address.uses >= RESPONSE_URL_USES:
                raise SlackRefusal("used_url", status=404)
            address.uses += 1
            return address
