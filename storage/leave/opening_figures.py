"""What people have left on a day, as an organisation brings it: a table that becomes adjustments.

The table has a line for each person: a name or an e-mail address, and the days. Leave before that
day is part of the figure, also if it is imported later: ``include`` gives its days back.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Final

from storage.base import texts
from storage.base.allowance_values import Amount
from storage.base.amounts import MAX_HALF_DAYS
from storage.base.errors import HalfDays, InvalidInput, Sentence
from storage.base.ids import new_id
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User, days_of, local_day
from storage.db import rows
from storage.db.database import Row, Transaction
from storage.db.tables import AllowanceAdjustmentRow, DaysLeftRow, UserRow
from storage.leave import card_refreshes, leave_balances
from storage.leave.bookings import NO_BOOKINGS, Bookings
from storage.leave.ledgers import MAX_ADJUSTMENTS
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_rows
from storage.rules import counted_days, roles, year_balances
from storage.rules.year_balances import Deduction, LeaveYearBalance

MAX_LINES: Final = 2_000
# A day further away is in another leave year than people mean.
REACH_DAYS: Final = 366

# The first separator after which there is nothing but a figure, so that "Ada,12,5" is 12.5 days.
_LINE: Final = re.compile(r'(.*?)[\t;,][\s"]*([+-]?[0-9]{1,3}(?:[.,][0-9]{1,2})?)[\s"]*')
_ADDRESS: Final = re.compile(r"[^\s,;\"<>]+@[^\s,;\"<>]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A line that could be read; ``who`` is a name or an e-mail address."""

    number: int
    text: str
    who: str
    half_days: Amount


@dataclass(frozen=True, kw_only=True, slots=True)
class BadLine:
    """A line that cannot be used: its number from 1, what it has, and what to do."""

    number: int
    text: str
    cure: Sentence


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A person's figure, and what they have without it. ``is_saved``: it was saved before."""

    user: User
    half_days: Amount
    left_half_days: Amount
    leave_year: LeaveYearBalance
    is_saved: bool = False

    @property
    def adjusts_by_half_days(self) -> int:
        return 0 if self.is_saved else int(self.half_days - self.left_half_days)


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """What a table says: figures of known people, and lines that cannot be used, in their order."""

    figures: tuple[Figure, ...]
    bad_lines: tuple[BadLine, ...]

    @property
    def changed(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.adjusts_by_half_days]


def entries_of(text: str) -> list[Entry | BadLine]:
    """The lines of a table whose columns a tab, semicolon or comma separates.

    Decimals have a comma or a point. Empty lines and a heading are left out.
    """
    found: list[Entry | BadLine] = []
    for number, line in enumerate(text.splitlines(), start=1):
        shown = line.strip()
        if not shown or (not found and not any(each.isdigit() for each in shown)):
            continue
        found.append(_entry_of(number, shown))
    return found


def _entry_of(number: int, line: str) -> Entry | BadLine:
    match = _LINE.fullmatch(line)
    who = " ".join(match[1].strip("\"' \t;,").split()) if match else ""
    if match is None or not who:
        cure = Sentence(
            "Write a name or an e-mail address, a semicolon, and the days, such as 12.5."
        )
        return BadLine(number=number, text=line, cure=cure)
    days = Fraction(match[2].replace(",", "."))
    if abs(days) > MAX_HALF_DAYS // 2:
        cure = Sentence("Use a number of days from -366 to 366.")
        return BadLine(number=number, text=line, cure=cure)
    half_days = 2 * days
    address = _ADDRESS.search(who)
    return Entry(
        number=number,
        text=line,
        who=address[0] if address else who,
        half_days=half_days.numerator if half_days.denominator == 1 else half_days,
    )


ReasonOf = Callable[[Amount], str]


def check(
    tx: Transaction,
    entries: Sequence[Entry | BadLine],
    on: date,
    *,
    reason_of: ReasonOf,
    by: Caller,
    now: datetime,
) -> Table:
    """What ``save`` would do. Raises InsufficientRole, or InvalidInput for a day too far away."""
    config = _allowed(tx, entries, on, by=by, now=now)
    return _table(tx, config, _matched(tx, config, entries), on, reason_of)


def save(
    tx: Transaction,
    entries: Sequence[Entry | BadLine],
    on: date,
    *,
    reason_of: ReasonOf,
    by: Caller,
    now: datetime,
) -> Table:
    """Adjust the default allowance of known people, so that each has left on that day what the
    table says; lines that cannot be used change nothing.

    ``reason_of`` is the reason of an adjustment, which the person reads, by the figure. A person
    whose newest figure of the leave year has that day and reason keeps it: the same table saved
    twice changes nothing. Audited. Raises as ``check``.
    """
    config = _allowed(tx, entries, on, by=by, now=now)
    matched = _matched(tx, config, entries)
    # Locked, so that no concurrent request uses days that an adjustment deducts; then read again.
    user_ids = [user.id for _, user in _known(matched)]
    people_rows.lock(tx, by.organisation_id, user_ids)
    table = _table(tx, config, _matched(tx, config, entries), on, reason_of)
    _adjust(tx, config, table, on, config.default_allowance_id, reason_of, by=by, now=now)
    return table


