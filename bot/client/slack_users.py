"""Slack's user objects: whether they are full members, and their profile."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from storage.directory.slack_accounts import SlackProfile

# The year 2100; a later time is malformed.
_MAX_EXPIRY_SECONDS: Final = 4_102_444_800
# The lengths of the columns.
_MAX_LENGTHS: Final = {"id": 32, "locale": 35}


def is_full_member(user: Mapping[str, object], team_id: str) -> bool:
    """Whether Slack's user object is a full member of the workspace.

    Source: docs.slack.dev, "User object".
    """
    return user.get("team_id") == team_id and not any(
        user.get(flag)
        for flag in (
            "deleted",
            "is_bot",
            "is_restricted",
            "is_ultra_restricted",
            "is_stranger",
        )
    )


def is_own(user: Mapping[str, object], team_id: str) -> bool:
    """As ``is_full_member``, also for accounts that were deactivated."""
    return is_full_member({**user, "deleted": False}, team_id)


class MalformedProfile(Exception):
    """Slack's user object is not as documented; ``field`` is the member that is wrong."""

    def __init__(self, field: str) -> None:
        super().__init__(f"Slack's user object has a malformed {field!r}.")
        self.field = field


def profile_of(user: Mapping[str, object]) -> SlackProfile:
    """The profile in Slack's user object. Raises MalformedProfile.

    Source: docs.slack.dev, "User object".
    """
    profile = user.get("profile") or {}
    if not isinstance(profile, Mapping):
        raise MalformedProfile("profile")
    slack_user_id = _text(user, "id")
    if not slack_user_id:
        raise MalformedProfile("id")
    real_name = str(profile.get("real_name") or user.get("real_name") or user.get("name") or "")
    first_name, _, last_name = real_name.partition(" ")
    if profile.get("first_name"):
        first_name, last_name = str(profile["first_name"]), str(profile.get("last_name") or "")
    return SlackProfile(
        slack_user_id=slack_user_id,
        email=_text(profile, "email"),
        first_name=first_name,
        last_name=last_name,
        timezone=_text(user, "tz"),
        locale=_text(user, "locale"),
        avatar_url=_text(profile, "image_192"),
        is_deleted=bool(user.get("deleted")),
        is_email_confirmed=user.get("is_email_confirmed") is True,
        updated_at=_updated_at(user.get("updated")),
    )


def _text(fields: Mapping[str, object], name: str) -> str | None:
    """A text member, or None. The database stores neither NUL nor lone surrogates."""
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.isprintable():
        raise MalformedProfile(name)
    max_length = _MAX_LENGTHS.get(name)
    if max_length is not None and len(value) > max_length:
        raise MalformedProfile(name)
    return value


def _updated_at(seconds: object) -> datetime | None:
    if not isinstance(seconds, int) or not 0 < seconds < _MAX_EXPIRY_SECONDS:
        return None
    return datetime.fromtimestamp(seconds, UTC)
