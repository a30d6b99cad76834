"""The methods of Slack's Web API about people, conversations and views.

Importing this module adds them to `web_api.METHODS`.
"""

from __future__ import annotations

from playground.loopback.blocks import Payload
from playground.loopback.people import Person, Team
from playground.loopback.records import SlackRefusal, View
from playground.loopback.web_api import WebApi, api_method, is_true


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
