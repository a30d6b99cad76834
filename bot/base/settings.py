"""The Slack settings in the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.base import ids
from storage.base.environment import Environment

DEFAULT_API_URL: Final = "https://slack.com/api/"
DEFAULT_BASE_URL: Final = "http://127.0.0.1:8000"

# Slack's limit is 32 characters with the slash; it takes no capitals and no spaces.
_COMMAND: Final = re.compile(r"/[a-z0-9][a-z0-9_-]{0,30}")
# Slack's own commands: Slack rejects a manifest that uses one of them.
_RESERVED: Final = frozenset(
    {
        "/active",
        "/apps",
        "/archive",
        "/away",
        "/call",
        "/collapse",
        "/dm",
        "/dnd",
        "/expand",
        "/feed",
        "/feedback",
        "/invite",
        "/join",
        "/leave",
        "/msg",
        "/mute",
        "/open",
        "/pro",
        "/remind",
        "/remove",
        "/rename",
        "/search",
        "/shortcuts",
        "/star",
        "/status",
        "/topic",
        "/who",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackSettings:
    """Has either a bot token (one workspace) or a client id and secret (many, by OAuth).

    ``signing_secret`` is None if only Socket Mode is used, ``app_token`` if it is not used.
    ``base_url`` is the public URL of this service, without a trailing slash.
    """

    signing_secret: str | None = field(default=None, repr=False)
    bot_token: str | None = field(default=None, repr=False)
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    app_token: str | None = field(default=None, repr=False)
    api_url: str = DEFAULT_API_URL
    base_url: str = DEFAULT_BASE_URL
    command: str = ids.COMMAND

    @property
    def is_oauth(self) -> bool:
        """Whether workspaces install the app by OAuth."""
        return self.client_id is not None

    @classmethod
    def read(cls, environment: Environment) -> SlackSettings | None:
        """The settings, or None if none is set; problems are added to ``environment.problems``."""
        settings = cls(
            signing_secret=environment.secret("HIATUS_SLACK_SIGNING_SECRET") or None,
            bot_token=environment.secret("HIATUS_SLACK_BOT_TOKEN") or None,
            client_id=environment.secret("HIATUS_SLACK_CLIENT_ID") or None,
            client_secret=environment.secret("HIATUS_SLACK_CLIENT_SECRET") or None,
            app_token=environment.secret("HIATUS_SLACK_APP_TOKEN") or None,
            api_url=environment.text("HIATUS_SLACK_API_URL", DEFAULT_API_URL).rstrip("/") + "/",
            base_url=environment.text("BASE_URL", DEFAULT_BASE_URL).rstrip("/"),
            command=environment.text("HIATUS_SLACK_COMMAND", ids.COMMAND),
        )
        if (problem := command_problem(settings.command)) is not None:
            environment.problem(f"HIATUS_SLACK_COMMAND {problem}")
        others = (settings.api_url, settings.base_url, settings.command)
        if settings == cls(api_url=others[0], base_url=others[1], command=others[2]):
            return None
        for sentence in _problems(settings):
            environment.problem(sentence)
        return settings

    @classmethod
    def from_env(cls, values: Mapping[str, str]) -> SlackSettings | None:
        """As ``read``. Raises SettingsError."""
        environment = Environment(values)
        settings = cls.read(environment)
        environment.check()
        return settings


def command_problem(command: str) -> str | None:
    """The error of a slash command's name, as the end of a sentence; None if it is valid."""
    if _COMMAND.fullmatch(command) is None:
        return (
            "must be a slash and up to 31 lower-case letters, digits, hyphens and underscores, "
            f"such as /timeoff, not {command!r}."
        )
    if command in _RESERVED:
        return f"cannot be {command}, which Slack reserves."
    return None


def _problems(settings: SlackSettings) -> list[str]:
    problems = []
    if not settings.signing_secret and not settings.app_token:
        problems.append(
            "HIATUS_SLACK_SIGNING_SECRET is missing (or HIATUS_SLACK_APP_TOKEN, for Socket Mode)."
        )
    if settings.client_id and not settings.client_secret:
        problems.append("HIATUS_SLACK_CLIENT_SECRET is missing beside HIATUS_SLACK_CLIENT_ID.")
    if settings.client_secret and not settings.client_id:
        problems.append("HIATUS_SLACK_CLIENT_ID is missing beside HIATUS_SLACK_CLIENT_SECRET.")
    by_oauth = settings.client_id or settings.client_secret
    if not settings.bot_token and not by_oauth:
        problems.append(
            "HIATUS_SLACK_BOT_TOKEN is missing "
            "(or HIATUS_SLACK_CLIENT_ID and HIATUS_SLACK_CLIENT_SECRET, for many workspaces)."
        )
    if settings.bot_token and by_oauth:
        problems.append(
            "HIATUS_SLACK_BOT_TOKEN (one workspace) and HIATUS_SLACK_CLIENT_ID (many) are both "
            "set; keep one of them. To change to many, remove the token and install the app "
            "again from /slack/install: the workspace stays with its organisation."
        )
    if settings.bot_token and not settings.bot_token.startswith("xoxb-"):
        problems.append("HIATUS_SLACK_BOT_TOKEN must be a bot token, which begins with xoxb-.")
    if settings.app_token and not settings.app_token.startswith("xapp-"):
        problems.append(
            "HIATUS_SLACK_APP_TOKEN must be an app-level token, which begins with xapp-."
        )
    if not settings.api_url.startswith(("https://", "http://")):
        problems.append("HIATUS_SLACK_API_URL must be a URL such as https://slack.com/api/.")
    return problems
