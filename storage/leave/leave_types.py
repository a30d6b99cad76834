"""Leave types: created, read, changed, archived or deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from peewee import Select

from storage.base import fields, ids, texts
from storage.base.allowance_values import AllowanceUse
from storage.base.errors import CodeTaken, Conflict, InvalidInput, NotFound, Sentence
from storage.base.event_values import AuditAction
from storage.base.fields import Checked
from storage.base.ids import new_id
from storage.base.leave_values import LeaveType, SecondApproval
from storage.base.texts import slug_of
from storage.base.values import Caller, local_day, record
from storage.db import locks, pages, rows
from storage.db.compiled import Param, Table, compiled
from storage.db.database import DuplicateRow, Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import AmendmentRow, ClosureRow, LeaveRequestRow, LeaveTypeRow
from storage.leave import card_refreshes
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, people_changes, people_rows
from storage.rules import dated, leave_type_fields, roles

# Typed text is compared with the names of all types in use.
MAX_LEAVE_TYPES: Final = 50
# Fields that approval cards show or depend on.
_CARD_FIELDS: Final = (
    *("name", "names", "is_private", "is_away"),
    *("deducts_allowance", "allowance_id", "allowance_uses"),
)
# Fields that calendar events show.
_EVENT_FIELDS: Final = ("name", "colour", "is_private", "is_away")


class TooManyLeaveTypes(Conflict):
    """The organisation has reached the limit for leave types in use."""

    code = "too_many_leave_types"
    title = "There are too many leave types."
    cure = "Archive one that is no longer requested, then add or restore this one."
    sentence = Sentence(
        "An organisation can have at most {most} leave types in use. Archive one first.",
        most=MAX_LEAVE_TYPES,
    )


def add_defaults(tx: Transaction, *, by: Caller, now: datetime) -> None:
    """Give a new organisation its first types."""
    for leave_type in leave_type_fields.OF_NEW_ORGANISATION:
        create(tx, leave_type, by=by, now=now)


def create(
    tx: Transaction, fields_of_type: Mapping[str, object], *, by: Caller, now: datetime
) -> LeaveType:
    """Add a type: ``name`` and any other field of ``update``.

    The default code is made from the name; `leave_type_fields` has the others. Raises
    InsufficientRole, InvalidInput, CodeTaken, NameTaken or TooManyLeaveTypes; then nothing has
    changed.
    """
    roles.check_role(by.role, "admin")
    fields.require(fields_of_type, "name")
    values = fields.checked(fields_of_type, leave_type_fields.CHECKS)
    values.setdefault("code", slug_of(values["name"], leave_type_fields.MAX_CODE_LENGTH) or "leave")
    # Of two concurrent calls with the same name, the second waits and then sees the first.
    locks.organisation(tx, by.organisation_id)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    drawn_on = _drawn_on(config, values, config.default_allowance_id)
    _check_second_approver(tx, None, values.get("second_approval"), by=by)
    leave_type = LeaveType(
        **{**leave_type_fields.DEFAULTS, **values}
        | {"allowance_id": drawn_on, "deducts_allowance": drawn_on is not None},
        id=new_id(now),
        created_at=now,
        updated_at=now,
        version=1,
    )
    _check_code_is_free(tx, leave_type.code, by=by)
    if not leave_type.is_archived:
        _check_use(tx, None, leave_type, by=by)
    try:
        tx.insert(LeaveTypeRow, organisation_id=by.organisation_id, **rows.columns(leave_type))
    except DuplicateRow as error:
        raise CodeTaken(leave_type.code) from error
    _record(tx, "leave_type.created", None, leave_type, by=by, now=now)
    return leave_type


def get(tx: Transaction, leave_type_id: str, *, by: Caller, for_update: bool = False) -> LeaveType:
    """One type, archived or not. Raises NotFound. ``for_update``: locked for this transaction."""
    if ids.is_id(leave_type_id):
        # The strongest lock: a request that is about to refer to this type has to wait.
        lock = "FOR UPDATE" if for_update else ""
        row = tx.find(LeaveTypeRow, lock, organisation_id=by.organisation_id, id=leave_type_id)
        if row is not None:
            return rows.leave_type(row)
    raise NotFound("leave type")


def update(
    tx: Transaction,
    leave_type_id: str,
    changes: Mapping[str, object],
    *,
    effective_from: date | None = None,
    by: Caller,
    now: datetime,
) -> LeaveType:
    """Change fields; ``is_archived`` false restores a type. Requests keep their counted days.

    Leave that begins on ``effective_from`` (by default today) or later draws on another allowance,
    if that is changed. The type is returned as it is today. Raises NotFound, InsufficientRole,
    InvalidInput, CodeTaken, NameTaken or TooManyLeaveTypes; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    before = get(tx, leave_type_id, by=by, for_update=True)
    if changes.get("emoji") == before.emoji:
        # An older type may keep an emoji that is invalid today.
        changes = {name: value for name, value in changes.items() if name != "emoji"}
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    values = fields.checked(changes, leave_type_fields.CHECKS)
    allowance_terms.check_effective_from(effective_from or today, today)
    after = _drawing(config, before, values, effective_from or today)
    after = replace(after, **values)
    _check_second_approver(tx, before.second_approval, after.second_approval, by=by)
    if after == before:
        return config.leave_type_as_of(before, today)
    if _may_clash(before, after):
        _check_use(tx, before, after, by=by)
    if after.code != before.code:
        _check_code_is_free(tx, after.code, by=by)
    action: AuditAction = (
        "leave_type.archived" if _is_archival(before, after) else "leave_type.updated"
    )
    saved = _save(tx, before, after, action, by=by, now=now)
    if any(getattr(after, name) != getattr(before, name) for name in _CARD_FIELDS):
        config = organisation_config.of_organisation(tx, by.organisation_id)
        card_refreshes.enqueue(tx, config=config, now=now)
    return config.leave_type_as_of(saved, today)


