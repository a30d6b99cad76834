"""A CSV file of booked leave imported in one transaction: all of its lines or none.

Leave that another product approved is approved here, too, without checking allowances and the rules
of leave types, and no one is messaged. What lies before the day of a person's imported days left is
part of that figure (storage/leave/opening_figures.py).
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from storage.base import texts
from storage.base.errors import DomainError, FieldError, InvalidInput
from storage.base.event_values import LeaveEventType
from storage.base.ids import new_id
from storage.base.leave_values import HalfDay, LeaveRequest, LeaveType
from storage.base.values import Caller, User, local_day
from storage.db import locks, rows
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.leave import card_refreshes, leave_rows, opening_figures
from storage.operations.csv_file import BadLines
from storage.operations.leave_file import LeaveFile, LeaveLine
from storage.outbox import organisation_config, webhook_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date, people_rows
from storage.rules import counted_days, employment_terms, request_rules, roles
from storage.rules.counted_days import Span

# In the audit trail.
WHY: Final = "imported"


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveImported:
    """How many lines became leave, or would in a dry run; were known already; were left out.

    Left out are leave that was declined or cancelled, and leave that ended over two years ago.
    """

    leave_created: int
    leave_known: int
    leave_left_out: int


def import_leave(tx: Transaction, file: LeaveFile, *, by: Caller, now: datetime) -> LeaveImported:
    """Book the leave in this transaction. Raises BadLines with every error of the file."""
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    plan = _Plan(config=config, by=by, now=now, faults=[*file.errors])
    plan.read(tx, file.lines)
    if plan.faults:
        raise BadLines(plan.faults, file.lines, file.titles)
    users = plan.users
    approved = [request for request in plan.requests if request.status == "approved"]
    pending = [request for request in plan.requests if request.status == "pending"]
    leave_rows.add_approved(tx, approved, by=by, now=now, why=WHY)
    leave_rows.add_pending(tx, pending, by=by, now=now)
    created = [leave_rows.before_approval(request) for request in approved] + pending
    events: tuple[tuple[LeaveEventType, list[LeaveRequest]], ...] = (
        ("leave_request.created", created),
        ("leave_request.approved", approved),
    )
    for event, requests in events:
        pairs = [(request, users[request.user_id]) for request in requests]
        webhook_outbox.enqueue_all(tx, event, pairs, config=config, now=now)
    if plan.requests:
        opening_figures.include(tx, config, plan.requests, by=by, now=now)
        changed_ids = {request.user_id for request in plan.requests}
        card_refreshes.enqueue(tx, config=config, now=now, user_ids=changed_ids)
    return LeaveImported(
        leave_created=len(plan.requests), leave_known=plan.known, leave_left_out=plan.left_out
    )


@dataclass(kw_only=True, slots=True)
class _Booked:
    """A person's leave in Hiatus and in the lines so far, by half-day slots.

    ``ever`` has the type and slots of leave in Hiatus, of cancelled leave, too. ``standing`` are
    the slots of leave that takes time, which does not overlap, with where it comes from.
    """

    ever: set[tuple[str, int, int]] = field(default_factory=set)
    standing: list[tuple[int, int, str]] = field(default_factory=list)

    def overlapped(self, span: Span) -> str | None:
        """Where the leave comes from that the span overlaps."""
        at = bisect(self.standing, (span.last_slot, 1 << 40, ""))
        if at and self.standing[at - 1][1] >= span.first_slot:
            return self.standing[at - 1][2]
        return None

    def add(self, span: Span, source: str) -> None:
        insort(self.standing, (span.first_slot, span.last_slot, source))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """A line with its person, leave type and time."""

    line: LeaveLine
    user: User
    leave_type: LeaveType
    span: Span


@dataclass(kw_only=True, slots=True)
class _Plan:
    """What the lines become; ``faults`` are all errors."""

    config: OrganisationConfig
    by: Caller
    now: datetime
    faults: list[FieldError]
    users: dict[str, User] = field(default_factory=dict)
    requests: list[LeaveRequest] = field(default_factory=list)
    known: int = 0
    left_out: int = 0

    def read(self, tx: Transaction, lines: Sequence[LeaveLine]) -> None:
        people = _People.read(tx, self.by.organisation_id)
        types = _types(self.config)
        unknown: dict[tuple[str, str, str], list[LeaveLine]] = {}
        found: list[_Found] = []
        for line in lines:
            if self._is_left_out(line):
                self.left_out += 1
                continue
            user = people.of_line(line)
            leave_type = types.get((line.leave_type or "").casefold())
            if isinstance(user, str):
                key = (line.who_column, line.who.casefold(), user)
                unknown.setdefault(key, []).append(line)
            if line.leave_type is not None and leave_type is None:
                codes = ", ".join(self.config.leave_type_codes)
                reason = f"There is no such leave type. Use one of {codes}, or create it first."
                key = ("leave_type", line.leave_type.casefold(), reason)
                unknown.setdefault(key, []).append(line)
            span = self._span(line)
            if isinstance(user, User) and leave_type is not None and span is not None:
                found.append(_Found(line=line, user=user, leave_type=leave_type, span=span))
        self._report(unknown)
        self._book(tx, found)

    def _is_left_out(self, line: LeaveLine) -> bool:
        if line.status == "left_out":
            return True
        earliest = request_rules.earliest_day(self._today)
        return line.end_date is not None and line.end_date < earliest

    @property
    def _today(self) -> date:
        return local_day(self.now, self.config.organisation.timezone)

    def _report(self, unknown: Mapping[tuple[str, str, str], Sequence[LeaveLine]]) -> None:
        """One error for each unknown person or leave type, not for each of their lines."""
        for (column, _, reason), lines in unknown.items():
            more = texts.counted(len(lines) - 1, "more line has", "more lines have")
            detail = f"{reason} {more} the same." if len(lines) > 1 else reason
            self._fault(lines[0], column, "not_found", detail)

    def _fault(self, line: LeaveLine, column: str, code: str, detail: str) -> None:
        self.faults.append(FieldError(pointer=f"/{line.number}/{column}", code=code, detail=detail))

    def _refused(self, line: LeaveLine, refusal: DomainError) -> None:
        """The rule's own error at the cell that broke it."""
        errors = refusal.errors if isinstance(refusal, InvalidInput) else ()
        for error in errors:
            self._fault(line, error.pointer[1:], error.code, str(error.detail))

    def _span(self, line: LeaveLine) -> Span | None:
        start_date, end_date = line.start_date, line.end_date
        if start_date is None or end_date is None or line.wrong:
            return None
        start, end = line.start_half_day, line.end_half_day
        if line.times is not None and start_date == end_date and start is None and end is None:
            try:
                start = end = self._half_of(line, line.times)
            except InvalidInput as refusal:
                self._refused(line, refusal)
                return None
        try:
            span = counted_days.requested_span(start_date, end_date, start, end)
            request_rules.check_dates_in_reach(span, self._today)
        except InvalidInput as refusal:
            self._refused(line, refusal)
            return None
        return span

    def _half_of(self, line: LeaveLine, times: tuple[int, int]) -> HalfDay | None:
        """The half-day of a part of a day; None for the whole day. Raises InvalidInput."""
        organisation = self.config.organisation
        begin, end = times
        midday = _minutes(organisation.midday_at)
        if begin < end <= midday:
            return "am"
        if midday <= begin < end:
            return "pm"
        starts_at, ends_at = map(_minutes, (organisation.day_starts_at, organisation.day_ends_at))
        if begin <= starts_at and ends_at <= end:
            return None
        raise InvalidInput.of(
            next(name for name in ("start_time", "hour_from") if name in line.cells),
            "not_half_days",
            "Hiatus keeps leave in half-days, and these hours lie around midday ({midday}). "
            "Change them, or remove the line.",
            midday=organisation.midday_at,
        )

    def _book(self, tx: Transaction, found: Sequence[_Found]) -> None:
        if not found:
            return
        self.users = {each.user.id: each.user for each in found}
        people_rows.lock(tx, self.by.organisation_id, sorted(self.users))
        booked: dict[str, _Booked] = {user_id: _Booked() for user_id in self.users}
        first_day = min(each.span.start_date for each in found)
        last_day = max(each.span.end_date for each in found)
        for request in leave_rows.standing_between(
            tx, self.by.organisation_id, [*self.users], first_day, last_day, with_cancelled=True
        ):
            span = counted_days.span_of(request)
            of_person = booked[request.user_id]
            of_person.ever.add((request.leave_type_id, span.first_slot, span.last_slot))
            if request.status != "cancelled":
                source = f"leave of theirs in Hiatus ({request.start_date} to {request.end_date})"
                of_person.add(span, source)
        for each in found:
            self._book_line(each, booked[each.user.id])

    def _book_line(self, each: _Found, booked: _Booked) -> None:
        line, span = each.line, each.span
        if (each.leave_type.id, span.first_slot, span.last_slot) in booked.ever:
            self.known += 1
            return
        overlapped = booked.overlapped(span)
        if overlapped is not None:
            detail = f"This overlaps {overlapped}. Correct the dates, or remove one of the two."
            self._fault(line, "start_date", "overlapping_leave", detail)
            return
        booked.add(span, f"line {line.number}")
        try:
            employment_terms.check_employed(span, employment_terms.periods_of(each.user))
        except InvalidInput as refusal:
            self._refused(line, refusal)
            return
        counted = counted_days.counted_halves(
            employment_by_date.count(self.config, each.user, span)
        )
        half_days = counted_days.total_half_days(counted)
        if not half_days:
            detail = "This person works on none of these days. Remove the line."
            self._fault(line, "start_date", "no_working_time", detail)
            return
        if line.amount_days is not None and abs(2 * line.amount_days - half_days) > 0.01:
            detail = (
                f"Hiatus counts {half_days / 2:g} days here, by the working days, public holidays "
                "and half-days that it knows. Correct those, the dates, or the amount."
            )
            self._fault(line, "amount", "other_amount", detail)
            return
        is_pending = line.status == "pending" and each.leave_type.requires_approval
        if is_pending and span.end_date < self._today:
            detail = "This has passed and was never decided. Write approved, or remove the line."
            self._fault(line, "status", "past_days", detail)
            return
        self.requests.append(self._request(each, counted, half_days, is_pending=is_pending))

    def _request(
        self, each: _Found, counted: str, half_days: int, *, is_pending: bool
    ) -> LeaveRequest:
        span = each.span
        return LeaveRequest(
            id=new_id(self.now),
            user_id=each.user.id,
            leave_type_id=each.leave_type.id,
            status="pending" if is_pending else "approved",
            start_date=span.start_date,
            end_date=span.end_date,
            start_half_day=span.start_half_day,
            end_half_day=span.end_half_day,
            total_half_days=half_days,
            counted_halves=counted,
            note=each.line.note,
            created_at=self.now,
            updated_at=self.now,
            version=1,
            decided_by=None if is_pending else self.by.user_id,
            decided_at=None if is_pending else self.now,
            recorded_by=self.by.user_id,
        )


