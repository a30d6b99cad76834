"""Who can cover for a person, and those to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from peewee import Select

from storage.base.errors import InvalidInput
from storage.base.values import Caller, LeaveRequest, User
from storage.db import rows
from storage.db.compiled import Param, any_of, any_of_few, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.directory import approval_rule, colleagues, people_rows, people_search


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """Colleagues by name: those who are ``there`` on the days of leave, and those who are ``off``
    with approved leave on at least one of them."""

    there: list[User]
    off: list[User]


def check(
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
        people = people_search.reachable(tx, typed, by=by)
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
        limit=people_search.MAX_OPTIONS + 1,
    )
    users = [rows.user(row) for row in members]
    return [user for user in users if user.id != requester_id][: people_search.MAX_OPTIONS]


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
            any_of_few(UserRow.id, team),
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
        )
        .distinct()
    )
