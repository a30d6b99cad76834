"""The wallchart of the web page, its pictures and the table in Slack: people and their days."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final, Literal, TypedDict
from urllib.parse import urlencode

from peewee import SQL, Case, Select, fn

from storage.base.leave_values import LeaveType
from storage.base.values import User
from storage.calendars import absences
from storage.calendars.absences import CountedLeave, Pending
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import colleagues, employment_by_date, people_rows
from storage.rules import counted_days, employment_terms
from storage.rules.counted_days import AFTERNOON, MORNING, NOTHING, Span

Scope = Literal["team", "org"]

MAX_PEOPLE: Final = 200
MAX_DAYS: Final = 62
# The letters of leave whose type is hidden from the viewer. No type has them.
HIDDEN_LETTER: Final = "●"
HIDDEN_ELSEWHERE: Final = "◊"
_OTHER_LETTERS: Final = string.ascii_uppercase + string.digits


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownType:
    """A leave type as the viewer may see it. ``letter`` is different for each type.

    ``id``, ``name`` and ``colour`` are None for private types of others: they are all "Away", or
    "Working elsewhere" where ``is_away`` is False. Such types have a small letter.
    """

    id: str | None
    name: str | None
    letter: str
    colour: str | None
    emoji: str | None
    is_away: bool = True


AWAY: Final = ShownType(id=None, name=None, letter=HIDDEN_LETTER, colour=None, emoji=None)
ELSEWHERE: Final = replace(AWAY, letter=HIDDEN_ELSEWHERE, is_away=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Off:
    """Leave on a day, or on a half of it."""

    leave_type: ShownType
    is_pending: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Day:
    """A person's day. ``worked`` and ``holiday`` are masks (``storage/rules/counted_days.py``).

    Before and after their employment, people work on no day. ``morning`` and ``afternoon`` are the
    leave that counts; both are the same where it is a whole day. ``holiday_country`` is the country
    or region that named the holiday, if one did.
    """

    date: date
    worked: int
    holiday: int
    holiday_name: str | None
    morning: Off | None = None
    afternoon: Off | None = None
    holiday_country: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonDays:
    user_id: str
    name: str
    is_viewer: bool
    days: tuple[Day, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wallchart:
    """One page of people. ``leave_types`` are those that it shows, by name; hidden ones are last.

    ``page`` counts from 1 to ``pages``; ``people_count`` is the number of people on all pages.
    """

    config: OrganisationConfig
    first_day: date
    last_day: date
    people: list[PersonDays]
    leave_types: list[ShownType]
    people_count: int
    page: int
    pages: int


def url(
    base_url: str,
    token: str,
    *,
    scope: Scope = "team",
    first_day: date | None = None,
    department_id: str | None = None,
) -> str:
    """The address of the web page; of the month of ``first_day``, or always of the present one."""
    query: dict[str, str] = {}
    if scope != "team":
        query["scope"] = scope
    if first_day is not None:
        query["month"] = f"{first_day:%Y-%m}"
    if department_id is not None:
        query["department_id"] = department_id
    return f"{base_url}/wallchart/{token}{'?' if query else ''}{urlencode(query)}"


class _InScope(TypedDict):
    organisation_id: str
    viewer_id: str | None
    viewer_department_id: str | None
    scope: Scope
    department_id: str | None


def load(
    tx: Transaction,
    *,
    organisation_id: str,
    viewer_id: str | None,
    viewer_department_id: str | None,
    scope: Scope,
    department_id: str | None = None,
    first_day: date,
    day_count: int,
    page: int = 1,
    page_size: int = MAX_PEOPLE,
    pending: Pending = "none",
    today: date | None = None,
    hides_own: bool = False,
) -> Wallchart:
    """The people of the scope who are not archived: the viewer, then the others by name.

    ``team``: as the team calendar feed. ``org``: everyone, or the people whose department is
    ``department_id`` today. ``page`` past the last one is the last. The viewer's own pending leave
    is always shown; ``pending`` and ``today`` add that of others as in ``absences.away``, and
    ``hides_own`` hides private types as in ``absences.of_people``. Without a viewer, the scope is
    ``org``. Five queries, of at most 200 people and 62 days.
    """
    if not (1 <= day_count <= MAX_DAYS and 1 <= page_size <= MAX_PEOPLE):
        raise ValueError(f"At most {MAX_PEOPLE} people and {MAX_DAYS} days.")
    config = organisation_config.of_organisation(tx, organisation_id)
    span = Span(start_date=first_day, end_date=first_day + timedelta(days=day_count - 1))
    in_scope = _InScope(
        organisation_id=organisation_id,
        viewer_id=viewer_id,
        viewer_department_id=viewer_department_id if scope == "team" else None,
        scope=scope,
        department_id=department_id if scope == "org" else None,
    )
    counted = tx.first(_people_count, **in_scope)
    people_count = 0 if counted is None else int(counted.people_count)
    pages = max(1, -(-people_count // page_size))
    page = min(max(1, page), pages)
    user_rows = tx.all(_people, **in_scope, offset=(page - 1) * page_size, limit=page_size)
    users = [rows.user(row) for row in user_rows]
    chart = _chart_of(
        tx, config, viewer_id, users, span, pending=pending, today=today, hides_own=hides_own
    )
    return replace(chart, people_count=people_count, page=page, pages=pages)


def of_users(
    tx: Transaction,
    config: OrganisationConfig,
    *,
    viewer_id: str,
    user_ids: Sequence[str],
    first_day: date,
    day_count: int,
    pending: Pending = "none",
    today: date | None = None,
) -> Wallchart:
    """As ``load``, in two queries, for people whom the viewer may see; in this order."""
    if not 1 <= day_count <= MAX_DAYS or len(user_ids) > MAX_PEOPLE:
        raise ValueError(f"At most {MAX_PEOPLE} people and {MAX_DAYS} days.")
    by_id = people_rows.of_ids(tx, config.organisation.id, user_ids)
    users = [by_id[user_id] for user_id in user_ids if user_id in by_id]
    span = Span(start_date=first_day, end_date=first_day + timedelta(days=day_count - 1))
    return _chart_of(tx, config, viewer_id, users, span, pending=pending, today=today)


def _chart_of(
    tx: Transaction,
    config: OrganisationConfig,
    viewer_id: str | None,
    users: Sequence[User],
    span: Span,
    *,
    pending: Pending,
    today: date | None,
    hides_own: bool = False,
) -> Wallchart:
    """A wallchart of one page with these people."""
    leave = absences.of_people(
        tx,
        config.organisation.id,
        config.leave_types,
        viewer_id,
        [user.id for user in users],
        first_day=span.start_date,
        last_day=span.end_date,
        pending=pending,
        today=today,
        hides_own=hides_own,
    )
    shown_types = _shown_types_of(config.leave_types.values())
    plain_days = _PlainDays(config, span)
    return Wallchart(
        config=config,
        first_day=span.start_date,
        last_day=span.end_date,
        people=[
            PersonDays(
                user_id=user.id,
                name=user.name,
                is_viewer=user.id == viewer_id,
                days=_with_leave(
                    # Charts are shared, and colleagues do not read when a person leaves.
                    plain_days.of(user, shows_end=user.id == viewer_id),
                    leave.get(user.id, ()),
                    shown_types,
                ),
            )
            for user in users
        ],
        leave_types=_legend(leave.values(), shown_types),
        people_count=len(users),
        page=1,
        pages=1,
    )


def renamed(chart: Wallchart, name_of: Callable[[LeaveType], str]) -> Wallchart:
    """The chart with other names of leave types, such as the reader's, and letters of these."""
    types = chart.config.leave_types
    others = {
        type_id: replace(leave_type, name=name)
        for type_id, leave_type in types.items()
        if (name := name_of(leave_type)) != leave_type.name
    }
    if not others:
        return chart
    shown_types = _shown_types_of((types | others).values())

    def off(before: Off | None) -> Off | None:
        if before is None or before.leave_type.id is None:
            return before
        return replace(before, leave_type=shown_types[before.leave_type.id])

    people = [
        replace(
            person,
            days=tuple(
                replace(day, morning=off(day.morning), afternoon=off(day.afternoon))
                if day.morning or day.afternoon
                else day
                for day in person.days
            ),
        )
        for person in chart.people
    ]
    leave_types = [shown_types.get(each.id or "", each) for each in chart.leave_types]
    return replace(chart, people=people, leave_types=sorted(leave_types, key=_by_name))


