"""Allowances, the pots of days that leave draws on: created, read, changed, archived or deleted.

Their terms are dated: a change counts from a day on, and leave years before it keep theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final

from peewee import Select

from storage.admin import dated_terms, effects, people, people_status, person_changes
from storage.admin.effects import EffectsRecorder
from storage.base import fields, texts
from storage.base.allowance_values import (
    Allowance,
    AllowanceTerms,
    Amount,
)
from storage.base.amounts import check_amount
from storage.base.errors import CodeTaken, Conflict, NotFound
from storage.base.event_values import AuditAction
from storage.base.fields import Checked
from storage.base.ids import new_id
from storage.base.values import Caller, User, local_day
from storage.db import locks, rows
from storage.db.compiled import Param, Table, compiled
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import AllowanceAdjustmentRow, AllowanceRow, TimeCreditRow, UserRow
from storage.leave import card_refreshes
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, people_rows
from storage.rules import leave_type_fields, roles

MAX_ALLOWANCES: Final = 20
# With archived ones.
_MAX_STORED: Final = 100


_OF_ALLOWANCE: Final[Mapping[str, fields.Check]] = {
    "name": texts.name,
    "code": leave_type_fields.CHECKS["code"],
    "earnable": fields.boolean,
    "is_archived": fields.boolean,
}


class TooManyAllowances(Conflict):
    """The organisation has reached the limit for allowances."""

    code = "too_many_allowances"
    title = "There are too many allowances."
    cure = "Archive one that is no longer needed, then add or restore this one."

    def __init__(self) -> None:
        super().__init__(
            "An organisation can have at most {most} allowances in use. Archive one first.",
            most=MAX_ALLOWANCES,
        )


class DefaultAllowance(Conflict):
    """The default allowance is always there."""

    code = "default_allowance"
    title = "The default allowance cannot be archived or deleted."
    cure = "Change its terms, or let leave types draw on another allowance."

    def __init__(self) -> None:
        super().__init__("Every organisation has a default allowance.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """An allowance and its terms of today."""

    allowance: Allowance
    terms: AllowanceTerms


def page(tx: Transaction, page: PageOf, *, by: Caller, now: datetime) -> Page[Shown]:
    """The organisation's allowances, oldest first: the default one, then others.

    Raises UnusableCursor.
    """
    config = organisation_config.of_organisation(tx, by.organisation_id)
    bound_to = ("allowances", by.organisation_id)
    after = position(tx, page, *bound_to)
    found = sorted(config.allowances.values(), key=lambda allowance: allowance.id)
    after_it = [each for each in found if after is None or each.id > str(after[0])]
    show = _shows(config, now)
    return page_of(
        tx, page, after_it[: page.limit + 1], show, lambda allowance: [allowance.id], *bound_to
    )


def get(tx: Transaction, allowance_id: str, *, by: Caller, now: datetime) -> Shown:
    """Raises NotFound."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return _shows(config, now)(find(config, allowance_id))


def find(config: OrganisationConfig, allowance_id: str) -> Allowance:
    """Raises NotFound."""
    allowance = config.allowances.get(allowance_id)
    if allowance is None:
        raise NotFound("allowance")
    return allowance


def _shows(config: OrganisationConfig, now: datetime) -> Callable[[Allowance], Shown]:
    today = local_day(now, config.organisation.timezone)

    def show(allowance: Allowance) -> Shown:
        terms = allowance_terms.terms_on(config, allowance.id, today)
        return Shown(allowance=allowance, terms=terms)

    return show


