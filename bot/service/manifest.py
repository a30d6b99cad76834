"""The app's manifest, and the command that prints it: ``hiatus slack manifest``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import click

from bot.base import ids
from bot.base.settings import command_problem

# The base URL in the repository's manifest.yml.
EXAMPLE_URL: Final = "https://hiatus.example.com"

# Every bot scope with its reason, as a comment in the manifest.
SCOPES: Final[Mapping[str, str]] = {
    "commands": "The slash command and the shortcut.",
    "chat:write": "Direct messages to approvers and requesters, and updates of these messages.",
    "channels:read": "To check whether the digest's channel is shared with another organisation.",
    "groups:read": "The same for private channels.",
    "im:history": "To read what people write to the app, in their conversation with it only.",
    "users:read": "Names, time zones, locales and deactivation of people.",
    "users:read.email": "To match Slack accounts with people of the organisation.",
}

# Without these, the app does the same in another way: workspaces may refuse them.
OPTIONAL_SCOPES: Final[Mapping[str, str]] = {
    "files:write": "To send the payroll file and people's own data; without it, they get links.",
}

# The scopes of people who show their leave as their Slack status, each with its reason. They are
# not part of an installation: each person agrees, or does not.
USER_SCOPES: Final[Mapping[str, str]] = {
    "users.profile:write": "To set the Slack status of people who connect it.",
}

# The scope of each Web API method that is called with a person's own token.
USER_METHODS: Final[Mapping[str, str]] = {"users.profile.set": "users.profile:write"}

# The optional scope of each Web API method that the code tries.
OPTIONAL_METHODS: Final[Mapping[str, str]] = {
    "files.completeUploadExternal": "files:write",
    "files.getUploadURLExternal": "files:write",
}

# The scope of each Web API method that the code calls; None if any token works.
METHODS: Final[Mapping[str, str | None]] = {
    "apps.connections.open": None,
    "auth.revoke": None,
    "auth.test": None,
    "bots.info": "users:read",
    "chat.delete": "chat:write",
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "conversations.info": "channels:read",
    "oauth.v2.access": None,
    "users.info": "users:read",
    "users.list": "users:read",
    "users.lookupByEmail": "users:read.email",
    "views.open": None,
    "views.publish": None,
    "views.update": None,
    "views.push": None,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A subscribed event: its scope, if it needs one, and its reason."""

    scope: str | None
    reason: str


