"""A file of people brought in: planned as a whole, written as a whole or not at all.

The rules are those of ``people.create`` and ``people.update``; what those look up for one person is
read here for all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from storage.admin import departments, people
from storage.admin.people_file import BadLines, Line
from storage.base.errors import Conflict, DomainError, FieldError
from storage.base.fields import Checked
from storage.base.ids import new_id
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.database import INSERT_BATCH, Transaction
from storage.directory import people_changes, people_rows, slack_syncs
from storage.events import organisation_config

# Called with how many people are done.
Progress = Callable[[int], None]

_MAX_OWNERS: Final = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """How many of each there were, or would be."""

    people_created: int
    people_updated: int
    people_unchanged: int
    departments_created: int


class FileOvertaken(Conflict):
    """Another request added a person of the file during the import."""

    code = "file_overtaken"
    title = "Another request added a person of the file at the same time."

    def __init__(self) -> None:
        super().__init__("Nothing was imported; run the command again.")


@dataclass(frozen=True, kw_only=True, slots=True)
class _NewDepartment:
    """``id`` stands for it in the plan, until it is made."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Person:
    """A line with what was found for it; ``user`` is None for a new person."""

    line: Line
    id: str
    user: User | None
    values: Checked

    @property
    def is_changed(self) -> bool:
        return self.user is not None and replace(self.user, **self.values) != self.user


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plan:
    """``people`` are ordered so that managers precede their reports."""

    people: list[_Person]
    new_departments: list[_NewDepartment]

    @property
    def counts(self) -> Imported:
        created = sum(person.user is None for person in self.people)
        updated = sum(person.is_changed for person in self.people)
        unchanged = len(self.people) - created - updated
        return Imported(
            people_created=created,
            people_updated=updated,
            people_unchanged=unchanged,
            departments_created=len(self.new_departments),
        )


def preview(
    tx: Transaction, lines: Sequence[Line], *, by: Caller, now: datetime, is_update: bool
) -> Imported:
    """What ``import_people`` would do; it refuses the same."""
    return _planned(tx, lines, by=by, now=now, is_update=is_update).counts


def import_people(
    tx: Transaction,
    lines: Sequence[Line],
    *,
    by: Caller,
    now: datetime,
    is_update: bool,
    progress: Progress,
) -> Imported:
    """Add the people, and the departments that are not there yet, in this one transaction.

    ``is_update``: a known address changes that person, in the cells that are not empty; otherwise
    it is refused. Raises BadLines that names every wrong line, or FileOvertaken; then nothing has
    changed.
    """
    locks.organisation(tx, by.organisation_id)
    plan = _planned(tx, lines, by=by, now=now, is_update=is_update)
    changed = [person.id for person in plan.people if person.is_changed]
    people_rows.lock(tx, by.organisation_id, changed)
    try:
        _make_departments(tx, plan, by=by, now=now)
        done = _add(tx, plan.people, by=by, now=now, progress=progress)
        _change(tx, plan.people, by=by, now=now, progress=lambda count: progress(done + count))
    except people_changes.ChangedMeanwhile as error:
        raise FileOvertaken from error
    # Imported approvers are asked as soon as their Slack accounts are known.
    slack_syncs.request(tx, by.organisation_id, now=now)
    progress(len(lines))
    return plan.counts


def _planned(
    tx: Transaction, lines: Sequence[Line], *, by: Caller, now: datetime, is_update: bool
) -> _Plan:
    """Raises BadLines."""
    users_by_email = _known(tx, lines, by=by)
    persons = [_person(line, users_by_email.get(line.email.casefold()), now) for line in lines]
    faults = [fault for person in persons for fault in _faults(person, is_update=is_update)]
    faults += _set_managers(persons, users_by_email)
    new_departments, ambiguous = _set_departments(tx, persons, by=by, now=now)
    faults += ambiguous
    faults += _owner_faults(tx, persons, by=by)
    managers = _managers(tx, persons, by=by)
    circles = _circles(managers)
    faults += [
        _fault(person, "manager_email", "manager_cycle", "This manager reports to the same person.")
        for person in persons
        if person.id in circles
    ]
    if faults:
        raise BadLines(faults)
    depths: dict[str, int] = {}
    persons.sort(key=lambda person: _depth(person.id, managers, depths))
    return _Plan(people=persons, new_departments=new_departments)


