"""Absence limits: how many people of a group may be away at the same time, as admins set them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, get_args

from storage.admin.effects import Effects, EffectsRecorder
from storage.base import fields, texts
from storage.base.errors import Conflict, FieldError, InvalidInput, Sentence
from storage.base.ids import new_id
from storage.base.leave_values import AbsenceLimit, Enforcement
from storage.base.values import Caller, local_day
from storage.db import rows
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import AbsenceLimitRow
from storage.leave import card_refreshes, limit_checks
from storage.outbox import organisation_config, resources
from storage.outbox.resources import Resource
from storage.people import department_rows, people_rows

MAX_LIMITS: Final = 50
MAX_PEOPLE: Final = 200
# Of people in a limit: more than an organisation has.
MAX_NUMBER: Final = 100_000


class TooManyAbsenceLimits(Conflict):
    """The organisation has reached the limit for absence limits."""

    code = "too_many_absence_limits"
    title = "There are too many absence limits."
    cure = "Delete one that is no longer needed."
    sentence = Sentence(
        "An organisation can have at most {most} absence limits. Delete one first.", most=MAX_LIMITS
    )


def _check_people(value: object, field: str) -> tuple[str, ...] | None:
    """Ids, each once. Raises InvalidInput ``too_short`` or ``too_long``."""
    if value is None:
        return None
    people = tuple(dict.fromkeys(map(str, value))) if isinstance(value, (list, tuple)) else ()
    if not people:
        raise InvalidInput.of(field, "too_short", "Choose at least one person.")
    if len(people) > MAX_PEOPLE:
        raise InvalidInput.of(
            field, "too_long", "An absence limit can name at most {most} people.", most=MAX_PEOPLE
        )
    return people


_LIMITS: Final = Resource(
    name="absence limit",
    table=AbsenceLimitRow,
    value=lambda _, row: limit_checks.limit_of_row(row),
    checks={
        "name": texts.name,
        "department_id": fields.unchecked,
        "user_ids": _check_people,
        "first_day": fields.unchecked,
        "last_day": fields.unchecked,
        "max_away": fields.optional(fields.whole_number(0, MAX_NUMBER)),
        "min_present": fields.optional(fields.whole_number(1, MAX_NUMBER)),
        "enforcement": fields.one_of(*get_args(Enforcement), code="not_one_of"),
        "is_active": fields.boolean,
    },
    actions=("absence_limit.created", "absence_limit.updated", "absence_limit.deleted"),
    audited_as={"first_day": "from", "last_day": "to"},
)
_DEFAULTS: Final[Mapping[str, Any]] = {
    "department_id": None,
    "user_ids": None,
    "first_day": None,
    "last_day": None,
    "max_away": None,
    "min_present": None,
    "enforcement": "block",
    "is_active": True,
}


def create(
    tx: Transaction,
    settings: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> AbsenceLimit:
    """Add a limit: ``name``, ``max_away`` or ``min_present``, and any other field.

    ``recorder`` of a dry run records how many requests it would have refused or warned of.

    Raises InsufficientRole, InvalidInput or TooManyAbsenceLimits.
    """
    resources.lock(tx, by=by)
    fields.require(settings, "name")
    values = fields.checked(settings, _LIMITS.checks)
    if len(all_of(tx, by.organisation_id)) >= MAX_LIMITS:
        raise TooManyAbsenceLimits
    limit = AbsenceLimit(
        **{**_DEFAULTS, **values}, id=new_id(now), created_at=now, updated_at=now, version=1
    )
    _check(tx, limit, by=by)
    _record_effects(tx, limit, recorder, by=by, now=now)
    resources.add(tx, _LIMITS, limit, rows.columns(limit), by=by, now=now)
    _refresh_cards(tx, [limit], by=by, now=now)
    return limit


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[AbsenceLimit]:
    """The organisation's limits, oldest first. Raises InsufficientRole or UnusableCursor."""
    return resources.page(tx, _LIMITS, page, by=by)


