"""The languages in which people read Slack (``en-GB``), which only texts in Slack need.

Stored with Slack's time of the last change of the profile that was applied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from peewee import Delete, Insert, Select

from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import SlackProfileRow
from storage.directory.slack_matching import SlackProfile

_MAX_LOCALE_LENGTH: Final = 35


@dataclass(frozen=True, kw_only=True, slots=True)
class AppliedProfile:
    """``slack_updated_at`` is Slack's time; None where Slack gave none."""

    locale: str | None
    slack_updated_at: datetime | None


def save(
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
    before = find(tx, organisation_id, user_id)
    new_locale = locale if locale and len(locale) <= _MAX_LOCALE_LENGTH else before.locale
    times = [time for time in (before.slack_updated_at, slack_updated_at) if time is not None]
    after = AppliedProfile(locale=new_locale, slack_updated_at=max(times, default=None))
    if after != before:
        tx.change(
            _save,
            organisation_id=organisation_id,
            user_id=user_id,
            locale=after.locale,
            slack_updated_at=after.slack_updated_at,
            now=now,
        )


def save_profile(
    tx: Transaction, organisation_id: str, user_id: str, profile: SlackProfile, *, now: datetime
) -> None:
    """As ``save``, after a profile was applied."""
    updated_at = profile.updated_at
    save(tx, organisation_id, user_id, profile.locale, now=now, slack_updated_at=updated_at)


def find(tx: Transaction, organisation_id: str, user_id: str) -> AppliedProfile:
    """What was applied of the person's profile; both None where nothing was."""
    row = tx.first(_applied, organisation_id=organisation_id, user_id=user_id)
    return (
        AppliedProfile(locale=None, slack_updated_at=None) if row is None else applied_profile(row)
    )


applied_profile: Final = rows.mapper(AppliedProfile)


def delete(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Delete it, when the account is no longer the person's."""
    tx.change(_delete, organisation_id=organisation_id, user_id=user_id)


def of_person(tx: Transaction, organisation_id: str, user_id: str) -> str | None:
    """The person's locale, None where it is not known."""
    return of_people(tx, organisation_id, [user_id]).get(user_id)


def of_people(tx: Transaction, organisation_id: str, user_ids: Iterable[str]) -> dict[str, str]:
    """The known locales, by the people's ids."""
    locales = tx.all(_locales, organisation_id=organisation_id, user_ids=list(user_ids))
    return {user_id: locale for user_id, locale in locales if locale is not None}


@compiled
def _save(
    organisation_id: Param[str],
    user_id: Param[str],
    locale: Param[str | None],
    slack_updated_at: Param[datetime | None],
    now: Param[datetime],
) -> Insert:
    columns = {"locale": locale, "slack_updated_at": slack_updated_at, "updated_at": now}
    return SlackProfileRow.insert(
        organisation_id=organisation_id, user_id=user_id, **columns
    ).on_conflict(
        conflict_target=(SlackProfileRow.organisation_id, SlackProfileRow.user_id), update=columns
    )


@compiled
def _applied(organisation_id: Param[str], user_id: Param[str]) -> Select:
    return SlackProfileRow.select(SlackProfileRow.locale, SlackProfileRow.slack_updated_at).where(
        SlackProfileRow.organisation_id == organisation_id, SlackProfileRow.user_id == user_id
    )


@compiled
def _delete(organisation_id: Param[str], user_id: Param[str]) -> Delete:
    return SlackProfileRow.delete().where(
        SlackProfileRow.organisation_id == organisation_id, SlackProfileRow.user_id == user_id
    )


@compiled
def _locales(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    return SlackProfileRow.select(SlackProfileRow.user_id, SlackProfileRow.locale).where(
        SlackProfileRow.organisation_id == organisation_id,
        any_of(SlackProfileRow.user_id, user_ids),
    )