def _fault(person: _Person, column: str, code: str, detail: str) -> FieldError:
    return FieldError(pointer=f"/{person.line.number}/{column}", code=code, detail=detail)


def _person(line: Line, user: User | None, now: datetime) -> _Person:
    # An archived person's address is free: it makes a new person.
    if user is None or user.status == "archived":
        return _Person(line=line, id=new_id(now), user=None, values=dict(line.values))
    # The address as it was first written stays.
    values = {name: value for name, value in line.values.items() if name != "email"}
    return _Person(line=line, id=user.id, user=user, values=values)


def _known(tx: Transaction, lines: Sequence[Line], *, by: Caller) -> dict[str, User]:
    """Those who are there already, by address: the file's people and their managers."""
    keys = {line.email.casefold() for line in lines}
    keys |= {line.manager_email.casefold() for line in lines if line.manager_email}
    found = tx.all(
        people_rows.of_emails, organisation_id=by.organisation_id, email_keys=sorted(keys)
    )
    # Archived people first: a later person with the same address replaces them.
    users = sorted(map(rows.user, found), key=lambda user: user.status != "archived")
    return {user.email.casefold(): user for user in users}


def _faults(person: _Person, *, is_update: bool) -> Iterable[FieldError]:
    if person.user is None:
        for name in ("first_name", "last_name"):
            if name not in person.values:
                yield _fault(person, name, "required", f"{name} is required for a new person.")
    elif not is_update:
        detail = f"{person.line.email} is there already; --update would change the person."
        yield _fault(person, "email", "email_taken", detail)


def _set_managers(
    persons: Sequence[_Person], users_by_email: Mapping[str, User]
) -> Iterable[FieldError]:
    """Put the managers' ids in; they may stand anywhere in the file, or be there already."""
    ids = {person.line.email.casefold(): person.id for person in persons}
    faults = []
    for person in persons:
        email = person.line.manager_email
        if email is None:
            continue
        user = users_by_email.get(email.casefold())
        is_in_file = email.casefold() in ids
        if not is_in_file and user is not None and user.status == "archived":
            detail = f"{email} is archived."
            faults.append(_fault(person, "manager_email", "manager_archived", detail))
        elif not is_in_file and user is None:
            detail = f"{email} is neither in the file nor in the organisation."
            faults.append(_fault(person, "manager_email", "not_found", detail))
        else:
            person.values["manager_id"] = ids.get(email.casefold()) or user and user.id
    return faults


def _set_departments(
    tx: Transaction, persons: Sequence[_Person], *, by: Caller, now: datetime
) -> tuple[list[_NewDepartment], Iterable[FieldError]]:
    """Put the departments' ids in; gives those that have to be made first."""
    existing: dict[str, list[str]] = {}
    for department in organisation_config.of_organisation(
        tx, by.organisation_id
    ).departments.values():
        existing.setdefault(department.name.casefold(), []).append(department.id)
    new: list[_NewDepartment] = []
    faults = []
    for person in persons:
        name = person.line.department
        if name is None:
            continue
        ids = existing.get(name.casefold())
        if ids is None:
            new.append(_NewDepartment(id=new_id(now), name=name))
            ids = existing[name.casefold()] = [new[-1].id]
        if len(ids) > 1:
            detail = f"There are {len(ids)} departments called {name}."
            faults.append(_fault(person, "department", "ambiguous", detail))
        person.values["department_id"] = ids[0]
    return new, faults


