"""What of people's days lapses, and the notices that told them of it: values and reads.

``expiring_days`` of the rules says which days lapse; ``notifications.expiry_notices`` tells people.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from peewee import Select
from pydantic import TypeAdapter

from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Row, Transaction
from storage.db.tables import ExpiryNoticeRow
from storage.leave import leave_balances
from storage.leave.bookings import NO_BOOKINGS, Bookings
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import employment_terms, expiring_days
from storage.rules.expiring_days import Lapse, NoticeKind, Pot


@dataclass(frozen=True, kw_only=True, slots=True)
class TellsOf:
    """What a notice says of one allowance; ``pot.lapses`` are the days that it names."""

    allowance_id: str
    pot: Pot


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpiryNotice:
    """``told_on`` is the day in the organisation. ``sent_at`` is None until Slack has it."""

    id: str
    user_id: str
    kind: NoticeKind
    told_on: date
    contents: tuple[TellsOf, ...]
    created_at: datetime
    sent_at: datetime | None = None
    seen_at: datetime | None = None

    @property
    def named(self) -> dict[tuple[str, date], Lapse]:
        """The days that it names, by allowance and last day."""
        return {
            (each.allowance_id, lapse.last_day): lapse
            for each in self.contents
            for lapse in each.pot.lapses
        }


_CONTENTS: Final = TypeAdapter(tuple[TellsOf, ...])


def notice(row: Row) -> ExpiryNotice:
    return ExpiryNotice(
        id=row.id,
        user_id=row.user_id,
        kind=row.kind,
        told_on=rows.day(row.told_on),
        contents=_CONTENTS.validate_json(row.contents),
        created_at=rows.instant(row.created_at),
        sent_at=None if row.sent_at is None else rows.instant(row.sent_at),
        seen_at=None if row.seen_at is None else rows.instant(row.seen_at),
    )


def of_people(
    tx: Transaction, organisation_id: str, user_ids: Collection[str], since: date
) -> dict[str, list[ExpiryNotice]]:
    """Each person's notices since a day, oldest first; people without one are absent."""
    found: dict[str, list[ExpiryNotice]] = {}
    for row in tx.all(
        _of_people,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        since=since.isoformat(),
    ):
        found.setdefault(row.user_id, []).append(notice(row))
    return found


@compiled
def _of_people(
    organisation_id: Param[str], user_ids: Param[list[str]], since: Param[str]
) -> Select:
    row = ExpiryNoticeRow
    return (
        row.select(
            row.id,
            row.user_id,
            row.kind,
            row.told_on,
            row.contents,
            row.created_at,
            row.sent_at,
            row.seen_at,
        )
        .where(
            row.organisation_id == organisation_id,
            any_of(row.user_id, user_ids),
            row.told_on >= since,
        )
        .order_by(row.user_id, row.told_on)
    )


def pots_of_people(
    tx: Transaction, config: OrganisationConfig, users: Sequence[User], today: date
) -> dict[str, dict[str, Pot]]:
    """What each person has today by allowance, the default one first, in one query.

    Only people who are employed today are in it, and no sick days.
    """
    employed = [
        user
        for user in users
        if employment_terms.includes(employment_terms.periods_of(user), today)
    ]
    booked = leave_balances.bookings_of(tx, config, employed, today)
    return {
        user.id: _pots(config, user, booked.get(user.id, NO_BOOKINGS), today) for user in employed
    }


def _pots(config: OrganisationConfig, user: User, booked: Bookings, today: date) -> dict[str, Pot]:
    leave = leave_balances.leave_by_allowance(config, booked)
    return {
        allowance_id: expiring_days.pot(
            leave_balances.account_of(config, user, booked, allowance_id),
            [leave_balances.deduction(each) for each in leave.get(allowance_id, [])],
            today,
        )
        for allowance_id in _told_allowances(config, today)
    }


def _told_allowances(config: OrganisationConfig, today: date) -> list[str]:
    """The allowances that people plan: not those of leave without approval alone, as sick days."""
    planned = {
        config.allowance_of(leave_type.id, today)
        for leave_type in config.leave_types.values()
        if leave_type.requires_approval and not leave_type.is_archived
    }
    return [
        each.id
        for each in config.allowances.values()
        if each.is_default or (each.id in planned and not each.is_archived)
    ]
