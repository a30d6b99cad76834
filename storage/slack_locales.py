"""The languages that people read Slack in, as Slack names them (``en-GB``)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from peewee import Insert, Select

from storage.compiled import Place, among, compiled
from storage.database import Transaction
from storage.tables import SlackProfileRow

_LONGEST_LOCALE: Final = 35


def keep(
    tx: Transaction, organisation_id: str, user_id: str, locale: str | None, *, now: datetime
) -> None:
    """Remember the language that the person reads Slack in; None leaves what is known."""
    if not locale or len(locale) > _LONGEST_LOCALE:
        return
    if of_person(tx, organisation_id, user_id) != locale:
        tx.change(_keep, organisation_id=organisation_id, user_id=user_id, locale=locale, now=now)


def of_person(tx: Transaction, organisation_id: str, user_id: str) -> str | None:
    """The person's locale, None where it is not known."""
    return of_people(tx, organisation_id, [user_id]).get(user_id)


def of_people(tx: Transaction, organisation_id: str, user_ids: Iterable[str]) -> dict[str, str]:
    """The locales of those of whom it is known, by id."""
    found = tx.all(_locales, organisation_id=organisation_id, user_ids=list(user_ids))
    return {user_id: locale for user_id, locale in found if locale is not None}


@compiled
def _keep(organisation_id: Place, user_id: Place, locale: Place, now: Place) -> Insert:
    told = {"locale": locale, "updated_at": now}
    return SlackProfileRow.insert(
        organisation_id=organisation_id, user_id=user_id, **told
    ).on_conflict(
        conflict_target=(SlackProfileRow.organisation_id, SlackProfileRow.user_id), update=told
    )


@compiled
def _locales(organisation_id: Place, user_ids: Place) -> Select:
    return SlackProfileRow.select(SlackProfileRow.user_id, SlackProfileRow.locale).where(
        SlackProfileRow.organisation_id == organisation_id,
        among(SlackProfileRow.user_id, user_ids),
    )
