"""The web pages at the end of an installation."""

from __future__ import annotations

from html import escape
from typing import Final

from slack_bolt.response import BoltResponse

from storage.rules import holiday_calendar
from storage.slack.slack_installations import Installed

ENTERPRISE: Final = (
    "Hiatus is installed in one workspace at a time. Choose a single workspace instead of "
    "the whole Enterprise organisation, and install it there."
)
NO_FULL_MEMBER: Final = (
    "Only full members of a workspace can install Hiatus. Guests and people from other "
    "workspaces can't."
)
SLACK_FAILED: Final = "Slack didn't respond as expected. Please install the app again."
BUSY: Final = "Hiatus isn't available right now. Please try again in a minute."

_REASONS: Final = {
    "access_denied": ("You declined the permissions, so nothing was installed.", 200),
    "invalid_browser": ("This installation was started in another browser.", 400),
    "invalid_state": (
        "This installation took longer than ten minutes, or has already finished.",
        400,
    ),
}
_UNFINISHED: Final = ("Slack didn't confirm the installation.", 400)

_PAGE: Final = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}}
</style></head>
<body><h1>{title}</h1>{paragraphs}</body>
</html>
"""


def success(done: Installed, command: str) -> BoltResponse:
    organisation = done.organisation
    if done.kind == "renewed":
        paragraphs = [
            f"Hiatus is connected to {organisation.name} again. Nothing else has changed."
        ]
    elif done.kind == "linked":
        paragraphs = [
            f"The workspace now belongs to {organisation.name}, because you are one of its admins."
        ]
    else:
        country = holiday_calendar.country_name(organisation.country_code)
        paragraphs = [
            f"{organisation.name} is set up. You're the owner.",
            f"Public holidays follow {country}, and the time zone is {organisation.timezone}. "
            "You can change both, and choose a region, in the organisation settings.",
        ]
    return _page(
        "Hiatus is installed", [*paragraphs, f"In Slack, type {command} to get started."], 200
    )


def failure(sentence: str, status: int) -> BoltResponse:
    return _page("Hiatus is not installed", [sentence], status)


def not_finished(reason: str) -> BoltResponse:
    """As ``failure``, for an error code of Bolt or Slack."""
    sentence, status = _REASONS.get(reason, _UNFINISHED)
    return _page(
        "Hiatus is not installed", [sentence, "To try again, open /slack/install."], status
    )


def _page(title: str, paragraphs: list[str], status: int) -> BoltResponse:
    shown = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return BoltResponse(
        status=status,
        body=_PAGE.format(title=title, paragraphs=shown),
        headers={
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
        },
    )
