"""Covers: who stands in for a person on leave, who could, and when a cover is off themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from peewee import Select

from storage.base.errors import Days, FieldError, InvalidInput, Sentence
from storage.base.leave_values import HalfDay, LeaveRequest
from storage.base.values import Caller, User
from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.leave import bookings
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, colleagues, people_lists, people_rows
from storage.rules import counted_days
from storage.rules.counted_days import NOTHING


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """Colleagues by name: those who are ``there`` on the days of leave, and those who are ``off``
    with approved leave on at least one of them. Who works elsewhere is there."""

    there: list[User]
    off: list[User]


def check_cover(
    tx: Transaction,
    organisation_id: str,
    requester: User,
    cover_user_id: str | None,
    replaces: LeaveRequest | None,
) -> User | None:
    """The cover, if they can be chosen: an active colleague of the requester.

    Pending people with a known Slack account are active in this sense, as for approvals. The cover
    of the request ``replaces`` stays possible. Raises InvalidInput ``cover_is_requester``,
    ``not_found``, ``cover_archived`` or ``cover_inactive`` at ``/cover_user_id``.
    """
    if cover_user_id is None:
        return None
    if cover_user_id == requester.id:
        raise InvalidInput.of(
            "cover_user_id", "cover_is_requester", "People cannot cover for themselves."
        )
    cover = people_rows.find(tx, organisation_id, cover_user_id)
    if cover is None:
        raise InvalidInput.of("cover_user_id", "not_found", "There is no such user.")
    if approval_rule.is_reachable(cover):
        return cover
    if replaces is not None and replaces.cover_user_id == cover.id:
        return cover
    if cover.status == "archived":
        raise InvalidInput.of("cover_user_id", "cover_archived", "This user is archived.")
    raise InvalidInput.of(
        "cover_user_id",
        "cover_inactive",
        "{name} cannot cover: they are deactivated or have not used Hiatus yet.",
        name=cover.name or cover.email,
    )


def candidates(
    tx: Transaction,
    typed: str,
    requester_id: str,
    first_day: date | None,
    last_day: date | None,
    *,
    by: Caller,
) -> Candidates:
    """At most 99 people who can cover: the team's, or those whose name matches the typed text."""
    if typed.strip():
        people = people_lists.reachable(tx, typed, by=by)
    else:
        people = _team(tx, by.organisation_id, requester_id)
    people = [person for person in people if person.id != requester_id]
    off = _off(tx, by.organisation_id, people, first_day, last_day)
    return Candidates(
        there=[person for person in people if person.id not in off],
        off=[person for person in people if person.id in off],
    )


def _team(tx: Transaction, organisation_id: str, requester_id: str) -> list[User]:
    requester = people_rows.find(tx, organisation_id, requester_id)
    if requester is None:
        return []
    members = tx.all(
        _team_members,
        organisation_id=organisation_id,
        user_id=requester_id,
        department_id=requester.department_id,
        # One more than is shown: the requester is a member.
        limit=people_lists.MAX_OPTIONS + 1,
    )
    users = [rows.user(row) for row in members]
    return [user for user in users if user.id != requester_id][: people_lists.MAX_OPTIONS]


def _off(
    tx: Transaction,
    organisation_id: str,
    people: Sequence[User],
    first_day: date | None,
    last_day: date | None,
) -> set[str]:
    if not people or first_day is None or last_day is None:
        return set()
    off = tx.all(
        _away_between,
        organisation_id=organisation_id,
        user_ids=[person.id for person in people],
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
    )
    return {user_id for (user_id,) in off}


@compiled
def _team_members(
    organisation_id: Param[str],
    user_id: Param[str],
    department_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    team = colleagues.team(organisation_id, user_id, department_id)
    return (
        UserRow.select(*rows.USER)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.id.in_(team),
            approval_rule.is_reachable_sql(UserRow),
        )
        .order_by(UserRow.first_name, UserRow.last_name, UserRow.id)
        .limit(limit)
    )


@compiled
def _away_between(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
) -> Select:
    return (
        LeaveRequestRow.select(LeaveRequestRow.user_id)
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            any_of(LeaveRequestRow.user_id, user_ids),
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.end_date >= first_day,
            LeaveRequestRow.start_date <= last_day,
            colleagues.is_absence(LeaveRequestRow),
        )
        .distinct()
    )


