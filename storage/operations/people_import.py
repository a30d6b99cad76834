"""A CSV file of people imported in one transaction: all of its lines or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from types import MappingProxyType
from typing import Final

from storage.admin import allowances, dated_terms, departments, employment_records, people
from storage.base import texts
from storage.base.allowance_values import AllowanceFigure, Amount
from storage.base.errors import Conflict, DomainError, FieldError, InvalidInput, Sentence
from storage.base.fields import Checked
from storage.base.ids import new_id
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.database import INSERT_BATCH, Transaction
from storage.db.tables import UserRow
from storage.leave import closure_leave, opening_figures
from storage.leave.opening_figures import BadLine, Entry
from storage.operations.csv_file import BadLines
from storage.operations.people_file import ALLOWANCE, Line, PeopleFile, days_left_code
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_changes, people_rows, slack_syncs
from storage.rules import employment_terms, roles

_MAX_PEOPLE_OF_CYCLE_NAMED: Final = 10
# Columns without which the dates of a person cannot be checked.
_DATED: Final = frozenset(
    {
        *("start_date", "end_date", "effective_from", "department"),
        *("working_days", "public_holiday_country_code", "leave_allowance"),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewDepartment:
    """``id`` identifies it in the plan, until it is created."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedPerson:
    """``user`` is None for a new person.

    ``figures`` has half-days a year by allowance, from ``figures_from`` on (None: from the present
    leave year); ``are_figures_new``: they differ from those of the user.
    """

    line: Line
    id: str
    user: User | None
    values: Checked
    figures: Mapping[str, Amount] = field(default_factory=dict)
    figures_from: date | None = None
    are_figures_new: bool = False

    @property
    def is_changed(self) -> bool:
        if self.user is None:
            return False
        if self.are_figures_new:
            return True
        values = dict(self.values)
        day = values.pop("effective_from", None)
        before = self.user
        if day is not None:
            before = employment_terms.with_records(before, employment_terms.records_of(before), day)
        return replace(before, **values) != before


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """``people`` are ordered so that managers precede their reports."""

    people: list[PlannedPerson]
    new_departments: list[NewDepartment]


def make_plan(
    tx: Transaction, file: PeopleFile, *, by: Caller, now: datetime, is_update: bool
) -> Plan:
    """The plan for the lines of a file. Raises BadLines with the errors of cells and of the plan.

    A check is left out where a wrong cell of its line would mislead it.
    """
    lines = file.lines
    users_by_email = _users_by_email(tx, lines, by=by)
    persons = [
        _person(line, users_by_email.get(texts.email_key(line.email)), now) for line in lines
    ]
    faults = [*file.errors]
    faults += [fault for person in persons for fault in _faults(person, by=by, is_update=is_update)]
    faults += _number_faults(tx, persons, by=by)
    faults += _set_managers(persons, users_by_email)
    new_departments, ambiguous = _set_departments(tx, persons, by=by, now=now)
    faults += ambiguous
    config = organisation_config.of_organisation(tx, by.organisation_id)
    persons, wrong_figures = _with_figures(persons, file.allowance_codes, config, now)
    faults += wrong_figures
    if not is_update:
        faults += [fault for person in persons for fault in _difference(person)]
    faults += [fault for person in persons for fault in _date_faults(person, config, now)]
    faults += _owner_faults(tx, persons, by=by)
    chain = people_changes.with_all_above(tx, by.organisation_id, _managers(persons))
    faults += _cycle_faults(tx, persons, chain, by=by)
    faults += _days_left_columns(file, config)
    if faults:
        # What is left is checked with the rest, as far as the people could be imported.
        faults += [
            fault for person in persons for fault in _days_left_faults(person, file, config, now)
        ]
        raise BadLines(faults, lines, file.titles)
    depths: dict[str, int] = {}
    persons.sort(key=lambda person: people_changes.depth(person.id, chain, depths))
    return Plan(people=persons, new_departments=new_departments)


def _fault(person: PlannedPerson, column: str, code: str, detail: str) -> FieldError:
    return FieldError(pointer=f"/{person.line.number}/{column}", code=code, detail=detail)


def _person(line: Line, user: User | None, now: datetime) -> PlannedPerson:
    # An archived person's address is free: it makes a new person. So does none, until it is typed.
    if user is None or user.status == "archived":
        return PlannedPerson(line=line, id=new_id(now), user=None, values=dict(line.values))
    # The address as it was first written stays.
    values = {name: value for name, value in line.values.items() if name != "email"}
    return PlannedPerson(line=line, id=user.id, user=user, values=values)


