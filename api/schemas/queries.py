"""The query parameters of each list. Unknown parameters are refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.http.fields import Day, LastDay, Paged, PagedOnRequest, Query, Uuid, Word
from storage.base.event_values import AuditAction, DeliveryEvent, DeliveryStatus
from storage.base.values import LeaveStatus, Role, UserStatus
from storage.directory import public_holidays

Flag = Literal["true", "false"]


def is_true(flag: Flag | None) -> bool | None:
    """The value of a flag; None if it was not sent."""
    return None if flag is None else flag == "true"


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
    sort: Annotated[
        Literal["created_at", "-created_at"],
        Field(description="The sort order; a minus sorts in descending order."),
    ] = "created_at"


class ListOfLeaveRequests(Paged):
    status: Annotated[LeaveStatus | None, Field(description="Only items with this status.")] = None
    user_id: Annotated[
        Uuid | None, Field(description="Another person's id only for admins and owners.")
    ] = None
    leave_type_id: Annotated[Uuid | None, Field(description="Only leave of this type.")] = None
    department_id: Annotated[Uuid | None, Field(description="The requester's department.")] = None
    first_day: Annotated[
        Day | None, Field(alias="from", description="Leave that ends on this day or later.")
    ] = None
    last_day: Annotated[
        LastDay, Field(alias="to", description="Leave that starts on this day or earlier.")
    ] = None
    sort: Annotated[
        Literal["start_date", "-start_date", "created_at", "-created_at"],
        Field(description="The sort order; a minus sorts in descending order."),
    ] = "-created_at"


class ListOfLeave(PagedOnRequest):
    user_id: Annotated[Uuid | None, Field(description="Only items of this person.")] = None
    status: Annotated[LeaveStatus | None, Field(description="Only items with this status.")] = None
    start_date: Annotated[Day | None, Field(description="Leave that starts after this day.")] = None
    end_date: Annotated[Day | None, Field(description="Leave that starts before this day.")] = None


class HolidaysOfYear(Query):
    year: Annotated[
        int | None,
        Field(
            ge=public_holidays.EARLIEST_YEAR,
            le=public_holidays.LATEST_YEAR,
            description="A calendar year; by default the current one.",
        ),
    ] = None


class OfOneDay(Query):
    on: Annotated[Day | None, Field(description="The date of the balance; by default today.")] = (
        None
    )


class ListOfDeliveries(Paged):
    status: Annotated[DeliveryStatus | None, Field(description="Only items with this status.")] = (
        None
    )
    event: Annotated[DeliveryEvent | None, Field(description="Only this event type.")] = None


class ListOfDepartments(Paged):
    manager_id: Annotated[Uuid | None, Field(description="Departments that they manage.")] = None


class ListOfLeaveTypes(Paged):
    is_archived: Annotated[
        Flag | None, Field(description="`false` for types that can be requested.")
    ] = None


class ListOfWebhooks(Paged):
    is_active: Annotated[
        Flag | None, Field(description="`true` for webhooks that receive events.")
    ] = None


class ListOfApiKeys(Paged):
    user_id: Annotated[
        Uuid | None, Field(description="Another person's id only for admins and owners.")
    ] = None
    is_revoked: Annotated[
        Flag | None, Field(description="`false` for keys that are not revoked.")
    ] = None


class ListOfAuditEntries(Paged):
    action: Annotated[AuditAction | None, Field(description="Only changes of this kind.")] = None
    actor_id: Annotated[Uuid | None, Field(description="Only changes made by this person.")] = None
    subject_id: Annotated[
        Uuid | None, Field(description="Only changes to the object with this id.")
    ] = None
    first_day: Annotated[
        Day | None, Field(alias="from", description="From this day on, in UTC.")
    ] = None
    last_day: Annotated[
        LastDay, Field(alias="to", description="Up to the end of this day, in UTC.")
    ] = None
