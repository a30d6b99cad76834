"""The people who view the App Home, and the pages of its lists that they see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from peewee import Insert, Select

from storage.base.calendar_values import FeedScope
from storage.base.values import Caller
from storage.db.compiled import Param, any_of_keys, compiled, json_of_keys
from storage.db.database import Transaction
from storage.db.tables import SlackHomeRow

# Slack reports every time the tab is opened. A person who opened it earlier is not viewing it.
VIEWED_FOR: Final = timedelta(days=7)
_NOTHING: Final = "-"
_PART_COUNT: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class PageCursors:
    """The page of each list that the viewer sees, and whose absences are shown.

    ``scope`` None is the viewer's team, or everyone for a viewer without a department.
    """

    own: str | None = None
    waiting: str | None = None
    away: str | None = None
    scope: FeedScope | None = None

    def packed(self) -> str:
        """As the value of a button: three cursors and the scope."""
        return " ".join(
            part or _NOTHING for part in (self.own, self.waiting, self.away, self.scope)
        )

    @classmethod
    def unpacked(cls, packed: str) -> PageCursors:
        """The inverse of ``packed``; the first pages for any other value."""
        parts = [None if part == _NOTHING else part for part in packed.split(" ")]
        if len(parts) != _PART_COUNT:
            return cls()
        own, waiting, away, scope = parts
        return cls(
            own=own,
            waiting=waiting,
            away=away,
            scope="team" if scope == "team" else "org" if scope else None,
        )


def save(tx: Transaction, cursors: PageCursors, *, by: Caller, now: datetime) -> None:
    """Save that the caller views Home, and the pages of its lists; ``home.load`` shows them."""
    tx.change(
        _save,
        organisation_id=by.organisation_id,
        user_id=str(by.user_id),
        cursors=cursors.packed(),
        now=now,
    )


def viewers(
    tx: Transaction, people: Iterable[tuple[str, str]], *, now: datetime
) -> set[tuple[str, str]]:
    """Those who opened Home recently, so that it has to be kept up to date.

    ``people`` are the ids of their organisation and their own.
    """
    since = now - VIEWED_FOR
    return {*tx.all(_viewers, people=json_of_keys(people), since=since)}


def find(tx: Transaction, *, by: Caller, now: datetime) -> PageCursors | None:
    """The pages of ``save`` in the last seven days; None for a caller who is not viewing Home."""
    row = tx.first(
        _opened_since,
        organisation_id=by.organisation_id,
        user_id=str(by.user_id),
        since=now - VIEWED_FOR,
    )
    return None if row is None else PageCursors.unpacked(row.cursors)


@compiled
def _save(
    organisation_id: Param[str], user_id: Param[str], cursors: Param[str], now: Param[datetime]
) -> Insert:
    columns = {SlackHomeRow.opened_at: now, SlackHomeRow.cursors: cursors}
    return SlackHomeRow.insert(
        {SlackHomeRow.organisation_id: organisation_id, SlackHomeRow.user_id: user_id, **columns}
    ).on_conflict(
        conflict_target=(SlackHomeRow.organisation_id, SlackHomeRow.user_id), update=columns
    )


@compiled
def _opened_since(
    organisation_id: Param[str], user_id: Param[str], since: Param[datetime]
) -> Select:
    return SlackHomeRow.select(SlackHomeRow.cursors.alias("cursors")).where(
        SlackHomeRow.organisation_id == organisation_id,
        SlackHomeRow.user_id == user_id,
        SlackHomeRow.opened_at > since,
    )


@compiled
def _viewers(people: Param[str], since: Param[datetime]) -> Select:
    return SlackHomeRow.select(SlackHomeRow.organisation_id, SlackHomeRow.user_id).where(
        any_of_keys(SlackHomeRow, people, "user_id"), SlackHomeRow.opened_at > since
    )
