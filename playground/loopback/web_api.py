"""Slack's Web API over a `Workspace`, without HTTP: tokens, scopes, arguments, limits.

A function for each method. Source: docs.slack.dev/config/methods.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from playground.loopback.blocks import Payload
from playground.loopback.limits import (
    MAX_STATUS_LENGTH,
    MESSAGE_TEXT_LENGTH,
    UPDATE_TEXT_LENGTH,
    is_too_large,
    problems_of_message,
    problems_of_view,
)
from playground.loopback.records import File, Message, Person, SlackRefusal, Team, View, Violation
from playground.loopback.workspace import UserToken, Workspace

_STRUCTURED = ("blocks", "view", "metadata", "attachments", "profile", "files")


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """An API method: its function, the scope that it needs, and its required arguments."""

    run: Callable[[WebApi, Team, Payload], Payload]
    scope: str | None
    required: tuple[str, ...]


METHODS: dict[str, Method] = {}

# The scope of each method that takes the token of a person.
USER_METHODS: dict[str, str] = {"users.profile.set": "users.profile:write"}

_Run = Callable[["WebApi", Team, Payload], Payload]


def api_method(name: str, scope: str | None = None, required: str = "") -> Callable[[_Run], _Run]:
    def register(run: _Run) -> _Run:
        METHODS[name] = Method(run=run, scope=scope, required=tuple(required.split()))
        return run

    return register


class WebApi:
    """Answers API calls; `socket_url` creates a ws:// address for Socket Mode.

    Without an `app_token` there is no Socket Mode, without a `client` no OAuth. Only a strict one
    checks blocks, which takes 10 to 50 ms for a Home.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        app_token: str | None = None,
        client: tuple[str, str] | None = None,
        socket_url: Callable[[], str] = str,
        is_strict: bool = True,
    ) -> None:
        self.workspace = workspace
        self._is_strict = is_strict
        self.app_token = app_token
        self.client = client
        self._socket_url = socket_url
        # Where files are sent; the server sets it.
        self.upload_url = ""

    def call(
        self,
        method: str,
        arguments: Payload,
        token: str | None = None,
        client: tuple[str, str] | None = None,
    ) -> tuple[int, Payload]:
        """The HTTP status and body; `client` is the id and secret of HTTP basic auth."""
        try:
            with self.workspace.changed:
                # Copies, so that neither side's objects are the workspace's own.
                own_arguments = copy.deepcopy(arguments)
                response = copy.deepcopy(self._dispatch(method, own_arguments, token, client))
                return 200, {"ok": True} | response
        except SlackRefusal as refusal:
            return refusal.status, {"ok": False, "error": refusal.code} | refusal.fields
        finally:
            self.workspace.note_change()

    def _dispatch(
        self,
        method: str,
        arguments: Payload,
        token: str | None,
        client: tuple[str, str] | None,
    ) -> Payload:
        if method == "oauth.v2.access":
            return self._oauth_access(arguments, client)
        if method == "apps.connections.open":
            return self._connections_open(token)
        if method == "api.test":
            return {"args": arguments}
        user_token = self.workspace.user_tokens.get(token or "")
        if user_token is not None and token not in self.workspace.revoked_tokens:
            return self._call_of_user(method, arguments, str(token), user_token)
        call = METHODS.get(method)
        if call is None and method not in USER_METHODS:
            raise SlackRefusal("unknown_method", req_method=method)
        team = self._team(token)
        if call is None:
            raise SlackRefusal("not_allowed_token_type")
        if call.scope is not None and call.scope not in team.scopes:
            granted = ",".join(sorted(team.scopes))
            raise SlackRefusal("missing_scope", needed=call.scope, provided=granted)
        arguments = _parsed(arguments)
        missing = [name for name in call.required if arguments.get(name) in (None, "")]
        if missing:
            raise _invalid([f"missing required field: {name}" for name in missing])
        return call.run(self, team, arguments)

    def _team(self, token: str | None) -> Team:
        if not token:
            raise SlackRefusal("not_authed")
        if token in self.workspace.revoked_tokens:
            raise SlackRefusal("token_revoked")
        for team in self.workspace.teams.values():
            if team.token == token:
                return team
        raise SlackRefusal("not_allowed_token_type" if token == self.app_token else "invalid_auth")

    def _call_of_user(
        self, method: str, arguments: Payload, token: str, user: UserToken
    ) -> Payload:
        if self.workspace.person(user.team_id, user.user_id).deleted:
            raise SlackRefusal("account_inactive")
        if method == "auth.revoke":
            self.workspace.revoked_tokens.add(token)
            return {"revoked": True}
        scope = USER_METHODS.get(method)
        if scope is None:
            raise SlackRefusal("not_allowed_token_type")
        if scope not in user.scopes:
            granted = ",".join(sorted(user.scopes))
            raise SlackRefusal("missing_scope", needed=scope, provided=granted)
        return self._set_status(user, _parsed(arguments).get("profile"))

    def _set_status(self, user: UserToken, profile: object) -> Payload:
        """users.profile.set, for the members of the status only."""
        if not isinstance(profile, dict):
            raise SlackRefusal("invalid_profile")
        text, emoji = str(profile.get("status_text", "")), str(profile.get("status_emoji", ""))
        if len(text) > MAX_STATUS_LENGTH:
            raise SlackRefusal("too_long")
        if emoji.strip(":") in self.workspace.unknown_emoji:
            raise SlackRefusal("profile_status_set_failed_not_valid_emoji")
        person = replace(
            self.workspace.person(user.team_id, user.user_id),
            status_text=text,
            status_emoji=emoji,
            status_expiration=int(profile.get("status_expiration", 0)),
        )
        self.workspace.people[user.team_id, user.user_id] = person
        return {"username": person.name, "profile": person.status}

    def _connections_open(self, token: str | None) -> Payload:
        if token is None or token != self.app_token:
            if any(team.token == token for team in self.workspace.teams.values() if token):
                raise SlackRefusal("not_allowed_token_type")
            raise SlackRefusal("invalid_auth" if token else "not_authed")
        return {"url": self._socket_url()}

    def _oauth_access(self, arguments: Payload, client: tuple[str, str] | None) -> Payload:
        credentials = client or (arguments.get("client_id"), arguments.get("client_secret"))
        if credentials != self.client:
            is_id_known = self.client is not None and credentials[0] == self.client[0]
            raise SlackRefusal("bad_client_secret" if is_id_known else "invalid_client_id")
        code = self.workspace.oauth_codes.pop(str(arguments.get("code")), None)
        if code is None:
            raise SlackRefusal("invalid_code")
        team = self.workspace.teams[code.team_id]
        authed_user: Payload = {"id": code.user_id}
        if code.user_scopes:
            token = f"xoxp-{team.id}-{self.workspace.next_number()}"
            self.workspace.user_tokens[token] = UserToken(
                code.team_id, code.user_id, code.user_scopes
            )
            granted = ",".join(sorted(code.user_scopes))
            authed_user |= {"scope": granted, "access_token": token, "token_type": "user"}
            return {
                "app_id": self.workspace.app_id,
                "authed_user": authed_user,
                "team": {"id": team.id, "name": team.name},
                "enterprise": None,
                "is_enterprise_install": False,
            }
        team.token = f"xoxb-{team.id}-{self.workspace.next_number()}"
        return {
            "app_id": self.workspace.app_id,
            "access_token": team.token,
            "token_type": "bot",
            "scope": ",".join(sorted(team.scopes)),
            "bot_user_id": team.bot_user_id,
            "authed_user": authed_user,
            "team": {"id": team.id, "name": team.name},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def violation(self, where: str, code: str, problems: list[str], payload: Payload) -> None:
        """Records a violation of Slack's limits."""
        self.workspace.violations.append(
            Violation(where=where, code=code, problems=tuple(problems), payload=payload)
        )

    def check_message(self, where: str, arguments: Payload, *, longest: int) -> None:
        """Raises SlackRefusal no_text, msg_too_long, invalid_blocks; each is also recorded."""
        text, blocks = arguments.get("text") or "", arguments.get("blocks") or []
        if not text and not blocks:
            self.violation(where, "no_text", ["neither text nor blocks"], arguments)
            raise SlackRefusal("no_text")
        if len(text) > longest:
            problem = f"text: {len(text)} characters, at most {longest}"
            self.violation(where, "msg_too_long", [problem], arguments)
            raise SlackRefusal("msg_too_long")
        problems = problems_of_message(text, blocks) if self._is_strict else []
        missing_text = [problem for problem in problems if problem.startswith("text is missing")]
        refused = [problem for problem in problems if problem not in missing_text]
        if missing_text:
            self.violation(where, "text_missing", missing_text, arguments)
        if refused:
            self.violation(where, "invalid_blocks", refused, arguments)
            messages = [f"[ERROR] {problem}" for problem in refused]
            raise SlackRefusal("invalid_blocks", response_metadata={"messages": messages})

    def check_view(self, where: str, view: object, kind: str | None = None) -> Payload:
        """The view. Raises SlackRefusal view_too_large, invalid_arguments; each is recorded."""
        if not isinstance(view, dict):
            raise _invalid(["view: must be an object"])
        if is_too_large(view):
            self.violation(where, "view_too_large", ["over 250 kB"], view)
            raise SlackRefusal("view_too_large")
        problems = problems_of_view(view) if self._is_strict else []
        if kind is not None and view.get("type") != kind:
            problems.append(f"view.type: must be {kind}")
        if problems:
            self.violation(where, "invalid_arguments", problems, view)
            raise _invalid(problems)
        return view


def _invalid(problems: list[str]) -> SlackRefusal:
    messages = [f"[ERROR] {problem}" for problem in problems]
    return SlackRefusal("invalid_arguments", response_metadata={"messages": messages})


def _parsed(arguments: Payload) -> Payload:
    """The arguments with JSON in strings read, as forms carry it."""
    parsed = dict(arguments)
    for name in _STRUCTURED:
        if isinstance(parsed.get(name), str) and parsed[name]:
            try:
                parsed[name] = json.loads(parsed[name])
            except ValueError:
                code = "invalid_blocks_format" if name == "blocks" else "invalid_arguments"
                raise SlackRefusal(code) from None
    return parsed


def is_true(value: object) -> bool:
    """A flag as JSON or a form carries it."""
    return str(value).lower() in {"1", "true"}


@api_method("auth.test")
def _auth_test(api: WebApi, team: Team, arguments: Payload) -> Payload:
    return {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": "hiatus",
        "team_id": team.id,
        "user_id": team.bot_user_id,
        "bot_id": team.bot_id,
        "is_enterprise_install": False,
    }


@api_method("auth.revoke")
def _auth_revoke(api: WebApi, team: Team, arguments: Payload) -> Payload:
    if not is_true(arguments.get("test")) and team.token is not None:
        api.workspace.revoked_tokens.add(team.token)
    return {"revoked": not is_true(arguments.get("test"))}


@api_method("team.info", "team:read")
def _team_info(api: WebApi, team: Team, arguments: Payload) -> Payload:
    shape = {"id": team.id, "name": team.name, "domain": team.domain}
    return {"team": shape | {"email_domain": team.email_domain}}


@api_method("bots.info", "users:read")
def _bots_info(api: WebApi, team: Team, arguments: Payload) -> Payload:
    if arguments.get("bot") != team.bot_id:
        raise SlackRefusal("bot_not_found")
    return {"bot": {"id": team.bot_id, "app_id": api.workspace.app_id, "name": "hiatus"}}


@api_method("users.info", "users:read", "user")
def _users_info(api: WebApi, team: Team, arguments: Payload) -> Payload:
    person = api.workspace.people.get((team.id, str(arguments["user"])))
    if person is None:
        raise SlackRefusal("user_not_found")
    return {"user": _user(person, team, arguments)}


@api_method("users.lookupByEmail", "users:read.email", "email")
def _users_lookup(api: WebApi, team: Team, arguments: Payload) -> Payload:
    email = str(arguments["email"]).lower()
    for person in api.workspace.people_of(team.id):
        is_findable = not (person.deleted or person.is_bot or person.is_stranger)
        if is_findable and (person.email or "").lower() == email:
            return {"user": _user(person, team, arguments)}
    raise SlackRefusal("users_not_found")


@api_method("users.list", "users:read")
def _users_list(api: WebApi, team: Team, arguments: Payload) -> Payload:
    people = api.workspace.people_of(team.id)
    limit = int(arguments.get("limit") or 1000)
    cursor = str(arguments.get("cursor") or "from-0")
    start = cursor.removeprefix("from-")
    if not cursor.startswith("from-") or not start.isdecimal():
        raise SlackRefusal("invalid_cursor")
    page = people[int(start) : int(start) + limit]
    end = int(start) + limit
    following = f"from-{end}" if end < len(people) else ""
    members = [_user(person, team, arguments) for person in page]
    return {"members": members, "response_metadata": {"next_cursor": following}}


def _user(person: Person, team: Team, arguments: Payload) -> Payload:
    return person.to_slack(
        with_email="users:read.email" in team.scopes,
        with_locale=is_true(arguments.get("include_locale")),
    )


@api_method("conversations.info", "channels:read", "channel")
def _conversations_info(api: WebApi, team: Team, arguments: Payload) -> Payload:
    channel = api.workspace.channels.get(str(arguments["channel"]))
    # Of private channels an app sees those that it is in.
    if channel is None or channel.team_id != team.id:
        raise SlackRefusal("channel_not_found")
    if channel.is_private and not channel.is_member:
        raise SlackRefusal("channel_not_found")
    return {
        "channel": {
            "id": channel.id,
            "name": channel.name,
            "is_channel": True,
            "is_private": channel.is_private,
            "is_archived": channel.is_archived,
            "is_member": channel.is_member,
            "is_ext_shared": channel.is_ext_shared,
        }
    }


@api_method("conversations.open", "im:write", "users")
def _conversations_open(api: WebApi, team: Team, arguments: Payload) -> Payload:
    user_id = str(arguments["users"])
    person = api.workspace.people.get((team.id, user_id))
    if person is None:
        raise SlackRefusal("user_not_found")
    if person.deleted:
        raise SlackRefusal("user_disabled")
    if person.is_bot:
        raise SlackRefusal("cannot_dm_bot")
    return {"channel": {"id": api.workspace.dm_channel(team.id, user_id)}}


@api_method("views.open", None, "trigger_id view")
def _views_open(api: WebApi, team: Team, arguments: Payload) -> Payload:
    body = api.check_view("views.open", arguments["view"], "modal")
    trigger = api.workspace.use_trigger(team.id, str(arguments["trigger_id"]))
    return {"view": api.workspace.open_view(team.id, trigger.user_id, body).body}


@api_method("views.push", None, "trigger_id view")
def _views_push(api: WebApi, team: Team, arguments: Payload) -> Payload:
    body = api.check_view("views.push", arguments["view"], "modal")
    trigger = api.workspace.use_trigger(team.id, str(arguments["trigger_id"]))
    return {"view": api.workspace.push_view(team.id, trigger.user_id, body).body}


@api_method("views.update", None, "view")
def _views_update(api: WebApi, team: Team, arguments: Payload) -> Payload:
    view = _known_view(api, team, arguments)
    body = api.check_view("views.update", arguments["view"], view.type)
    return {"view": api.workspace.update_view(view, body, arguments.get("hash")).body}


@api_method("views.publish", None, "user_id view")
def _views_publish(api: WebApi, team: Team, arguments: Payload) -> Payload:
    user_id = str(arguments["user_id"])
    if (team.id, user_id) not in api.workspace.people:
        raise SlackRefusal("user_not_found")
    body = api.check_view("views.publish", arguments["view"], "home")
    published = api.workspace.publish_view(team.id, user_id, body, arguments.get("hash"))
    return {"view": published.body}


def _known_view(api: WebApi, team: Team, arguments: Payload) -> View:
    view_id, external_id = arguments.get("view_id"), arguments.get("external_id")
    for view in api.workspace.views.values():
        is_meant = view.id == view_id or (external_id and view.body["external_id"] == external_id)
        if is_meant and view.team_id == team.id:
            return view
    raise SlackRefusal("not_found")


@api_method("chat.postMessage", "chat:write", "channel")
def _post_message(api: WebApi, team: Team, arguments: Payload) -> Payload:
    channel, person_id = _channel_and_person(api, team, str(arguments["channel"]))
    api.check_message("chat.postMessage", arguments, longest=MESSAGE_TEXT_LENGTH)
    message = api.workspace.add_message(_message(api, team, arguments, channel, person_id))
    shown = api.workspace.to_slack(message)
    return {"channel": channel, "ts": message.ts, "message": shown}


@api_method("files.getUploadURLExternal", "files:write", "filename length")
def _announce_file(api: WebApi, team: Team, arguments: Payload) -> Payload:
    file_id = f"F{api.workspace.next_number():08d}"
    api.workspace.files[file_id] = File(
        file_id, team.id, str(arguments["filename"]), int(arguments["length"])
    )
    return {"upload_url": f"{api.upload_url}{file_id}", "file_id": file_id}


@api_method("files.completeUploadExternal", "files:write", "files")
def _share_files(api: WebApi, team: Team, arguments: Payload) -> Payload:
    """Shares them in a conversation: its id is needed, a person's is refused."""
    channel = str(arguments.get("channel_id") or "")
    person_id = api.workspace.dm_person(team.id, channel)
    if person_id is None and channel not in api.workspace.channels:
        raise SlackRefusal("channel_not_found")
    files = []
    for each in arguments["files"]:
        file = api.workspace.files.get(each["id"])
        if file is None or file.team_id != team.id or file.content is None or file.is_shared:
            raise SlackRefusal("file_not_found")
        file.title, file.is_shared = str(each.get("title") or file.name), True
        files.append(file)
    comment = {"text": arguments.get("initial_comment")}
    message = _message(api, team, comment, channel, person_id)
    message.files = files
    api.workspace.add_message(message)
    return {"files": [file.to_slack() for file in files]}


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
