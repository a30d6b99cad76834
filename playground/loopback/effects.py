"""What Slack does with an app's responses: replies to commands, response_urls, submissions."""

from __future__ import annotations

from playground.loopback.blocks import Payload
from playground.loopback.limits import MESSAGE_TEXT_LENGTH
from playground.loopback.records import Answer, Message, ResponsePost, SlackRefusal, View
from playground.loopback.web_api import WebApi, is_true
from playground.loopback.workspace import ResponseAddress


def take_reply(api: WebApi, team_id: str, user_id: str, channel: str, body: object) -> None:
    """Shows the message in the response to a command, if there is one."""
    reply = {"text": body} if isinstance(body, str) else body
    if isinstance(reply, dict) and (reply.get("text") or reply.get("blocks")):
        try:
            _show(api, "command reply", team_id, user_id, channel, reply)
        except SlackRefusal:
            return  # Recorded as a violation; the person sees nothing.


def take_response(api: WebApi, response_id: str, body: Payload) -> tuple[int, Payload | str]:
    """One POST to a response_url: its status and body; at most five within thirty minutes."""
    workspace = api.workspace
    with workspace.changed:
        issued = workspace.responses.get(response_id)
        user_id, channel = (issued.user_id, issued.channel) if issued else ("", "")
        status: int = 200
        answer: Payload | str = "ok"
        try:
            _respond(api, workspace.use_response(response_id), body)
        except SlackRefusal as refusal:
            status = refusal.status
            answer = {"ok": False, "error": refusal.code} | refusal.fields
        workspace.response_posts.append(
            ResponsePost(
                response_id=response_id, user_id=user_id, channel=channel, body=body, status=status
            )
        )
        workspace.note_change()
        return status, answer


def _respond(api: WebApi, address: ResponseAddress, body: Payload) -> None:
    workspace = api.workspace
    original = _original(api, address)
    if is_true(body.get("delete_original")):
        if original is not None:
            workspace.delete(original)
        return
    if is_true(body.get("replace_original")) and original is not None:
        api.check_message("response_url", body, longest=MESSAGE_TEXT_LENGTH)
        workspace.rewrite(original, body.get("text") or "", body.get("blocks") or [])
        return
    _show(api, "response_url", address.team_id, address.user_id, address.channel, body)


def _original(api: WebApi, address: ResponseAddress) -> Message | None:
    for message in [*api.workspace.messages, *api.workspace.ephemerals]:
        if (message.channel, message.ts) == (address.channel, address.message_ts):
            return message
    return None


def _show(
    api: WebApi, where: str, team_id: str, user_id: str, channel: str, body: Payload
) -> Message:
    api.check_message(where, body, longest=MESSAGE_TEXT_LENGTH)
    is_for_all = body.get("response_type") == "in_channel"
    is_dm = channel == api.workspace.dm_channel(team_id, user_id)
    return api.workspace.add_message(
        Message(
            team_id=team_id,
            channel=channel,
            ts=api.workspace.next_ts(),
            text=body.get("text") or "",
            blocks=body.get("blocks") or [],
            author_id=api.workspace.teams[team_id].bot_user_id,
            user=user_id if is_dm or not is_for_all else None,
            ephemeral=not is_for_all,
        )
    )


def take_submission(api: WebApi, view: View, response: Answer) -> None:
    """Changes the modal as the response to its submission says.

    Inline errors go to `response.errors`; a late or failed response leaves the modal unchanged.
    """
    if not response.ok:
        return
    body = response.body if isinstance(response.body, dict) else {}
    action = body.get("response_action")
    try:
        if action == "errors":
            response.errors = _inline_errors(api, view, body)
        elif action == "update":
            new = api.check_view("response_action update", body.get("view"), "modal")
            api.workspace.update_view(view, new)
        elif action == "push":
            new = api.check_view("response_action push", body.get("view"), "modal")
            api.workspace.push_view(view.team_id, view.user_id, new)
        elif action == "clear":
            api.workspace.close_all(view.team_id, view.user_id)
        elif action is None:
            api.workspace.close_view(view)
        else:
            api.violation("view_submission", "unknown_action", [str(action)], body)
    except SlackRefusal as refusal:
        # Slack shows its own "trouble connecting" line and keeps the modal.
        response.errors = {"": refusal.code}


def _inline_errors(api: WebApi, view: View, body: Payload) -> dict[str, str]:
    errors: dict[str, str] = body.get("errors") or {}
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    strays = [f"{name!r} is no input block of this view" for name in errors if name not in inputs]
    if strays or not errors:
        problems = strays or ["no errors given"]
        api.violation("response_action errors", "invalid_errors", problems, body)
    return dict(errors)
