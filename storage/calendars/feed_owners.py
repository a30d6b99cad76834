"""The owners of feed tokens, and the last fetch of each feed.

Tokens are looked up by their SHA-256.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final

import peewee
from peewee import JOIN, Select, Update

from storage.base.secrets import fingerprint
from storage.db import rows
from storage.db.compiled import Engine, Param, compiled, compiled_per_engine
from storage.db.database import Row, Transaction
from storage.db.tables import CalendarFeedRow, FeedSequenceRow, OrganisationRow, UserRow
from storage.outbox import audit, organisation_config
from storage.rules import employment_terms

# Calendar programs fetch every few minutes; the hour is precise enough for the feed's owner.
FETCH_INTERVAL: Final = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedOwner:
    """The owner of a feed, with the versions of everything that the feed may show.

    Equal values mean an equal feed on the same day: ``server``, ``reference_version`` and
    ``changes`` together change with everything that the organisation's feeds may show.
    ``timezone`` falls back to the organisation's, and so does each of ``holiday_countries``: whose
    public holidays the owner has, from which day on. ``sequence`` is added to every event's
    SEQUENCE and was last raised at ``sequence_at``. ``changed_at`` is the time of the last change
    of any kind in the organisation, ``last_fetched_at`` that of the last fetch that was recorded.
    """

    organisation_id: str
    user_id: str
    name: str
    timezone: str
    holiday_countries: tuple[tuple[date, str], ...]
    department_id: str | None
    feed_name: str | None
    organisation_name: str
    organisation_timezone: str
    server: str
    reference_version: int
    changes: int
    sequence: int
    sequence_at: datetime
    changed_at: datetime = field(compare=False)
    feed_id: str = field(compare=False)
    last_fetched_at: datetime | None = field(compare=False)

    def is_fetch_due(self, now: datetime) -> bool:
        """Whether to record a fetch now: at most one an hour is recorded."""
        return self.last_fetched_at is None or now - self.last_fetched_at >= FETCH_INTERVAL


def find_by_token(tx: Transaction, token: str) -> FeedOwner | None:
    """The owner of the feed that the token opens.

    None if the token is unknown, revoked or replaced, or if its owner is not active.
    """
    row = tx.first(_owner_of_token, token_sha256=fingerprint(token))
    return None if row is None else _owner(row)


def record_fetch(
    tx: Transaction, organisation_id: str, feed_id: str, program: str | None, *, now: datetime
) -> None:
    """Record a program's fetch of a feed, unless one was recorded within the last hour."""
    tx.change(
        _record_fetch,
        organisation_id=organisation_id,
        feed_id=feed_id,
        now=now,
        earlier=now - FETCH_INTERVAL,
        program=program,
    )


def _owner(row: Row) -> FeedOwner:
    sequence_at = row.sequence_at or 0
    return FeedOwner(
        organisation_id=row.organisation_id,
        user_id=row.user_id,
        name=f"{row.first_name} {row.last_name}".strip(),
        timezone=row.timezone or row.organisation_timezone,
        holiday_countries=_holiday_countries(row),
        department_id=row.department_id,
        feed_name=row.name,
        organisation_name=row.organisation_name,
        organisation_timezone=row.organisation_timezone,
        server=row.server,
        reference_version=row.reference_version,
        changes=int(row.changes or 0),
        sequence=int(row.sequence or 0),
        sequence_at=rows.instant(sequence_at),
        changed_at=rows.instant(max(row.changed_at, sequence_at)),
        feed_id=row.id,
        last_fetched_at=rows.instant_or_none(row.last_fetched_at),
    )


def _holiday_countries(row: Row) -> tuple[tuple[date, str], ...]:
    default = row.organisation_country_code
    employment = rows.employment_or_none(row.employment)
    if employment is None:
        return ((date.min, row.public_holiday_country_code or default),)
    in_force = (employment.valid_from or date.min, row.public_holiday_country_code or default)
    others = (
        (employment_terms.begin(record), record.public_holiday_country_code or default)
        for record in employment.others
    )
    return tuple(sorted((in_force, *others)))


def server(engine: Engine) -> peewee.Node:
    """A column that identifies the server and changes with a fail-over; empty on SQLite.

    A fail-over may lose the last commits. Counters then reach the same numbers again for other
    contents. Behind a connection pooler, the column's value may stay the same.
    """
    return peewee.SQL("''" if engine == "sqlite" else "pg_postmaster_start_time()::text")


@compiled_per_engine
def _owner_of_token(engine: Engine, token_sha256: Param[str]) -> Select:
    return (
        CalendarFeedRow.select(
            CalendarFeedRow.organisation_id,
            CalendarFeedRow.user_id,
            UserRow.first_name,
            UserRow.last_name,
            UserRow.timezone,
            UserRow.public_holiday_country_code,
            UserRow.employment,
            UserRow.department_id,
            CalendarFeedRow.name,
            OrganisationRow.name.alias("organisation_name"),
            OrganisationRow.timezone.alias("organisation_timezone"),
            OrganisationRow.country_code.alias("organisation_country_code"),
            server(engine).alias("server"),
            OrganisationRow.reference_version,
            organisation_config.feed_change_count(CalendarFeedRow.organisation_id).alias("changes"),
            FeedSequenceRow.sequence,
            FeedSequenceRow.changed_at.alias("sequence_at"),
            audit.last_change_at(CalendarFeedRow.organisation_id).alias("changed_at"),
            CalendarFeedRow.id,
            CalendarFeedRow.last_fetched_at,
        )
        .join(
            UserRow,
            on=(UserRow.organisation_id == CalendarFeedRow.organisation_id)
            & (UserRow.id == CalendarFeedRow.user_id),
        )
        .join(OrganisationRow, on=(OrganisationRow.id == CalendarFeedRow.organisation_id))
        .join(
            FeedSequenceRow,
            JOIN.LEFT_OUTER,
            on=(FeedSequenceRow.organisation_id == CalendarFeedRow.organisation_id),
        )
        .where(
            CalendarFeedRow.token_sha256 == token_sha256,
            CalendarFeedRow.revoked_at.is_null(),
            UserRow.status == "active",
        )
    )


@compiled
def _record_fetch(
    organisation_id: Param[str],
    feed_id: Param[str],
    now: Param[datetime],
    earlier: Param[datetime],
    program: Param[str | None],
) -> Update:
    fetched_at = CalendarFeedRow.last_fetched_at
    return CalendarFeedRow.update(last_fetched_at=now, last_fetched_by=program).where(
        CalendarFeedRow.organisation_id == organisation_id,
        CalendarFeedRow.id == feed_id,
        fetched_at.is_null() | (fetched_at <= earlier),
    )
