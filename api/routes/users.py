"""`/users`: the people of the organisation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from api.http.fields import (
    ABSENT,
    CODES_OF_NAMES,
    MAX_PAGE,
    NO_NUL,
    Body,
    CountryCode,
    Day,
    Days,
    Name,
    PagedOnRequest,
    PaginationRecord,
    UpdatedSince,
    Uuid,
    Word,
    WorkingDays,
    in_half_days,
    pagination,
)
from api.http.operations import (
    Created,
    RequestContext,
    Result,
    Tag,
    created,
    lock_organisation,
    operation,
)
from api.routes import effects
from storage.admin import employment_records, erasure, people, people_status
from storage.base import errors, texts
from storage.base.errors import InvalidInput
from storage.base.values import (
    About,
    EmploymentPeriod,
    Id,
    Role,
    User,
    UserStatus,
    UserSummaryRecord,
    days_or_none,
    local_day,
    user_summary,
)
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.people import approvers, people_changes, people_lists, people_rows
from storage.workspaces import slack_profiles

USERS = Tag(
    "Users",
    "The people of the organisation: roles, managers, working days, holidays. Archived people stay "
    "on record.",
    "users",
)

VARIANT_HEADER = {
    "name": "API-Variant",
    "in": "header",
    "description": "The shape of the response, instead of the API key's own variant.",
    "schema": {"type": "string", "enum": ["1", "2"]},
}

_RULES = ("end_date_before_start_date", "manager_archived", "manager_cycle", "not_found")


Email = Annotated[str, Field(max_length=254, json_schema_extra={"format": "email"}), NO_NUL]


EmployeeNumber = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=texts.MAX_EMPLOYEE_NUMBER_LENGTH
    ),
    CODES_OF_NAMES,
    NO_NUL,
]


class DatedFields(Body):
    """What employment records date; a user has the fields of today's record."""

    working_days: Annotated[
        WorkingDays | None, Field(description="Null for the organisation's working days.")
    ] = ABSENT
    leave_allowance: Annotated[
        Days | None,
        Field(description="Days a year; null for the department's or organisation's allowance."),
    ] = ABSENT
    public_holiday_country_code: CountryCode | None = ABSENT
    department_id: Uuid | None = ABSENT

    def sent(self) -> dict[str, Any]:
        return in_half_days(super().sent(), "leave_allowance")


class UserFields(DatedFields):
    first_name: Name = ABSENT
    last_name: Name = ABSENT
    role: Role = ABSENT
    manager_id: Uuid | None = ABSENT
    job_title: Name | None = ABSENT
    employee_number: Annotated[
        EmployeeNumber | None,
        Field(
            description="The number by which payroll knows the person. Two people have the same "
            "one only if one of them is archived.",
            examples=["10042"],
        ),
    ] = ABSENT
    start_date: Annotated[
        Day | None,
        Field(
            description="The first day of employment. Leave before it is cancelled or shortened."
        ),
    ] = ABSENT
    end_date: Annotated[
        Day | None,
        Field(
            description="The last day of employment. Leave after it is cancelled or shortened, "
            "and the person is archived on the day after."
        ),
    ] = ABSENT


class UserChanges(UserFields):
    effective_from: Annotated[
        Day,
        Field(
            description="The day from which `working_days`, `leave_allowance`, "
            "`public_holiday_country_code` and `department_id` change, past or future; today if "
            "omitted, and for `leave_allowance` alone the start of the current leave year."
        ),
    ] = ABSENT


class NewUser(UserFields):
    email: Email
    first_name: Name
    last_name: Name


class RestoredUser(Body):
    start_date: Annotated[
        Day | None,
        Field(description="The first day of a new employment, after the end of the one before it."),
    ] = None


class ListOfUsers(PagedOnRequest):
    status: Annotated[UserStatus | None, Field(description="Only users with this status.")] = None
    department_id: Annotated[Uuid | None, Field(description="Only people of this department.")] = (
        None
    )
    role: Annotated[Role | None, Field(description="Only people with this role.")] = None
    manager_id: Annotated[Uuid | None, Field(description="The manager they report to.")] = None
    email: Annotated[
        Word | None,
        Field(description="The full address, ignoring case.", examples=["ada@example.com"]),
    ] = None
    employee_number: Annotated[
        Word | None, Field(description="Admins and owners only.", examples=["10042"])
    ] = None
    updated_since: UpdatedSince = None
    sort: Annotated[
        Literal["created_at", "-created_at", "updated_at"],
        Field(
            description="The sort order; a minus sorts in descending order. With `updated_since` "
            "it is `updated_at` unless you send another one."
        ),
    ] = "created_at"

    @property
    def order(self) -> people_lists.Sort:
        is_chosen = "sort" in self.model_fields_set or self.updated_since is None
        return self.sort if is_chosen else "updated_at"


