"""Second approvals: which leave needs one, and who gives it.

After the first approval, the request or the amendment stays undecided, and the second approvers
decide. Which second approval is awaited is frozen then; who can give it is computed on every call,
as for the first one. ``storage/people/approval_rule`` has that as SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from storage.base.leave_values import Approval, LeaveRequest, LeaveType
from storage.base.values import User
from storage.rules import lifecycle


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A person who can decide at all. ``is_away``: they are on approved leave today."""

    user: User
    is_away: bool


def is_needed(leave_type: LeaveType, total_half_days: int) -> bool:
    """Whether leave of so many half-days needs a second approval."""
    needed = leave_type.second_approval
    if needed is None or not leave_type.requires_approval:
        return False
    return needed.over_half_days is None or total_half_days > needed.over_half_days


def needs_another(
    leave_type: LeaveType, total_half_days: int, approvals: Iterable[Approval], by_id: str | None
) -> bool:
    """Whether leave needs one more approval after that of this person: another one's is missing."""
    is_approved_by_other = any(approval.user_id != by_id for approval in approvals)
    return is_needed(leave_type, total_half_days) and not is_approved_by_other


def approvers(
    candidates: Sequence[Candidate],
    *,
    requester_id: str,
    first_approver_id: str | None,
    named_id: str | None,
) -> list[User]:
    """Who can give the second approval; empty if no one else than the first approver could.

    The named person, and all other admins and owners if there is none, or if they cannot be asked
    or are away. ``candidates`` are at least the named person and the admins and owners.
    """
    others = [
        candidate
        for candidate in candidates
        if candidate.user.id not in (requester_id, first_approver_id)
    ]
    named = [candidate for candidate in others if candidate.user.id == named_id]
    if any(not candidate.is_away for candidate in named):
        return [candidate.user for candidate in named]
    return [
        candidate.user
        for candidate in others
        if candidate in named or candidate.user.role in ("admin", "owner")
    ]


def is_awaited(request: LeaveRequest) -> bool:
    """Whether the request, or its open amendment, has its first approval and awaits the second."""
    return lifecycle.is_undecided(request) and request.first_approver_id is not None


def may_decline(request: LeaveRequest, user_id: str | None) -> bool:
    """Whether the person may still decline what they approved first."""
    return is_awaited(request) and user_id is not None and user_id == request.first_approver_id


def may_take_back(request: LeaveRequest, user_id: str | None, now: datetime) -> bool:
    """Whether the person may take back their first approval: of a request, within ten minutes."""
    if request.status != "pending" or not may_decline(request, user_id):
        return False
    return now < request.approvals[-1].approved_at + lifecycle.REVERSAL_WINDOW


def with_approval(
    approvals: Iterable[Approval],
    by_id: str | None,
    now: datetime,
    override_reason: str | None = None,
) -> tuple[Approval, ...]:
    """The approvals with that of this person as the last; theirs counts once."""
    given = Approval(user_id=str(by_id), approved_at=now, override_reason=override_reason)
    return (*without_approval(approvals, by_id), given)


def override_of(approvals: Iterable[Approval]) -> str | None:
    """Why an approval given so far goes past the rules; None if none does."""
    reasons = (approval.override_reason for approval in approvals)
    return next((reason for reason in reasons if reason is not None), None)


def without_approval(approvals: Iterable[Approval], by_id: str | None) -> tuple[Approval, ...]:
    return tuple(approval for approval in approvals if approval.user_id != by_id)


def voided(request: LeaveRequest) -> LeaveRequest:
    """The request without approvals, which awaits the first one again."""
    return replace(request, approvals=(), first_approver_id=None, second_approver_id=None)


def after_edit(before: LeaveRequest, after: LeaveRequest) -> LeaveRequest:
    """The edited pending request: an edit that adds leave voids approvals given before it."""
    if before.first_approver_id is None or lifecycle.first_added_day(before, after) is None:
        return after
    return voided(after)
