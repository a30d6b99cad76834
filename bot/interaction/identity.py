"""Authenticates Slack users: a Slack user becomes a caller or is refused."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from bot.base.language import gettext_noop
from bot.client import slack_web
from bot.interaction import errors
from bot.interaction.interaction import Interaction
from storage.base.values import SCOPES, Caller, Organisation, User
from storage.db.database import Transaction
from storage.directory import slack_locales
from storage.directory.slack_matching import SlackProfile
from storage.slack import join_policy, slack_workspaces
from storage.slack.join_policy import NotAMember
from storage.slack.slack_workspaces import WorkspaceUser

_SCOPES: Final = frozenset(SCOPES)
# The user is waiting for a form.
_LOOKUP_SECONDS: Final = 2.0
# The year 2100; a later time is malformed.
_MAX_EXPIRY_SECONDS: Final = 4_102_444_800
# The lengths of the columns.
_MAX_LENGTHS: Final = {"id": 32, "locale": 35}

_NO_FULL_MEMBER: Final = gettext_noop(
    "Hiatus is for full members of this workspace. Guests, bots and people from other "
    "workspaces can't use it."
)


async def caller(interaction: Interaction) -> Caller:
    """The active person behind an interaction: one database read for known people.

    Raises NotAMember for guests, strangers, bots, deactivated people and unknown workspaces; also
    DatabaseUnavailable and the errors in ``slack_web.FAILURES``.
    """
    if not interaction.slack_user_id:
        raise NotAMember(errors.UNKNOWN_WORKSPACE)
    person, locale = await interaction.services.database.read(
        _load_person, interaction.team_id, interaction.slack_user_id
    )
    # Before the workspace is checked, so that its error is in the person's language.
    interaction.set_locale(locale)
    _ = interaction.workspace
    if person is not None and person.user is not None and person.user.status == "active":
        return as_caller(person.organisation, person.user)
    organisation = person.organisation if person is not None else await _organisation(interaction)
    return as_caller(organisation, await _provision(interaction, organisation))


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


async def _organisation(interaction: Interaction) -> Organisation:
    async with asyncio.timeout(_LOOKUP_SECONDS):
        organisation = await interaction.services.workspaces.organisation_of(interaction.team_id)
    if organisation is None:
        raise NotAMember(errors.UNKNOWN_WORKSPACE)
    return organisation


async def greet(interaction: Interaction) -> None:
    """Set the person's language when nothing else about them is needed.

    Calls Slack for people who are new here.
    """
    if not interaction.team_id or not interaction.slack_user_id:
        return
    _, locale = await interaction.services.database.read(
        _load_person, interaction.team_id, interaction.slack_user_id
    )
    if locale is None:
        # The message matters more than its language.
        with contextlib.suppress(NotAMember, *slack_web.FAILURES):
            name = (await _look_up(interaction, interaction.slack_user_id)).get("locale")
            locale = name if isinstance(name, str) else None
    interaction.set_locale(locale)


def _load_person(
    tx: Transaction, team_id: str, slack_user_id: str
) -> tuple[WorkspaceUser | None, str | None]:
    person = slack_workspaces.find_person(tx, team_id, slack_user_id)
    if person is None or person.user is None:
        return person, None
    return person, slack_locales.of_person(tx, person.organisation.id, person.user.id)


async def full_member(interaction: Interaction, slack_user_id: str) -> Mapping[str, object]:
    """Slack's user object of a full member.

    Raises NotAMember for others; also the errors in ``slack_web.FAILURES``.
    """
    user = await _look_up(interaction, slack_user_id)
    if not is_full_member(user, interaction.team_id):
        raise NotAMember(_NO_FULL_MEMBER)
    return user


async def _provision(interaction: Interaction, organisation: Organisation) -> User:
    user = await full_member(interaction, interaction.slack_user_id)
    profile = profile_of(user)
    interaction.set_locale(profile.locale)
    return await interaction.services.database.write_long(
        join_policy.join_from_slack, organisation.id, profile, now=interaction.now
    )


async def _look_up(interaction: Interaction, slack_user_id: str) -> Mapping[str, object]:
    try:
        async with asyncio.timeout(_LOOKUP_SECONDS):
            answer = await interaction.client.users_info(user=slack_user_id, include_locale=True)
    except slack_web.FAILURES as failure:
        if slack_web.error_code(failure) in ("user_not_found", "user_not_visible"):
            raise NotAMember(_NO_FULL_MEMBER) from failure
        raise
    user: Mapping[str, object] = answer["user"]
    return user


def as_caller(organisation: Organisation, user: User) -> Caller:
    return Caller(
        organisation_id=organisation.id,
        user_id=user.id,
        role=user.role,
        scopes=_SCOPES,
        source="slack",
    )
