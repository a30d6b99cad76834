"""A CSV file of people imported in one transaction: all of its lines or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from storage.admin import departments, people
from storage.base.errors import Conflict, DomainError, FieldError, InvalidInput
from storage.base.values import Caller
from storage.cli import people_import_plan
from storage.cli.people_file import BadLines, PeopleFile
from storage.cli.people_import_plan import Plan, PlannedPerson
from storage.db import locks
from storage.db.database import INSERT_BATCH, Transaction
from storage.directory import people_changes, people_rows, slack_syncs

_COLUMNS_OF_FIELDS: Final = {"manager_id": "manager_email", "department_id": "department"}

# Called with how many people are done.
Progress = Callable[[int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """How many there were of each, or would be in a dry run."""

    people_created: int
    people_updated: int
    people_unchanged: int
    departments_created: int


class FileOvertaken(Conflict):
    """Only for `hiatus import`: a person of the file was added elsewhere during the import.

    Nothing was imported.
    """

    code = "file_overtaken"
    title = "Another request added a person of the file at the same time."
    cure = "Run the command again."

    def __init__(self) -> None:
        super().__init__("Nothing was imported; run the command again.")


def import_people(
    tx: Transaction,
    file: PeopleFile,
    *,
    by: Caller,
    now: datetime,
    is_update: bool,
    progress: Progress,
) -> Imported:
    """Add the people and missing departments in this transaction.

    ``is_update``: a line with a known address updates that person, from the cells that are not
    empty; otherwise it is an error. Raises BadLines with every wrong line, or FileOvertaken; then
    nothing has changed.
    """
    locks.organisation(tx, by.organisation_id)
    plan = people_import_plan.make(tx, file, by=by, now=now, is_update=is_update)
    changed = [person.id for person in plan.people if person.is_changed]
    people_rows.lock(tx, by.organisation_id, changed)
    try:
        _create_departments(tx, plan, by=by, now=now)
        added = _add(tx, plan.people, by=by, now=now, progress=progress)
        faults = _change(
            tx, plan.people, by=by, now=now, progress=lambda count: progress(added + count)
        )
    except people_changes.ChangedMeanwhile as error:
        raise FileOvertaken from error
    if faults:
        raise BadLines(faults, file.lines)
    # Imported approvers get their cards once their Slack accounts are known.
    slack_syncs.request(tx, by.organisation_id, now=now)
    progress(len(file.lines))
    return _counts(plan)


def _counts(plan: Plan) -> Imported:
    created = sum(person.user is None for person in plan.people)
    updated = sum(person.is_changed for person in plan.people)
    return Imported(
        people_created=created,
        people_updated=updated,
        people_unchanged=len(plan.people) - created - updated,
        departments_created=len(plan.new_departments),
    )


def _create_departments(tx: Transaction, plan: Plan, *, by: Caller, now: datetime) -> None:
    created_ids = {
        new.id: departments.create(tx, {"name": new.name}, by=by, now=now).id
        for new in plan.new_departments
    }
    for person in plan.people:
        department_id = person.values.get("department_id")
        if department_id in created_ids:
            person.values["department_id"] = created_ids[department_id]


def _add(
    tx: Transaction,
    persons: Sequence[PlannedPerson],
    *,
    by: Caller,
    now: datetime,
    progress: Progress,
) -> int:
    """Insert the new people; returns how many."""
    new = [person.values | {"id": person.id} for person in persons if person.user is None]
    for start in range(0, len(new), INSERT_BATCH):
        people_changes.add_all(tx, new[start : start + INSERT_BATCH], "pending", by=by, now=now)
        progress(min(start + INSERT_BATCH, len(new)))
    return len(new)


def _change(
    tx: Transaction,
    persons: Sequence[PlannedPerson],
    *,
    by: Caller,
    now: datetime,
    progress: Progress,
) -> list[FieldError]:
    """Update the existing people, as PATCH would; returns what the updates refuse."""
    changed = [person for person in persons if person.is_changed]
    faults: list[FieldError] = []
    # New owners first, so that the last old one may be demoted.
    for person in changed:
        if person.values.get("role") == "owner":
            faults += _update(tx, person, {"role": "owner"}, by=by, now=now)
    for number, person in enumerate(changed, 1):
        faults += _update(tx, person, person.values, by=by, now=now)
        progress(number)
    return faults


def _update(
    tx: Transaction,
    person: PlannedPerson,
    changes: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
) -> list[FieldError]:
    """Raises ChangedMeanwhile."""
    number = person.line.number
    try:
        people.update(tx, person.id, changes, by=by, now=now)
    except people_changes.ChangedMeanwhile:
        raise
    except InvalidInput as refusal:
        columns = [(_column(error.pointer[1:]), error) for error in refusal.errors]
        return [replace(error, pointer=f"/{number}/{column}") for column, error in columns]
    except DomainError as refusal:
        return [FieldError(pointer=f"/{number}", code=refusal.code, detail=refusal.detail)]
    return []


def _column(field: str) -> str:
    """The column of a field of ``people.update``."""
    return _COLUMNS_OF_FIELDS.get(field, field)