class UserRecord(TypedDict):
    """A person of the organisation."""

    id: Id
    email: Annotated[str, Field(json_schema_extra={"format": "email"})]
    first_name: Annotated[str, About(example="Ada")]
    last_name: Annotated[str, About(example="Lovelace")]
    role: Role
    status: UserStatus
    department_id: Id | None
    manager_id: Id | None
    job_title: str | None
    employee_number: Annotated[
        str | None,
        Field(
            description="By which payroll knows the person. Only the person, their approvers, "
            "admins and owners read it; for others it is null."
        ),
    ]
    start_date: date | None
    end_date: Annotated[
        date | None,
        Field(
            description="The last day of employment. Only the person, their approvers, admins and "
            "owners read it; for others it is null."
        ),
    ]
    earlier_employment: Annotated[
        tuple[EmploymentPeriod, ...],
        Field(
            description="Before the present one, of people who were hired again; oldest first. "
            "Only the person, their approvers, admins and owners read it; for others it is empty."
        ),
    ]
    working_days: Annotated[
        list[str],
        Field(
            description="`monday` to `sunday`, or `friday:am` if only that half is worked.",
            examples=[["monday", "tuesday", "wednesday", "thursday", "friday"]],
        ),
    ]
    public_holiday_country_code: str | None
    leave_allowance: Annotated[
        float | None,
        Field(
            description="Days per leave year; null for the department's or organisation's "
            "allowance. Only the person, their approvers, admins and owners read it; for others "
            "it is null."
        ),
    ]
    avatar_url: str | None
    is_active: bool
    created_at: datetime
    updated_at: datetime


class UserListing(TypedDict):
    """Users in variant 2."""

    users: list[UserSummaryRecord]


class PagedUserListing(TypedDict):
    """One page of users in either variant, if `limit` or `cursor` was sent."""

    data: list[UserRecord] | list[UserSummaryRecord]
    pagination: PaginationRecord


def _user_record(
    value: User, organisation_working_days: tuple[str, ...], *, shows_employment: bool
) -> UserRecord:
    """``shows_employment``: the reader may see number, last day and allowance."""
    allowance = days_or_none(value.leave_allowance_half_days)
    return {
        "id": value.id,
        "email": value.email,
        "first_name": value.first_name,
        "last_name": value.last_name,
        "role": value.role,
        "status": value.status,
        "department_id": value.department_id,
        "manager_id": value.manager_id,
        "job_title": value.job_title,
        "employee_number": value.employee_number if shows_employment else None,
        "start_date": value.start_date,
        "end_date": value.end_date if shows_employment else None,
        "earlier_employment": value.earlier_periods if shows_employment else (),
        "working_days": list(value.working_days or organisation_working_days),
        "public_holiday_country_code": value.public_holiday_country_code,
        "leave_allowance": allowance if shows_employment else None,
        "avatar_url": value.avatar_url,
        "is_active": value.status == "active",
        "created_at": value.created_at,
        "updated_at": value.updated_at,
    }


def lock(tx: Transaction, context: RequestContext) -> None:
    # In the order of changes of a person, to avoid deadlocks.
    lock_organisation(tx, context)
    people_rows.get(tx, context.id, by=context.caller, for_update=True)


@operation(
    "GET",
    "/users",
    tag=USERS,
    refusals=(errors.NotFound, errors.InsufficientRole),
    rules=("unknown_variant",),
    header_parameters=(VARIANT_HEADER,),
)
def list_all(
    tx: Transaction, context: RequestContext, query: ListOfUsers
) -> Result[list[UserRecord] | UserListing | PagedUserListing]:
    """List users.

    Users of every status, archived ones too, unless a filter narrows the list. The response is an
    array or, for API keys of variant 2, an object with the short shape. With `limit` or `cursor` it
    is a page in both variants. Without them it has at most 10,000 users; if there are more, the
    header `Link` with `rel="next"` leads to the next page. `employee_number`, `end_date` and
    `leave_allowance` are null unless the caller is the person, an approver of theirs, an admin or
    an owner.
    """
    variant = _variant(context)
    page = people_lists.page(
        tx,
        query.page if query.is_paged else PageOf(limit=people_lists.MAX_LIST),
        by=context.caller,
        status=query.status,
        department_id=query.department_id,
        role=query.role,
        manager_id=query.manager_id,
        email=query.email,
        employee_number=query.employee_number,
        updated_since=query.updated_since,
        sort=query.order,
    )
    headers = [] if query.is_paged else _link(context, query, page.next_cursor)
    if variant == "2":
        summaries = [user_summary(user) for user in page.items]
        if query.is_paged:
            return Result(body={"data": summaries, "pagination": pagination(page)})
        return Result(body={"users": summaries}, headers=headers)
    users = _shown(tx, context, page.items)
    if query.is_paged:
        return Result(body={"data": users, "pagination": pagination(page)})
    return Result(body=users, headers=headers)


