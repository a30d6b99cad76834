"""What people do in the loopback Slack, and the payloads that the app gets for it."""

from __future__ import annotations

import copy
import dataclasses
import re
import time
from collections.abc import Iterable, Mapping
from typing import Unpack

from playground.loopback.blocks import (
    Payload,
    chosen_option,
    is_empty,
    is_stateful,
    located,
    state_of,
)
from playground.loopback.records import Answer, Impossible, Message, View
from playground.loopback.server import Delivery, How, take_reply, take_submission
from playground.loopback.web_api import WebApi
from playground.loopback.workspace import Workspace

VERIFICATION_TOKEN = "verification-token-of-old"


def _common(workspace: Workspace, team_id: str, user_id: str) -> Payload:
    team, person = workspace.teams[team_id], workspace.person(team_id, user_id)
    return {
        "team": {"id": team_id, "domain": team.domain},
        "user": {
            "id": user_id,
            "username": person.name,
            "name": person.name,
            "team_id": person.home_team_id or team_id,
        },
        "api_app_id": workspace.app_id,
        "token": VERIFICATION_TOKEN,
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": workspace.issue_trigger(team_id, user_id),
    }


def command(
    workspace: Workspace,
    team_id: str,
    user_id: str,
    name: str,
    text: str,
    channel: tuple[str, str],
    response_url: str,
) -> Payload:
    """A slash command; `channel` is an id and a name."""
    team, person = workspace.teams[team_id], workspace.person(team_id, user_id)
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": team_id,
        "team_domain": team.domain,
        "channel_id": channel[0],
        "channel_name": channel[1],
        "user_id": user_id,
        "user_name": person.name,
        "command": name,
        "text": text,
        "api_app_id": workspace.app_id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": workspace.issue_trigger(team_id, user_id),
    }


def shortcut(workspace: Workspace, team_id: str, user_id: str, callback_id: str) -> Payload:
    common = _common(workspace, team_id, user_id)
    return common | {"type": "shortcut", "callback_id": callback_id, "action_ts": _now_ts()}


def action_in_message(
    workspace: Workspace,
    user_id: str,
    message: Message,
    action: Payload,
    response_url: str,
) -> Payload:
    """block_actions for an element of a message; an ephemeral one is not sent along."""
    is_dm = message.channel.startswith("D")
    channel = workspace.channels.get(message.channel)
    name = channel.name if channel is not None and not is_dm else "directmessage"
    state = {key: value for key, value in action.items() if key.startswith("selected_")}
    values = {action["block_id"]: {action["action_id"]: {"type": action["type"]} | state}}
    payload = _common(workspace, message.team_id, user_id) | {
        "type": "block_actions",
        "container": {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": message.channel,
            "is_ephemeral": message.ephemeral,
        }
        | ({"thread_ts": message.thread_ts} if message.thread_ts else {}),
        "channel": {"id": message.channel, "name": name},
        "state": {"values": values if state and action["type"] != "overflow" else {}},
        "response_url": response_url,
        "actions": [action],
    }
    if not message.ephemeral:
        payload["message"] = copy.deepcopy(workspace.to_slack(message))
    return payload


def action_in_view(workspace: Workspace, user_id: str, view: View, action: Payload) -> Payload:
    """block_actions for an element of a modal or Home tab."""
    return _common(workspace, view.team_id, user_id) | {
        "type": "block_actions",
        "container": {"type": "view", "view_id": view.id},
        "view": copy.deepcopy(view.body),
        "actions": [action],
    }


def suggestion(
    workspace: Workspace, user_id: str, view: View, block_id: str, action_id: str, typed: str
) -> Payload:
    """block_suggestion: what was typed so far into an external select."""
    return _common(workspace, view.team_id, user_id) | {
        "type": "block_suggestion",
        "action_id": action_id,
        "block_id": block_id,
        "value": typed,
        "container": {"type": "view", "view_id": view.id},
        "view": copy.deepcopy(view.body),
    }


def submission(workspace: Workspace, user_id: str, view: View) -> Payload:
    """view_submission, with the view's state as filled in."""
    return _common(workspace, view.team_id, user_id) | {
        "type": "view_submission",
        "view": copy.deepcopy(view.body),
        "response_urls": [],
    }


def closing(workspace: Workspace, user_id: str, view: View, *, is_cleared: bool) -> Payload:
    """view_closed."""
    payload = _common(workspace, view.team_id, user_id)
    del payload["trigger_id"]
    payload |= {"type": "view_closed", "view": copy.deepcopy(view.body)}
    return payload | {"is_cleared": is_cleared}


