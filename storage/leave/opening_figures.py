"""What people have left on a day, as an organisation brings it: a table that becomes adjustments.

The table has a line for each person: a name or an e-mail address, and the days.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Final

from storage.base import texts
from storage.base.allowance_values import Amount
from storage.base.amounts import MAX_HALF_DAYS
from storage.base.errors import InvalidInput, Sentence
from storage.base.ids import new_id
from storage.base.values import Caller, User, days_of, local_day
from storage.db import rows
from storage.db.database import Transaction
from storage.db.tables import AllowanceAdjustmentRow, UserRow
from storage.leave import bookings, card_refreshes, leave_balances
from storage.leave.bookings import NO_BOOKINGS, Bookings
from storage.leave.ledgers import MAX_ADJUSTMENTS
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_rows
from storage.rules import roles, year_balances
from storage.rules.year_balances import LeaveYearBalance

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
        cure = Sentence("Write a name or an e-mail address, a comma, and the days, such as 12.5.")
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
    whose leave year has that reason at its last adjustment keeps it: the same table saved twice
    changes nothing. Audited. Raises as ``check``.
    """
    config = _allowed(tx, entries, on, by=by, now=now)
    matched = _matched(tx, config, entries)
    # Locked, so that no concurrent request uses days that an adjustment deducts; then read again.
    user_ids = [user.id for _, user in _known(matched)]
    people_rows.lock(tx, by.organisation_id, user_ids)
    table = _table(tx, config, _matched(tx, config, entries), on, reason_of)
    adjusted = [
        {
            "organisation_id": by.organisation_id,
            "id": new_id(now),
            "user_id": figure.user.id,
            "leave_year_start": figure.leave_year.year.first_day.isoformat(),
            "half_days": figure.adjusts_by_half_days,
            "reason": reason_of(figure.half_days),
            "created_by": by.user_id,
            "created_at": now,
            "allowance_id": None,
        }
        for figure in table.changed
    ]
    if not adjusted:
        return table
    tx.insert_all(AllowanceAdjustmentRow, adjusted)
    created = [(str(row["id"]), _audited(row)) for row in adjusted]
    audit.record_created(
        tx, "allowance_adjustment.created", "allowance_adjustment", created, by=by, now=now
    )
    changed_ids = {figure.user.id for figure in table.changed}
    card_refreshes.enqueue(tx, config=config, now=now, user_ids=changed_ids)
    return table


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
    return {
        "user_id": row["user_id"],
        "leave_year": int(str(row["leave_year_start"])[:4]),
        "days": days_of(half_days),
        "reason": row["reason"],
    }


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
    by_name: dict[str, list[User]] = {}
    for user in users:
        for name in _names_of(user):
            by_name.setdefault(name, []).append(user)
    matched: list[tuple[Entry, User] | BadLine] = []
    lines_of: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry, BadLine):
            matched.append(entry)
            continue
        person = _person(entry, by_address, by_name)
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


def _names_of(user: User) -> set[str]:
    first, last = user.first_name, user.last_name
    return {_key(f"{first} {last}"), _key(f"{last} {first}"), _key(f"{last}, {first}")}


def _key(name: str) -> str:
    return " ".join(texts.email_key(name).split())


def _person(
    entry: Entry, by_address: Mapping[str, User], by_name: Mapping[str, Sequence[User]]
) -> User | Sentence:
    """The person of a line, or why there is none."""
    if "@" in entry.who:
        user = by_address.get(texts.email_key(entry.who))
        return user or Sentence("No one has this address. Check it, or add the person first.")
    named = by_name.get(_key(entry.who), ())
    if not named:
        return Sentence("No one has this name. Use the e-mail address, or add the person first.")
    if len(named) > 1:
        return Sentence("Several people have this name. Use the e-mail address.")
    return named[0]


def _known(matched: Sequence[tuple[Entry, User] | BadLine]) -> list[tuple[Entry, User]]:
    return [each for each in matched if not isinstance(each, BadLine)]


def _table(
    tx: Transaction,
    config: OrganisationConfig,
    matched: Sequence[tuple[Entry, User] | BadLine],
    on: date,
    reason_of: ReasonOf,
) -> Table:
    """The figures beside what the people have left on that day, read together."""
    known = _known(matched)
    users = [user for _, user in known]
    booked: dict[str, Bookings] = {}
    newest: dict[tuple[str, date], str] = {}
    if users:
        first_day = min(leave_balances.accrual_start(config, user, on) for user in users)
        user_ids = [user.id for user in users]
        booked = bookings.of_people(tx, config.organisation.id, user_ids, first_day)
        adjustments = tx.select(
            AllowanceAdjustmentRow,
            organisation_id=config.organisation.id,
            user_id=user_ids,
            allowance_id=None,
        )
        # Ids are in the order of their time.
        newest = {
            (row.user_id, rows.day(row.leave_year_start)): row.reason
            for row in sorted(adjustments, key=lambda row: row.id)
        }
    figures: list[Figure] = []
    bad_lines: list[BadLine] = []
    for each in matched:
        if isinstance(each, BadLine):
            bad_lines.append(each)
            continue
        entry, user = each
        reason = reason_of(entry.half_days)
        figure = _figure(config, entry, user, booked.get(user.id, NO_BOOKINGS), on, reason, newest)
        if isinstance(figure, BadLine):
            bad_lines.append(figure)
        else:
            figures.append(figure)
    return Table(figures=tuple(figures), bad_lines=tuple(bad_lines))


def _figure(
    config: OrganisationConfig,
    entry: Entry,
    user: User,
    booked: Bookings,
    on: date,
    reason: str,
    newest: Mapping[tuple[str, date], str],
) -> Figure | BadLine:
    """``newest``: the reason of the last adjustment of a person and leave year."""

    def bad(cure: Sentence) -> BadLine:
        return BadLine(number=entry.number, text=entry.text, cure=cure)

    allowance_id = config.default_allowance_id
    account = leave_balances.account_of(config, user, booked, allowance_id)
    deductions = leave_balances.deductions(config, booked.leave, allowance_id)
    balances = year_balances.of_years(account, deductions, on, on)
    if not balances:
        return bad(Sentence("This person isn't employed on that day. Choose a later day."))
    balance = balances[-1]
    left = balance.remaining_half_days(on)
    is_saved = newest.get((user.id, balance.year.first_day)) == reason
    difference = Fraction(0) if is_saved else Fraction(entry.half_days - left)
    if difference.denominator != 1:
        near = (left + round(difference)) / Fraction(2)
        days = f"{float(near):.2f}".rstrip("0").rstrip(".")
        return bad(Sentence("Leave is kept in half-days. Use {days} days.", days=days))
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