def _users_by_email(tx: Transaction, lines: Sequence[Line], *, by: Caller) -> dict[str, User]:
    """The people and managers of the file who exist already, by the key of their address."""
    keys = {texts.email_key(line.email) for line in lines if line.email}
    keys |= {texts.email_key(line.manager_email) for line in lines if line.manager_email}
    user_rows = tx.select(UserRow, organisation_id=by.organisation_id, email_key=sorted(keys))
    # Archived people first: a later person with the same address replaces them.
    users = sorted(map(rows.user, user_rows), key=lambda user: user.status != "archived")
    return {texts.email_key(user.email): user for user in users}


def _faults(person: PlannedPerson, *, by: Caller, is_update: bool) -> Iterable[FieldError]:
    if person.user is None and person.values.get("role") == "owner" and by.role != "owner":
        detail = "Only owners make owners. Choose another role, or let an owner import this line."
        yield _fault(person, "role", "insufficient_role", detail)
    if person.user is None:
        if not person.line.email and is_update:
            return  # The person may exist.
        for name in ("first_name", "last_name"):
            if name not in person.values and name not in person.line.wrong:
                detail = f"{name} is required for a new person. Fill it in."
                yield _fault(person, name, "required", detail)
        if not person.line.email:
            return
        try:
            texts.new_email(person.line.email, "email")
        except InvalidInput as refusal:
            for error in refusal.errors:
                yield _fault(person, "email", error.code, error.detail)


def _difference(person: PlannedPerson) -> Iterable[FieldError]:
    """A line that would change a known person. One that says what is known changes nothing."""
    if person.is_changed:
        detail = (
            "A person with this address exists already, with other values. Add --update to change "
            "them (update in REST), or remove the line."
        )
        yield _fault(person, "email", "email_taken", detail)


def _number_faults(
    tx: Transaction, persons: Sequence[PlannedPerson], *, by: Caller
) -> Iterable[FieldError]:
    """Employee numbers that other people have, even if the file gives these people another one.

    Numbers that people exchange would be taken at the moment at which the first line is written.
    """
    numbers = {
        person.values["employee_number"] for person in persons if "employee_number" in person.values
    }
    holders = {
        user.employee_number: user
        for user in people_rows.with_employee_numbers(tx, by.organisation_id, numbers)
    }
    for person in persons:
        holder = holders.get(person.values.get("employee_number"))
        if holder is not None and holder.id != person.id:
            detail = f"{holder.email} has this number. Correct it, or change theirs first."
            yield _fault(person, "employee_number", "employee_number_taken", detail)


def _date_faults(
    person: PlannedPerson, config: OrganisationConfig, now: datetime
) -> Iterable[FieldError]:
    """Days out of order, and dates of changes that the line does not have."""
    values = person.values
    if not person.line.wrong.isdisjoint(_DATED):
        return
    try:
        if person.user is not None:
            employment_records.with_changes(config, person.user, values, now=now)
        elif "effective_from" in values and person.line.email:
            detail = "A new person's values count from their first day. Leave the cell empty."
            yield _fault(person, "effective_from", "new_person", detail)
        else:
            employment_records.check_employment(values.get("start_date"), values.get("end_date"))
    except InvalidInput as refusal:
        for error in refusal.errors:
            yield _fault(person, error.pointer[1:], error.code, error.detail)
    except employment_records.TooManyRecords as refusal:
        yield _fault(person, "effective_from", refusal.code, refusal.detail)


def _set_managers(
    persons: Sequence[PlannedPerson], users_by_email: Mapping[str, User]
) -> Iterable[FieldError]:
    """Set the ids of managers, who may be on any line or exist already."""
    ids: dict[str, str] = {}
    for person in persons:
        if person.line.email:
            ids.setdefault(texts.email_key(person.line.email), person.id)
    faults = []
    for person in persons:
        email = person.line.manager_email
        if email is None:
            continue
        user = users_by_email.get(texts.email_key(email))
        is_in_file = texts.email_key(email) in ids
        if not is_in_file and user is not None and user.status == "archived":
            detail = "This person is archived. Restore them first, or name another manager."
            faults.append(_fault(person, "manager_email", "manager_archived", detail))
        elif not is_in_file and user is None:
            detail = (
                "There is no person with this address in the file or in the organisation. Correct "
                "it, or add them to the file."
            )
            faults.append(_fault(person, "manager_email", "not_found", detail))
        else:
            person.values["manager_id"] = ids.get(texts.email_key(email)) or user and user.id
    return faults


