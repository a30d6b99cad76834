"""Authenticates Slack users: a Slack user becomes a caller or is refused."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

from bot.base.language import gettext_noop
from bot.client import slack_web
from bot.interaction import errors
from bot.interaction.interaction import Interaction
from storage.base.values import SCOPES, Caller, Organisation, User
from storage.db.database import Transaction
from storage.people import people_rows
from storage.workspaces import join_policy, slack_workspaces
from storage.workspaces.join_policy import NotAMember
from storage.workspaces.slack_workspaces import WorkspaceUser

_SCOPES: Final = frozenset(SCOPES)
# The user is waiting for a form.
_LOOKUP_SECONDS: Final = 2.0

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
    person, locale = await interaction.database.read(
        _load_person, interaction.team_id, interaction.slack_user_id
    )
    # Before the workspace is checked, so that its error is in the person's language.
    interaction.set_locale(locale)
    _ = interaction.workspace
    if person is not None and person.user is not None and person.user.status == "active":
        interaction.by = as_caller(person.organisation, person.user)
        return interaction.by
    organisation = person.organisation if person is not None else await _organisation(interaction)
    interaction.by = as_caller(organisation, await _provision(interaction, organisation))
    return interaction.by


async def acknowledged(interaction: Interaction) -> Caller:
    """As ``caller``, for what is answered by separate calls: acknowledges first."""
    await interaction.ack()
    return await caller(interaction)


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
    _, locale = await interaction.database.read(
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
    return person, people_rows.locale_of(tx, person.organisation.id, person.user.id)


async def full_member(interaction: Interaction, slack_user_id: str) -> Mapping[str, object]:
    """Slack's user object of a full member.

    Raises NotAMember for others; also the errors in ``slack_web.FAILURES``.
    """
    user = await _look_up(interaction, slack_user_id)
    if not slack_web.is_full_member(user, interaction.team_id):
        raise NotAMember(_NO_FULL_MEMBER)
    return user


async def _provision(interaction: Interaction, organisation: Organisation) -> User:
    user = await full_member(interaction, interaction.slack_user_id)
    profile = slack_web.profile_of(user)
    interaction.set_locale(profile.locale)
    return await interaction.database.write(
        join_policy.join_from_slack, organisation.id, profile, now=interaction.now
    )


async def _look_up(interaction: Interaction, slack_user_id: str) -> Mapping[str, object]:
    try:
        async with asyncio.timeout(_LOOKUP_SECONDS):
            response = await interaction.client.users_info(user=slack_user_id, include_locale=True)
    except slack_web.FAILURES as failure:
        if slack_web.error_code(failure) in ("user_not_found", "user_not_visible"):
            raise NotAMember(_NO_FULL_MEMBER) from failure
        raise
    user: Mapping[str, object] = response["user"]
    return user


def as_caller(organisation: Organisation, user: User) -> Caller:
    return Caller(
        organisation_id=organisation.id,
        user_id=user.id,
        role=user.role,
        scopes=_SCOPES,
        source="slack",
    )
