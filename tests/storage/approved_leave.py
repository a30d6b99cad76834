"""Approved leave in August that tests change, amend and interrupt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

from storage.base.allowance_values import Amount
from storage.base.event_values import AuditEntry
from storage.base.leave_values import Amendment, LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import (
    decisions,
    interruptions,
    leave_amendments,
    leave_lists,
    leave_requests,
    leave_rows,
    ledgers,
)
from storage.leave.drafts import Draft
from storage.leave.interruptions import Interrupted
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    an_organisation,
    audit_entries,
    caller_for,
    type_id,
)

MONDAY = date(2026, 8, 3)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Ada's annual leave from Monday, which Grace, her approver, approved."""

    database: Database
    acme: Acme
    ada: User
    by: Caller
    grace: Caller
    leave: LeaveRequest

    def write(
        self,
        use_case: Callable[..., T],
        *args: Any,
        by: Caller | None = None,
        now: datetime = NOW,
        **how: Any,
    ) -> T:
        """By default as the owner."""
        return self.database.write_now(use_case, *args, by=by or self.acme.caller, now=now, **how)

    def change(
        self,
        request: LeaveRequest | None = None,
        *,
        by: Caller | None = None,
        now: datetime = NOW,
        **to: Any,
    ) -> LeaveRequest:
        changed = request or self.leave
        return self.write(leave_requests.edit, changed.id, to, by=by or self.by, now=now)

    def interrupt(
        self,
        first_day: date,
        last_day: date | None = None,
        *,
        code: str = "sick",
        of: LeaveRequest | None = None,
        by: Caller | None = None,
        **more: Any,
    ) -> Interrupted:
        draft = Draft(
            leave_type_id=more.pop("leave_type_id", None)
            or type_id(self.database, self.acme, code),
            start_date=first_day,
            end_date=last_day or first_day,
            **more,
        )
        return self.write(interruptions.interrupt, (of or self.leave).id, draft, by=by or self.by)

    def cancel(self, request: LeaveRequest | None = None, by: Caller | None = None) -> LeaveRequest:
        return self.write(leave_requests.cancel, (request or self.leave).id, by=by or self.by)

    def approve(self, now: datetime = NOW) -> LeaveRequest:
        return self.write(decisions.approve, self.leave.id, by=self.grace, now=now)

    def decline(self, reason: str | None = None) -> LeaveRequest:
        return self.write(decisions.decline, self.leave.id, reason=reason, by=self.grace)

    def current(self, request: LeaveRequest | None = None) -> LeaveRequest:
        request_id = (request or self.leave).id
        return self.acme.read(leave_rows.get, request_id, now=NOW)

    def amendment(self, request: LeaveRequest) -> Amendment:
        found = self.database.read_now(
            leave_amendments.find, self.acme.id, str(request.amendment_id)
        )
        assert found is not None
        return found

    def trail(self) -> list[AuditEntry]:
        """Newest first."""
        return audit_entries(self.database, self.acme.caller, subject_id=self.leave.id)

    def approved(self) -> list[LeaveRequest]:
        """Ada's approved leave, by first day and half."""
        page = self.database.read_now(
            leave_lists.visible, PageOf(limit=100), by=self.by, now=NOW, status="approved"
        )
        return sorted(
            page.items, key=lambda request: (request.start_date, request.start_half_day or "")
        )

    def shown(self) -> list[str]:
        """``annual 03 04 33``: type, days of August and counted halves of approved leave."""
        codes = {type_id(self.database, self.acme, code): code for code in ("annual", "sick")}
        return [
            f"{codes[request.leave_type_id]} {request.start_date:%d} {request.end_date:%d} "
            f"{request.counted_halves}"
            for request in self.approved()
        ]

    def remaining_half_days(self) -> Amount:
        balance = self.database.read_now(
            ledgers.balance, self.ada.id, on=MONDAY, by=self.by, now=NOW
        )
        return balance.remaining_half_days


def a_case(database: Database, last_day: date) -> Case:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(database, acme, manager_id=grace.id)
    leave = a_request(database, acme, ada, start_date=MONDAY, end_date=last_day)
    boss = caller_for(acme, grace)
    return Case(
        database=database,
        acme=acme,
        ada=ada,
        by=caller_for(acme, ada),
        grace=boss,
        leave=database.write_now(decisions.approve, leave.id, by=boss, now=NOW),
    )
