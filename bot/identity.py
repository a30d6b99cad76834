"""Who is using Slack: a Slack user becomes a caller, or is refused in a sentence."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from bot import slack_web
from bot.listening import Visit
from storage import joining, slack_workspaces
from storage.joining import NotAMember
from storage.values import SCOPES, Caller, Organisation, User

_SCOPES: Final = frozenset(SCOPES)
# A form waits for its answer meanwhile.
_LOOKUP_SECONDS: Final = 2.0

_UNKNOWN_WORKSPACE: Final = (
    "This Slack workspace does not belong to an organisation in Hiatus. "
    "An administrator can link it with `hiatus slack link`."
)
_NO_FULL_MEMBER: Final = (
    "Hiatus is for full members of this workspace; guests, bots and people from other "
    "workspaces cannot use it."
)


async def caller(visit: Visit) -> Caller:
    """The active person behind a visit: one database hop for everybody who was here before.

    Raises NotAMember for guests, strangers, bots, people switched off, and workspaces that are
    nobody's; besides what ``slack_web.FAILURES`` names and DatabaseUnavailable.
    """
    edge = visit.edge
    if not visit.team_id or not visit.slack_user_id or edge.workspace.is_foreign(visit.team_id):
        raise NotAMember(_UNKNOWN_WORKSPACE)
    known = await edge.database.read(
        slack_workspaces.find_person, visit.team_id, visit.slack_user_id
    )
    if known is not None and known.user is not None and known.user.status == "active":
        return _as_caller(known.organisation, known.user)
    organisation = known.organisation if known is not None else await _organisation(visit)
    return _as_caller(organisation, await _joined(visit, organisation))


def is_full_member(user: dict[str, Any], team_id: str) -> bool:
    """Whether Slack's user object is somebody whom the workspace counts among its own.

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


async def _organisation(visit: Visit) -> Organisation:
    async with asyncio.timeout(_LOOKUP_SECONDS):
        organisation = await visit.edge.workspace.organisation_of(visit.team_id)
    if organisation is None:
        raise NotAMember(_UNKNOWN_WORKSPACE)
    return organisation


async def _joined(visit: Visit, organisation: Organisation) -> User:
    user = await _looked_up(visit)
    if not is_full_member(user, visit.team_id):
        raise NotAMember(_NO_FULL_MEMBER)
    profile = user.get("profile") or {}
    first_name, _, last_name = str(profile.get("real_name") or user.get("name") or "").partition(
        " "
    )
    return await visit.edge.database.write(
        joining.join_from_slack,
        organisation.id,
        slack_user_id=visit.slack_user_id,
        email=profile.get("email"),
        first_name=profile.get("first_name") or first_name,
        last_name=profile.get("last_name") or last_name,
        timezone=user.get("tz"),
        avatar_url=profile.get("image_192"),
        now=visit.now,
    )


async def _looked_up(visit: Visit) -> dict[str, Any]:
    try:
        async with asyncio.timeout(_LOOKUP_SECONDS):
            answer = await visit.edge.client.users_info(user=visit.slack_user_id)
    except slack_web.FAILURES as failure:
        if slack_web.error_code(failure) in ("user_not_found", "user_not_visible"):
            raise NotAMember(_NO_FULL_MEMBER) from failure
        raise
    user: dict[str, Any] = answer["user"]
    return user


def _as_caller(organisation: Organisation, user: User) -> Caller:
    return Caller(organisation.id, user.id, user.role, _SCOPES, "slack")
