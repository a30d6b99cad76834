"""Records that begin and employments that end: what takes effect on a day, in a periodic job.

Leave and balances count by date and need no job. It brings a person's own fields in step, which
approvals and lists use, and archives people on the day after their last.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from peewee import Select

from storage.admin import people_status, person_changes
from storage.base.clock import local_day
from storage.base.errors import DatabaseUnavailable, DomainError
from storage.base.values import Caller
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.tables import OrganisationRow, UserRow
from storage.directory import people_rows
from storage.events import organisation_config
from storage.rules import employment_terms

# People that one run looks at; the next follows within a minute.
MAX_PEOPLE: Final = 1_000

_log = structlog.stdlib.get_logger("hiatus.employment")


@dataclass(frozen=True, kw_only=True, slots=True)
class DuePerson:
    organisation_id: str
    user_id: str


async def run(database: Database, *, now: datetime) -> None:
    """Let everything take effect that is due, each person in a transaction of their own."""
    for person in await database.read(due_people, now=now):
        try:
            await database.write(take_effect, person, now=now)
        except DatabaseUnavailable:
            raise
        except DomainError as refusal:
            _log.warning(
                "employment.refused",
                organisation_id=person.organisation_id,
                user_id=person.user_id,
                reason=refusal.code,
            )
        except Exception:  # noqa: BLE001  # one person's data must not stop the others
            _log.exception("employment.failed", user_id=person.user_id)


def due_people(tx: Transaction, *, now: datetime) -> list[DuePerson]:
    """The people for whom something is due today in their organisation, due longest first."""
    # No time zone is more than a day ahead of UTC.
    tomorrow = (now + timedelta(days=1)).date()
    return [
        DuePerson(organisation_id=row.organisation_id, user_id=row.id)
        for row in tx.all(_due, day=tomorrow.isoformat(), limit=MAX_PEOPLE)
        if rows.day(row.employment_due_on) <= local_day(now, row.timezone)
    ]


def take_effect(tx: Transaction, person: DuePerson, *, now: datetime) -> None:
    """Bring the person in step with today's record, or archive them after their last day.

    Does nothing if another process has done it. Raises LastOwner.
    """
    by = Caller.system(person.organisation_id, "scheduler")
    locks.organisation(tx, person.organisation_id)
    user = people_rows.get(tx, person.user_id, by=by, for_update=True)
    if user.status == "archived":
        return
    config = organisation_config.of_organisation(tx, person.organisation_id)
    today = local_day(now, config.organisation.timezone)
    if user.end_date is not None and user.end_date < today:
        people_status.archive(tx, user.id, by=by, now=now)
        return
    after = employment_terms.with_records(user, employment_terms.records_of(user), today)
    if after != user:
        person_changes.write(tx, config, user, after, "user.updated", by=by, now=now)


@compiled
def _due(day: Param[str], limit: Param[int]) -> Select:
    return (
        UserRow.select(
            UserRow.organisation_id,
            UserRow.id,
            UserRow.employment_due_on,
            OrganisationRow.timezone,
        )
        .join(OrganisationRow, on=(OrganisationRow.id == UserRow.organisation_id))
        .where(UserRow.employment_due_on <= day, UserRow.status != "archived")
        .order_by(UserRow.employment_due_on)
        .limit(limit)
    )