def create(tx: Transaction, settings: Mapping[str, object], *, by: Caller, now: datetime) -> Shown:
    """Add an allowance: ``name`` and any other field of ``update``; the terms count at any time.

    By default no days are granted. Raises InsufficientRole, InvalidInput, NameTaken, CodeTaken or
    TooManyAllowances; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    fields.require(settings, "name")
    values = fields.checked(settings, {**_OF_ALLOWANCE, **dated_terms.OF_TERMS})
    locks.organisation(tx, by.organisation_id)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    first = AllowanceTerms(
        **{"half_days_per_year": None, **_only(values, dated_terms.OF_TERMS)},
        id=new_id(now),
        valid_from=None,
    )
    name = values["name"]
    allowance = Allowance(
        **{
            "code": texts.slug_of(name, leave_type_fields.MAX_CODE_LENGTH) or "allowance",
            "earnable": False,
            "is_archived": False,
            **_only(values, _OF_ALLOWANCE),
        },
        id=new_id(now),
        is_default=False,
        terms=(first,),
        created_at=now,
        updated_at=now,
        version=1,
    )
    _check_is_free(config, None, allowance)
    if len(config.allowances) >= _MAX_STORED:
        raise TooManyAllowances
    _insert(tx, allowance, by=by)
    _record(tx, "allowance.created", None, allowance, by=by, now=now)
    return get(tx, allowance.id, by=by, now=now)


def update(
    tx: Transaction,
    allowance_id: str,
    changes: Mapping[str, object],
    *,
    effective_from: date | None = None,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> Shown:
    """Change an allowance; its terms from a day on (None: as ``allowance_terms.effective_from``).
    Later terms keep what differs from the terms that are changed.

    Raises NotFound, InsufficientRole, InvalidInput, NameTaken, CodeTaken, TooManyAllowances,
    TooManyTerms or DefaultAllowance; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    values = fields.checked(changes, {**_OF_ALLOWANCE, **dated_terms.OF_TERMS})
    locks.organisation(tx, by.organisation_id)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    before = find(config, allowance_id)
    after = replace(before, **_only(values, _OF_ALLOWANCE))
    if after.is_default and after.is_archived:
        raise DefaultAllowance
    _check_is_free(config, before, after)
    after = dated_terms.with_terms(
        config, after, _only(values, dated_terms.OF_TERMS), effective_from, now=now
    )
    save(tx, config, before, after, by=by, now=now, recorder=recorder)
    return get(tx, allowance_id, by=by, now=now)


