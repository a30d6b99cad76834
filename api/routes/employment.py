"""`/users/{id}/employment`: the dated records of a person."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import ABSENT, Day, Listing, whole
from api.http.operations import Created, RequestContext, created, operation
from api.routes import effects
from api.routes.users import USERS, DatedFields, lock
from storage.admin import employment_records, people_status
from storage.base import errors
from storage.base.values import EmploymentRecord, Id, User, days_or_none
from storage.db.database import Transaction
from storage.people import people_changes

_PATH = "/users/{id}/employment"


_FIELD_RULES = ("after_end_date", "before_start_date", "not_found", "out_of_range")

_CHANGE_REFUSALS = (
    employment_records.EmploymentRecordExists,
    people_status.UserArchived,
    people_changes.ChangedMeanwhile,
)


class EmploymentRecordChanges(DatedFields):
    valid_from: Annotated[Day | None, Field(description="The first day of the record.")] = ABSENT


class NewEmploymentRecord(DatedFields):
    valid_from: Annotated[Day, Field(description="The first day of the record.")]


class DatedRecord(TypedDict):
    """What counts for a person from a day on, until the next record begins."""

    id: Id
    valid_from: Annotated[
        date | None,
        Field(description="The first day; of the first record `start_date`, or null without one."),
    ]
    working_days: Annotated[
        list[str],
        Field(
            description="`monday` to `sunday`, or `friday:am` if only that half is worked.",
            examples=[["monday", "tuesday", "wednesday"]],
        ),
    ]
    leave_allowance: Annotated[
        float | None,
        Field(
            description="Days for a whole leave year, of which the record gives its part by "
            "calendar days; null for the department's or organisation's allowance."
        ),
    ]
    public_holiday_country_code: str | None
    department_id: Id | None


@operation("GET", _PATH, tag=USERS, kind="user", refusals=(errors.InsufficientRole,))
def list_all(tx: Transaction, context: RequestContext) -> Listing[DatedRecord]:
    """List employment records.

    What counts for the person from which day on: each record is valid from its `valid_from` until
    the next one. The first begins with `start_date`, or is null without one. The list is in that
    order and is not paged; the user shows today's record. For the person, their approvers, admins
    and owners.
    """
    user, records = employment_records.of_person(tx, context.id, by=context.caller, now=context.now)
    return whole([_shown(tx, context, user, record) for record in records])


@operation(
    "POST",
    _PATH,
    tag=USERS,
    role="admin",
    kind="user",
    dry_run=effects.shown,
    refusals=(*_CHANGE_REFUSALS, employment_records.TooManyRecords),
    rules=_FIELD_RULES,
    example={
        "valid_from": "2026-06-01",
        "working_days": ["monday", "tuesday", "wednesday"],
        "leave_allowance": 15,
    },
)
def create(
    tx: Transaction, context: RequestContext, body: NewEmploymentRecord
) -> Created[DatedRecord]:
    """Add an employment record.

    From `valid_from`, which may be in the past, until the next record begins. Fields that are not
    sent are as in the record before it. Pending and approved leave on days whose working days or
    public holidays change is recalculated in the same step, past days included. To change fields
    from a day on, also in later records, use `effective_from` when you change the user.
    """
    user, record = employment_records.add(
        tx,
        context.id,
        body.sent(),
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )
    return created(
        f"/api/v1/users/{context.id}/employment/{record.id}", _shown(tx, context, user, record)
    )


@operation(
    "GET",
    _PATH + "/{record_id}",
    tag=USERS,
    kind="employment record",
    is_resource=True,
    refusals=(errors.InsufficientRole,),
)
def get(tx: Transaction, context: RequestContext) -> DatedRecord:
    """Read an employment record.

    For the person, their approvers, admins and owners.
    """
    user, record = employment_records.get(
        tx, context.id, context.ids["record_id"], by=context.caller, now=context.now
    )
    return _shown(tx, context, user, record)


@operation(
    "PATCH",
    _PATH + "/{record_id}",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    lock=lock,
    refusals=_CHANGE_REFUSALS,
    rules=(*_FIELD_RULES, "first_record_start", "required"),
    example={"valid_from": "2026-07-01"},
)
def update(tx: Transaction, context: RequestContext, body: EmploymentRecordChanges) -> DatedRecord:
    """Correct an employment record.

    Changes this record only; omitted fields stay unchanged. `valid_from` moves the record, except
    the first one, which begins with `start_date`. Pending and approved leave on days whose working
    days or public holidays change is recalculated in the same step, past days included.
    """
    user, record = employment_records.update(
        tx,
        context.id,
        context.ids["record_id"],
        body.sent(),
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )
    return _shown(tx, context, user, record)


@operation(
    "DELETE",
    _PATH + "/{record_id}",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    lock=lock,
    refusals=(
        employment_records.FirstEmploymentRecord,
        people_status.UserArchived,
        people_changes.ChangedMeanwhile,
    ),
)
def remove(tx: Transaction, context: RequestContext) -> None:
    """Delete an employment record.

    The record before it counts until the next one; the first record cannot be deleted. Pending and
    approved leave on days whose working days or public holidays change is recalculated in the same
    step, past days included.
    """
    employment_records.remove(
        tx,
        context.id,
        context.ids["record_id"],
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )


def _shown(
    tx: Transaction, context: RequestContext, user: User, record: EmploymentRecord
) -> DatedRecord:
    working_days = record.working_days or context.config(tx).organisation.working_days
    return {
        "id": record.id,
        "valid_from": employment_records.shown_from(user, record),
        "working_days": list(working_days),
        "leave_allowance": days_or_none(record.leave_allowance_half_days),
        "public_holiday_country_code": record.public_holiday_country_code,
        "department_id": record.department_id,
    }


OPERATIONS = (list_all, create, get, update, remove)
