"""The payloads that Slack sends to an app, built from the state of a `Workspace`.

Shapes: docs.slack.dev/interactivity and /config/interaction-payloads, /apis/events-api.
"""

from __future__ import annotations

import copy
import time

from playground.loopback.blocks import Payload, chosen_option, is_stateful, state_of
from playground.loopback.records import Message, View
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


def event(workspace: Workspace, team_id: str, inner: Payload, event_id: str | None) -> Payload:
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
