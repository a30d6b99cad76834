"""The web pages at the end of an installation; other flows of OAuth make theirs of the same."""

from __future__ import annotations

from html import escape
from typing import Final
from urllib.parse import urlencode

from slack_bolt.response import BoltResponse

from storage.rules import holiday_calendar
from storage.workspaces.slack_installations import Installed

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

# It opens the app in Slack, on any device (docs.slack.dev, "Deep linking into Slack").
_APP_IN_SLACK: Final = "https://slack.com/app_redirect"

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_PAGE: Final = """<!doctype html>
<html lang="{language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}}
</style></head>
<body><h1>{title}</h1>{paragraphs}</body>
</html>
"""


def success(
    done: Installed, command: str, *, app_id: str | None, team_id: str | None
) -> BoltResponse:
    """``app_id`` and ``team_id`` are Slack's; with both, the page has a link back into Slack."""
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
    if done.kind != "renewed":
        paragraphs.append("I've sent you a message in Slack with the next steps.")
    paragraphs.append(f"In Slack, type {command} to request leave.")
    link = ""
    if app_id and team_id:
        link = back_to_slack("Open Hiatus in Slack", app_id, team_id)
    return page("Hiatus is installed", paragraphs, 200, link)


def back_to_slack(label: str, app_id: str, team_id: str) -> str:
    """The link to the app, as HTML."""
    query = urlencode({"app": app_id, "team": team_id})
    return f'<p><a href="{escape(f"{_APP_IN_SLACK}?{query}")}">{escape(label)}</a></p>'


def failure(sentence: str, status: int) -> BoltResponse:
    return page("Hiatus is not installed", [sentence], status)


def not_finished(reason: str) -> BoltResponse:
    """As ``failure``, for an error code of Bolt or Slack."""
    sentence, status = _REASONS.get(reason, _UNFINISHED)
    return page("Hiatus is not installed", [sentence, "To try again, open /slack/install."], status)


def page(
    title: str, paragraphs: list[str], status: int, link: str = "", language: str = "en"
) -> BoltResponse:
    """A page of plain paragraphs; ``link`` is HTML."""
    shown = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return BoltResponse(
        status=status,
        body=_PAGE.format(title=escape(title), paragraphs=shown + link, language=language),
        headers={
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": _POLICY,
            "Referrer-Policy": "no-referrer",
        },
    )
