"""What the environment says about Slack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from storage.settings import Environment

DEFAULT_API_URL: Final = "https://slack.com/api/"


@dataclass(frozen=True)
class SlackSettings:
    """Either a bot token (one workspace) or a client id and secret (many, by OAuth) is there.

    ``signing_secret`` is None where only Socket Mode is served, ``app_token`` where it is not.
    """

    signing_secret: str | None = field(default=None, repr=False)
    bot_token: str | None = field(default=None, repr=False)
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    app_token: str | None = field(default=None, repr=False)
    api_url: str = DEFAULT_API_URL

    @classmethod
    def read(cls, environment: Environment) -> SlackSettings | None:
        """The settings, None where there is none; ``environment.problems`` has what is wrong."""
        settings = cls(
            signing_secret=environment.secret("HIATUS_SLACK_SIGNING_SECRET") or None,
            bot_token=environment.secret("HIATUS_SLACK_BOT_TOKEN") or None,
            client_id=environment.secret("HIATUS_SLACK_CLIENT_ID") or None,
            client_secret=environment.secret("HIATUS_SLACK_CLIENT_SECRET") or None,
            app_token=environment.secret("HIATUS_SLACK_APP_TOKEN") or None,
            api_url=environment.text("HIATUS_SLACK_API_URL", DEFAULT_API_URL).rstrip("/") + "/",
        )
        if settings == cls(api_url=settings.api_url):
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
            "set; keep one of them."
        )
    if settings.bot_token and not settings.bot_token.startswith("xoxb-"):
        problems.append("HIATUS_SLACK_BOT_TOKEN is a bot token, which begins with xoxb-.")
    if settings.app_token and not settings.app_token.startswith("xapp-"):
        problems.append("HIATUS_SLACK_APP_TOKEN is an app-level token, which begins with xapp-.")
    if not settings.api_url.startswith(("https://", "http://")):
        problems.append("HIATUS_SLACK_API_URL is a URL such as https://slack.com/api/.")
    return problems