def _drawing(
    config: OrganisationConfig, before: LeaveType, values: Checked, day: date
) -> LeaveType:
    """The type with the allowance that its leave draws on from a day on.

    Takes ``deducts_allowance`` and ``allowance_id`` out of the values. Raises InvalidInput.
    """
    drawn_before = config.allowance_of_type(before, day)
    drawn_on = _drawn_on(config, values, drawn_before)
    values.pop("deducts_allowance", None)
    values.pop("allowance_id", None)
    if drawn_on == drawn_before:
        return before
    first = AllowanceUse(valid_from=None, allowance_id=config.allowance_of_type(before, date.min))
    uses = dated.without_repeated(
        dated.changed_from(
            before.allowance_uses or (first,),
            AllowanceUse(valid_from=day, allowance_id=drawn_before),
            AllowanceUse(valid_from=day, allowance_id=drawn_on),
            {"allowance_id": drawn_on},
        )
    )
    newest = uses[-1].allowance_id
    return replace(
        before,
        allowance_uses=uses,
        allowance_id=newest,
        deducts_allowance=newest is not None,
    )


def _drawn_on(config: OrganisationConfig, values: Checked, drawn_before: str | None) -> str | None:
    """The allowance that leave of a type with these values draws on; None for none.

    Raises InvalidInput ``unknown_allowance`` or ``contradicts_deducts_allowance``.
    """
    deducts = values.get("deducts_allowance", drawn_before is not None)
    if "allowance_id" not in values:
        return (drawn_before or config.default_allowance_id) if deducts else None
    chosen: str | None = values["allowance_id"]
    if "deducts_allowance" in values and deducts != (chosen is not None):
        raise InvalidInput.of(
            "allowance_id",
            "contradicts_deducts_allowance",
            "Leave that deducts draws on an allowance, other leave on none.",
        )
    allowance = None if chosen is None else config.allowances.get(chosen)
    is_usable = allowance is not None and (not allowance.is_archived or chosen == drawn_before)
    if chosen is not None and not is_usable:
        raise InvalidInput.of(
            "allowance_id",
            "unknown_allowance",
            "There is no allowance with this id in use. GET /api/v1/allowances lists them.",
        )
    return chosen


def _check_second_approver(
    tx: Transaction, before: SecondApproval | None, after: SecondApproval | None, *, by: Caller
) -> None:
    """Raises InvalidInput unless a newly named person exists and is not archived."""
    user_id = None if after is None else after.user_id
    if user_id is None or (before is not None and before.user_id == user_id):
        return
    user = people_rows.find(tx, by.organisation_id, user_id)
    field = "second_approval/by"
    if user is None:
        raise InvalidInput.of(field, "unknown_user", "There is no such user.")
    if user.status == "archived":
        raise InvalidInput.of(field, "person_archived", "This person is archived.")


