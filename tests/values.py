"""Values for tests of rules, which need no database."""

from __future__ import annotations

from datetime import UTC, datetime

from storage.base.leave_values import LeaveType

LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
ANNUAL = LeaveType(
    id="type-1",
    name="Annual leave",
    code="annual",
    colour="#336699",
    emoji=None,
    requires_approval=True,
    deducts_allowance=True,
    allow_overdraft=False,
    is_paid=True,
    is_private=False,
    requires_note=False,
    approvers_may_record=False,
    requires_cover=False,
    may_interrupt=False,
    tells_approvers=True,
    is_away=True,
    min_notice_days=0,
    max_consecutive_days=None,
    is_archived=False,
    changes_need_approval=False,
    created_at=LONG_AGO,
    updated_at=LONG_AGO,
    version=1,
)
