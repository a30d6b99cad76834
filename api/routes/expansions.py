"""`expand` of leave requests: the person and the leave type in place of a request for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, NotRequired, cast

from pydantic import Field

from api.http.fields import OF_SEVERAL
from api.http.operations import RequestContext
from storage.base.errors import InsufficientScope
from storage.base.leave_values import LeaveRequestRecord, LeaveType
from storage.base.values import Caller, Scope, UserSummaryRecord, user_summary
from storage.db.database import Transaction
from storage.people import people_rows

Expansion = Literal["user", "leave_type"]
Expand = Annotated[
    tuple[Expansion, ...],
    OF_SEVERAL,
    Field(
        description="Adds `user` (needs the scope `users:read`) and `leave_type` (needs "
        "`organisation:read`) to each leave request.",
        examples=[["user", "leave_type"]],
    ),
]
_SCOPES: Final[dict[Expansion, Scope]] = {"user": "users:read", "leave_type": "organisation:read"}


class ExpandedLeaveRequestRecord(LeaveRequestRecord):
    """A leave request, with what `expand` names."""

    user: Annotated[NotRequired[UserSummaryRecord], Field(description="With `expand=user`.")]
    leave_type: Annotated[NotRequired[LeaveType], Field(description="With `expand=leave_type`.")]


def check(expand: Sequence[Expansion], caller: Caller) -> None:
    """Raises InsufficientScope: a key reads no more than its scopes say."""
    for name in expand:
        if _SCOPES[name] not in caller.scopes:
            raise InsufficientScope(_SCOPES[name])


def expanded(
    tx: Transaction,
    context: RequestContext,
    records: Sequence[LeaveRequestRecord],
    expand: Sequence[Expansion],
) -> list[ExpandedLeaveRequestRecord]:
    """The records with what ``expand`` names: one query for all people, none for leave types."""
    shown = [_copy(record) for record in records]
    if "user" in expand:
        user_ids = {record["user_id"] for record in records}
        people = people_rows.of_ids(tx, context.caller.organisation_id, user_ids)
        summaries = {user_id: user_summary(person) for user_id, person in people.items()}
        for record in shown:
            record["user"] = summaries[record["user_id"]]
    if "leave_type" in expand:
        config, today = context.config(tx), context.today(tx)
        types = {
            type_id: config.leave_type_as_of(config.leave_types[type_id], today)
            for type_id in {record["leave_type_id"] for record in records}
        }
        for record in shown:
            record["leave_type"] = types[record["leave_type_id"]]
    return shown


def _copy(record: LeaveRequestRecord) -> ExpandedLeaveRequestRecord:
    return cast(ExpandedLeaveRequestRecord, dict(record))
