"""Where leave would exceed absence limits, counted with the people of ``limit_groups``.

An organisation without limits needs one query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from peewee import Select

from storage.base.errors import AbsenceLimitExceeded, FieldError, Sentence, ShortDay
from storage.base.leave_values import AbsenceLimit, LeaveRequest, LeaveType
from storage.base.values import User
from storage.db import locks, rows
from storage.db.compiled import Engine, Param, any_of, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import AbsenceLimitRow
from storage.leave.limit_groups import Group, Groups, group_of
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules import absence_limits
from storage.rules.absence_limits import Attendance, Booked, Excess, Strength

# Of a limit, so many runs of days are named.
_MAX_NAMED: Final = 3
# Of all limits: each is a block of the form in Slack.
_MAX_FOUND: Final = 10
# Of a dry run of a limit: how far ahead leave is looked at, and how much of it.
_AHEAD: Final = timedelta(days=92)
_MAX_REQUESTS: Final = 20_000

# What a check does with limits: it ignores or reads them, or locks those that refuse, so that only
# one of two concurrent requests gets the last place.
LimitUse = Literal["ignored", "read", "locked"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitExcess:
    """A limit and the days on which leave would exceed it."""

    limit: AbsenceLimit
    excess: Excess

    @property
    def sentence(self) -> Sentence:
        """``Fri 18 Dec: 3 of 4 away (limit 2)``: never whose leave it is."""
        excess, first_day = self.excess, ShortDay(day=self.excess.first_day)
        is_one_day = excess.first_day == excess.last_day
        last_day = ShortDay(day=excess.last_day)
        if self.limit.min_present is not None:
            present = {
                "count": max(excess.count, 0),
                "people": excess.people,
                "limit": self.limit.min_present,
            }
            if is_one_day:
                return Sentence(
                    "{day}: {count} of {people} at work (at least {limit})",
                    day=first_day,
                    **present,
                )
            return Sentence(
                "{day} to {last}: {count} of {people} at work (at least {limit})",
                day=first_day,
                last=last_day,
                **present,
            )
        away = {"count": excess.count, "people": excess.people, "limit": self.limit.max_away or 0}
        if is_one_day:
            return Sentence(
                "{day}: {count} of {people} away (limit {limit})", day=first_day, **away
            )
        return Sentence(
            "{day} to {last}: {count} of {people} away (limit {limit})",
            day=first_day,
            last=last_day,
            **away,
        )

    @property
    def error(self) -> AbsenceLimitExceeded:
        return AbsenceLimitExceeded(self.limit.id, self.excess.first_day, self.sentence)

    @property
    def warning(self) -> FieldError:
        return FieldError(pointer="/start_date", code="absence_limit", detail=self.sentence)


limit_of_row: Final = rows.mapper(AbsenceLimit)


def added(
    config: OrganisationConfig,
    leave_type: LeaveType,
    start_date: date,
    counted_halves: str,
    replaced: LeaveRequest | None = None,
) -> dict[date, int]:
    """The halves in which the person would be away and is not yet, by day.

    None for types that are no absence, and for those without approval, which no limit concerns.
    ``replaced`` is the leave in whose place it is.
    """
    if not (leave_type.is_away and leave_type.requires_approval):
        return {}
    before: dict[date, int] = {}
    if replaced is not None and config.leave_types[replaced.leave_type_id].is_away:
        before = absence_limits.added_halves(None, replaced.start_date, replaced.counted_halves)
    return absence_limits.added_halves(before, start_date, counted_halves)


def exceeded(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    halves: Mapping[date, int],
    use: LimitUse = "read",
    *,
    among: Sequence[AbsenceLimit] | None = None,
) -> list[LimitExcess]:
    """Where the person's absence in these halves exceeds active limits, at most ten times.

    Limits that refuse come first, older ones before newer ones. ``among``: the active limits, of
    callers that have read them.

    With ``use`` "locked", other transactions that add an absence to a limit that refuses wait, and
    what they committed is counted. The caller has locked the person.
    """
    if not halves or use == "ignored":
        return []
    known = active(tx, config.organisation.id) if among is None else among
    limits = [limit for limit in known if _concerns(limit, user, halves.keys())]
    if not limits:
        return []
    if use == "locked":
        refusing = [limit.id for limit in limits if limit.enforcement == "block"]
        _lock(tx, config.organisation.id, refusing)
    groups = Groups(tx, config, map(group_of, limits), min(halves), max(halves), user.id)
    # Limits of the same group share its count.
    attendances: dict[Group, Attendance] = {}
    found: list[LimitExcess] = []
    for limit in limits:
        group = group_of(limit)
        if group not in attendances:
            attendances[group] = groups.attendance(group, groups.leave)
        excesses = attendances[group].excesses(limit, groups.pattern(group, user.id), halves)
        found += [LimitExcess(limit=limit, excess=excess) for excess in excesses[:_MAX_NAMED]]
    found.sort(key=lambda each: each.limit.enforcement != "block")
    return found[:_MAX_FOUND]


def warn(found: Iterable[LimitExcess], warnings: list[FieldError] | None) -> None:
    """Add a warning for each limit, of leave that was not refused."""
    if warnings is not None:
        warnings += [each.warning for each in found]


def check(found: Iterable[LimitExcess]) -> None:
    """Raises AbsenceLimitExceeded for the first limit that refuses."""
    for each in found:
        if each.limit.enforcement == "block":
            raise each.error


@dataclass(frozen=True, kw_only=True, slots=True)
class TeamStrength:
    """The people of a department, and how many are away on the days of a person's leave."""

    people: int
    runs: tuple[Strength, ...]


