"""Whether a person is at work on a day, and when they are back, as a viewer may know it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from storage.base.values import User
from storage.calendars import absences
from storage.calendars.absences import CountedLeave
from storage.db.database import Transaction
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules.counted_days import MORNING, NOTHING, Span

# Leave has at most 366 days, and more may follow it.
MAX_DAYS_AHEAD: Final = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonDay:
    """A day of a person, in masks of halves (``storage/rules/counted_days.py``).

    ``worked`` is their working time less public holidays. ``away`` and ``elsewhere`` are parts of
    it with leave, which is approved unless it is the viewer's own. ``leave_type_id`` is None where
    the viewer may not know it, and without leave.
    """

    date: date
    worked: int
    away: int
    elsewhere: int
    leave_type_id: str | None
    is_pending: bool
    holiday_name: str | None
    holiday_country: str | None

    @property
    def at_work(self) -> int:
        return self.worked & ~self.away


@dataclass(frozen=True, kw_only=True, slots=True)
class Away:
    """Days off in a row, weekends and holidays between them included; both ends are days off.

    ``back`` is the first day with working time after it, None if it is too far ahead.
    """

    first: PersonDay
    last: PersonDay
    back: PersonDay | None


def days(
    tx: Transaction,
    config: OrganisationConfig,
    person: User,
    *,
    viewer_id: str,
    first_day: date,
    last_day: date,
) -> list[PersonDay]:
    """Each day between two dates, both included. Pending leave of others is not known."""
    counts = employment_by_date.count(config, person, Span(start_date=first_day, end_date=last_day))
    leave = absences.of_people(
        tx,
        config.organisation.id,
        config.leave_types,
        viewer_id,
        [person.id],
        first_day=first_day,
        last_day=last_day,
    ).get(person.id, [])
    found = []
    for count in counts:
        on_day = [(each, halves) for each in leave if (halves := _halves(each, count.date))]
        away = elsewhere = NOTHING
        for each, halves in on_day:
            if each.is_away:
                away |= halves
            else:
                elsewhere |= halves
        shown = on_day[0][0] if on_day else None
        found.append(
            PersonDay(
                date=count.date,
                worked=count.counted,
                away=away,
                elsewhere=elsewhere,
                leave_type_id=None if shown is None else shown.leave_type_id,
                is_pending=shown is not None and shown.is_pending,
                holiday_name=count.holiday_name,
                holiday_country=count.holiday_country,
            )
        )
    return found


def _halves(leave: CountedLeave, day: date) -> int:
    at = (day - leave.start_date).days
    return int(leave.counted_halves[at]) if 0 <= at < len(leave.counted_halves) else NOTHING


def away_in(person_days: Sequence[PersonDay]) -> Iterator[Away]:
    """The days off in a row among these days, which have no gap."""
    run: list[PersonDay] = []
    for day in person_days:
        # In the morning of an afternoon off they are back from what was before.
        if run and day.at_work and day.away != MORNING:
            yield Away(first=run[0], last=run[-1], back=day)
            run = []
        if day.away:
            run.append(day)
        if day.at_work and day.away == MORNING:
            yield Away(first=run[0], last=day, back=day)
            run = []
    if run:
        yield Away(first=run[0], last=run[-1], back=None)


def next_away(
    tx: Transaction, config: OrganisationConfig, person: User, *, viewer_id: str, today: date
) -> Away | None:
    """The days off that include today, or the next ones; None if there are none."""
    last_day = today + timedelta(days=MAX_DAYS_AHEAD)
    ahead = days(tx, config, person, viewer_id=viewer_id, first_day=today, last_day=last_day)
    return next(away_in(ahead), None)
