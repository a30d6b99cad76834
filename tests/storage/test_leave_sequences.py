"""Random sequences of everything that changes leave: all figures agree after each step.

Requests, records for others, decisions, changes, amendments, interruptions and cancellations of two
people over three leave years, with holidays and employment that change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import date, timedelta
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from storage.admin import employment_records, holiday_overrides, people
from storage.admin.holiday_overrides import NewOverride
from storage.base.errors import DomainError
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller
from storage.db.database import Database
from storage.leave import decisions, interruptions, leave_changes, leave_requests
from storage.leave.drafts import Draft
from storage.rules import counted_days, employment_terms, lifecycle
from storage.rules.counted_days import Span
from tests.builders import NOW
from tests.storage import snapshots
from tests.storage.office import LEAVE_YEARS, an_office, drafts, employment, some_days
from tests.storage.snapshots import Calendar

TODAY: Final = NOW.date()
who: Final = st.integers(0, 1)
which: Final = st.integers(0, 15)


class Sequence(RuleBasedStateMachine):
    """Each rule takes a step, or does nothing if there is no leave for it."""

    database: Database

    @initialize(
        leave_years=st.sampled_from(sorted(LEAVE_YEARS)),
        allowance=st.sampled_from([4, 10]),
        carry_over=st.sampled_from([0, 3]),
        expiry_month=st.sampled_from([None, 3]),
        booked=st.lists(st.tuples(who, drafts), min_size=4, max_size=8),
    )
    def open_the_books(
        self,
        leave_years: str,
        allowance: int,
        carry_over: int,
        expiry_month: int | None,
        booked: list[tuple[int, dict[str, Any]]],
    ) -> None:
        self.office = an_office(
            self.database,
            leave_years=leave_years,
            allowance=allowance,
            carry_over=carry_over,
            expiry_month=expiry_month,
        )
        self.people, self.types = self.office.people, self.office.types
        self.owner, self.grace = self.office.owner, self.office.grace
        self.snapshot = self.office.snapshot()
        for person, draft in booked:
            self.ask(person, draft, recorder="owner", excepted=False)

    @rule(
        who=who,
        draft=drafts,
        recorder=st.sampled_from([None, None, "grace", "owner", "owner"]),
        excepted=st.sampled_from([False, False, False, True]),
    )
    def ask(self, who: int, draft: dict[str, Any], recorder: str | None, excepted: bool) -> None:
        """Request leave, or have it recorded; by the owner also as an exception."""
        person, leave = self.people[who], self.office.draft(draft)
        if recorder is None:
            self._do(leave_requests.submit, by=self.office.caller(person), draft=leave)
            return
        is_exception = excepted and recorder == "owner"
        self._do(
            leave_requests.create,
            by=self.owner if recorder == "owner" else self.grace,
            draft=leave,
            user_id=person.id,
            override_reason="An exception" if is_exception else None,
            overdrawn=[person.id] if is_exception else (),
        )

    @rule(which=which, approves=st.sampled_from([True, True, False]))
    def decide(self, which: int, approves: bool) -> None:
        if request := self._any(which, lifecycle.is_undecided):
            how: dict[str, Any] = {} if approves else {"reason": None}
            act: Callable[..., object] = decisions.approve if approves else decisions.decline
            self._do(act, request.id, by=self.grace, about=request, **how)

    @rule(which=which, to=st.sampled_from(["approved", "declined"]))
    def reverse(self, which: int, to: Any) -> None:
        others = {"approved", "declined"} - {to}
        if request := self._any(which, lambda leave: leave.status in others):
            self._do(decisions.change_decision, request.id, to, by=self.owner, about=request)

    @rule(
        which=which,
        draft=drafts,
        part=st.none() | st.tuples(st.sampled_from([0, 0, 1]), st.integers(1, 5)),
        by_owner=st.booleans(),
    )
    def change(
        self, which: int, draft: dict[str, Any], part: tuple[int, int] | None, by_owner: bool
    ) -> None:
        """Change leave to a part of itself, or to other leave."""
        if request := self._any(which):
            changes: dict[str, object]
            if part:
                changes = snapshots.time_of(_part(request, *part))
            else:
                to = self.office.draft(draft)
                is_approved = request.status == "approved"
                changes = snapshots.time_of(to) | (
                    {"leave_type_id": to.leave_type_id} if is_approved else {}
                )
            by = self.owner if by_owner else self.office.requester(request)
            self._do(leave_requests.edit, request.id, changes, by=by, about=request)

    @rule(which=which, days=st.integers(1, 4))
    def lengthen(self, which: int, days: int) -> None:
        """Nearly always by an amendment."""
        if request := self._any(which, _is_approved):
            changes = {"end_date": request.end_date + timedelta(days=days), "end_half_day": None}
            by = self.office.requester(request)
            self._do(leave_requests.edit, request.id, changes, by=by, about=request)

    @rule(which=which)
    def withdraw(self, which: int) -> None:
        if request := self._any(which, lambda leave: leave.amendment_id is not None):
            by = self.office.requester(request)
            self._do(leave_changes.withdraw, request.id, by=by, about=request)

    @rule(which=which, by_owner=st.booleans())
    def cancel(self, which: int, by_owner: bool) -> None:
        if request := self._any(which):
            by = self.owner if by_owner else self.office.requester(request)
            then = self._without(request, snapshots.halves_of(request))
            is_asked = request.leave_type_id == self.types["care"] and _is_approved(request)
            if is_asked and not by_owner:
                # Cancelled by an amendment, which changes nothing yet.
                then = dict(self.snapshot.calendar)
            self._do(
                leave_requests.cancel,
                request.id,
                by=by,
                about=request,
                then=then,
                gives_back=True,
            )

    @rule(
        which=which,
        code=st.sampled_from(["sick", "sick", "care"]),
        begin=st.sampled_from([0, 0, 1, 2, 3, 5]),
        length=st.sampled_from([1, 1, 2, 3, 24]),
        by_grace=st.booleans(),
        recovers=st.sampled_from([None, None, 0, 1, 2]),
    )
    def fall_ill(
        self,
        which: int,
        code: str,
        begin: int,
        length: int,
        by_grace: bool,
        recovers: int | None,
    ) -> None:
        """Interrupt leave; or recover from an earlier interruption, of which some halves stay."""
        is_ill = self._any(which, lambda leave: _is_approved(leave) and bool(leave.interrupts))
        if recovers is not None and is_ill:
            self._recover(is_ill, begin, recovers)
            return
        leave_type_id = self.types[code]
        if request := self._any(
            which, lambda leave: _is_approved(leave) and leave.leave_type_id != leave_type_id
        ):
            span = _part(request, begin, length)
            draft = Draft(leave_type_id=leave_type_id, **snapshots.time_of(span))
            by = self.grace if by_grace else self.office.requester(request)
            then = {
                (user_id, half): leave_type_id
                if user_id == request.user_id and span.first_slot <= half <= span.last_slot
                else earlier_id
                for (user_id, half), earlier_id in self.snapshot.calendar.items()
            }
            self._do(interruptions.interrupt, request.id, draft, by=by, about=request, then=then)

    def _recover(self, request: LeaveRequest, begin: int, length: int) -> None:
        kept = _part(request, begin, length) if length else None
        if kept is None or kept == _part(request, 0, 24):
            then = self._without(request, snapshots.halves_of(request))
            self._do(
                leave_requests.cancel,
                request.id,
                by=self.owner,
                about=request,
                then=then,
                gives_back=True,
            )
            return
        given_up = set(snapshots.halves_of(request)) - set(
            range(kept.first_slot, kept.last_slot + 1)
        )
        then = self._without(request, given_up)
        changes = snapshots.time_of(kept)
        self._do(
            leave_requests.edit,
            request.id,
            changes,
            by=self.owner,
            about=request,
            then=then,
            gives_back=True,
        )

    @rule(day=some_days.filter(lambda day: day > TODAY))
    def change_a_holiday(self, day: date) -> None:
        """Add one, or remove it: a day on which all leave counts again."""
        override = next(
            (
                other
                for other in self.snapshot.config.overrides.get("GB", ())
                if other.date == str(day)
            ),
            None,
        )
        set_id = self.snapshot.holiday_set_id
        if override is None:
            self._do(
                holiday_overrides.add, set_id, NewOverride(date=day, name="Ours"), by=self.owner
            )
        else:
            everyone = [person.id for person in self.people]
            self._do(
                holiday_overrides.remove, set_id, override.id, by=self.owner, overdrawn=everyone
            )

    @rule(who=who, changes=employment, day=st.none() | some_days, as_record=st.booleans())
    def change_employment(
        self, who: int, changes: dict[str, object], day: date | None, as_record: bool
    ) -> None:
        """From a day on, by default today; or until the next record."""
        if as_record:
            self._change_person(
                employment_records.add, who, {**changes, "valid_from": day or TODAY}
            )
        else:
            dated = {} if day is None else {"effective_from": day}
            self._change_person(people.update, who, {**changes, **dated})

    @rule(who=who, which=which, changes=employment, day=st.none() | some_days)
    def correct_a_record(
        self, who: int, which: int, changes: dict[str, object], day: date | None
    ) -> None:
        """Or remove it, if nothing is to be corrected."""
        all_records = employment_terms.records_of(self.snapshot.people[who].user)
        record_id = all_records[which % len(all_records)].id
        if day is not None:
            changes = {**changes, "valid_from": day}
        if changes:
            self._change_person(employment_records.update, who, record_id, changes)
        else:
            self._change_person(employment_records.remove, who, record_id)

    @rule(who=who, last_day=st.none() | some_days)
    def end_employment(self, who: int, last_day: date | None) -> None:
        """On a day; or not at all, which brings no leave back."""
        then = {
            (user_id, half): leave_type_id
            for (user_id, half), leave_type_id in self.snapshot.calendar.items()
            if user_id != self.people[who].id or half // 2 <= (last_day or date.max).toordinal()
        }
        self._change_person(people.update, who, {"end_date": last_day}, then=then)

    def _do(
        self,
        act: Callable[..., object],
        *args: object,
        by: Caller,
        about: LeaveRequest | None = None,
        overdrawn: Collection[str] = (),
        then: Calendar | None = None,
        gives_back: bool = False,
        **how: object,
    ) -> None:
        """Take a step about leave. ``then``: the calendar, if the step is not refused.

        ``gives_back``: the step ends an interruption, whose halves are in ``then``; leave that was
        cancelled or moved since does not get them.

        ``overdrawn``: the ids of people whose allowance it may overdraw.
        """
        before = self.snapshot
        if about is not None:
            interrupted = self._find(about.interrupts)
            if about.override_reason or (interrupted and interrupted.override_reason):
                overdrawn = [about.user_id]
        try:
            self.database.write_now(act, *args, by=by, now=NOW, **how)
        except DomainError:
            assert self.office.snapshot() == before
            return
        self.snapshot = self.office.snapshot()
        snapshots.check(before, self.snapshot, overdrawn=overdrawn)
        if gives_back and then is not None and about is not None and about.interrupts:
            kept = {half: then[half] for half in self.snapshot.calendar if half in then}
            assert self.snapshot.calendar == kept
            lost = then.keys() - kept.keys()
            assert lost <= {(about.user_id, half) for half in snapshots.halves_of(about)}
            assert not lost or not self._has_adjoining_part(about)
            return
        assert then is None or self.snapshot.calendar == then

    def _has_adjoining_part(self, interruption: LeaveRequest) -> bool:
        """Whether a half beside the interruption is approved leave that it interrupted."""
        span = counted_days.span_of(interruption)
        return any(
            request.id == interruption.interrupts
            and request.status == "approved"
            and counted_days.span_of(request).first_slot <= span.last_slot + 1
            and counted_days.span_of(request).last_slot >= span.first_slot - 1
            for request in self.snapshot.requests
        )

    def _change_person(
        self, act: Callable[..., object], who: int, *args: object, then: Calendar | None = None
    ) -> None:
        person = self.people[who]
        self._do(act, person.id, *args, by=self.owner, overdrawn=[person.id], then=then)

    def _without(self, request: LeaveRequest, given_up: Iterable[int]) -> Calendar:
        """The calendar when the request has given up halves: what it interrupted gets them."""
        interrupted = self._find(request.interrupts)
        after = dict(self.snapshot.calendar)
        for half in given_up:
            after.pop((request.user_id, half), None)
            if interrupted and interrupted.status != "declined":
                after[request.user_id, half] = interrupted.leave_type_id
        return after

    def _any(
        self, which: int, fits: Callable[[LeaveRequest], bool] = lambda request: True
    ) -> LeaveRequest | None:
        """One of the requests that fit."""
        requests = [request for request in self.snapshot.requests if fits(request)]
        return requests[which % len(requests)] if requests else None

    def _find(self, request_id: str | None) -> LeaveRequest | None:
        return next((r for r in self.snapshot.requests if r.id == request_id), None)


def _is_approved(request: LeaveRequest) -> bool:
    return request.status == "approved"


def _part(request: LeaveRequest, begin: int, length: int) -> Span:
    """Some of the halves that the request counts, or all of its time if it counts none."""
    counted = snapshots.halves_of(request)
    part = counted[begin % len(counted) :][:length] if counted else None
    return counted_days.span_of_slots(part[0], part[-1]) if part else counted_days.span_of(request)


@pytest.mark.slow
def test_the_books_balance_after_every_step(database: Database) -> None:
    class SequenceOnDatabase(Sequence):
        pass

    SequenceOnDatabase.database = database
    run_state_machine_as_test(
        SequenceOnDatabase,
        settings=settings(max_examples=80, stateful_step_count=50, deadline=None),
    )