EVENTS: Final[Mapping[str, Event]] = {
    "app_home_opened": Event(scope=None, reason="Renders the Home tab."),
    "app_uninstalled": Event(
        scope=None, reason="Deliveries to the workspace stop; its data stays."
    ),
    "message.im": Event(
        scope="im:history", reason="Answers what people write in their conversation with the app."
    ),
    "tokens_revoked": Event(scope=None, reason="The same if only the token was revoked."),
    "user_change": Event(
        scope="users:read", reason="Keeps names, time zones, locales and deactivation up to date."
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortcut:
    name: str
    callback_id: str
    description: str


SHORTCUTS: Final = (
    Shortcut(
        name="Request leave",
        callback_id=ids.REQUEST_SHORTCUT,
        description="Open the leave request form",
    ),
)


def render(
    base_url: str | None, *, is_socket_mode: bool = False, command: str = ids.COMMAND
) -> str:
    """The manifest in YAML. ``base_url`` has no slash at its end and may be None in Socket Mode.

    With Socket Mode the address only serves installations by OAuth.
    """
    events_url = None if is_socket_mode else f"{base_url}/slack/events"
    lines = [
        *_introduction(is_socket_mode=is_socket_mode),
        *_features(command, events_url),
        *_oauth(base_url),
        *_settings(events_url),
    ]
    return "\n".join(lines) + "\n"


def _introduction(*, is_socket_mode: bool) -> list[str]:
    way = "Socket Mode (`hiatus bot`)" if is_socket_mode else "HTTP (`hiatus serve`)"
    return [
        f'# The Slack app "Hiatus", over {way}: create it at https://api.slack.com/apps,',
        '# "From a manifest". It requests only the scopes and events that this version uses.',
        "# `hiatus slack manifest` prints it with your address and command.",
        "_metadata:",
        "  major_version: 2",
        "  minor_version: 1",
        "",
        "display_information:",
        "  name: Hiatus",
        "  description: Request, approve and see leave without leaving Slack",
        '  background_color: "#1f6f54"',
        "",
    ]


def _features(command: str, events_url: str | None) -> list[str]:
    lines = [
        "features:",
        "  app_home:",
        "    home_tab_enabled: true",
        "    # Where people find messages from Hiatus, and write to it.",
        "    messages_tab_enabled: true",
        "    messages_tab_read_only_enabled: false",
        "  bot_user:",
        "    display_name: Hiatus",
        "    always_online: true",
        "  shortcuts:",
        "    # Works even if another app has the same slash command.",
    ]
    for shortcut in SHORTCUTS:
        lines += [
            f"    - name: {shortcut.name}",
            "      type: global",
            f"      callback_id: {shortcut.callback_id}",
            f"      description: {shortcut.description}",
        ]
    lines += [
        "  slash_commands:",
        f"    - command: {command}",
        "      description: Request leave and see what it does to your balance",
        '      usage_hint: "[3-7 aug sick | balance | out | mine | cancel | help]"',
        "      # A mentioned colleague arrives as an id, not as a name that may change.",
        "      should_escape: true",
    ]
    return [*lines, *([f"      url: {events_url}"] if events_url else []), ""]


def _oauth(base_url: str | None) -> list[str]:
    lines = ["oauth_config:"]
    if base_url:
        lines += [
            "  # Only needed if workspaces install the app themselves, from /slack/install.",
            "  redirect_urls:",
            f"    - {base_url}/slack/oauth_redirect",
        ]
    lines += ["  scopes:", "    bot:"]
    for scope, reason in {**SCOPES, **OPTIONAL_SCOPES}.items():
        lines += [f"      # {reason}", f"      - {scope}"]
    lines += [
        "    # The app works without these: workspaces may refuse them.",
        "    bot_optional:",
        *(f"      - {scope}" for scope in OPTIONAL_SCOPES),
    ]
    if base_url:
        lines += ["    user:"]
        for scope, reason in USER_SCOPES.items():
            lines += [f"      # {reason}", f"      - {scope}"]
        lines += ["    # Nothing else depends on these, so that people and admins may refuse them."]
        lines += ["    user_optional:", *(f"      - {scope}" for scope in USER_SCOPES)]
    return [*lines, ""]


def _settings(events_url: str | None) -> list[str]:
    lines = ["settings:", "  event_subscriptions:"]
    if events_url:
        lines.append(f"    request_url: {events_url}")
    lines.append("    bot_events:")
    for name, event in sorted(EVENTS.items()):
        lines += [f"      # {event.reason}", f"      - {name}"]
    lines += ["  # Buttons, forms and the shortcut.", "  interactivity:", "    is_enabled: true"]
    if events_url:
        lines.append(f"    request_url: {events_url}")
        lines.append(f"    message_menu_options_url: {events_url}")
    return [
        *lines,
        "  # Workspaces install one by one. An Enterprise organisation that installs once for all",
        "  # of its workspaces is refused.",
        "  org_deploy_enabled: false",
        f"  socket_mode_enabled: {'false' if events_url else 'true'}",
        "  # Bot tokens stay valid until revoked. Rotation cannot be switched off again once on.",
        "  token_rotation_enabled: false",
    ]


# Without characters that have a meaning in YAML.
_PLAIN: Final = re.compile(r"https://[A-Za-z0-9._~:/-]+")


def add_to(slack: click.Group, env: Mapping[str, str]) -> None:
    """Add the command to the group ``hiatus slack``."""

    @slack.command("manifest")
    @click.option(
        "--base-url",
        metavar="URL",
        help="Where Slack reaches Hiatus: https://hiatus.example.com. With Socket Mode only "
        "needed where workspaces install the app themselves.",
    )
    @click.option("--socket-mode", is_flag=True, help="For `hiatus bot` instead of `hiatus serve`.")
    @click.option(
        "--command",
        metavar="/NAME",
        help="The slash command; HIATUS_SLACK_COMMAND has to be the same.",
    )
    def manifest_command(base_url: str | None, socket_mode: bool, command: str | None) -> None:
        """Print the app's manifest for https://api.slack.com/apps, "From a manifest"."""
        name = command or env.get("HIATUS_SLACK_COMMAND", "").strip() or ids.COMMAND
        if (problem := command_problem(name)) is not None:
            raise click.BadParameter(f"The command {problem}", param_hint="--command")
        url = None if base_url is None else base_url.strip().rstrip("/")
        if url is None and not socket_mode:
            raise click.BadParameter("is needed without --socket-mode", param_hint="--base-url")
        if url is not None and not _is_public(url):
            raise click.BadParameter(
                "must be an https:// address such as https://hiatus.example.com",
                param_hint="--base-url",
            )
        click.echo(render(url, is_socket_mode=socket_mode, command=name), nl=False)


def _is_public(url: str) -> bool:
    try:
        return _PLAIN.fullmatch(url) is not None and bool(urlsplit(url).hostname)
    except ValueError:
        return False
