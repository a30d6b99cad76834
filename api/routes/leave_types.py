"""`/leave-types`: leave types and their rules."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.http.fields import (
    ABSENT,
    Body,
    Colour,
    Day,
    Flag,
    Listing,
    Name,
    Paged,
    Uuid,
    Word,
    is_true,
    listing_of,
)
from api.http.operations import Created, RequestContext, Tag, created, operation
from api.routes import effects
from storage.admin import leave_type_changes
from storage.base import errors
from storage.base.leave_values import LeaveType
from storage.db.database import Transaction
from storage.leave import leave_types
from storage.people import people_changes

LEAVE_TYPES = Tag(
    "Leave types",
    "Types of leave, such as annual or sick leave, and the rules of each.",
    "organisation",
)

_RULES = (
    "contradicts_deducts_allowance",
    "invalid_code",
    "invalid_colour",
    "invalid_emoji",
    "invalid_second_approval",
    "not_half_days",
    "out_of_range",
    "person_archived",
    "required",
    "unknown_allowance",
    "unknown_emoji",
    "unknown_language",
    "unknown_user",
)


class SecondApprovalBody(Body):
    """Which leave of a type needs the approval of a second person, and who gives it."""

    always: Annotated[bool, Field(description="All its leave; then without `over_days`.")] = False
    over_days: Annotated[
        float | None,
        Field(
            description="Leave of more days than this, in half-day steps.",
            json_schema_extra={"minimum": 0, "maximum": 366, "multipleOf": 0.5},
        ),
    ] = None
    by: Annotated[
        Word,
        Field(
            description="`admins`, for any other admin or owner, or the id of a person. Admins "
            "stand in for a person who is archived, not linked yet, away or the requester."
        ),
    ]


class LeaveTypeFields(Body):
    name: Name = ABSENT
    names: Annotated[
        dict[str, str],
        Field(
            description="Second names by language (`de`, `en`, `es` or `fr`), for people who read "
            "Slack in it. Replaces all that there were. Types that Hiatus brings are translated "
            "while they keep their name, and need none.",
            examples=[{"de": "Bildungsurlaub"}],
        ),
    ] = ABSENT
    code: Annotated[
        Word,
        Field(description="Lower-case letters, digits and hyphens; unique in the organisation."),
    ] = ABSENT
    colour: Colour = ABSENT
    emoji: Annotated[Word | None, Field(description="A Slack short name such as `palm_tree`.")] = (
        ABSENT
    )
    requires_approval: bool = ABSENT
    deducts_allowance: Annotated[
        bool,
        Field(description="Without `allowance_id`, true is the default allowance; false is none."),
    ] = ABSENT
    allowance_id: Annotated[
        Uuid | None, Field(description="The allowance that its leave draws on; null for none.")
    ] = ABSENT
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
    is_away: Annotated[
        bool,
        Field(
            description="False for work elsewhere, such as home office, business trips or training."
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
    second_approval: Annotated[
        SecondApprovalBody | None,
        Field(
            description="Null for none. Only of types that require approval. Requests that have "
            "their first approval keep the second one that they await."
        ),
    ] = ABSENT


class NewLeaveType(LeaveTypeFields):
    name: Name


class LeaveTypeChanges(LeaveTypeFields):
    effective_from: Annotated[
        Day,
        Field(
            description="Leave that begins on this day or later draws on the other allowance; by "
            "default today. Earlier leave stays where it was taken from."
        ),
    ] = ABSENT

    def sent(self) -> dict[str, Any]:
        changes = super().sent()
        changes.pop("effective_from", None)
        return changes


class ListOfLeaveTypes(Paged):
    is_archived: Annotated[
        Flag | None, Field(description="`false` for types that can be requested.")
    ] = None


@operation(
    "GET",
    "/leave-types",
    tag=LEAVE_TYPES,
)
def page(tx: Transaction, context: RequestContext, query: ListOfLeaveTypes) -> Listing[LeaveType]:
    """List leave types.

    Includes archived leave types, unless `is_archived` excludes them.
    """
    archived = is_true(query.is_archived)
    page = leave_types.page(tx, query.page, by=context.caller, is_archived=archived)
    config, today = context.config(tx), context.today(tx)
    return listing_of(page, lambda each: config.leave_type_as_of(each, today))


@operation("GET", "/leave-types/{id}", tag=LEAVE_TYPES, kind="leave type", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> LeaveType:
    """Read a leave type.

    Any leave type of the organisation, archived or not.
    """
    leave_type = leave_types.get(tx, context.id, by=context.caller)
    return context.config(tx).leave_type_as_of(leave_type, context.today(tx))


@operation(
    "POST",
    "/leave-types",
    role="admin",
    resource=get,
    refusals=(errors.CodeTaken, errors.NameTaken, leave_types.TooManyLeaveTypes),
    rules=_RULES,
    example={"name": "Study leave", "code": "study", "max_consecutive_days": 5},
)
def create(tx: Transaction, context: RequestContext, body: NewLeaveType) -> Created[LeaveType]:
    """Create a leave type.

    By default, a leave type needs approval, is paid and is deducted from the allowance. Its name is
    unique among the types in use, of which there are at most 50. `emoji` is one that every Slack
    workspace has.
    """
    leave_type = leave_types.create(tx, body.sent(), by=context.caller, now=context.now)
    return created(f"/api/v1/leave-types/{leave_type.id}", leave_type)


@operation(
    "PATCH",
    "/leave-types/{id}",
    role="admin",
    resource=get,
    dry_run=effects.shown,
    refusals=(
        errors.CodeTaken,
        errors.NameTaken,
        leave_types.TooManyLeaveTypes,
        people_changes.ChangedMeanwhile,
    ),
    rules=_RULES,
    example={"requires_note": True},
)
def update(tx: Transaction, context: RequestContext, body: LeaveTypeChanges) -> LeaveType:
    """Change a leave type.

    Existing requests keep their days. `is_archived` false restores an archived type.
    `deducts_allowance` and `allowance_id` count for leave that begins on `effective_from` or later:
    a dry run shows whose balance changes.
    """
    return leave_type_changes.update(
        tx,
        context.id,
        body.sent(),
        effective_from=body.effective_from,
        by=context.caller,
        now=context.now,
        recorder=context.recorder,
    )


@operation(
    "DELETE",
    "/leave-types/{id}",
    role="admin",
    resource=get,
    refusals=(people_changes.ChangedMeanwhile,),
)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a leave type.

    A leave type that has been used is archived instead.
    """
    leave_types.delete(tx, context.id, by=context.caller, now=context.now)


OPERATIONS = (page, create, get, update, delete)
