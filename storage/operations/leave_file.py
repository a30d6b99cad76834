"""Reads and checks a CSV file of booked leave, without the database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Literal

from storage.base import fields, texts
from storage.base.errors import FieldError, InvalidInput
from storage.base.leave_values import HalfDay
from storage.operations import csv_file
from storage.operations.csv_file import Options, Row
from storage.operations.exports import Export

LineStatus = Literal["approved", "pending", "left_out"]

_TIME: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::00)?")
_AMOUNT: Final = re.compile(r"([0-9]{1,4}(?:[.,][0-9]{1,2})?) *(days?|hours?)?")
_HALVES: Final[Mapping[str, HalfDay]] = {
    "am": "am",
    "morning": "am",
    "pm": "pm",
    "afternoon": "pm",
}
_STATUSES: Final[Mapping[str, LineStatus]] = {
    "approved": "approved",
    "pending": "pending",
    "requested": "pending",
    "rejected": "left_out",
    "declined": "left_out",
    "denied": "left_out",
    "cancelled": "left_out",
    "canceled": "left_out",
}
_WHO: Final = ("email", "employee_number", "name")


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveLine:
    """Leave of one person. ``number`` is the line in the file, from 1.

    ``who`` is an address, an employee number or a name, by ``who_column``. ``times`` are those at
    which leave of one day begins and ends, in minutes. ``amount_days`` is how many days the file
    says. Dates are None where they are invalid; ``cells`` has every cell that is not empty.
    """

    number: int
    who: str
    who_column: str
    leave_type: str | None
    start_date: date | None
    end_date: date | None
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    times: tuple[int, int] | None
    amount_days: float | None
    status: LineStatus
    note: str | None
    cells: Mapping[str, str] = field(default_factory=dict)
    wrong: Set[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class LeaveFile:
    """The lines of a file, wrong ones included, and an error for each invalid cell.

    ``titles`` and ``left_behind`` as in ``csv_file.Table``.
    """

    lines: Sequence[LeaveLine]
    errors: Sequence[FieldError] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    left_behind: Sequence[str] = ()


# Personio documents 1; spreadsheets write the words.
_FLAGS: Final = {"1": True, "yes": True, "true": True, "ja": True, "wahr": True} | {
    "0": False,
    "no": False,
    "false": False,
    "nein": False,
    "falsch": False,
}


def _half(text: str, field: str) -> HalfDay:
    half = _HALVES.get(text.lower())
    if half is None:
        raise InvalidInput.of(field, "unknown_half_day", "Use am or pm, or leave the cell empty.")
    return half


def _flag(text: str, field: str) -> bool:
    flag = _FLAGS.get(text.lower())
    if flag is None:
        raise InvalidInput.of(field, "unknown_half_day", "Use 1 or 0, or leave the cell empty.")
    return flag


def _status(text: str, field: str) -> LineStatus:
    status = _STATUSES.get(text.lower())
    if status is None:
        words = ", ".join(_STATUSES)
        raise InvalidInput.of(field, "unknown_status", f"Use one of {words}.")
    return status


def _time(text: str, field: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise InvalidInput.of(field, "invalid_time", "Use a time of day, such as 13:30.")
    return 60 * int(match[1]) + int(match[2])


def _number_to(most: int) -> fields.Check:
    def check(text: str, field: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 2 and int(text) <= most):
            raise InvalidInput.of(field, "invalid_time", f"Use a number from 0 to {most}.")
        return int(text)

    return check


def _amount(text: str, field: str) -> tuple[float, bool]:
    """The amount, and whether it is in hours."""
    match = _AMOUNT.fullmatch(text.lower())
    if match is None:
        raise InvalidInput.of(field, "not_a_number", "Use days or hours, such as 2.5 days.")
    return float(match[1].replace(",", ".")), (match[2] or "").startswith("hour")


def _note(text: str, field: str) -> str | None:
    return texts.optional_text(text, field, MAX_NOTE_LENGTH)


# As of requests (storage/leave/drafts.py).
MAX_NOTE_LENGTH: Final = 2_000
# The columns and their checks; docs/import.md has the same table.
COLUMNS: Final[Mapping[str, fields.Check]] = {
    "email": texts.email,
    "employee_number": texts.employee_number,
    "name": texts.name,
    "leave_type": texts.name,
    "start_date": csv_file.date_in,
    "end_date": csv_file.date_in,
    "start_half_day": _half,
    "end_half_day": _half,
    "status": _status,
    "amount": _amount,
    "note": _note,
}
# Only exports of other products have them.
_OTHERS: Final[Mapping[str, fields.Check]] = {
    "from_midday": _flag,
    "until_midday": _flag,
    "start_time": _time,
    "end_time": _time,
    "hour_from": _number_to(24),
    "minute_from": _number_to(59),
    "hour_to": _number_to(24),
    "minute_to": _number_to(59),
}
_CHECKS: Final = {**COLUMNS, **_OTHERS}
_DATES: Final = frozenset(("start_date", "end_date"))
_NEEDED: Final = ("leave_type", "start_date")


def read(
    content: bytes,
    *,
    options: Options,
    export: Export | None = None,
    max_lines: int = csv_file.MAX_LINES,
) -> LeaveFile:
    """The leave in the file. Raises InvalidInput for one whose lines cannot be told apart."""
    table = csv_file.read(
        content,
        export=export,
        is_column=_CHECKS.__contains__,
        known=[*COLUMNS],
        needed=_NEEDED,
        max_lines=max_lines,
    )
    errors = [*table.errors]
    who = [column for column in _WHO if column in table.columns]
    if not who:
        detail = "Whose leave is it? Add the column email, employee_number or name."
        errors.append(FieldError(pointer="/1/email", code="wrong_columns", detail=detail))
    checks = _CHECKS | dict.fromkeys(
        _DATES, csv_file.dates_of(table.rows, _DATES, options.date_order).check
    )
    lines = []
    for row in table.rows:
        line, wrong = _line(row, checks, who, options)
        lines.append(line)
        errors += [] if row.is_shifted else wrong
    return LeaveFile(lines=lines, errors=errors, titles=table.titles, left_behind=table.left_behind)


def _line(
    row: Row, checks: Mapping[str, fields.Check], who: Sequence[str], options: Options
) -> tuple[LeaveLine, list[FieldError]]:
    values, errors = csv_file.checked(row, checks)
    wrong = frozenset(row.cells) - frozenset(values)

    def wrong_cell(column: str, code: str, detail: str) -> None:
        errors.append(FieldError(pointer=f"/{row.number}/{column}", code=code, detail=detail))

    who_column = next((column for column in who if column in row.cells), who[0] if who else "")
    required = [who_column, *_NEEDED] if who_column else [*_NEEDED]
    for column in required:
        if column not in row.cells:
            wrong_cell(column, "required", f"{column} is required. Fill it in.")
    amount_days = None
    if "amount" in values:
        amount, is_in_hours = values["amount"]
        if not is_in_hours:
            amount_days = amount
        elif options.hours_per_day is not None:
            amount_days = amount / options.hours_per_day
        else:
            wrong_cell(
                "amount",
                "hours_per_day_unknown",
                "How many hours are a day? Say it for all lines: --hours-per-day 8 "
                "(hours_per_day in REST).",
            )
    start_date = values.get("start_date")
    line = LeaveLine(
        number=row.number,
        who=str(values.get(who_column, "")),
        who_column=who_column,
        leave_type=values.get("leave_type"),
        start_date=start_date,
        end_date=values.get("end_date", None if "end_date" in wrong else start_date),
        start_half_day=values.get("start_half_day", "pm" if values.get("from_midday") else None),
        end_half_day=values.get("end_half_day", "am" if values.get("until_midday") else None),
        times=_times(values),
        amount_days=amount_days,
        status=values.get("status", "approved"),
        note=values.get("note"),
        cells=row.cells,
        wrong=wrong | (frozenset(checks) if row.is_shifted else frozenset()),
    )
    return line, errors


def _times(values: Mapping[str, int]) -> tuple[int, int] | None:
    """When leave of a part of a day begins and ends, in minutes."""
    if "start_time" in values and "end_time" in values:
        return values["start_time"], values["end_time"]
    if "hour_from" in values and "hour_to" in values:
        begin = 60 * values["hour_from"] + values.get("minute_from", 0)
        return begin, 60 * values["hour_to"] + values.get("minute_to", 0)
    return None
