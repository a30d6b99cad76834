"""The directory of the loopback Slack: workspaces, people and channels, as `users.*` shows them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypedDict
from zoneinfo import ZoneInfo

from playground.loopback.blocks import Payload

# The scopes of the manifest, and im:write for conversations.open.
DEFAULT_SCOPES = (
    "commands",
    "chat:write",
    "channels:read",
    "groups:read",
    "users:read",
    "users:read.email",
    "im:write",
)


@dataclass
class Team:
    """A workspace that has the app; `token` is its bot token, None before it is installed."""

    id: str
    name: str
    domain: str
    email_domain: str
    token: str | None
    bot_user_id: str
    bot_id: str
    scopes: set[str] = field(default_factory=lambda: set(DEFAULT_SCOPES))


@dataclass
class Channel:
    """A channel; the app can post where `is_member`."""

    id: str
    team_id: str
    name: str
    is_member: bool = True
    is_archived: bool = False
    is_private: bool = False
    is_ext_shared: bool = False


class PersonFields(TypedDict, total=False):
    """Fields of ``Person`` that a test may set."""

    display_name: str
    name: str
    tz: str
    locale: str
    deleted: bool
    is_restricted: bool
    is_ultra_restricted: bool
    is_bot: bool
    is_stranger: bool
    is_admin: bool
    is_owner: bool
    home_team_id: str | None
    is_email_confirmed: bool
    updated: int | None


@dataclass
class Person:
    """A person in a workspace's directory. `home_team_id` differs for a stranger."""

    id: str
    team_id: str
    email: str | None = None
    real_name: str = ""
    display_name: str = ""
    name: str = ""
    tz: str = "Europe/Berlin"
    locale: str = "en-GB"
    deleted: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_bot: bool = False
    is_stranger: bool = False
    is_admin: bool = False
    is_owner: bool = False
    home_team_id: str | None = None
    is_email_confirmed: bool = True
    # Seconds since 1970; None is now.
    updated: int | None = None

    def __post_init__(self) -> None:
        self.real_name = self.real_name or self.id
        self.name = self.name or self.real_name.split(" ")[0].lower()
        if self.is_stranger and self.home_team_id is None:
            self.home_team_id = "T0STRANGERS"

    @property
    def tz_offset(self) -> int:
        """Seconds east of Greenwich, now."""
        offset = datetime.fromtimestamp(time.time(), ZoneInfo(self.tz)).utcoffset()
        return int(offset.total_seconds()) if offset is not None else 0

    def to_slack(self, *, with_email: bool, with_locale: bool) -> Payload:
        """The `user` object. Deactivated people lack time zone and roles, strangers the e-mail."""
        profile: Payload = {
            "real_name": self.real_name,
            "display_name": self.display_name,
            "real_name_normalized": self.real_name,
            "display_name_normalized": self.display_name,
            "team": self.home_team_id or self.team_id,
        }
        if with_email and self.email is not None and not (self.is_bot or self.is_stranger):
            profile["email"] = self.email
        user: Payload = {
            "id": self.id,
            "team_id": self.home_team_id or self.team_id,
            "name": self.name,
            "deleted": self.deleted,
            "profile": profile,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "updated": int(time.time()) if self.updated is None else self.updated,
        }
        if not self.deleted:
            user |= self._alive_fields()
        if self.is_stranger:
            user["is_stranger"] = True
        if with_locale:
            user["locale"] = self.locale
        return user

    def _alive_fields(self) -> Payload:
        return {
            "color": "9f69e7",
            "real_name": self.real_name,
            "tz": self.tz,
            "tz_label": self.tz,
            "tz_offset": self.tz_offset,
            "is_admin": self.is_admin or self.is_owner,
            "is_owner": self.is_owner,
            "is_primary_owner": False,
            "is_restricted": self.is_restricted or self.is_ultra_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            "is_email_confirmed": self.is_email_confirmed,
        }