def _minutes(time: str) -> int:
    hours, _, minutes = time.partition(":")
    return 60 * int(hours) + int(minutes)


def _types(config: OrganisationConfig) -> dict[str, LeaveType]:
    """The leave types in use by code and by name, without case; a code goes before a name."""
    in_use = [each for each in config.leave_types.values() if not each.is_archived]
    by_name = {each.name.casefold(): each for each in in_use}
    return by_name | {each.code.casefold(): each for each in in_use}


@dataclass(frozen=True, kw_only=True, slots=True)
class _People:
    """The people who are not archived, by address, employee number and name."""

    by_address: Mapping[str, User]
    by_number: Mapping[str, User]
    by_name: Mapping[str, Sequence[User]]

    @classmethod
    def read(cls, tx: Transaction, organisation_id: str) -> _People:
        found = tx.select(
            UserRow,
            organisation_id=organisation_id,
            status=["active", "pending", "deactivated"],
        )
        users = [rows.user(row) for row in found]
        return cls(
            by_address={texts.email_key(user.email): user for user in users},
            by_number={user.employee_number: user for user in users if user.employee_number},
            by_name=opening_figures.by_name(users),
        )

    def of_line(self, line: LeaveLine) -> User | str | None:
        """The person, or why there is none; None if the cell itself is wrong."""
        if not line.who or line.who_column in line.wrong:
            return None
        if line.who_column == "name":
            person = opening_figures.named(line.who, self.by_name)
            return person if isinstance(person, User) else str(person)
        if line.who_column == "email":
            user = self.by_address.get(texts.email_key(line.who))
            what = f"the address {line.who}"
        else:
            user = self.by_number.get(line.who)
            what = f"the employee number {line.who}"
        return user or f"No one has {what}. Import the person first, or remove their lines."
