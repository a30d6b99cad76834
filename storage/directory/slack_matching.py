"""Which person of an organisation a Slack account belongs to.

One rule for events, commands, installations, deliveries and the daily comparison: the account
that is linked already; else the person with the account's e-mail address, compared by its key,
if Slack says that the address is confirmed and the person has no other Slack account. Anyone can
type any address into a Slack profile; only a confirmed one proves who uses the account. A deleted
account is matched only if it is linked: its address says nothing about who uses Slack today.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from storage.base import fields
from storage.base.values import User
from storage.db.database import Transaction
from storage.directory import people_rows


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


def find(tx: Transaction, organisation_id: str, profile: SlackProfile) -> User | None:
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