def event_callback(
    workspace: Workspace, team_id: str, inner: Payload, event_id: str | None
) -> Payload:
    """The outer event around `inner`, which needs a type."""
    team = workspace.teams[team_id]
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": team_id,
        "context_team_id": team_id,
        "context_enterprise_id": None,
        "api_app_id": workspace.app_id,
        "event": {"event_ts": _now_ts()} | inner,
        "type": "event_callback",
        "event_id": event_id or f"Ev{workspace.next_number():010d}",
        "event_time": int(time.time()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": team_id,
                "user_id": team.bot_user_id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": "4-event-context",
    }


def message_event(workspace: Workspace, message: Message) -> Payload:
    """The inner event of message.im."""
    return workspace.to_slack(message) | {
        "channel": message.channel,
        "channel_type": "im",
        "client_msg_id": f"{workspace.next_number():08d}-0000-4000-8000-000000000000",
        "event_ts": message.ts,
    }


def action(block: Payload, element: Payload, value: object) -> Payload:
    """An entry of `actions`: what a person did with an element."""
    entry: Payload = {
        "type": element["type"],
        "action_id": element.get("action_id", ""),
        "block_id": block.get("block_id", ""),
        "action_ts": _now_ts(),
    }
    if element["type"] == "overflow":
        return entry | {"selected_option": chosen_option(element, value)}
    if is_stateful(element):
        return entry | state_of(element, value)
    keys = ("text", "value", "style", "url")
    return entry | {key: element[key] for key in keys if key in element}


def _now_ts() -> str:
    return f"{time.time():.6f}"