def save(
    tx: Transaction,
    config: OrganisationConfig,
    before: Allowance,
    after: Allowance,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None,
) -> None:
    """Write a changed allowance with its audit entry; the organisation is locked."""
    if after == before:
        return
    people: list[User] = []
    if recorder is not None and after.terms != before.terms:
        today = local_day(now, config.organisation.timezone)
        people = people_rows.not_archived(tx, by.organisation_id, limit=effects.MAX_CHECKED)
        changed_days = [terms.valid_from or date.min for terms in {*after.terms} ^ {*before.terms}]
        recorder.read_balances_before(
            tx, config, people, today=today, until=max(changed_days, default=today)
        )
    after = replace(after, updated_at=now, version=before.version + 1)
    if before.version == 0:
        _insert(tx, after, by=by)
    else:
        key = {"organisation_id": by.organisation_id, "id": before.id}
        tx.update(AllowanceRow, _columns(after), **key)
    is_archival = after.is_archived and not before.is_archived
    action: AuditAction = "allowance.archived" if is_archival else "allowance.updated"
    _record(tx, action, before, after, by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    if (after.terms, after.name) != (before.terms, before.name):
        card_refreshes.enqueue(tx, config=config, now=now)
    if recorder is not None:
        changed = recorder.balance_changes(tx, config, people)
        overdrawn = effects.overdrawn(changed)
        recorder.effects = replace(
            recorder.effects,
            changes_allowances=after.terms != before.terms,
            rebalanced=len({each.user_id for each in changed}),
            balances=effects.worst_first(changed),
            overdrawn=overdrawn,
        )


def delete(tx: Transaction, allowance_id: str, *, by: Caller, now: datetime) -> Allowance | None:
    """Remove an allowance that nothing has ever drawn on (None), archive any other.

    Raises NotFound, InsufficientRole or DefaultAllowance.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    allowance = find(config, allowance_id)
    if allowance.is_default:
        raise DefaultAllowance
    if not _is_used(tx, config, allowance):
        tx.delete(AllowanceRow, organisation_id=by.organisation_id, id=allowance.id)
        _record(tx, "allowance.deleted", allowance, None, by=by, now=now)
        return None
    archived = replace(allowance, is_archived=True)
    save(tx, config, allowance, archived, by=by, now=now, recorder=None)
    return archived


def _is_used(tx: Transaction, config: OrganisationConfig, allowance: Allowance) -> bool:
    drawn_on = {
        id
        for leave_type in config.leave_types.values()
        for id in (
            leave_type.allowance_id,
            *(use.allowance_id for use in leave_type.allowance_uses),
        )
    }
    organisation_id = config.organisation.id
    return (
        allowance.id in drawn_on
        or _has_any(tx, AllowanceAdjustmentRow, organisation_id, allowance.id)
        or _has_any(tx, TimeCreditRow, organisation_id, allowance.id)
        or tx.first(_any_figure, organisation_id=organisation_id, like=f"%{allowance.id}%")
        is not None
    )


def _has_any(tx: Transaction, table: Table, organisation_id: str, allowance_id: str) -> bool:
    found = tx.select_page(
        table, after_id=None, limit=1, organisation_id=organisation_id, allowance_id=allowance_id
    )
    return bool(found)


def delete_terms(
    tx: Transaction,
    allowance_id: str,
    terms_id: str,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> None:
    """Take back terms that do not count yet. Raises InsufficientRole, NotFound or TermsInForce."""
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    allowance = find(config, allowance_id)
    terms = dated_terms.find_terms(allowance, terms_id)
    today = local_day(now, config.organisation.timezone)
    if terms.valid_from is None or terms.valid_from <= today:
        raise dated_terms.TermsInForce(terms.valid_from)
    after = replace(allowance, terms=tuple(each for each in allowance.terms if each.id != terms_id))
    save(tx, config, allowance, after, by=by, now=now, recorder=recorder)


def set_figure(
    tx: Transaction,
    user_id: str,
    allowance_id: str,
    half_days: Amount | None,
    *,
    effective_from: date | None = None,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> User:
    """Give a person a figure of their own in an allowance, or with None that of its terms.

    It counts from a day on (None: as ``allowance_terms.effective_from``). That of the default
    allowance is their ``leave_allowance``. Raises the errors of ``people.update``.
    """
    if allowance_id == by.organisation_id:
        changes: dict[str, object] = {"leave_allowance_half_days": half_days}
        if effective_from is not None:
            changes["effective_from"] = effective_from
        return people.update(tx, user_id, changes, by=by, now=now, recorder=recorder)
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    people_status.check_may_manage(by, user, None)
    if user.status == "archived":
        raise people_status.UserArchived
    config = organisation_config.of_organisation(tx, by.organisation_id)
    find(config, allowance_id)
    if half_days is not None:
        check_amount(half_days, "half_days_per_year")
    after = dated_terms.with_figure(config, user, allowance_id, half_days, effective_from, now=now)
    if after == user:
        return user
    return person_changes.write(
        tx, config, user, after, "user.updated", by=by, now=now, recorder=recorder
    )


def _only(values: Checked, checks: Mapping[str, fields.Check]) -> Checked:
    return {name: value for name, value in values.items() if name in checks}


def _check_is_free(config: OrganisationConfig, before: Allowance | None, after: Allowance) -> None:
    """Raises NameTaken, CodeTaken or TooManyAllowances. Archived ones keep only their code."""
    others = [each for each in config.allowances.values() if each.id != after.id]
    if after.code in {each.code for each in others}:
        raise CodeTaken(after.code)
    if after.is_archived:
        return
    in_use = [each for each in others if not each.is_archived]
    texts.check_is_free(after.name, ((each.id, each.name) for each in in_use), after.id)
    if (before is None or before.is_archived) and len(in_use) >= MAX_ALLOWANCES:
        raise TooManyAllowances


def _insert(tx: Transaction, allowance: Allowance, *, by: Caller) -> None:
    tx.insert(AllowanceRow, organisation_id=by.organisation_id, **_columns(allowance))


def _columns(allowance: Allowance) -> dict[str, Any]:
    """The columns; the first terms of the default allowance are the organisation's."""
    if allowance.is_default:
        allowance = replace(allowance, terms=allowance.terms[1:])
    return rows.columns(allowance)


def _record(
    tx: Transaction,
    action: AuditAction,
    before: Allowance | None,
    after: Allowance | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    audit.record_shown(tx, action, "allowance", before, after, _audited, by=by, now=now)
    organisation_config.changed(tx, by.organisation_id)


def _audited(allowance: Allowance) -> dict[str, object]:
    """What the audit trail shows: the fields, and the terms of each day."""
    shown: dict[str, object] = {name: getattr(allowance, name) for name in _OF_ALLOWANCE}
    shown["terms"] = [dated_terms.terms_in_days(terms) for terms in allowance.terms]
    return shown


@compiled
def _any_figure(organisation_id: Param[str], like: Param[str]) -> Select:
    of_organisation = UserRow.organisation_id == organisation_id
    return UserRow.select(UserRow.id).where(of_organisation, UserRow.figures**like).limit(1)