def days_off(
    tx: Transaction,
    config: OrganisationConfig,
    cover: User,
    *,
    start_date: date,
    counted_halves: str,
    worked_halves: str,
    includes_pending: bool = False,
) -> list[date]:
    """The dates of leave with a half that the cover does not work or is away on approved leave.

    ``counted_halves`` are those of the leave, ``worked_halves`` those that the cover works on the
    same dates by their working days and public holidays. A deactivated cover is off on all of them.
    ``includes_pending``: pending leave counts, too.
    """
    end_date = start_date + timedelta(days=len(counted_halves) - 1)
    free = [int(halves) for halves in worked_halves]
    if not approval_rule.is_reachable(cover):
        free = [NOTHING] * len(free)
    booked = bookings.of_person(tx, config.organisation.id, cover.id, start_date, end_date)
    for leave in booked.leave:
        if leave.status == "pending" and not includes_pending:
            continue
        if not config.leave_types[leave.leave_type_id].is_away:
            continue
        first = (leave.start_date - start_date).days
        for index, halves in enumerate(leave.counted_halves, first):
            if 0 <= index < len(free):
                free[index] &= ~int(halves)
    return [
        start_date + timedelta(days=index)
        for index, needed in enumerate(counted_halves)
        if int(needed) & ~free[index]
    ]


def away_warning(cover: User, days: list[date]) -> FieldError:
    return FieldError(
        pointer="/cover_user_id",
        code="cover_away",
        detail=Sentence("{name} is off on {days}.", name=cover.name, days=Days(dates=tuple(days))),
    )


# Bounds the messages that one absence causes.
MAX_OVERLAPPING: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Covered:
    """Approved leave as its cover sees it: whose and when."""

    request_id: str
    person_name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None


def upcoming_covered(
    tx: Transaction, organisation_id: str, cover_user_id: str, today: date, *, limit: int
) -> list[Covered]:
    """The approved leave from today on that the person covers, by last day."""
    leave = tx.all(
        _upcoming,
        organisation_id=organisation_id,
        cover_user_id=cover_user_id,
        today=today.isoformat(),
        limit=limit,
    )
    return [
        Covered(
            request_id=row.id,
            person_name=f"{row.first_name} {row.last_name}".strip(),
            start_date=rows.day(row.start_date),
            end_date=rows.day(row.end_date),
            start_half_day=row.start_half_day,
            end_half_day=row.end_half_day,
        )
        for row in leave
    ]


def left_uncovered(
    tx: Transaction, config: OrganisationConfig, leave: LeaveRequest, today: date
) -> list[LeaveRequest]:
    """Others' approved leave that the person on leave was to cover from today on, earliest first.

    At most ``MAX_OVERLAPPING``; none if the person is not away.
    """
    if not config.leave_types[leave.leave_type_id].is_away:
        return []
    found = tx.all(
        _overlapping,
        organisation_id=config.organisation.id,
        cover_user_id=leave.user_id,
        first_day=max(leave.start_date, today).isoformat(),
        last_day=leave.end_date.isoformat(),
    )
    span = counted_days.span_of(leave)
    requests = [rows.leave_request(row) for row in found]
    return [each for each in requests if counted_days.overlaps(counted_days.span_of(each), span)]


@compiled
def _overlapping(
    organisation_id: Param[str],
    cover_user_id: Param[str],
    first_day: Param[str],
    last_day: Param[str],
) -> Select:
    return (
        LeaveRequestRow.select(*rows.LEAVE_REQUEST)
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.cover_user_id == cover_user_id,
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.end_date >= first_day,
            LeaveRequestRow.start_date <= last_day,
        )
        .order_by(LeaveRequestRow.end_date, LeaveRequestRow.id)
        .limit(MAX_OVERLAPPING)
    )


@compiled
def _upcoming(
    organisation_id: Param[str], cover_user_id: Param[str], today: Param[str], limit: Param[int]
) -> Select:
    return (
        rows.with_names(
            LeaveRequestRow.select(
                LeaveRequestRow.id,
                UserRow.first_name,
                UserRow.last_name,
                LeaveRequestRow.start_date,
                LeaveRequestRow.end_date,
                LeaveRequestRow.start_half_day,
                LeaveRequestRow.end_half_day,
            )
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.cover_user_id == cover_user_id,
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.end_date >= today,
        )
        .order_by(LeaveRequestRow.end_date, LeaveRequestRow.id)
        .limit(limit)
    )