def _as_slack_sends(text: str) -> str:
    """The text of a message with escapes; mentions (``<@U…>``) are those that Slack has made."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"&lt;(@[UW][A-Z0-9]+)&gt;", r"<\1>", escaped)


# A block and one of its elements.
Located = tuple[Payload, Payload]


class Sending:
    """The part of a `Slack` that acts as its people."""

    def __init__(self, api: WebApi, delivery: Delivery, team_id: str) -> None:
        self.team_id = team_id
        self.url = ""
        self._workspace = api.workspace
        self._api = api
        self._delivery = delivery

    def command(
        self,
        user_id: str,
        name: str = "/timeoff",
        text: str = "",
        *,
        channel: str = "",
        **how: Unpack[How],
    ) -> Answer:
        """Types a slash command, in the DM with the app unless a `channel` is named."""
        team_id = how.get("team_id", self.team_id)
        dm = self._workspace.dm_channel(team_id, user_id)
        named = self._workspace.channels.get(channel)
        place = (channel or dm, named.name if named is not None else "directmessage")
        response_url = self._response_url(team_id, user_id, place[0])
        payload = command(self._workspace, team_id, user_id, name, text, place, response_url)
        response = self._delivery.deliver("slash_commands", payload, how)
        if response.ok:
            take_reply(self._api, team_id, user_id, place[0], response.body)
        return response

    def shortcut(self, user_id: str, callback_id: str, **how: Unpack[How]) -> Answer:
        team_id = how.get("team_id", self.team_id)
        payload = shortcut(self._workspace, team_id, user_id, callback_id)
        return self._delivery.deliver("interactive", payload, how)

    def click(
        self,
        user_id: str,
        message: Message,
        action_id: str,
        value: object = None,
        *,
        block_id: str | None = None,
        **how: Unpack[How],
    ) -> Answer:
        """Presses a button of a message, as `message` looked when it was read (stale clicks).

        `value` picks an option where the element has options, else tells equal action_ids apart.
        """
        matches = _matching(message.blocks, action_id, block_id, value)
        block, element = _only(matches, action_id)
        chosen = action(block, element, value)
        response_url = self._response_url(message.team_id, user_id, message.channel, message.ts)
        payload = action_in_message(self._workspace, user_id, message, chosen, response_url)
        return self._delivery.deliver("interactive", payload, how)

    def click_in_view(
        self,
        user_id: str,
        view: View,
        action_id: str,
        value: object = None,
        *,
        block_id: str | None = None,
        **how: Unpack[How],
    ) -> Answer:
        """Presses a button or picks `value` in a modal or Home tab, as it looks now."""
        return self.pick(user_id, view, block_id, action_id, value, **how)

    def pick(
        self,
        user_id: str,
        view: View,
        block_id: str | None,
        action_id: str,
        value: object,
        **how: Unpack[How],
    ) -> Answer:
        """Picks or types `value`. An input block tells the app only with dispatch_action.

        A person can still pick in a block that the app has just replaced, as their Slack does not
        show the change yet. `answer.sent` says whether the app was told.
        """
        force = how.get("force", False)
        current = self._current(view, force=force)
        if block_id is not None and not force:
            current = _as_seen(current, block_id)
        blocks = view.blocks if force else current.blocks
        block, element = _only(_matching(blocks, action_id, block_id, value), action_id)
        if is_stateful(element):
            state = _state(element, value)
            self._workspace.fill_in(current, block["block_id"], element["action_id"], state)
        if block["type"] == "input" and not block.get("dispatch_action"):
            return Answer(200, sent=False)
        chosen = action(block, element, value)
        payload = action_in_view(self._workspace, user_id, current, chosen)
        return self._delivery.deliver("interactive", payload, how)

    def fill(self, view: View, block_id: str, action_id: str, value: object) -> None:
        """Types or picks `value`, which the app sees only with the next click."""
        current = self._current(view)
        block, element = _only(_matching(current.blocks, action_id, block_id, None), action_id)
        self._workspace.fill_in(
            current, block["block_id"], element["action_id"], _state(element, value)
        )

    def suggest(
        self, user_id: str, view: View, action_id: str, typed: str, **how: Unpack[How]
    ) -> Answer:
        """Types into an external select; `answer.body["options"]` is what the app offers."""
        current = self._current(view)
        block, _ = _only(_matching(current.blocks, action_id, None, None), action_id)
        payload = suggestion(self._workspace, user_id, current, block["block_id"], action_id, typed)
        return self._delivery.deliver("interactive", payload, how)

    def submit(
        self,
        user_id: str,
        view: View,
        values: Mapping[str, object] | None = None,
        **how: Unpack[How],
    ) -> Answer:
        """Fills in `values` (by block_id or action_id) and presses submit.

        Inline errors are in `answer.errors`; else the modal closes, changes or gets one on top.
        Raises Impossible for an empty required field, an option not on offer, a closed modal.
        """
        force = how.get("force", False)
        current = self._current(view, force=force)
        for name, value in (values or {}).items():
            block, element = _only(_fields(current.blocks, name), name)
            self._workspace.fill_in(
                current, block["block_id"], element["action_id"], _state(element, value)
            )
        if not force:
            _require_complete(current)
        payload = submission(self._workspace, user_id, current)
        response = self._delivery.deliver("interactive", payload, how)
        take_submission(self._api, current, response)
        return response

    def close(
        self, user_id: str, view: View, *, is_cleared: bool = False, **how: Unpack[How]
    ) -> Answer:
        """Closes a modal by its X (`is_cleared`) or Cancel; notify_on_close tells the app."""
        current = self._current(view)
        if is_cleared or current.body["clear_on_close"]:
            self._workspace.close_all(current.team_id, user_id)
        else:
            self._workspace.close_view(current)
        if not current.body["notify_on_close"]:
            return Answer(200, sent=False)
        payload = closing(self._workspace, user_id, current, is_cleared=is_cleared)
        return self._delivery.deliver("interactive", payload, how)

    def event(
        self,
        event: Payload,
        event_id: str | None = None,
        retry_num: int | None = None,
        retry_reason: str = "http_timeout",
        **how: Unpack[How],
    ) -> Answer:
        """Sends an event; `event` is the inner one, with its type."""
        team_id = how.get("team_id", self.team_id)
        payload = event_callback(self._workspace, team_id, event, event_id)
        if retry_num is None:
            return self._delivery.deliver("events_api", payload, how)
        return self._delivery.deliver(
            "events_api", payload, how, retry_num=retry_num, retry_reason=retry_reason
        )

    def write(
        self,
        user_id: str,
        text: str,
        *,
        at_seconds: float | None = None,
        thread_ts: str | None = None,
        event_id: str | None = None,
        **how: Unpack[How],
    ) -> Answer:
        """Writes a message to the app in the conversation with it: message.im.

        Slack escapes the text. ``at_seconds`` since 1970 is when it was written; by default now.
        """
        team_id = how.get("team_id", self.team_id)
        ts = self._workspace.next_ts()
        if at_seconds is not None:
            ts = f"{at_seconds:.6f}"
        message = Message(
            team_id=team_id,
            channel=self._workspace.dm_channel(team_id, user_id),
            ts=ts,
            text=_as_slack_sends(text),
            blocks=[],
            author_id=user_id,
            user=user_id,
            thread_ts=thread_ts,
            is_written=True,
        )
        self._workspace.add_message(message)
        return self.event(message_event(self._workspace, message), event_id, **how)

    def open_home(self, user_id: str, *, tab: str = "home", **how: Unpack[How]) -> Answer:
        """Opens the app's Home (or "messages") tab: app_home_opened."""
        team_id = how.get("team_id", self.team_id)
        channel = self._workspace.dm_channel(team_id, user_id)
        inner: Payload = {"type": "app_home_opened", "user": user_id, "channel": channel}
        inner["tab"] = tab
        home_id = self._workspace.homes.get((team_id, user_id))
        if home_id is not None and tab == "home":
            inner["view"] = copy.deepcopy(self._workspace.views[home_id].body)
        return self.event(inner, **how)

    def send_raw(
        self,
        body: bytes,
        content_type: str = "application/x-www-form-urlencoded",
        **how: Unpack[How],
    ) -> Answer:
        """Posts these very bytes to the app, signed unless told otherwise."""
        return self._delivery.post(body, content_type, how)

    def send(self, kind: str, payload: Payload, **how: Unpack[How]) -> Answer:
        """Sends a payload of "slash_commands", "interactive" or "events_api" as it is given."""
        return self._delivery.deliver(kind, payload, how)

    def trigger(self, user_id: str, *, team_id: str | None = None) -> str:
        """A fresh trigger_id of a person's, for calling views.open from a test itself."""
        return self._workspace.issue_trigger(team_id or self.team_id, user_id)

    def response_url(self, user_id: str, message: Message) -> str:
        """A response_url for a message, as a click on it would carry."""
        return self._response_url(message.team_id, user_id, message.channel, message.ts)

    def _response_url(
        self, team_id: str, user_id: str, channel: str, message_ts: str | None = None
    ) -> str:
        issued = self._workspace.issue_response(team_id, user_id, channel, message_ts)
        return f"{self.url}/response/{issued.id}"

    def _current(self, view: View, *, force: bool = False) -> View:
        current = self._workspace.views[view.id]
        if not current.is_open and not force:
            raise Impossible(f"{view.id} is closed")
        return current


