"""Leave in variant 2."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from api.schemas.lists import PaginationRecord
from storage.base.records import Days, Id, LeaveRequestRecord
from storage.base.values import LeaveRequest, LeaveStatus, days_of
from storage.rules import counted_days


class PendingApprovalRecord(LeaveRequestRecord):
    """A leave request that awaits a decision."""

    kind: Annotated[
        Literal["request", "amendment"],
        Field(description="What awaits the decision: the request itself or its `amendment`."),
    ]


class LeaveRecord(TypedDict):
    """A leave request in variant 2."""

    id: Id
    user_id: Id
    leave_type: Annotated[str, Field(description="The leave type's code.", examples=["annual"])]
    start_date: date
    end_date: date
    half_day_start: Annotated[
        bool, Field(description="Leave on the first counted day starts at midday.")
    ]
    half_day_end: Annotated[
        bool, Field(description="Leave on the last counted day ends at midday.")
    ]
    days: Days
    status: LeaveStatus
    note: Annotated[
        str, Field(description="Empty if there is none.", examples=["Hiking in the Cairngorms"])
    ]
    created_at: datetime


# A page has these members, too: the schemas of one response must exclude each other.
@with_config(ConfigDict(json_schema_extra={"not": {"required": ["pagination"]}}))
class LeaveListing(TypedDict):
    """The leave that the caller can see."""

    requests: list[LeaveRecord]


class PagedLeaveListing(TypedDict):
    """One page of leave, if `limit` or `cursor` was sent."""

    requests: list[LeaveRecord]
    pagination: PaginationRecord


class InterruptedRecord(TypedDict):
    """Leave after an interruption."""

    request: Annotated[
        LeaveRequestRecord,
        Field(description="What is left of the leave, or the whole of it, cancelled."),
    ]
    interruption: LeaveRequestRecord
    remainder: Annotated[
        LeaveRequestRecord | None,
        Field(description="The leave after an interruption in the middle; null if not split."),
    ]


def leave(request: LeaveRequest, leave_type_code: str) -> LeaveRecord:
    """The shape whose two flags say whether the leave begins or ends at midday."""
    return {
        "id": request.id,
        "user_id": request.user_id,
        "leave_type": leave_type_code,
        "start_date": request.start_date,
        "end_date": request.end_date,
        "half_day_start": counted_days.begins_at_midday(request.counted_halves),
        "half_day_end": counted_days.ends_at_midday(request.counted_halves),
        "days": days_of(request.total_half_days),
        "status": request.status,
        # The interface calls it a string, and marks what may be null.
        "note": request.note or "",
        "created_at": request.created_at,
    }
