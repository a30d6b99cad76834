"""Differences between a Slack profile and its person: names, time zone, picture, locale, status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from peewee import JOIN, OP, Expression, Select

from storage.base import texts
from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import SlackProfileRow, UserRow
from storage.directory import slack_locales, slack_matching
from storage.directory.slack_locales import AppliedProfile
from storage.directory.slack_matching import SlackProfile


def changed(
    tx: Transaction, organisation_id: str, profiles: Sequence[SlackProfile]
) -> list[SlackProfile]:
    """The profiles that would change their person in ``profile_sync``."""
    people = people_of(tx, organisation_id, profiles)
    applied = {}
    by_slack_id, by_email = {}, {}
    # Archived people first: later ones with the same address or account replace them.
    for row in sorted(people, key=lambda row: row.status != "archived"):
        person = rows.user(row)
        applied[person.id] = slack_locales.applied_profile(row)
        by_email[texts.email_key(person.email)] = person
        if person.slack_user_id is not None:
            by_slack_id[person.slack_user_id] = person
    changed_profiles = []
    for profile in profiles:
        user = slack_matching.choose(
            profile, by_slack_id.get, lambda email: by_email.get(texts.email_key(email))
        )
        if user is not None and _differs(user, applied[user.id], profile):
            changed_profiles.append(profile)
    return changed_profiles


def people_of(tx: Transaction, organisation_id: str, profiles: Sequence[SlackProfile]) -> list[Row]:
    emails = {profile.confirmed_email for profile in profiles} - {None}
    return tx.all(
        _people,
        organisation_id=organisation_id,
        slack_user_ids=[profile.slack_user_id for profile in profiles],
        email_keys=sorted(texts.email_key(email) for email in emails if email is not None),
    )


def _differs(user: User, applied: AppliedProfile, profile: SlackProfile) -> bool:
    if user.status == "archived" or is_outdated(profile, applied.slack_updated_at):
        return False
    if profile.is_deleted and user.status in ("pending", "active"):
        return True
    is_newer = profile.updated_at is not None and profile.updated_at != applied.slack_updated_at
    is_other_locale = profile.locale is not None and profile.locale != applied.locale
    return is_newer or is_other_locale or with_profile(user, profile) != user


def is_outdated(profile: SlackProfile, applied_at: datetime | None) -> bool:
    """Whether a later change was applied already: Slack repeats events after minutes or hours."""
    return (
        applied_at is not None
        and profile.updated_at is not None
        and profile.updated_at < applied_at
    )


def with_profile(user: User, profile: SlackProfile) -> User:
    """The person with the fields of their Slack profile."""
    first_name = texts.plain_name(profile.first_name)
    return replace(
        user,
        slack_user_id=profile.slack_user_id,
        # Slack requires one name only; without a first name, both are unknown.
        first_name=first_name or user.first_name,
        last_name=texts.plain_name(profile.last_name) if first_name else user.last_name,
        timezone=profile.known_timezone or user.timezone,
        avatar_url=profile.avatar_url or user.avatar_url,
    )


@compiled
def _people(
    organisation_id: Param[str], slack_user_ids: Param[list[str]], email_keys: Param[list[str]]
) -> Select:
    """The people with one of the accounts or addresses, and what was applied of their profiles."""
    profile = SlackProfileRow
    return (
        UserRow.select(profile.locale, profile.slack_updated_at, *rows.USER)
        .join(
            profile,
            JOIN.LEFT_OUTER,
            on=(profile.organisation_id == UserRow.organisation_id)
            & (profile.user_id == UserRow.id),
        )
        .where(
            UserRow.organisation_id == organisation_id,
            Expression(
                any_of(UserRow.slack_user_id, slack_user_ids),
                OP.OR,
                any_of(UserRow.email_key, email_keys),
            ),
        )
    )
