"""Which person a Slack account belongs to, and the language in which they read Slack.

One rule for events, commands, installations, deliveries and the daily comparison: the account
that is linked already; else the person with the account's e-mail address, compared by its key,
if Slack says that the address is confirmed and the person has no other Slack account. Anyone can
type any address into a Slack profile; only a confirmed one proves who uses the account. A deleted
account is matched only if it is linked: its address says nothing about who uses Slack today.

Languages (``en-GB``) are stored with Slack's time of the last change of the profile that was
applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from storage.base import fields
from storage.base.values import User, as_dict
from storage.db import rows
from storage.db.database import Transaction
from storage.db.tables import SlackProfileRow
from storage.people import people_rows


@dataclass(frozen=True, kw_only=True, slots=True)
class SlackProfile:
    """A full member of a workspace as Slack describes them; names may be empty."""

    slack_user_id: str
    email: str | None
    first_name: str
    last_name: str
    timezone: str | None
    locale: str | None
    avatar_url: str | None
    is_deleted: bool = False
    is_email_confirmed: bool = False
    # Slack's own time of the last change, to the second; None where Slack told none.
    updated_at: datetime | None = None

    @property
    def confirmed_email(self) -> str | None:
        """The address, if Slack vouches for it."""
        email = (self.email or "").strip()
        return email if email and self.is_email_confirmed else None

    @property
    def known_timezone(self) -> str | None:
        """The time zone; None if it is missing or unknown here, which is no reason for an error."""
        return self.timezone if self.timezone and fields.is_timezone(self.timezone) else None


def person_of(tx: Transaction, organisation_id: str, profile: SlackProfile) -> User | None:
    """The account's person, in any status."""
    return choose(
        profile,
        lambda slack_id: people_rows.find_by_slack_id(tx, organisation_id, slack_id),
        lambda email: people_rows.find_by_email(tx, organisation_id, email),
    )


def choose(
    profile: SlackProfile,
    by_slack_id: Callable[[str], User | None],
    by_email: Callable[[str], User | None],
) -> User | None:
    """As ``find``, with the caller's look-ups, for many people who were read in one query."""
    linked = by_slack_id(profile.slack_user_id)
    if linked is not None and linked.status != "archived":
        return linked
    email = None if profile.is_deleted else profile.confirmed_email
    user = None if email is None else by_email(email)
    if user is None or user.status == "archived":
        return linked or user
    # An archived person may have come back as a new one.
    return user if user.slack_user_id is None else linked


_MAX_LOCALE_LENGTH: Final = 35


@dataclass(frozen=True, kw_only=True, slots=True)
class AppliedProfile:
    """``slack_updated_at`` is Slack's time; None where Slack gave none."""

    locale: str | None
    slack_updated_at: datetime | None


def save_locale(
    tx: Transaction,
    organisation_id: str,
    user_id: str,
    locale: str | None,
    *,
    now: datetime,
    slack_updated_at: datetime | None = None,
) -> None:
    """Save the language in which the person reads Slack; None keeps the stored one.

    ``slack_updated_at`` is when the applied profile was changed; an earlier time is not stored.
    """
    before = find_applied(tx, organisation_id, user_id)
    new_locale = locale if locale and len(locale) <= _MAX_LOCALE_LENGTH else before.locale
    times = [time for time in (before.slack_updated_at, slack_updated_at) if time is not None]
    after = AppliedProfile(locale=new_locale, slack_updated_at=max(times, default=None))
    if after != before:
        key = {"organisation_id": organisation_id, "user_id": user_id}
        tx.upsert(SlackProfileRow, key, **as_dict(after), updated_at=now)


def save_applied(
    tx: Transaction, organisation_id: str, user_id: str, profile: SlackProfile, *, now: datetime
) -> None:
    """As ``save_locale``, after a profile was applied."""
    updated_at = profile.updated_at
    save_locale(tx, organisation_id, user_id, profile.locale, now=now, slack_updated_at=updated_at)


def find_applied(tx: Transaction, organisation_id: str, user_id: str) -> AppliedProfile:
    """What was applied of the person's profile; both None where nothing was."""
    row = tx.find(SlackProfileRow, organisation_id=organisation_id, user_id=user_id)
    return (
        AppliedProfile(locale=None, slack_updated_at=None) if row is None else applied_profile(row)
    )


applied_profile: Final = rows.mapper(AppliedProfile)


def delete_applied(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Delete it, when the account is no longer the person's."""
    tx.delete(SlackProfileRow, organisation_id=organisation_id, user_id=user_id)


def locale_of(tx: Transaction, organisation_id: str, user_id: str) -> str | None:
    """The person's locale, None where it is not known."""
    return locales_of(tx, organisation_id, [user_id]).get(user_id)


def locales_of(tx: Transaction, organisation_id: str, user_ids: Iterable[str]) -> dict[str, str]:
    """The known locales, by the people's ids."""
    profiles = tx.select(SlackProfileRow, organisation_id=organisation_id, user_id=list(user_ids))
    return {row.user_id: row.locale for row in profiles if row.locale is not None}
