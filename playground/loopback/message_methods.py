"""Methods of the Web API that post, change and delete messages."""

from __future__ import annotations

from playground.loopback.blocks import Payload
from playground.loopback.limits import (
    MESSAGE_TEXT_LENGTH,
    UPDATE_TEXT_LENGTH,
)
from playground.loopback.people import Team
from playground.loopback.records import Message, SlackRefusal
from playground.loopback.web_api import WebApi, api_method, is_true


@api_method("chat.postMessage", "chat:write", "channel")
def _post_message(api: WebApi, team: Team, arguments: Payload) -> Payload:
    channel, person_id = _channel_and_person(api, team, str(arguments["channel"]))
    api.check_message("chat.postMessage", arguments, longest=MESSAGE_TEXT_LENGTH)
    message = api.workspace.add_message(_message(api, team, arguments, channel, person_id))
    shown = api.workspace.to_slack(message)
    return {"channel": channel, "ts": message.ts, "message": shown}


@api_method("chat.postEphemeral", "chat:write", "channel user")
def _post_ephemeral(api: WebApi, team: Team, arguments: Payload) -> Payload:
    channel, person_id = _channel_and_person(api, team, str(arguments["channel"]))
    viewer = str(arguments["user"])
    if (team.id, viewer) not in api.workspace.people or person_id not in {None, viewer}:
        raise SlackRefusal("user_not_in_channel")
    api.check_message("chat.postEphemeral", arguments, longest=MESSAGE_TEXT_LENGTH)
    message = _message(api, team, arguments, channel, viewer)
    message.ephemeral = True
    return {"message_ts": api.workspace.add_message(message).ts}


@api_method("chat.update", "chat:write", "channel ts")
def _update_message(api: WebApi, team: Team, arguments: Payload) -> Payload:
    message = _own_message(api, team, arguments, "cant_update_message")
    api.check_message("chat.update", arguments, longest=UPDATE_TEXT_LENGTH)
    text, blocks = arguments.get("text") or "", arguments.get("blocks") or []
    api.workspace.rewrite(message, text, blocks)
    if is_true(arguments.get("reply_broadcast")):
        message.reply_broadcast = message.thread_ts is not None
    shown = api.workspace.to_slack(message)
    return {"channel": message.channel, "ts": message.ts, "text": text, "message": shown}


@api_method("chat.delete", "chat:write", "channel ts")
def _delete_message(api: WebApi, team: Team, arguments: Payload) -> Payload:
    message = _own_message(api, team, arguments, "cant_delete_message")
    api.workspace.delete(message)
    return {"channel": message.channel, "ts": message.ts}


def _channel_and_person(api: WebApi, team: Team, target: str) -> tuple[str, str | None]:
    """The channel id and, for a DM, its user. A user id opens the DM."""
    workspace = api.workspace
    if (team.id, target) in workspace.people:
        if workspace.people[team.id, target].is_bot:
            raise SlackRefusal("cannot_dm_bot")
        return workspace.dm_channel(team.id, target), target
    person_id = workspace.dm_person(team.id, target)
    if person_id is not None:
        return target, person_id
    channel = workspace.channels.get(target)
    if channel is None or channel.team_id != team.id:
        raise SlackRefusal("channel_not_found")
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if not channel.is_member and "chat:write.public" not in team.scopes:
        raise SlackRefusal("not_in_channel")
    return target, None


def _message(
    api: WebApi, team: Team, arguments: Payload, channel: str, person_id: str | None
) -> Message:
    thread_ts = _thread_ts(api, team, channel, arguments.get("thread_ts"))
    return Message(
        team_id=team.id,
        channel=channel,
        ts=api.workspace.next_ts(),
        text=arguments.get("text") or "",
        blocks=arguments.get("blocks") or [],
        author_id=team.bot_user_id,
        user=person_id,
        thread_ts=thread_ts,
        reply_broadcast=thread_ts is not None and is_true(arguments.get("reply_broadcast")),
        metadata=arguments.get("metadata"),
    )


def _thread_ts(api: WebApi, team: Team, channel: str, given: object) -> str | None:
    """The first message of the thread: a reply to a reply is in the same thread."""
    if given in (None, ""):
        return None
    replied_to = api.workspace.message(team.id, channel, str(given))
    return (replied_to.thread_ts if replied_to is not None else None) or str(given)


def _own_message(api: WebApi, team: Team, arguments: Payload, not_own: str) -> Message:
    channel, ts = str(arguments["channel"]), str(arguments["ts"])
    workspace = api.workspace
    if channel not in workspace.channels and workspace.dm_person(team.id, channel) is None:
        raise SlackRefusal("channel_not_found")
    message = workspace.message(team.id, channel, ts)
    if message is None:
        raise SlackRefusal("message_not_found")
    if message.author_id != team.bot_user_id:
        raise SlackRefusal(not_own)
    return message