def _owner_faults(
    tx: Transaction, persons: Sequence[_Person], *, by: Caller
) -> Iterable[FieldError]:
    """Those who would leave the organisation without an active owner."""
    demoted = [
        person
        for person in persons
        if person.user is not None
        and (person.user.role, person.user.status) == ("owner", "active")
        and person.values.get("role", "owner") != "owner"
    ]
    if not demoted:
        return []
    owners = tx.all(
        people_rows.active_owners, organisation_id=by.organisation_id, limit=_MAX_OWNERS
    )
    remaining = {row.id for row in owners}
    remaining -= {person.id for person in demoted}
    remaining |= {
        person.id
        for person in persons
        if person.user is not None
        and person.user.status == "active"
        and person.values.get("role") == "owner"
    }
    detail = "The organisation would have no active owner left."
    return [_fault(person, "role", "last_owner", detail) for person in demoted if not remaining]


def _managers(
    tx: Transaction, persons: Sequence[_Person], *, by: Caller
) -> Mapping[str, str | None]:
    """The manager of each person in the file and of all people above them."""
    managers: dict[str, str | None] = {
        person.id: person.values.get("manager_id")
        or (None if person.user is None else person.user.manager_id)
        for person in persons
    }
    while unread := sorted({one for one in managers.values() if one and one not in managers}):
        above = tx.all(people_rows.managers_of, organisation_id=by.organisation_id, user_ids=unread)
        managers |= dict(above)
    return managers


def _circles(managers: Mapping[str, str | None]) -> set[str]:
    """The people who would be their own manager, directly or not."""
    circles: set[str] = set()
    seen: set[str] = set()
    for user_id in managers:
        way: dict[str, int] = {}
        at: str | None = user_id
        while at is not None and at not in seen and at not in way:
            way[at] = len(way)
            at = managers.get(at)
        if at in way:
            circles |= {one for one, place in way.items() if place >= way[at]}
        seen |= way.keys()
    return circles


def _depth(user_id: str, managers: Mapping[str, str | None], depths: dict[str, int]) -> int:
    """The number of managers above the person; ``depths`` caches the results."""
    way: list[str] = []
    at: str | None = user_id
    while at is not None and at not in depths:
        way.append(at)
        at = managers.get(at)
    depth = -1 if at is None else depths[at]
    for one in reversed(way):
        depth += 1
        depths[one] = depth
    return depths[user_id]


def _make_departments(tx: Transaction, plan: _Plan, *, by: Caller, now: datetime) -> None:
    made = {
        new.id: departments.create(tx, {"name": new.name}, by=by, now=now).id
        for new in plan.new_departments
    }
    for person in plan.people:
        planned = person.values.get("department_id")
        if planned in made:
            person.values["department_id"] = made[planned]


def _add(
    tx: Transaction,
    persons: Sequence[_Person],
    *,
    by: Caller,
    now: datetime,
    progress: Progress,
) -> int:
    """Write those who are new; how many there are."""
    new = [person.values | {"id": person.id} for person in persons if person.user is None]
    for start in range(0, len(new), INSERT_BATCH):
        people_changes.add_all(tx, new[start : start + INSERT_BATCH], "pending", by=by, now=now)
        progress(min(start + INSERT_BATCH, len(new)))
    return len(new)


def _change(
    tx: Transaction,
    persons: Sequence[_Person],
    *,
    by: Caller,
    now: datetime,
    progress: Progress,
) -> None:
    """Change those who are there, as PATCH would. Raises BadLines."""
    changed = [person for person in persons if person.is_changed]
    # New owners first: the last old one may then go.
    for person in changed:
        if person.values.get("role") == "owner":
            _update(tx, person, {"role": "owner"}, by=by, now=now)
    for number, person in enumerate(changed, 1):
        _update(tx, person, person.values, by=by, now=now)
        progress(number)


def _update(
    tx: Transaction, person: _Person, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> None:
    try:
        people.update(tx, person.id, changes, by=by, now=now)
    except (people_changes.ChangedMeanwhile, BadLines):
        raise
    except DomainError as refusal:
        line = FieldError(
            pointer=f"/{person.line.number}", code=refusal.code, detail=refusal.detail
        )
        raise BadLines([line]) from refusal
