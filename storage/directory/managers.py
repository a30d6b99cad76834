"""Managers and their reports. The chain of managers has no cycle."""

from __future__ import annotations

from collections.abc import Mapping

from peewee import Select

from storage.base.errors import InvalidInput
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.directory import people_rows


def check_can_manage(tx: Transaction, organisation_id: str, manager_id: str | None) -> None:
    """Refuse a manager who is unknown or archived; none at all is fine.

    Raises InvalidInput ``not_found`` or ``manager_archived`` at ``/manager_id``.
    """
    if manager_id is None:
        return
    manager = people_rows.find(tx, organisation_id, manager_id)
    if manager is None:
        raise InvalidInput.of("manager_id", "not_found", "There is no such user.")
    if manager.status == "archived":
        raise InvalidInput.of("manager_id", "manager_archived", "This user is archived.")


def is_above(tx: Transaction, organisation_id: str, user_id: str, manager_id: str) -> bool:
    """Whether the user is that manager, or above them in the chain of managers."""
    row = tx.first(
        _in_chain_above, organisation_id=organisation_id, user_id=user_id, manager_id=manager_id
    )
    return row is not None


def with_all_above(
    tx: Transaction, organisation_id: str, managers: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    """The manager of each of these people and of all people above them, by person."""
    chain = dict(managers)
    while unread := sorted({manager for manager in chain.values() if manager} - chain.keys()):
        chain |= dict(tx.all(_managers_of, organisation_id=organisation_id, user_ids=unread))
    return chain


def in_cycles(managers: Mapping[str, str | None]) -> set[str]:
    """The people who would be their own manager, directly or not."""
    cycles: set[str] = set()
    visited: set[str] = set()
    for user_id in managers:
        path: dict[str, int] = {}
        at: str | None = user_id
        while at is not None and at not in visited and at not in path:
            path[at] = len(path)
            at = managers.get(at)
        if at in path:
            cycles |= {each for each, index in path.items() if index >= path[at]}
        visited |= path.keys()
    return cycles


def depth(user_id: str, managers: Mapping[str, str | None], depths: dict[str, int]) -> int:
    """The number of managers above the person; ``depths`` caches the results."""
    path: list[str] = []
    at: str | None = user_id
    while at is not None and at not in depths:
        path.append(at)
        at = managers.get(at)
    result = -1 if at is None else depths[at]
    for person_id in reversed(path):
        result += 1
        depths[person_id] = result
    return result


@compiled
def _managers_of(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    return UserRow.select(UserRow.id, UserRow.manager_id).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )


@compiled
def _in_chain_above(
    organisation_id: Param[str], manager_id: Param[str], user_id: Param[str]
) -> Select:
    """The user, if they are the manager or above the manager."""
    first = UserRow.select(UserRow.id, UserRow.manager_id).where(
        UserRow.organisation_id == organisation_id, UserRow.id == manager_id
    )
    below = first.cte("chain", recursive=True, columns=("id", "manager_id"))
    above = UserRow.alias()
    step = (
        above.select(above.id, above.manager_id)
        .join(below, on=(above.id == below.c.manager_id))
        .where(above.organisation_id == organisation_id)
    )
    # UNION, not UNION ALL: it ends even if the data has a cycle.
    chain = below.union(step)
    return chain.select_from(chain.c.id).where(chain.c.id == user_id)