def type_letters(leave_types: Iterable[LeaveType]) -> Mapping[str, str]:
    """A letter for each type, by id: the first of its name that no earlier type has.

    Older types choose first. Private types choose last: otherwise a missing letter would reveal
    that a private type exists.
    """
    chosen: dict[str, str] = {}
    for leave_type in sorted(leave_types, key=lambda each: (each.is_private, each.id)):
        taken = set(chosen.values())
        own = [letter for letter in leave_type.name.upper() if letter.isalnum()]
        free = (letter for letter in (*own, *_OTHER_LETTERS) if letter not in taken)
        chosen[leave_type.id] = next(free, own[0] if own else "?")
    return chosen


def _shown_types_of(leave_types: Iterable[LeaveType]) -> dict[str, ShownType]:
    by_id = {leave_type.id: leave_type for leave_type in leave_types}
    return {
        type_id: ShownType(
            id=type_id,
            name=by_id[type_id].name,
            letter=letter if by_id[type_id].is_away else letter.lower(),
            colour=by_id[type_id].colour,
            emoji=by_id[type_id].emoji,
            is_away=by_id[type_id].is_away,
        )
        for type_id, letter in type_letters(by_id.values()).items()
    }


def _shown_type(counted: CountedLeave, shown_types: Mapping[str, ShownType]) -> ShownType:
    if counted.leave_type_id is None:
        return AWAY if counted.is_away else ELSEWHERE
    return shown_types[counted.leave_type_id]