@operation("GET", "/users/{id}", tag=USERS, kind="user", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> UserRecord:
    """Read a user.

    Any person of the organisation, including archived people. `employee_number`, `end_date` and
    `leave_allowance` are null unless the caller is the person, an approver of theirs, an admin or
    an owner.
    """
    return _shown_one(tx, context, people_rows.get(tx, context.id, by=context.caller))


@operation(
    "POST",
    "/users",
    role="admin",
    resource=get,
    refusals=(errors.EmailTaken, errors.EmployeeNumberTaken),
    rules=(*_RULES, "invalid_email", "mixed_scripts"),
    example={"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"},
)
def create(tx: Transaction, context: RequestContext, body: NewUser) -> Created[UserRecord]:
    """Create a user.

    The person is `pending` until an API key is created for them or they first use Slack. Only
    owners can create owners. Without `working_days` or `public_holiday_country_code`, the
    organisation's settings apply.
    """
    user = people.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/users/{user.id}", _shown_one(tx, context, user))


@operation(
    "PATCH",
    "/users/{id}",
    resource=get,
    dry_run=effects.shown,
    lock=lock,
    refusals=(
        errors.InsufficientRole,
        errors.NotYourField,
        errors.LastOwner,
        errors.EmployeeNumberTaken,
        people_status.UserArchived,
        people_changes.ChangedMeanwhile,
        employment_records.TooManyRecords,
    ),
    rules=(
        *_RULES,
        "after_end_date",
        "before_start_date",
        "nothing_effective",
        "out_of_range",
        "start_date_after_record",
        "within_earlier_employment",
    ),
    example={
        "job_title": "Analyst",
        "working_days": ["monday", "tuesday", "friday:am"],
        "effective_from": "2026-09-01",
    },
)
def update(tx: Transaction, context: RequestContext, body: UserChanges) -> UserRecord:
    """Change a user.

    Admins and owners can change every field; only owners can change owners. Everyone else can
    change their own `first_name`, `last_name` and `job_title`. Omitted fields stay unchanged.
    Working days, allowance, public holidays and department change from `effective_from` on, until a
    later employment record has a value of its own. Pending and approved leave on these days is
    recalculated in the same step, past days included; it is kept even if it then counts nothing or
    overdraws the allowance. `public_holiday_country_code` takes a code from `GET /countries`, which
    also says which countries have regions. With a new manager or department, pending leave goes to
    its new approvers. Leave before a new `start_date` or after a new `end_date` is cancelled, leave
    across it shortened, and the person is archived on the day after `end_date`; the last active
    owner cannot get one.
    """
    user = people.update(
        tx, context.id, body.sent(), by=context.caller, now=context.now, recorder=context.recorder
    )
    return _shown_one(tx, context, user)


@operation(
    "DELETE",
    "/users/{id}",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    lock=lock,
    refusals=(errors.LastOwner, errors.CannotArchiveSelf, people_changes.ChangedMeanwhile),
)
def archive(tx: Transaction, context: RequestContext) -> UserRecord:
    """Archive a user.

    The record is kept, the e-mail address can be used again, and `restore` brings the person back.
    Their API keys and feeds stop working, their pending and future leave is cancelled, current
    leave ends today, and requests awaiting their approval go to other approvers. Reports and
    departments keep them as manager on record.
    """
    user = people_status.archive(
        tx, context.id, by=context.caller, now=context.now, recorder=context.recorder
    )
    return _shown_one(tx, context, user)


@operation(
    "POST",
    "/users/{id}/deactivate",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    refusals=(
        errors.LastOwner,
        errors.CannotArchiveSelf,
        people_status.UserArchived,
        people_changes.ChangedMeanwhile,
    ),
)
def deactivate(tx: Transaction, context: RequestContext) -> UserRecord:
    """Deactivate a user.

    Their API keys and feeds stop working, and requests awaiting their approval go to other
    approvers. Their own requests stay.
    """
    user = people_status.deactivate(
        tx, context.id, by=context.caller, now=context.now, recorder=context.recorder
    )
    return _shown_one(tx, context, user)


@operation(
    "POST",
    "/users/{id}/reactivate",
    role="admin",
    resource=get,
    refusals=(
        people_status.UserArchived,
        people_status.UserPending,
        people_changes.ChangedMeanwhile,
    ),
)
def reactivate(tx: Transaction, context: RequestContext) -> UserRecord:
    """Reactivate a user.

    Makes the person `active` again: their keys and feeds work again, and they can decide on the
    requests that await them. An active user is returned unchanged; a pending one is refused.
    """
    user = people_status.reactivate(tx, context.id, by=context.caller, now=context.now)
    return _shown_one(tx, context, user)


@operation(
    "POST",
    "/users/{id}/restore",
    role="admin",
    resource=get,
    is_body_optional=True,
    refusals=(
        errors.EmailTaken,
        errors.EmployeeNumberTaken,
        erasure.UserErased,
        people_changes.ChangedMeanwhile,
    ),
    rules=(
        "out_of_range",
        "start_date_after_record",
        "too_many_employments",
        "user_not_archived",
        "within_earlier_employment",
    ),
    example={"start_date": "2027-03-01"},
)
def restore(tx: Transaction, context: RequestContext, body: RestoredUser) -> UserRecord:
    """Restore a user.

    Brings an archived person back as `pending`, with their record. They become active with their
    first new key or when they use Slack. Revoked keys and feeds stay revoked, and cancelled leave
    stays cancelled. Their Slack account is linked again, unless it is now linked to another person.
    Responds with `email_taken` or `employee_number_taken` if another person who is not archived has
    the address or number. Only owners can restore owners. A person who is not archived is returned
    unchanged. With `start_date` they are hired again: their employment until then becomes an entry
    of `earlier_employment`, the days in between grant nothing, and nothing is left or owed from it.
    Without it, their employment continues as if it had not ended.
    """
    user = people.restore(
        tx, context.id, start_date=body.start_date, by=context.caller, now=context.now
    )
    return _shown_one(tx, context, user)


@operation(
    "POST",
    "/users/{id}/unlink-slack",
    role="admin",
    resource=get,
    refusals=(people_status.UserArchived, people_changes.ChangedMeanwhile),
)
def unlink_slack(tx: Transaction, context: RequestContext) -> UserRecord:
    """Unlink a user from Slack.

    Removes the link between the person and their Slack account, if it is the wrong account or no
    longer theirs. The account can no longer act for the person and gets no more of their messages.
    The next Slack account with the person's confirmed e-mail address is linked instead; to prevent
    that, deactivate the person. Only owners can unlink owners. A person without a Slack account is
    returned unchanged.
    """
    user = slack_profiles.unlink(tx, context.id, by=context.caller, now=context.now)
    return _shown_one(tx, context, user)


def _shown(tx: Transaction, context: RequestContext, users: Sequence[User]) -> list[UserRecord]:
    """The full shape, with the organisation's working days where a user has none of their own."""
    organisation = context.config(tx).organisation
    today = local_day(context.now, organisation.timezone)
    readable = approvers.may_read_employment(tx, users, by=context.caller, today=today)
    return [
        _user_record(user, organisation.working_days, shows_employment=user.id in readable)
        for user in users
    ]


def _shown_one(tx: Transaction, context: RequestContext, user: User) -> UserRecord:
    (record,) = _shown(tx, context, [user])
    return record


def _link(
    context: RequestContext, query: ListOfUsers, next_cursor: str | None
) -> list[tuple[bytes, bytes]]:
    """The ``Link`` header to the next page, because an array has no members for it (RFC 8288)."""
    if next_cursor is None:
        return []
    filters = query.model_dump(mode="json", exclude_none=True) | {"sort": query.order}
    parameters = urlencode({**filters, "limit": MAX_PAGE, "cursor": next_cursor})
    return [(b"link", f'<{context.base_url}/api/v1/users?{parameters}>; rel="next"'.encode())]


def _variant(context: RequestContext) -> str:
    variant = context.headers.get("api-variant", str(context.caller.variant))
    if variant not in ("1", "2"):
        raise InvalidInput.at(
            "API-Variant", "unknown_variant", "The header API-Variant must be 1 or 2."
        )
    return variant


OPERATIONS = (list_all, create, get, update, archive, deactivate, reactivate, restore, unlink_slack)
