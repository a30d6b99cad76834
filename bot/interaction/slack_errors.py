"""Sentences for failed calls to Slack's Web API."""

from __future__ import annotations

from typing import Final

from bot.base.language import gettext, gettext_noop
from bot.client import slack_web

SLACK_TIMED_OUT: Final = gettext_noop("Slack didn't respond in time. Please try again.")
_SLACK_UNREACHABLE: Final = gettext_noop(
    "I can't reach Slack right now. Please try again in a minute."
)
_SLACK_LIMITS: Final = gettext_noop(
    "Slack is limiting requests from Hiatus right now. Please try again in a minute."
)
_FORM_TOO_LATE: Final = gettext_noop(
    "That took too long, so Slack didn't open the form. Please try again."
)
_SLACK_REFUSED: Final = gettext_noop(
    "Slack refused this ({reason}). If it happens again, please tell the people who run Hiatus."
)
_INSTALL_AGAIN: Final = gettext_noop(
    "Hiatus is no longer connected to this workspace. Please ask a Slack admin to reinstall "
    "the app: {url}"
)
_NEW_TOKEN: Final = gettext_noop(
    "Hiatus is no longer connected to this workspace. Please ask the people who run Hiatus "
    "to reinstall the app and set its new bot token."
)
_GRANT_AGAIN: Final = gettext_noop(
    "Hiatus is missing a permission in this workspace. Please ask a Slack admin to reinstall "
    "the app and allow it: {url}"
)
_ADD_SCOPES: Final = gettext_noop(
    "Hiatus is missing a permission in this workspace. Please ask the people who run Hiatus "
    "to compare the app with its manifest and reinstall it."
)


def sentence(failure: Exception, install_url: str | None) -> str:
    """Why a call to Slack failed and what to do. ``install_url`` is None with one bot token."""
    code = slack_web.error_code(failure)
    if code in slack_web.TOKEN_REFUSED | {"not_authed", "token_expired"}:
        return gettext(_INSTALL_AGAIN, url=install_url) if install_url else gettext(_NEW_TOKEN)
    if code in ("missing_scope", "no_permission", "not_allowed_token_type"):
        return gettext(_GRANT_AGAIN, url=install_url) if install_url else gettext(_ADD_SCOPES)
    if code in ("expired_trigger_id", "trigger_expired"):
        return gettext(_FORM_TOO_LATE)
    if slack_web.is_rate_limit(failure):
        return gettext(_SLACK_LIMITS)
    if isinstance(failure, TimeoutError):
        return gettext(SLACK_TIMED_OUT)
    if slack_web.is_temporary(failure):
        return gettext(_SLACK_UNREACHABLE)
    return gettext(_SLACK_REFUSED, reason=code or "")