def _set_departments(
    tx: Transaction, persons: Sequence[PlannedPerson], *, by: Caller, now: datetime
) -> tuple[list[NewDepartment], Iterable[FieldError]]:
    """Set the ids of departments; returns those that have to be created first."""
    existing: dict[str, list[str]] = {}
    for department in organisation_config.of_organisation(
        tx, by.organisation_id
    ).departments.values():
        existing.setdefault(department.name.casefold(), []).append(department.id)
    new: list[NewDepartment] = []
    faults = []
    for person in persons:
        name = person.line.department
        if name is None:
            continue
        ids = existing.get(name.casefold())
        if ids is None:
            new.append(NewDepartment(id=new_id(now), name=name))
            ids = existing[name.casefold()] = [new[-1].id]
        if len(ids) > 1:
            detail = f"{len(ids)} departments have this name. Rename the others first."
            faults.append(_fault(person, "department", "ambiguous", detail))
        person.values["department_id"] = ids[0]
    return new, faults


def _with_figures(
    persons: Sequence[PlannedPerson],
    codes: Sequence[str],
    config: OrganisationConfig,
    now: datetime,
) -> tuple[list[PlannedPerson], list[FieldError]]:
    """The people with their figures in allowances, and the columns and dates that are wrong."""
    ids = {each.code: each.id for each in config.allowances.values() if not each.is_archived}
    faults = [
        FieldError(pointer=f"/1/{ALLOWANCE}{code[:50]}", code="wrong_columns", detail=detail)
        for code in codes
        if (detail := _wrong_code(code, ids, config)) is not None
    ]
    ids = {code: id for code, id in ids.items() if id != config.default_allowance_id}
    planned = []
    for person in persons:
        figures = {ids[code]: days for code, days in person.line.figures.items() if code in ids}
        if not figures:
            planned.append(person)
            continue
        effective_from = person.values.get("effective_from")
        if person.user is not None and person.values.keys().isdisjoint(employment_terms.FIELDS):
            # It is only the day of these figures.
            person.values.pop("effective_from", None)
        after = person.user
        try:
            for allowance_id, days in figures.items():
                if after is not None:
                    after = dated_terms.with_figure(
                        config, after, allowance_id, days, effective_from, now=now
                    )
        except InvalidInput as refusal:
            faults += [_fault(person, "effective_from", e.code, e.detail) for e in refusal.errors]
        except dated_terms.TooManyTerms as refusal:
            faults.append(_fault(person, "effective_from", refusal.code, refusal.detail))
        planned.append(
            replace(
                person,
                figures=figures,
                figures_from=effective_from,
                are_figures_new=after != person.user,
            )
        )
    return planned, faults


def _wrong_code(code: str, ids: Mapping[str, str], config: OrganisationConfig) -> str | None:
    default_id = config.default_allowance_id
    if code not in ids:
        usable = ", ".join(ALLOWANCE + known for known in sorted(ids) if ids[known] != default_id)
        hint = f"The columns are {usable}." if usable else "Create the allowance first."
        return f"There is no allowance in use with this code. {hint}"
    if ids[code] == default_id:
        return "Figures of the default allowance have the column leave_allowance. Rename it."
    return None


def _owner_faults(
    tx: Transaction, persons: Sequence[PlannedPerson], *, by: Caller
) -> Iterable[FieldError]:
    """Owners who are demoted or leave without another active owner who stays."""
    ending = {
        person.id: "role" if person.values.get("role", "owner") != "owner" else "end_date"
        for person in persons
        if person.user is not None
        and (person.user.role, person.user.status) == ("owner", "active")
        and (
            person.values.get("role", "owner") != "owner"
            or (person.user.end_date is None and person.values.get("end_date") is not None)
        )
    }
    if not ending:
        return []
    owners = people_rows.active_owners(tx, by.organisation_id)
    remaining = {owner.id for owner in owners if owner.end_date is None} - ending.keys()
    remaining |= {
        person.id
        for person in persons
        if person.user is not None
        and person.user.status == "active"
        and person.values.get("role") == "owner"
        and person.values.get("end_date", person.user.end_date) is None
    }
    detail = "The organisation would have no active owner left. Make another person an owner first."
    return [
        _fault(person, ending[person.id], "last_owner", detail)
        for person in persons
        if person.id in ending and not remaining
    ]


