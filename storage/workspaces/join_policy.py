"""Who joins from Slack, and the settings of an organisation that a workspace makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from importlib import resources
from typing import Final

from storage.base import texts
from storage.base.errors import Conflict, EmailTaken, Forbidden, InvalidInput
from storage.base.event_values import AuditAction
from storage.base.values import Caller, User
from storage.db import locks
from storage.db.database import Transaction
from storage.leave import closure_leave
from storage.outbox import notification_outbox, organisation_config
from storage.people import people_changes, people_rows
from storage.people.people_rows import SlackProfile
from storage.rules import holiday_calendar
from storage.workspaces import slack_profiles

_PUBLIC_PROVIDERS: Final = frozenset(
    {
        "163.com",
        "aol.com",
        "fastmail.com",
        "gmail.com",
        "gmx.at",
        "gmx.com",
        "gmx.de",
        "gmx.net",
        "googlemail.com",
        "hey.com",
        "hotmail.co.uk",
        "hotmail.com",
        "icloud.com",
        "live.com",
        "mac.com",
        "mail.com",
        "mail.ru",
        "me.com",
        "msn.com",
        "orange.fr",
        "outlook.com",
        "pm.me",
        "proton.me",
        "protonmail.com",
        "qq.com",
        "t-online.de",
        "web.de",
        "yahoo.co.uk",
        "yahoo.com",
        "yandex.ru",
        "ymail.com",
        "zoho.com",
    }
)


def employer_domain(email: str) -> str | None:
    """``example.com`` for ``Ada@Example.com``; None for an address of a public provider."""
    domain = email.rpartition("@")[2].strip().lower()
    return domain if domain and domain not in _PUBLIC_PROVIDERS else None


def country_of_timezone(timezone: str) -> str | None:
    """``GB`` for ``Europe/London``; None if no country with known holidays uses it."""
    code = _countries_by_timezone().get(timezone)
    if code is None:
        return None
    try:
        return holiday_calendar.check_country(code)
    except InvalidInput:
        return None


@lru_cache(maxsize=1)
def _countries_by_timezone() -> Mapping[str, str]:
    """ISO 3166 codes by time zone. Source: ``zone.tab`` of the time zone database."""
    table = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in table.splitlines() if line and line[0] != "#")
    return {zone: country for country, _, zone, *_ in lines}


class NotAMember(Forbidden):
    """In Slack: the person is a guest, a bot or a member of another workspace, is no longer active
    here, or has an e-mail address that Slack has not confirmed or that belongs to a person with
    another Slack account.
    """

    code = "not_a_member"
    title = "You are not a member of this organisation."
    cure = "Confirm the address in Slack, or ask an admin to add, reactivate or unlink the person."
    example = ("You are not a member of this organisation.",)


class CannotReachInSlack(Conflict):
    """Hiatus cannot write to this person in Slack: there is no workspace, they have no account in
    it, or Slack does not answer.
    """

    code = "cannot_reach_in_slack"
    title = "Hiatus cannot write to this person in Slack."
    cure = "The person opens Hiatus in Slack once. If there is no Slack, use the API instead."
    example = ("The organisation has no Slack workspace.",)


def join_from_slack(
    tx: Transaction,
    organisation_id: str,
    profile: SlackProfile,
    *,
    is_installer: bool = False,
    now: datetime,
) -> User:
    """The active person of a full member of the workspace, created where there is none.

    ``slack_matching`` finds the person, who is linked to the account and activated if pending.
    People who join now, and installers, are sent a welcome. The caller refuses guests, bots and
    members of other workspaces. Raises NotAMember when the person
    is archived or deactivated, and for an unknown account when members may not join, when Slack has
    not confirmed its address, or when the address belongs to another account.
    """
    user, has_joined = _find_or_add(tx, organisation_id, profile, now=now)
    people_rows.save_applied_profile(tx, organisation_id, user.id, profile, now=now)
    if has_joined or is_installer:
        notification_outbox.welcome(tx, user.id, organisation_id=organisation_id, now=now)
    return user


def _find_or_add(
    tx: Transaction, organisation_id: str, profile: SlackProfile, *, now: datetime
) -> tuple[User, bool]:
    """The person, and whether they join now."""
    user = people_rows.find_by_slack_id(tx, organisation_id, profile.slack_user_id)
    if user is not None and user.status == "active":
        return user, False
    # Slack sends a first message several times at once; only one may create the person.
    locks.organisation(tx, organisation_id)
    by = Caller.system(organisation_id, "slack")
    user = people_rows.find_by_profile(tx, organisation_id, profile)
    user = user and people_rows.find(tx, organisation_id, user.id, for_update=True)
    if user is not None:
        return _activate(tx, user, profile, by=by, now=now), user.status == "pending"
    if not profile.email:
        raise NotAMember(
            "Slack doesn't show your e-mail address. Ask an admin of your organisation."
        )
    if profile.confirmed_email is None:
        raise NotAMember(
            "Slack hasn't confirmed your e-mail address yet. Confirm it in your Slack account "
            "settings, then try again."
        )
    if not organisation_config.of_organisation(tx, organisation_id).organisation.slack_members_join:
        raise NotAMember("Ask an admin of your organisation to add you.")
    return _add(tx, profile, by=by, now=now), True


def _activate(
    tx: Transaction, user: User, profile: SlackProfile, *, by: Caller, now: datetime
) -> User:
    if user.status in ("archived", "deactivated"):
        raise NotAMember("Your account is deactivated. Ask an admin of your organisation.")
    after = replace(
        user,
        slack_user_id=profile.slack_user_id,
        status="active",
        timezone=user.timezone or profile.known_timezone,
        avatar_url=profile.avatar_url or user.avatar_url,
    )
    if after == user:
        return user
    action: AuditAction = "user.activated" if user.status == "pending" else "user.linked_to_slack"
    after = people_changes.save(tx, user, after, action, by=by, now=now)
    if user.slack_user_id is None:
        slack_profiles.send_pending_cards(tx, user, after, by=by, now=now)
    return after


def _add(tx: Transaction, profile: SlackProfile, *, by: Caller, now: datetime) -> User:
    try:
        address = texts.new_email(profile.email, "email")
    except InvalidInput as error:
        raise NotAMember(
            "I can't use the e-mail address of your Slack account. Ask an admin of your "
            "organisation."
        ) from error
    values = {
        "email": address,
        # Slack requires one name only: the last name may be empty, the first never is.
        "first_name": texts.plain_name(profile.first_name) or address.partition("@")[0],
        "last_name": texts.plain_name(profile.last_name),
        "timezone": profile.known_timezone,
        "avatar_url": profile.avatar_url,
        "slack_user_id": profile.slack_user_id,
    }
    try:
        user = people_changes.add(tx, values, "active", by=by, now=now)
    except EmailTaken as error:
        raise NotAMember(
            "Another Slack account is linked to the person with your e-mail address. Ask an admin "
            "of your organisation to unlink it."
        ) from error
    config = organisation_config.of_organisation(tx, by.organisation_id)
    closure_leave.fill(tx, config, [user], by=by, now=now)
    return user