def save_imported(
    tx: Transaction,
    config: OrganisationConfig,
    figures: Sequence[tuple[Entry, User]],
    on: date,
    allowance_id: str,
    *,
    reason_of: ReasonOf,
    by: Caller,
    now: datetime,
) -> Table:
    """As ``save``, for an allowance and any number of people, whom the caller has locked.

    The figures are those at the beginning of the day: leave from then on is deducted from them.
    """
    _check_day(config, on, now)
    table = _table(tx, config, figures, on, reason_of, allowance_id, is_before_leave=True)
    _adjust(tx, config, table, on, allowance_id, reason_of, by=by, now=now)
    return table


def _adjust(
    tx: Transaction,
    config: OrganisationConfig,
    table: Table,
    on: date,
    allowance_id: str,
    reason_of: ReasonOf,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Adjust by the difference, and keep the figures: also those that made none."""
    kept = [
        {
            "organisation_id": by.organisation_id,
            "id": new_id(now),
            "user_id": figure.user.id,
            "allowance_id": allowance_id,
            "leave_year_start": figure.leave_year.year.first_day.isoformat(),
            "counts_from": on.isoformat(),
            "reason": reason_of(figure.half_days),
            "created_at": now,
        }
        for figure in table.figures
        if not figure.is_saved
    ]
    if kept:
        tx.insert_all(DaysLeftRow, kept)
    adjusted = [
        _adjustment(
            figure.user.id,
            figure.leave_year.year.first_day.isoformat(),
            figure.adjusts_by_half_days,
            reason_of(figure.half_days),
            _column_of(config, allowance_id),
            by=by,
            now=now,
        )
        for figure in table.changed
    ]
    _insert(tx, config, adjusted, by=by, now=now)


def _column_of(config: OrganisationConfig, allowance_id: str) -> str | None:
    """The allowance as adjustments keep it: None for the default one."""
    return None if allowance_id == config.default_allowance_id else allowance_id


def _adjustment(
    user_id: str,
    leave_year_start: str,
    half_days: int,
    reason: str,
    allowance_id: str | None,
    *,
    by: Caller,
    now: datetime,
) -> dict[str, object]:
    return {
        "organisation_id": by.organisation_id,
        "id": new_id(now),
        "user_id": user_id,
        "leave_year_start": leave_year_start,
        "half_days": half_days,
        "reason": reason,
        "created_by": by.user_id,
        "created_at": now,
        "allowance_id": allowance_id,
    }


def _insert(
    tx: Transaction,
    config: OrganisationConfig,
    adjusted: Sequence[dict[str, object]],
    *,
    by: Caller,
    now: datetime,
) -> None:
    if not adjusted:
        return
    tx.insert_all(AllowanceAdjustmentRow, adjusted)
    created = [(str(row["id"]), _audited(row)) for row in adjusted]
    audit.record_created(
        tx, "allowance_adjustment.created", "allowance_adjustment", created, by=by, now=now
    )
    changed_ids = {str(row["user_id"]) for row in adjusted}
    card_refreshes.enqueue(tx, config=config, now=now, user_ids=changed_ids)


def include(
    tx: Transaction,
    config: OrganisationConfig,
    imported: Sequence[LeaveRequest],
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Give back the days of imported leave that figures which were saved before it include.

    A figure is of the beginning of its day, so leave before that day is part of it.
    """
    user_ids = sorted({request.user_id for request in imported})
    figures: dict[tuple[str, str], list[Row]] = {}
    for row in _newest(tx, by.organisation_id, user_ids).values():
        figures.setdefault((row.user_id, row.allowance_id), []).append(row)
    given_back: dict[str, tuple[Row, int]] = {}
    for request in imported:
        allowance_id = leave_balances.allowance_of(config, request)
        for row in figures.get((request.user_id, allowance_id or ""), ()):
            half_days = counted_days.half_days_in(
                request.counted_halves,
                request.start_date,
                rows.day(row.leave_year_start),
                rows.day(row.counts_from) - timedelta(days=1),
            )
            _, before = given_back.get(row.id, (row, 0))
            given_back[row.id] = (row, before + half_days)
    adjusted = [
        _adjustment(
            row.user_id,
            rows.day(row.leave_year_start).isoformat(),
            half_days,
            row.reason,
            _column_of(config, row.allowance_id),
            by=by,
            now=now,
        )
        for row, half_days in given_back.values()
        if half_days
    ]
    _insert(tx, config, adjusted, by=by, now=now)


def _newest(
    tx: Transaction, organisation_id: str, user_ids: Sequence[str]
) -> dict[tuple[str, str, date], Row]:
    """The newest figure of each person, allowance and leave year."""
    found = tx.select(DaysLeftRow, organisation_id=organisation_id, user_id=user_ids)
    # Ids are in the order of their time.
    return {
        (row.user_id, row.allowance_id, rows.day(row.leave_year_start)): row
        for row in sorted(found, key=lambda row: row.id)
    }


def save_of(
    tx: Transaction,
    user: User,
    half_days: Amount,
    *,
    reason_of: Callable[[date], ReasonOf],
    by: Caller,
    now: datetime,
) -> None:
    """As ``save`` for a new person, today or on their first day of work.

    Raises InvalidInput at ``days_left`` for a figure that cannot be used.
    """
    config = organisation_config.of_organisation(tx, by.organisation_id)
    on = max(local_day(now, config.organisation.timezone), user.start_date or date.min)
    entry = Entry(number=1, text=user.email, who=user.email, half_days=half_days)
    try:
        table = save(tx, [entry], on, reason_of=reason_of(on), by=by, now=now)
    except InvalidInput as refusal:
        detail = Sentence("Enter it later: their first day of work is too far away.")
        raise InvalidInput.of("days_left", "out_of_range", detail) from refusal
    for bad in table.bad_lines:
        raise InvalidInput.of("days_left", "invalid_days", bad.cure)


def _audited(row: Mapping[str, object]) -> dict[str, object]:
    half_days = row["half_days"]
    assert isinstance(half_days, int)
    audited = {
        "user_id": row["user_id"],
        "leave_year": int(str(row["leave_year_start"])[:4]),
        "days": days_of(half_days),
        "reason": row["reason"],
    }
    if row["allowance_id"] is not None:
        audited["allowance_id"] = row["allowance_id"]
    return audited


def _allowed(
    tx: Transaction, entries: Sequence[Entry | BadLine], on: date, *, by: Caller, now: datetime
) -> OrganisationConfig:
    """The organisation's settings. Raises as ``check``."""
    roles.check_role(by.role, "admin")
    config = organisation_config.of_organisation(tx, by.organisation_id)
    _check_day(config, on, now)
    if len(entries) > MAX_LINES:
        detail = Sentence("Use at most {most} lines at once.", most=MAX_LINES)
        raise InvalidInput.of("table", "too_long", detail)
    return config


def _check_day(config: OrganisationConfig, on: date, now: datetime) -> None:
    today = local_day(now, config.organisation.timezone)
    if abs((on - today).days) > REACH_DAYS:
        detail = Sentence("Choose a day within a year of today.")
        raise InvalidInput.of("on", "out_of_range", detail)


def _matched(
    tx: Transaction, config: OrganisationConfig, entries: Iterable[Entry | BadLine]
) -> list[tuple[Entry, User] | BadLine]:
    """The lines with their people, each person once."""
    found = tx.select(
        UserRow,
        organisation_id=config.organisation.id,
        status=["active", "pending", "deactivated"],
    )
    users = [rows.user(row) for row in found]
    by_address = {texts.email_key(user.email): user for user in users}
    names = by_name(users)
    matched: list[tuple[Entry, User] | BadLine] = []
    lines_of: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry, BadLine):
            matched.append(entry)
            continue
        person = _person(entry, by_address, names)
        if isinstance(person, User) and person.id in lines_of:
            person = Sentence(
                "Line {number} has this person already. Remove one of the lines.",
                number=lines_of[person.id],
            )
        if isinstance(person, Sentence):
            matched.append(BadLine(number=entry.number, text=entry.text, cure=person))
        else:
            lines_of[person.id] = entry.number
            matched.append((entry, person))
    return matched


