"""Payloads for any listener, as Slack would send them, with ids that the test chooses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bot.base import ids
from tests.bot.registrations import Listener
from tests.fakes.slack import Answer, LoopbackSlack

Payload = dict[str, Any]

KINDS: Final = {"command": "slash_commands", "event": "events_api"}


class Subject:
    """The subject of payloads: a request, its leave type, and a message in a DM."""

    def __init__(self, request_id: str, leave_type_id: str, channel: str, ts: str) -> None:
        self.request_id = request_id
        self.leave_type_id = leave_type_id
        self.channel = channel
        self.ts = ts


def send_all(
    slack: LoopbackSlack, listener: Listener, who: str, subject: Subject, *, team_id: str = "T1"
) -> list[Answer]:
    """Send every payload for the listener, in turn."""
    kind = KINDS.get(listener.kind, "interactive")
    return [
        slack.send(kind, payload)
        for payload in payloads(slack, listener, who, subject, team_id=team_id)
    ]


def send_some(
    slack: LoopbackSlack, listener: Listener, who: str, subject: Subject, *, most: int
) -> list[Answer]:
    """As ``send_all``, but only a sample of about ``most`` payloads that includes the last."""
    every_payload = list(payloads(slack, listener, who, subject))
    step = max(1, -(-(len(every_payload) - 1) // max(1, most - 1)))
    chosen = every_payload[:-1:step] + every_payload[-1:]
    return [slack.send(KINDS.get(listener.kind, "interactive"), payload) for payload in chosen]


def payloads(
    slack: LoopbackSlack, listener: Listener, who: str, subject: Subject, *, team_id: str = "T1"
) -> Iterator[Payload]:
    """Payloads with the subject's ids in every field from which listeners read ids."""
    base: Payload = {
        "team": {"id": team_id, "domain": "workspace"},
        "user": {"id": who, "team_id": team_id, "username": "person", "name": "person"},
        "api_app_id": slack.app_id,
    }
    if listener.kind == "command":
        for words in ("", "request", "help", "mine", "balance", "out", f"cancel {who}"):
            yield _command(slack, listener.name, words, who, team_id)
    elif listener.kind == "shortcut":
        yield base | {
            "type": "shortcut",
            "callback_id": listener.name,
            "trigger_id": slack.trigger(who, team_id=team_id),
        }
    elif listener.kind == "event":
        yield from _events(slack, listener.name, who, team_id)
    else:
        yield from _of_views(slack, listener, base, who, subject, team_id)


def _command(slack: LoopbackSlack, name: str, words: str, who: str, team_id: str) -> Payload:
    return {
        "command": name,
        "text": words,
        "team_id": team_id,
        "user_id": who,
        "channel_id": "C1",
        "trigger_id": slack.trigger(who, team_id=team_id),
        "response_url": _response_url(slack, who, team_id),
    }


def _response_url(slack: LoopbackSlack, who: str, team_id: str, channel: str = "C1") -> str:
    issued = slack.workspace.issue_response(team_id, who, channel)
    return f"{slack.url}/response/{issued.id}"


def _events(slack: LoopbackSlack, name: str, who: str, team_id: str) -> Iterator[Payload]:
    for number, user in enumerate((who, {"id": who, "team_id": team_id, "deleted": True})):
        inner = {
            "type": name,
            "user": user,
            "tab": "home",
            "channel": "D1",
            "tokens": {"bot": ["UBOTT1", "UBOTT2"]},
        }
        yield {
            "type": "event_callback",
            "team_id": team_id,
            "event_id": f"Ev-{name}-{team_id}-{number}-{slack.workspace.next_number()}",
            "event_time": 4_000_000_000,
            "event": inner,
        }


def _of_views(
    slack: LoopbackSlack,
    listener: Listener,
    base: Payload,
    who: str,
    subject: Subject,
    team_id: str,
) -> Iterator[Payload]:
    for metadata in (
        f"{subject.request_id} {subject.channel} {subject.ts}",
        subject.request_id,
        f'{{"request_id": "{subject.request_id}"}}',
        "",
    ):
        for kind in ("modal", "home"):
            view = _view(listener.name, metadata, kind, subject, team_id)
            interaction = base | {
                "view": view,
                "container": {"type": "view", "view_id": view["id"]},
            }
            interaction["trigger_id"] = slack.trigger(who, team_id=team_id)
            if listener.kind == "view":
                yield interaction | {"type": "view_submission"}
            elif listener.kind == "view_closed":
                yield interaction | {"type": "view_closed", "is_cleared": False}
            elif listener.kind == "options":
                yield interaction | {
                    "type": "block_suggestion",
                    "action_id": listener.name,
                    "block_id": "b",
                    "value": "a",
                }
            else:
                yield interaction | {
                    "type": "block_actions",
                    "actions": [_action(listener, subject)],
                }
    if listener.kind == "action":
        yield base | {
            "type": "block_actions",
            "container": {
                "type": "message",
                "channel_id": subject.channel,
                "message_ts": subject.ts,
            },
            "channel": {"id": subject.channel, "name": "directmessage"},
            "message": {"ts": subject.ts, "text": "", "blocks": []},
            "trigger_id": slack.trigger(who, team_id=team_id),
            "response_url": _response_url(slack, who, team_id, subject.channel),
            "actions": [_action(listener, subject)],
        }


def _action(listener: Listener, subject: Subject) -> Payload:
    return _element_state(subject) | {
        "type": "button",
        "action_id": listener.name,
        "block_id": "b",
        "value": subject.request_id,
    }


def _element_state(subject: Subject) -> Payload:
    """A state that has the values of every kind of element."""
    option = {"text": {"type": "plain_text", "text": "-"}, "value": subject.leave_type_id}
    return {
        "value": "Some text",
        "selected_option": option,
        "selected_options": [option],
        "selected_date": "2026-08-03",
        "selected_user": "UADA",
        "selected_conversation": "C1",
    }


def _view(name: str, metadata: str, kind: str, subject: Subject, team_id: str) -> Payload:
    blocks = (
        *(ids.LEAVE_TYPE, ids.FIRST_DAY, ids.LAST_DAY, ids.BEGINS, ids.ENDS),
        *(ids.PART_OF_DAY, ids.NOTE, ids.REASON),
    )
    state = _element_state(subject)
    halves = (ids.BEGINS, ids.ENDS, ids.PART_OF_DAY)
    half = state | {"selected_option": {"value": ids.WHOLE_DAY}}
    values = {block: {ids.ANSWER: half if block in halves else state} for block in blocks}
    return {
        "id": "V1",
        "type": kind,
        "callback_id": name,
        "private_metadata": metadata,
        "hash": "1.a",
        "team_id": team_id,
        "app_installed_team_id": team_id,
        "state": {"values": values},
        "blocks": [
            {"type": "input", "block_id": block, "element": {"type": "plain_text_input"}}
            for block in blocks
        ],
    }
