"""Slack's Web API over a `Workspace`, without HTTP: tokens, scopes, arguments, limits.

`message_methods` and `web_methods` register a function for each method of
docs.slack.dev/config/methods.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass

from playground.loopback.blocks import Payload
from playground.loopback.limits import (
    is_too_large,
    problems_of_message,
    problems_of_view,
)
from playground.loopback.people import Team
from playground.loopback.records import SlackRefusal, Violation
from playground.loopback.workspace import Workspace

_STRUCTURED = ("blocks", "view", "metadata", "attachments")


@dataclass(frozen=True, kw_only=True, slots=True)
class Method:
    """An API method: its function, the scope that it needs, and its required arguments."""

    run: Callable[[WebApi, Team, Payload], Payload]
    scope: str | None
    required: tuple[str, ...]


METHODS: dict[str, Method] = {}

_Run = Callable[["WebApi", Team, Payload], Payload]


def api_method(name: str, scope: str | None = None, required: str = "") -> Callable[[_Run], _Run]:
    def register(run: _Run) -> _Run:
        METHODS[name] = Method(run=run, scope=scope, required=tuple(required.split()))
        return run

    return register


class WebApi:
    """Answers API calls; `socket_url` creates a ws:// address for Socket Mode.

    Without an `app_token` there is no Socket Mode, without a `client` no OAuth.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        app_token: str | None = None,
        client: tuple[str, str] | None = None,
        socket_url: Callable[[], str] = str,
    ) -> None:
        self.workspace = workspace
        self.app_token = app_token
        self.client = client
        self._socket_url = socket_url

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
        call = METHODS.get(method)
        if call is None:
            raise SlackRefusal("unknown_method", req_method=method)
        team = self._team(token)
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
        team = self.workspace.teams[code[0]]
        team.token = f"xoxb-{team.id}-{self.workspace.next_number()}"
        return {
            "app_id": self.workspace.app_id,
            "access_token": team.token,
            "token_type": "bot",
            "scope": ",".join(sorted(team.scopes)),
            "bot_user_id": team.bot_user_id,
            "authed_user": {"id": code[1]},
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
        problems = problems_of_message(text, blocks)
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
        problems = problems_of_view(view)
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
