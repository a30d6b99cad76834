"""Bodies of requests about leave. Rules that Slack shares are checked in storage."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.fields import ABSENT, NO_NUL, Body, Day, LongText, Name, Uuid, Word
from storage.base.values import HalfDay

Colour = Annotated[str, Field(max_length=7, description="`#rrggbb`."), NO_NUL]


Cover = Annotated[
    Uuid | None,
    Field(description="The active colleague who covers for the person. They see the dates only."),
]


class LeaveRequestChanges(Body):
    leave_type_id: Annotated[Uuid, Field(description="Only of approved leave.")] = ABSENT
    start_date: Day = ABSENT
    end_date: Day = ABSENT
    start_half_day: HalfDay | None = ABSENT
    end_half_day: HalfDay | None = ABSENT
    note: LongText | None = ABSENT
    cover_user_id: Cover = ABSENT
    override_reason: Annotated[
        LongText | None,
        Field(
            description=(
                "Why the leave is changed although the allowance or a rule of its type forbids it. "
                "For admins and owners, of other people's leave; kept and audited."
            )
        ),
    ] = None


class NewLeaveRequest(Body):
    leave_type_id: Uuid
    start_date: Day
    end_date: Annotated[Day, Field(description="The last day of leave, inclusive.")]
    start_half_day: Annotated[
        HalfDay | None, Field(description="The half of the first day in which leave starts.")
    ] = None
    end_half_day: Annotated[
        HalfDay | None, Field(description="The half of the last day in which leave ends.")
    ] = None
    note: LongText | None = None
    user_id: Annotated[
        Uuid | None,
        Field(description="The person to record leave for. Absent: the caller."),
    ] = None
    override_reason: Annotated[
        LongText | None,
        Field(
            description=(
                "Why the leave is recorded although the allowance or a rule of its type forbids "
                "it. For admins and owners, with another person's `user_id`; kept and audited."
            )
        ),
    ] = None
    cover_user_id: Cover = None


class NewInterruption(Body):
    leave_type_id: Annotated[Uuid, Field(description="A leave type with `may_interrupt`.")]
    start_date: Day
    end_date: Annotated[Day, Field(description="The last day of the interruption, inclusive.")]
    start_half_day: Annotated[
        HalfDay | None, Field(description="The half of the first day in which it starts.")
    ] = None
    end_half_day: Annotated[
        HalfDay | None, Field(description="The half of the last day in which it ends.")
    ] = None
    note: LongText | None = None


class LeaveRequestPreview(NewLeaveRequest):
    replaces: Annotated[
        Uuid | None,
        Field(description="The pending or approved leave request to change to these dates."),
    ] = None


class NewLeave(Body):
    leave_type: Annotated[Word, Field(description="A leave type's code, name or id.")]
    start_date: Day
    end_date: Annotated[Day, Field(description="The last day of leave, inclusive.")]
    note: LongText | None = None
    cover_user_id: Cover = None


class Approve(Body):
    override_reason: Annotated[
        LongText | None,
        Field(
            description=(
                "Why the leave is approved although the allowance or a rule of its type forbids it "
                "by now. For admins and owners; kept and audited."
            )
        ),
    ] = None


class Decline(Body):
    reason: LongText | None = None


class LeaveTypeChanges(Body):
    name: Name = ABSENT
    code: Annotated[
        Word,
        Field(description="Lower-case letters, digits and hyphens; unique in the organisation."),
    ] = ABSENT
    colour: Colour = ABSENT
    emoji: Annotated[Word | None, Field(description="A Slack short name such as `palm_tree`.")] = (
        ABSENT
    )
    requires_approval: bool = ABSENT
    deducts_allowance: bool = ABSENT
    allow_overdraft: bool = ABSENT
    is_paid: bool = ABSENT
    is_private: Annotated[bool, Field(description='Colleagues see only "Away".')] = ABSENT
    requires_note: bool = ABSENT
    approvers_may_record: Annotated[
        bool,
        Field(description="Approvers can record it for the people whose leave they decide."),
    ] = ABSENT
    requires_cover: Annotated[
        bool, Field(description="Requests need a colleague who covers (`cover_user_id`).")
    ] = ABSENT
    may_interrupt: Annotated[
        bool,
        Field(description="People can book it for days of leave on which they fell ill."),
    ] = ABSENT
    tells_approvers: Annotated[
        bool,
        Field(
            description="Leave that is approved at once is told in Slack: to approvers, and to "
            "people whom the absent person was to cover."
        ),
    ] = ABSENT
    min_notice_days: int = ABSENT
    max_consecutive_days: int | None = ABSENT
    is_archived: Annotated[bool, Field(description="It can no longer be requested.")] = ABSENT
    changes_need_approval: Annotated[
        bool,
        Field(
            description="Changes of approved leave need approval, except of the note and the cover."
        ),
    ] = ABSENT


class NewLeaveType(LeaveTypeChanges):
    name: Name


class NewAdjustment(Body):
    days: Annotated[
        float,
        Field(
            description="Days to add, or to remove if negative, in half-day steps; not 0.",
            json_schema_extra={
                "minimum": -366,
                "maximum": 366,
                "multipleOf": 0.5,
                "not": {"const": 0},
            },
        ),
    ]
    reason: Annotated[
        str, Field(max_length=500, description="Shown in the ledger; not empty."), NO_NUL
    ]
    leave_year: Annotated[
        int,
        Field(description="The calendar year in which the leave year begins: 2026 for 2026/27."),
    ]