def _managers(persons: Sequence[PlannedPerson]) -> dict[str, str | None]:
    return {person.id: _manager(person) for person in persons}


def _manager(person: PlannedPerson) -> str | None:
    """The manager after the import; None while the cell is wrong."""
    if "manager_email" in person.line.wrong:
        return None
    current = None if person.user is None else person.user.manager_id
    return person.values.get("manager_id") or current


def _cycle_faults(
    tx: Transaction,
    persons: Sequence[PlannedPerson],
    chain: Mapping[str, str | None],
    *,
    by: Caller,
) -> Iterable[FieldError]:
    """People who would be their own managers, directly or through others."""
    in_cycles = people_changes.in_cycles(chain)
    if not in_cycles:
        return []
    emails = {person.id: person.line.email for person in persons}
    others = people_rows.of_ids(tx, by.organisation_id, sorted(in_cycles - emails.keys()))
    emails |= {user.id: user.email for user in others.values()}
    return [
        _fault(person, "manager_email", "manager_cycle", _cycle(person.id, chain, emails))
        for person in persons
        if person.id in in_cycles
    ]


def _cycle(person_id: str, chain: Mapping[str, str | None], emails: Mapping[str, str]) -> str:
    own = emails[person_id]
    named = [own]
    at = chain[person_id]
    while at is not None and at != person_id and len(named) < _MAX_PEOPLE_OF_CYCLE_NAMED:
        named.append(emails.get(at, ""))
        at = chain[at]
    if len(named) == 1:
        return "People cannot be their own manager. Name another one, or leave the cell empty."
    named += [own] if at == person_id else ["…", own]
    return (
        f"The managers lead back to this person: {' → '.join(named)}. Change one of these managers."
    )


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
    days_left_set: int = 0
    days_left_known: int = 0


class FileOvertaken(Conflict):
    """A person of the file was added elsewhere during the import.

    Nothing was imported.
    """

    code = "file_overtaken"
    title = "Another request added a person of the file at the same time."
    cure = "Import the file again."
    sentence = Sentence("Nothing was imported. Import the file again.")


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
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    plan = make_plan(tx, file, by=by, now=now, is_update=is_update)
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
    figures_set, figures_known, wrong_figures = _set_days_left(tx, plan, file, by=by, now=now)
    if faults or wrong_figures:
        raise BadLines([*faults, *wrong_figures], file.lines, file.titles)
    # Imported approvers get their cards once their Slack accounts are known.
    slack_syncs.request(tx, by.organisation_id, now=now)
    progress(len(file.lines))
    return replace(_counts(plan), days_left_set=figures_set, days_left_known=figures_known)


def _counts(plan: Plan) -> Imported:
    created = sum(person.user is None for person in plan.people)
    updated = sum(person.is_changed for person in plan.people)
    return Imported(
        people_created=created,
        people_updated=updated,
        people_unchanged=len(plan.people) - created - updated,
        departments_created=len(plan.new_departments),
    )


def _days_left_columns(file: PeopleFile, config: OrganisationConfig) -> list[FieldError]:
    """The columns of days left whose allowance is not in use."""
    codes = {each.code for each in config.allowances.values() if not each.is_archived} | {""}
    usable = ", ".join(f"days_left:{code}" for code in sorted(codes - {""}))
    return [
        FieldError(
            pointer=f"/1/{column}",
            code="wrong_columns",
            detail=f"There is no allowance in use with this code. The columns are {usable}.",
        )
        for column in file.days_left_columns
        if days_left_code(column) not in codes
    ]


def _allowance_of(column: str, config: OrganisationConfig) -> str | None:
    code = days_left_code(column)
    if not code:
        return config.default_allowance_id
    return next((each.id for each in config.allowances.values() if each.code == code), None)


def _entry(person: PlannedPerson, column: str) -> Entry:
    return Entry(
        number=person.line.number,
        text=person.line.cells.get(column, ""),
        who=person.line.email,
        half_days=person.line.days_left[column],
    )


