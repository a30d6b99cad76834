"""What only texts in Slack need to know of people: the language they read Slack in (``en-GB``).

Beside it stands Slack's own time of the last change of the profile that was applied.
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

_MAX_LOCALE_LENGTH: Final = 35


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """``slack_updated_at`` is Slack's time; None where Slack gave none."""

    locale: str | None
    slack_updated_at: datetime | None


def keep(
    tx: Transaction,
    organisation_id: str,
    user_id: str,
    locale: str | None,
    *,
    now: datetime,
    slack_updated_at: datetime | None = None,
) -> None:
    """Remember the language that the person reads Slack in; None leaves what is known.

    ``slack_updated_at``: when the profile that was applied was changed; an earlier one changes
    nothing.
    """
    before = find(tx, organisation_id, user_id)
    new_locale = locale if locale and len(locale) <= _MAX_LOCALE_LENGTH else before.locale
    times = [one for one in (before.slack_updated_at, slack_updated_at) if one is not None]
    after = Kept(locale=new_locale, slack_updated_at=max(times, default=None))
    if after != before:
        tx.change(
            _keep,
            organisation_id=organisation_id,
            user_id=user_id,
            locale=after.locale,
            slack_updated_at=after.slack_updated_at,
            now=now,
        )


def find(tx: Transaction, organisation_id: str, user_id: str) -> Kept:
    """What is kept of the person; both None where nothing is."""
    row = tx.first(_kept, organisation_id=organisation_id, user_id=user_id)
    return Kept(locale=None, slack_updated_at=None) if row is None else kept(row)


kept: Final = rows.mapper(Kept)


def forget(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Drop it: it is what Slack said of an account that is no longer the person's."""
    tx.change(_forget, organisation_id=organisation_id, user_id=user_id)


def of_person(tx: Transaction, organisation_id: str, user_id: str) -> str | None:
    """The person's locale, None where it is not known."""
    return of_people(tx, organisation_id, [user_id]).get(user_id)


def of_people(tx: Transaction, organisation_id: str, user_ids: Iterable[str]) -> dict[str, str]:
    """The locales of those of whom it is known, by id."""
    found = tx.all(_locales, organisation_id=organisation_id, user_ids=list(user_ids))
    return {user_id: locale for user_id, locale in found if locale is not None}


@compiled
def _keep(
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
def _kept(organisation_id: Param[str], user_id: Param[str]) -> Select:
    return SlackProfileRow.select(SlackProfileRow.locale, SlackProfileRow.slack_updated_at).where(
        SlackProfileRow.organisation_id == organisation_id, SlackProfileRow.user_id == user_id
    )


@compiled
def _forget(organisation_id: Param[str], user_id: Param[str]) -> Delete:
    return SlackProfileRow.delete().where(
        SlackProfileRow.organisation_id == organisation_id, SlackProfileRow.user_id == user_id
    )


@compiled
def _locales(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    return SlackProfileRow.select(SlackProfileRow.user_id, SlackProfileRow.locale).where(
        SlackProfileRow.organisation_id == organisation_id,
        any_of(SlackProfileRow.user_id, user_ids),
    )