def _as_seen(view: View, block_id: str) -> View:
    """The view, or how it looked when it last had that block, with what was filled in since."""
    for body in (view.body, *reversed(view.history)):
        if block_id in {block.get("block_id") for block in body["blocks"]}:
            if body is view.body:
                return view
            seen = copy.deepcopy(body)
            kept = {name: state for name, state in view.values.items() if name in _values(seen)}
            seen["state"] = {"values": _values(seen) | copy.deepcopy(kept)}
            return dataclasses.replace(view, body=seen)
    return view


def _values(body: Payload) -> dict[str, dict[str, Payload]]:
    values: dict[str, dict[str, Payload]] = body["state"]["values"]
    return values


def _matching(
    blocks: Iterable[Payload], action_id: str, block_id: str | None, value: object
) -> list[Located]:
    matches = [
        (block, element)
        for block, element in located(list(blocks))
        if element.get("action_id") == action_id and block_id in {None, block.get("block_id")}
    ]
    if value is None:
        return matches
    return [
        (block, element)
        for block, element in matches
        if element["type"] != "button" or element.get("value") == value
    ]


def _fields(blocks: list[Payload], name: str) -> list[Located]:
    return [
        (block, element)
        for block, element in located(blocks)
        if is_stateful(element) and name in {block.get("block_id"), element.get("action_id")}
    ]


def _only(matches: list[Located], name: str) -> Located:
    if len(matches) != 1:
        raise Impossible(f"{len(matches)} elements are {name!r}: name its block_id or value")
    return matches[0]


def _state(element: Payload, value: object) -> Payload:
    try:
        return state_of(element, value)
    except (KeyError, TypeError) as error:
        raise Impossible(str(error)) from error


def _require_complete(view: View) -> None:
    """The checks of Slack's client before it sends a submission."""
    if view.type != "modal" or not view.body["submit"]:
        raise Impossible("this view has nothing to submit")
    for block, element in located(view.blocks):
        if block["type"] != "input" or not is_stateful(element):
            continue
        state = view.values[block["block_id"]][element["action_id"]]
        name = f"{block['block_id']}/{element['action_id']}"
        if is_empty(state):
            if not block.get("optional"):
                raise Impossible(f"{name} is required")
        elif element["type"] == "plain_text_input":
            longest, shortest = element.get("max_length", 3000), element.get("min_length", 0)
            if not shortest <= len(state["value"]) <= longest:
                raise Impossible(f"{name} takes {shortest} to {longest} characters")