def _legend(
    leave: Iterable[Sequence[CountedLeave]], shown_types: Mapping[str, ShownType]
) -> list[ShownType]:
    shown = {_shown_type(counted, shown_types) for each in leave for counted in each}
    return sorted(shown, key=_by_name)


def _by_name(shown: ShownType) -> tuple[bool, str, str]:
    return shown.name is None, shown.name or "", shown.letter


class _PlainDays:
    """People's days without leave, made once for all people with the same week and holidays."""

    def __init__(self, config: OrganisationConfig, span: Span) -> None:
        self._config = config
        self._span = span
        self._ends = span.start_date, span.end_date
        self._made: dict[tuple[tuple[str, ...], str], list[Day]] = {}

    def of(self, user: User, *, shows_end: bool) -> list[Day]:
        """``shows_end``: days after the person's last day are not worked."""
        plain = [
            day
            for period in employment_terms.periods(
                employment_terms.records_of(user), self._span.start_date, self._span.end_date
            )
            for day in self._between(
                employment_by_date.working_days(self._config, period.record),
                employment_by_date.country_code_of(self._config, period.record),
                period.first_day,
                period.last_day,
            )
        ]
        employed = employment_terms.periods_of(user if shows_end else replace(user, end_date=None))
        if all(employment_terms.includes(employed[-1:], day) for day in self._ends):
            return plain
        return [
            day if employment_terms.includes(employed, day.date) else replace(day, worked=NOTHING)
            for day in plain
        ]

    def _between(
        self, working_days: tuple[str, ...], country_code: str, first_day: date, last_day: date
    ) -> list[Day]:
        key = working_days, country_code
        if key not in self._made:
            counts = counted_days.count_days(
                self._span,
                counted_days.working_week(working_days),
                employment_by_date.holidays_between(
                    self._config, country_code, self._span.start_date, self._span.end_date
                ),
            )
            self._made[key] = [
                Day(
                    date=count.date,
                    worked=count.worked,
                    holiday=count.holiday,
                    holiday_name=count.holiday_name,
                    holiday_country=count.holiday_country,
                )
                for count in counts
            ]
        first = (first_day - self._span.start_date).days
        last = (last_day - self._span.start_date).days
        return self._made[key][first : last + 1]


def _with_leave(
    plain: list[Day], leave: Iterable[CountedLeave], shown_types: Mapping[str, ShownType]
) -> tuple[Day, ...]:
    first_ordinal = plain[0].date.toordinal()
    shown = [*plain]
    for counted in leave:
        off = Off(
            leave_type=_shown_type(counted, shown_types),
            is_pending=counted.is_pending,
        )
        start = counted.start_date.toordinal() - first_ordinal
        for at, digit in enumerate(counted.counted_halves, start):
            halves = int(digit)
            if halves == NOTHING or not 0 <= at < len(shown):
                continue
            day = shown[at]
            # Not ``replace``, which takes four times as long: a page has thousands of these.
            shown[at] = Day(
                date=day.date,
                worked=day.worked,
                holiday=day.holiday,
                holiday_name=day.holiday_name,
                holiday_country=day.holiday_country,
                morning=off if halves & MORNING else day.morning,
                afternoon=off if halves & AFTERNOON else day.afternoon,
            )
    return tuple(shown)


def _in_scope(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    viewer_department_id: Param[str] | None,
    scope: Scope,
    department_id: Param[str] | None,
) -> Expr:
    is_shown = (UserRow.organisation_id == organisation_id) & (UserRow.status != "archived")
    if scope == "team" and viewer_id is not None:
        # Few people: they are read by id.
        team = colleagues.team(organisation_id, viewer_id, viewer_department_id)
        return is_shown & UserRow.id.in_(team)
    if department_id is not None:
        return is_shown & (UserRow.department_id == department_id)
    return is_shown


@compiled
def _people_count(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    viewer_department_id: Param[str] | None,
    scope: Scope,
    department_id: Param[str] | None,
) -> Select:
    return UserRow.select(fn.COUNT(SQL("*")).alias("people_count")).where(
        _in_scope(organisation_id, viewer_id, viewer_department_id, scope, department_id)
    )


@compiled
def _people(
    organisation_id: Param[str],
    viewer_id: Param[str] | None,
    viewer_department_id: Param[str] | None,
    scope: Scope,
    department_id: Param[str] | None,
    offset: Param[int],
    limit: Param[int],
) -> Select:
    order = [UserRow.first_name, UserRow.last_name, UserRow.id]
    if viewer_id is not None:
        order.insert(0, Case(None, ((UserRow.id == viewer_id, SQL("0")),), SQL("1")))
    return (
        UserRow.select(*rows.USER)
        .where(_in_scope(organisation_id, viewer_id, viewer_department_id, scope, department_id))
        .order_by(*order)
        .offset(offset)
        .limit(limit)
    )