def team_strength(
    tx: Transaction, config: OrganisationConfig, user: User, halves: Mapping[date, int]
) -> TeamStrength | None:
    """That of the person's department with this leave; None without one, or without days."""
    days = {day: mask for day, mask in halves.items() if mask}
    if user.department_id is None or not days:
        return None
    team = Group(department_id=user.department_id, user_ids=None)
    groups = Groups(tx, config, [team], min(days), max(days), user.id)
    attendance = groups.attendance(team, groups.leave)
    runs = attendance.strength(groups.pattern(team, user.id), days)
    if not runs:
        return None
    first = (runs[0].first_day - attendance.first_day).days
    return TeamStrength(people=attendance.people[first], runs=tuple(runs))


def count_refused(
    tx: Transaction, config: OrganisationConfig, limit: AbsenceLimit, today: date
) -> int:
    """How many requests of the next three months the limit would have refused or warned of."""
    first_day = max(today, limit.first_day or today)
    last_day = min(today + _AHEAD, limit.last_day or date.max)
    if not limit.is_active or first_day > last_day:
        return 0
    group = group_of(limit)
    groups = Groups(tx, config, [group], first_day, last_day, most=_MAX_REQUESTS)
    booked = [
        Booked(
            pattern=groups.pattern(group, row.user_id),
            start_date=rows.day(row.start_date),
            counted_halves=row.counted_halves,
            # Closures, and admins with a reason, book past limits.
            may_be_refused=config.leave_types[row.leave_type_id].requires_approval
            and row.closure_id is None
            and row.override_reason is None,
        )
        for row in sorted(groups.leave, key=lambda row: (row.created_at, row.id))
    ]
    return absence_limits.count_refused(limit, groups.attendance(group, []), booked)


def active(tx: Transaction, organisation_id: str) -> list[AbsenceLimit]:
    """The organisation's active limits, the oldest first."""
    found = tx.select(AbsenceLimitRow, organisation_id=organisation_id, is_active=True)
    return sorted(map(limit_of_row, found), key=lambda limit: limit.id)


def _lock(tx: Transaction, organisation_id: str, limit_ids: list[str]) -> None:
    if limit_ids and tx.engine == "postgresql":
        tx.all(_locked, organisation_id=organisation_id, limit_ids=limit_ids)


@compiled_per_engine
def _locked(engine: Engine, organisation_id: Param[str], limit_ids: Param[list[str]]) -> Select:
    # Always in the same order, to avoid deadlocks.
    query = (
        AbsenceLimitRow.select(AbsenceLimitRow.id)
        .where(
            AbsenceLimitRow.organisation_id == organisation_id,
            any_of(AbsenceLimitRow.id, limit_ids),
        )
        .order_by(AbsenceLimitRow.id)
    )
    return locks.locked(query, engine)


def _concerns(limit: AbsenceLimit, user: User, days: Iterable[date]) -> bool:
    in_force = [day for day in days if (limit.first_day or day) <= day <= (limit.last_day or day)]
    if limit.user_ids is not None:
        return bool(in_force) and user.id in limit.user_ids
    if limit.department_id is None:
        return bool(in_force)
    return any(
        employment_by_date.of_day(user, day).department_id == limit.department_id
        for day in in_force
    )
