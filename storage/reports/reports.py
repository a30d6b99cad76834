"""What all reports share: whose rows a caller reads, and batches of people instead of a long list.

A batch is one transaction with a fixed number of queries, so memory and locks stay bounded however
many people there are. Later batches see what has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, Generic, TypeVar

from storage.base.errors import InsufficientRole, InvalidInput
from storage.base.values import Caller, User, month_end
from storage.db import rows
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approvers, employment_by_date, people_rows

R = TypeVar("R")
RowsOf = Callable[[Transaction, OrganisationConfig, Sequence[User]], list[R]]

BATCH_SIZE: Final = 200
MAX_DAYS: Final = 366


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """Both days included."""

    first_day: date
    last_day: date


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch(Generic[R]):
    """Some rows, and the run that reads those after them; None after the last."""

    rows: list[R]
    next: Run[R] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Run(Generic[R]):
    """A report from the people after ``after_id`` on, by id: in the order in which they were added.

    ``about`` is what it is about, by the names of the parameters. ``user_ids`` are the people whose
    rows the caller reads, by id; None for everyone. ``is_begun``: there were rows before these.
    """

    name: str
    row: type[R]
    about: Mapping[str, date]
    rows_of: RowsOf[R]
    organisation_id: str
    user_ids: tuple[str, ...] | None
    after_id: str | None = None
    is_begun: bool = False

    @property
    def file_name(self) -> str:
        """Without ending: ``leave-2027-05-01-2027-05-31``."""
        return "-".join((self.name, *(day.isoformat() for day in self.about.values())))

    def read(self, tx: Transaction) -> Batch[R]:
        users = self._users(tx)
        config = organisation_config.of_organisation(tx, self.organisation_id)
        found = self.rows_of(tx, config, users) if users else []
        if len(users) < BATCH_SIZE:
            return Batch(rows=found, next=None)
        is_begun = self.is_begun or bool(found)
        return Batch(rows=found, next=replace(self, after_id=users[-1].id, is_begun=is_begun))

    def _users(self, tx: Transaction) -> list[User]:
        if self.user_ids is None:
            page = tx.select_page(
                UserRow,
                after_id=self.after_id,
                limit=BATCH_SIZE,
                organisation_id=self.organisation_id,
            )
            return [rows.user(row) for row in page]
        after = self.after_id
        ids = [each for each in self.user_ids if after is None or each > after][:BATCH_SIZE]
        found = people_rows.of_ids(tx, self.organisation_id, ids)
        return [found[each] for each in ids]


def start(
    tx: Transaction,
    name: str,
    row: type[R],
    rows_of: RowsOf[R],
    about: Mapping[str, date],
    *,
    by: Caller,
    now: datetime,
) -> Run[R]:
    """The report for everyone, or for the people whose leave is assigned to the caller.

    Raises InsufficientRole for callers who are no approver.
    """
    user_ids: tuple[str, ...] | None = None
    if not by.is_admin and by.user_id is not None:
        today = organisation_config.today(tx, by.organisation_id, now)
        of_caller = approvers.people_of(tx, by.organisation_id, by.user_id, today=today)
        if not of_caller and by.role == "member":
            raise InsufficientRole("approver")
        user_ids = tuple(sorted(of_caller))
    return Run(
        name=name,
        row=row,
        about=about,
        rows_of=rows_of,
        organisation_id=by.organisation_id,
        user_ids=user_ids,
    )


def period(
    tx: Transaction,
    first_day: date | None,
    last_day: date | None,
    *,
    by: Caller,
    now: datetime,
) -> Period:
    """The period of two days; without both, last month; without one, the other's month.

    Raises InvalidInput ``to_before_from`` or ``too_long``.
    """
    if first_day is None and last_day is None:
        today = organisation_config.today(tx, by.organisation_id, now)
        last_day = today.replace(day=1) - timedelta(days=1)
    first_day = first_day or (last_day or date.max).replace(day=1)
    last_day = last_day or month_end(first_day)
    if last_day < first_day:
        raise InvalidInput.at("?to", "to_before_from", "The last day is before the first day.")
    if (last_day - first_day).days >= MAX_DAYS:
        raise InvalidInput.at("?to", "too_long", f"A report covers at most {MAX_DAYS} days.")
    return Period(first_day=first_day, last_day=last_day)


def department_name(config: OrganisationConfig, user: User, day: date) -> str | None:
    """The name of the person's department on that day."""
    department_id = employment_by_date.of_day(user, day).department_id
    department = config.departments.get(department_id or "")
    return None if department is None else department.name