def by_name(users: Iterable[User]) -> dict[str, list[User]]:
    """The people by each way to write their name, for ``named``."""
    found: dict[str, list[User]] = {}
    for user in users:
        for name in _names_of(user):
            found.setdefault(name, []).append(user)
    return found


def _names_of(user: User) -> set[str]:
    first, last = user.first_name, user.last_name
    return {_key(f"{first} {last}"), _key(f"{last} {first}"), _key(f"{last}, {first}")}


def _key(name: str) -> str:
    return " ".join(texts.email_key(name).split())


def _person(
    entry: Entry, by_address: Mapping[str, User], names: Mapping[str, Sequence[User]]
) -> User | Sentence:
    """The person of a line, or why there is none."""
    if "@" in entry.who:
        user = by_address.get(texts.email_key(entry.who))
        return user or Sentence("No one has this address. Check it, or add the person first.")
    return named(entry.who, names)


def named(name: str, names: Mapping[str, Sequence[User]]) -> User | Sentence:
    """The person of a name, or why there is none."""
    people = names.get(_key(name), ())
    if not people:
        return Sentence("No one has this name. Use the e-mail address, or add the person first.")
    if len(people) > 1:
        return Sentence("Several people have this name. Use the e-mail address.")
    return people[0]


def _known(matched: Sequence[tuple[Entry, User] | BadLine]) -> list[tuple[Entry, User]]:
    return [each for each in matched if not isinstance(each, BadLine)]