def delete(tx: Transaction, leave_type_id: str, *, by: Caller, now: datetime) -> LeaveType | None:
    """Remove a type that no request ever had (None), archive any other (the archived type).

    Raises NotFound or InsufficientRole.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    leave_type = get(tx, leave_type_id, by=by, for_update=True)
    if not any(
        tx.first(_use, table=table, organisation_id=by.organisation_id, leave_type_id=leave_type.id)
        for table in (LeaveRequestRow, AmendmentRow, ClosureRow)
    ):
        if not tx.delete(LeaveTypeRow, organisation_id=by.organisation_id, id=leave_type.id):
            raise people_changes.ChangedMeanwhile
        _record(tx, "leave_type.deleted", leave_type, None, by=by, now=now)
        return None
    if leave_type.is_archived:
        return leave_type
    archived = replace(leave_type, is_archived=True)
    return _save(tx, leave_type, archived, "leave_type.archived", by=by, now=now)


def page(
    tx: Transaction, page: PageOf, *, by: Caller, is_archived: bool | None = None
) -> Page[LeaveType]:
    """One page of the types, archived ones or not or both, oldest first. Raises UnusableCursor."""
    return pages.by_id(
        tx,
        page,
        LeaveTypeRow,
        rows.leave_type,
        "leave_types",
        by.organisation_id,
        is_archived=is_archived,
    )


def by_word(config: OrganisationConfig, word: str) -> LeaveType:
    """The type with that id, code or name, case-insensitive.

    Prefers a type in use to an archived one of the same name. Raises InvalidInput
    ``unknown_leave_type`` at ``/leave_type``.
    """
    key = word.strip().casefold()
    leave_type = config.leave_types.get(key)
    if leave_type is not None:
        return leave_type
    types = config.leave_types.values()
    matches = [t for t in types if t.code == key] or sorted(
        (t for t in types if t.name.casefold() == key), key=lambda t: (t.is_archived, t.id)
    )
    if not matches:
        raise InvalidInput.of(
            "leave_type",
            "unknown_leave_type",
            "There is no leave type {word}. Use one of {codes} (GET /api/v1/leave-types).",
            word=repr(word),
            codes=config.leave_type_codes,
        )
    return matches[0]


def _is_archival(before: LeaveType, after: LeaveType) -> bool:
    return after.is_archived and not before.is_archived


def _may_clash(before: LeaveType, after: LeaveType) -> bool:
    """Whether the change makes the type use a name that it did not use before."""
    if after.is_archived:
        return False
    return before.is_archived or texts.name_key(after.name) != texts.name_key(before.name)


def _check_use(tx: Transaction, before: LeaveType | None, after: LeaveType, *, by: Caller) -> None:
    """Checks a type that comes into use, or its new name.

    Raises NameTaken or TooManyLeaveTypes. Names of archived types may be used again.
    """
    in_use = tx.select(LeaveTypeRow, organisation_id=by.organisation_id, is_archived=False)
    texts.check_is_free(after.name, [(row.id, row.name) for row in in_use], after.id)
    is_added = before is None or before.is_archived
    if is_added and len(in_use) >= MAX_LEAVE_TYPES:
        raise TooManyLeaveTypes


def _check_code_is_free(tx: Transaction, code: str, *, by: Caller) -> None:
    if tx.find(LeaveTypeRow, organisation_id=by.organisation_id, code=code) is not None:
        raise CodeTaken(code)


def _save(
    tx: Transaction,
    before: LeaveType,
    after: LeaveType,
    action: AuditAction,
    *,
    by: Caller,
    now: datetime,
) -> LeaveType:
    after = replace(after, updated_at=now, version=before.version + 1)
    where = {"organisation_id": by.organisation_id, "id": before.id, "version": before.version}
    try:
        changed = tx.update(LeaveTypeRow, rows.changes(after), **where)
    except DuplicateRow as error:
        raise CodeTaken(after.code) from error
    if not changed:
        raise people_changes.ChangedMeanwhile
    _record(tx, action, before, after, by=by, now=now)
    if any(getattr(before, name) != getattr(after, name) for name in _EVENT_FIELDS):
        organisation_config.raise_feed_sequence(tx, by.organisation_id, now=now)
    return after


def _record(
    tx: Transaction,
    action: AuditAction,
    before: LeaveType | None,
    after: LeaveType | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    audit.record_shown(tx, action, "leave_type", before, after, _audited, by=by, now=now)
    organisation_config.changed(tx, by.organisation_id)


def _audited(leave_type: LeaveType) -> dict[str, object]:
    shown = {name: getattr(leave_type, name) for name in leave_type_fields.CHECKS}
    if leave_type.second_approval is not None:
        shown["second_approval"] = record(leave_type.second_approval)
    return shown


@compiled
def _use(table: Table, organisation_id: Param[str], leave_type_id: Param[str]) -> Select:
    """Whether a row of the table refers to the leave type."""
    return (
        table.select(table.id)
        .where(table.organisation_id == organisation_id, table.leave_type_id == leave_type_id)
        .limit(1)
    )