def get(tx: Transaction, limit_id: str, *, by: Caller) -> AbsenceLimit:
    """Raises InsufficientRole or NotFound."""
    return resources.get(tx, _LIMITS, limit_id, by=by)


def all_of(tx: Transaction, organisation_id: str) -> list[AbsenceLimit]:
    """All limits of an organisation, active or not, oldest first."""
    return resources.all_of(tx, _LIMITS, organisation_id, MAX_LIMITS)


def update(
    tx: Transaction,
    limit_id: str,
    changes: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> AbsenceLimit:
    """Change a limit; booked leave stays. Raises InsufficientRole, NotFound or InvalidInput.

    ``recorder`` as in ``create``.
    """
    resources.lock(tx, by=by)
    before = get(tx, limit_id, by=by)
    after = replace(before, **fields.checked(changes, _LIMITS.checks))
    if after == before:
        return before
    _check(tx, after, by=by)
    _record_effects(tx, after, recorder, by=by, now=now)
    columns = rows.columns(after)
    changed = {name: columns[name] for name in _LIMITS.checks}
    _refresh_cards(tx, [before, after], by=by, now=now)
    return resources.change(tx, _LIMITS, before, after, changed, by=by, now=now)


def delete(tx: Transaction, limit_id: str, *, by: Caller, now: datetime) -> None:
    """Delete a limit. Raises InsufficientRole or NotFound."""
    resources.lock(tx, by=by)
    limit = get(tx, limit_id, by=by)
    resources.remove(tx, _LIMITS, [limit], by=by, now=now)
    _refresh_cards(tx, [limit], by=by, now=now)


def delete_of_department(tx: Transaction, department_id: str, *, by: Caller, now: datetime) -> None:
    resources.remove_of_department(tx, _LIMITS, department_id, by=by, now=now)


def _refresh_cards(
    tx: Transaction, limits: Sequence[AbsenceLimit], *, by: Caller, now: datetime
) -> None:
    """Approvers see the limits that a request exceeds as they are now."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    for user_ids, department_id in {(each.user_ids, each.department_id) for each in limits}:
        card_refreshes.enqueue(
            tx, config=config, now=now, user_ids=user_ids, department_id=department_id
        )


def _record_effects(
    tx: Transaction,
    limit: AbsenceLimit,
    recorder: EffectsRecorder | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    if recorder is None:
        return
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    count = limit_checks.count_refused(tx, config, limit, today)
    is_refusing = limit.enforcement == "block"
    recorder.effects = Effects(refused=count) if is_refusing else Effects(warned=count)


def _check(tx: Transaction, limit: AbsenceLimit, *, by: Caller) -> None:
    """Raises InvalidInput for fields that contradict each other, unknown people or departments."""
    if limit.max_away is None and limit.min_present is None:
        raise InvalidInput.of(
            "max_away",
            "required",
            "Say how many may be away, or how many have to be at work.",
        )
    if limit.max_away is not None and limit.min_present is not None:
        raise InvalidInput.of(
            "min_present",
            "invalid_value",
            "A limit says how many may be away, or how many have to be at work, not both.",
        )
    if limit.department_id is not None and limit.user_ids is not None:
        raise InvalidInput.of(
            "user_ids",
            "invalid_value",
            "A limit is for a department or for certain people, not both.",
        )
    if limit.first_day and limit.last_day and limit.last_day < limit.first_day:
        raise InvalidInput.of("to", "to_before_from", "The last day is before the first day.")
    department_rows.check(tx, limit.department_id, by=by)
    _check_known(tx, limit.user_ids or (), by=by)


def _check_known(tx: Transaction, user_ids: tuple[str, ...], *, by: Caller) -> None:
    known = people_rows.of_ids(tx, by.organisation_id, user_ids) if user_ids else {}
    unknown = [number for number, user_id in enumerate(user_ids) if user_id not in known]
    if unknown:
        raise InvalidInput(
            [
                FieldError(
                    pointer=f"/user_ids/{number}",
                    code="not_found",
                    detail=Sentence("There is no such user."),
                )
                for number in unknown
            ]
        )