def _table(
    tx: Transaction,
    config: OrganisationConfig,
    matched: Sequence[tuple[Entry, User] | BadLine],
    on: date,
    reason_of: ReasonOf,
    allowance_id: str | None = None,
    *,
    is_before_leave: bool = False,
) -> Table:
    """The figures beside what the people have left on that day, read together.

    ``allowance_id`` is None for the default one. ``is_before_leave``: without leave from that day
    on.
    """
    known = _known(matched)
    users = [user for _, user in known]
    allowance_id = allowance_id or config.default_allowance_id
    booked = leave_balances.bookings_of(tx, config, users, on)
    saved: dict[tuple[str, str, date], Row] = {}
    if users:
        saved = _newest(tx, config.organisation.id, [user.id for user in users])
    kept = {
        (user_id, first_day): (rows.day(row.counts_from), row.reason)
        for (user_id, of_allowance, first_day), row in saved.items()
        if of_allowance == allowance_id
    }
    figures: list[Figure] = []
    bad_lines: list[BadLine] = []
    for each in matched:
        if isinstance(each, BadLine):
            bad_lines.append(each)
            continue
        entry, user = each
        reason = reason_of(entry.half_days)
        figure = _figure(
            config,
            entry,
            user,
            booked.get(user.id, NO_BOOKINGS),
            on,
            (on, reason),
            kept,
            allowance_id,
            is_before_leave=is_before_leave,
        )
        if isinstance(figure, BadLine):
            bad_lines.append(figure)
        else:
            figures.append(figure)
    return Table(figures=tuple(figures), bad_lines=tuple(bad_lines))


def _before(leave: Deduction, day: date) -> Deduction | None:
    """What the leave deducts before the day."""
    length = (day - leave.start_date).days
    if length <= 0:
        return None
    if leave.end_date < day:
        return leave
    return replace(
        leave,
        counted_halves=leave.counted_halves[:length],
        end_date=day - timedelta(days=1),
    )


def check_imported(
    config: OrganisationConfig, entry: Entry, user: User, on: date, allowance_id: str
) -> Sentence | None:
    """Why a figure cannot be that of a new person, who has no leave yet; None if it can."""
    figure = _figure(
        config, entry, user, NO_BOOKINGS, on, (on, ""), {}, allowance_id, is_before_leave=True
    )
    return figure.cure if isinstance(figure, BadLine) else None


def _figure(
    config: OrganisationConfig,
    entry: Entry,
    user: User,
    booked: Bookings,
    on: date,
    new: tuple[date, str],
    kept: Mapping[tuple[str, date], tuple[date, str]],
    allowance_id: str,
    *,
    is_before_leave: bool,
) -> Figure | BadLine:
    """``kept``: the day and reason of the newest figure of a person and leave year; ``new``: of
    this one.
    """

    def bad(cure: Sentence) -> BadLine:
        return BadLine(number=entry.number, text=entry.text, cure=cure)

    account = leave_balances.account_of(config, user, booked, allowance_id)
    deductions = leave_balances.deductions(config, booked.leave, allowance_id)
    if is_before_leave:
        deductions = [cut for each in deductions if (cut := _before(each, on)) is not None]
    balances = year_balances.of_years(account, deductions, on, on)
    if not balances:
        return bad(Sentence("This person isn't employed on that day. Choose a later day."))
    balance = balances[-1]
    left = balance.remaining_half_days(on)
    is_saved = kept.get((user.id, balance.year.first_day)) == new
    difference = Fraction(0) if is_saved else Fraction(entry.half_days - left)
    if difference.denominator != 1:
        lower = left + math.floor(difference)
        cure = Sentence(
            "Leave is taken in half-days, so they can have {lower} or {upper} left. "
            "Use one of these.",
            lower=HalfDays(lower),
            upper=HalfDays(lower + 1),
        )
        return bad(cure)
    if abs(difference) > MAX_HALF_DAYS:
        return bad(Sentence("Use a number of days from -366 to 366."))
    adjusted = Counter(each.leave_year for each in account.adjustments)
    if difference and adjusted[balance.year.first_day.year] >= MAX_ADJUSTMENTS:
        return bad(Sentence("This person's leave year has too many adjustments."))
    return Figure(
        user=user,
        half_days=entry.half_days,
        left_half_days=left,
        leave_year=balance,
        is_saved=is_saved,
    )