def _days_left_faults(
    person: PlannedPerson, file: PeopleFile, config: OrganisationConfig, now: datetime
) -> Iterable[FieldError]:
    """Figures that the person could not have, where nothing else is wrong in their line."""
    on, user = file.days_left_on, person.user
    if on is None or person.line.wrong or not person.line.email:
        return
    if user is None:
        if not {"first_name", "last_name"} <= person.values.keys():
            return
        user = people_changes.new_person(person.values, now=now)
    for column in person.line.days_left:
        allowance_id = _allowance_of(column, config)
        if allowance_id is None:
            continue
        cure = opening_figures.check_imported(
            config, _entry(person, column), user, on, allowance_id
        )
        if cure is not None:
            yield _fault(person, column, "invalid_days", str(cure))


def _set_days_left(
    tx: Transaction, plan: Plan, file: PeopleFile, *, by: Caller, now: datetime
) -> tuple[int, int, list[FieldError]]:
    """Save what people have left; how many figures are new and known, and those that are wrong."""
    on = file.days_left_on
    if on is None:
        return 0, 0, []
    config = organisation_config.of_organisation(tx, by.organisation_id)
    ids = [person.id for person in plan.people if person.line.days_left]
    people_rows.lock(tx, by.organisation_id, sorted(ids))
    users = people_rows.of_ids(tx, by.organisation_id, ids)
    set_count = known_count = 0
    faults: list[FieldError] = []
    for column in file.days_left_columns:
        allowance_id = _allowance_of(column, config)
        assert allowance_id is not None
        figures = [
            (_entry(person, column), users[person.id])
            for person in plan.people
            if column in person.line.days_left
        ]
        try:
            table = opening_figures.save_imported(
                tx,
                config,
                figures,
                on,
                allowance_id,
                reason_of=lambda half_days: _reason(half_days, on),
                by=by,
                now=now,
            )
        except InvalidInput as refusal:
            faults += [replace(each, pointer=f"/1/{column}") for each in refusal.errors]
            continue
        known = sum(figure.is_saved for figure in table.figures)
        known_count += known
        set_count += len(table.figures) - known
        faults += [_wrong_figure(bad, column) for bad in table.bad_lines]
    return set_count, known_count, faults


def _wrong_figure(bad: BadLine, column: str) -> FieldError:
    return FieldError(pointer=f"/{bad.number}/{column}", code="invalid_days", detail=str(bad.cure))


def _reason(half_days: Amount, on: date) -> str:
    """What the person reads in their ledger."""
    days = f"{float(half_days) / 2:.2f}".rstrip("0").rstrip(".")
    return f"{days} left on {on.day} {on:%B %Y}"


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
    new = [
        person.values | {"id": person.id, "figures": _figures_of(person)}
        for person in persons
        if person.user is None
    ]
    for start in range(0, len(new), INSERT_BATCH):
        people_changes.add_all(tx, new[start : start + INSERT_BATCH], "pending", by=by, now=now)
        progress(min(start + INSERT_BATCH, len(new)))
    config = organisation_config.of_organisation(tx, by.organisation_id)
    added = people_rows.of_ids(tx, by.organisation_id, [person["id"] for person in new])
    closure_leave.fill(tx, config, list(added.values()), by=by, now=now)
    return len(new)


def _figures_of(person: PlannedPerson) -> tuple[AllowanceFigure, ...]:
    """The figures of a new person, which count from their first day."""
    return tuple(
        AllowanceFigure(allowance_id=allowance_id, valid_from=None, half_days=half_days)
        for allowance_id, half_days in person.figures.items()
    )


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
        faults += _update(tx, person, person.values, figures=person.figures, by=by, now=now)
        progress(number)
    return faults


def _by_day(changes: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The changes by the day from which they count.

    Without ``effective_from`` an allowance counts for the present leave year, the rest from today.
    """
    name = "leave_allowance_half_days"
    others = {field: value for field, value in changes.items() if field != name}
    if name not in changes or "effective_from" in changes or not others:
        return [changes]
    return [others, {name: changes[name]}]


def _update(
    tx: Transaction,
    person: PlannedPerson,
    changes: Mapping[str, object],
    *,
    figures: Mapping[str, Amount] = MappingProxyType({}),
    by: Caller,
    now: datetime,
) -> list[FieldError]:
    """Raises ChangedMeanwhile."""
    number = person.line.number
    try:
        for each in _by_day(changes):
            people.update(tx, person.id, each, by=by, now=now)
        for allowance_id, half_days in figures.items():
            allowances.set_figure(
                tx,
                person.id,
                allowance_id,
                half_days,
                effective_from=person.figures_from,
                by=by,
                now=now,
            )
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
