"""Reads and checks a CSV file of people, without the database."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from storage.base import fields, texts
from storage.base.allowance_values import Amount
from storage.base.amounts import amount_of
from storage.base.errors import FieldError, InvalidInput
from storage.base.fields import Checked
from storage.base.values import ROLES
from storage.rules import counted_days, holiday_calendar

# Ten times the largest customer that is expected.
MAX_LINES: Final = 100_000
MAX_BYTES: Final = 64 * 1024 * 1024

_SEPARATORS: Final = (",", ";", "\t")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAYS: Final = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{1,2})?")
# `allowance:volunteering` has figures of the allowance with that code.
ALLOWANCE: Final = "allowance:"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One person. ``number`` is the line in the file, from 1; ``values`` has the valid cells.

    ``department`` and ``manager_email`` are as typed, the other values are normalised. ``figures``
    has half-days a year by the code of the allowance. ``cells`` has every cell that is not empty as
    typed, ``wrong`` the columns of invalid and absent ones.
    """

    number: int
    values: Checked
    department: str | None
    manager_email: str | None
    figures: Mapping[str, Amount] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    wrong: Set[str] = frozenset()

    @property
    def email(self) -> str:
        """The address; "" without a valid one."""
        address: str = self.values.get("email", "")
        return address


@dataclass(frozen=True, kw_only=True, slots=True)
class PeopleFile:
    """The lines of a file, wrong ones included, and an error for each invalid cell.

    ``allowance_codes`` are those of its columns for figures of allowances.
    """

    lines: Sequence[Line]
    errors: Sequence[FieldError] = ()
    allowance_codes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class WrongCell:
    """What is wrong in a line; ``column`` and ``value`` are "" if it is the whole line."""

    line: int
    column: str
    value: str
    code: str
    detail: str


class BadLines(InvalidInput):
    """Only for `hiatus import`: lines of the file are wrong.

    Nothing was imported.
    """

    code = "bad_lines"
    title = "Lines of the file break rules."
    cure = "Correct the lines that are listed and run the command again."
    example = (
        [FieldError(pointer="/3/email", code="invalid_email", detail="This is no address.")],
    )

    def __init__(self, errors: Sequence[FieldError], lines: Sequence[Line] = ()) -> None:
        super().__init__(errors)
        self.code = BadLines.code
        self._lines = lines

    def by_line(self) -> list[WrongCell]:
        """All errors, by line."""
        cells = {line.number: line.cells for line in self._lines}
        wrong = []
        for error in self.errors:
            number, _, column = error.pointer[1:].partition("/")
            value = cells.get(int(number), {}).get(column, "")
            wrong.append(
                WrongCell(
                    line=int(number),
                    column=column,
                    value=value,
                    code=error.code,
                    detail=error.detail,
                )
            )
        return sorted(wrong, key=lambda cell: cell.line)


def _day(text: str, field: str) -> date:
    if _DAY.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise InvalidInput.of(field, "invalid_date", "Use a date that exists, as YYYY-MM-DD.")


def _working_days(text: str, field: str) -> tuple[str, ...]:
    return counted_days.check_working_days(re.findall(r"[^\s,;|]+", text.lower()), field)


def _allowance(text: str, field: str) -> Amount:
    if _DAYS.fullmatch(text) is None:
        raise InvalidInput.of(
            field,
            "not_a_number",
            "Use a number of days from 0 to 366 with at most two decimals, such as 25 or 16.8.",
        )
    return amount_of(float(text.replace(",", ".")), field)


def _role(text: str, field: str) -> str:
    role: str = fields.one_of(*ROLES, code="unknown_role")(text.lower(), field)
    return role


# The columns and their checks; docs/import.md has the same table.
COLUMNS: Final[Mapping[str, fields.Check]] = {
    "email": texts.email,
    "first_name": texts.name,
    "last_name": texts.name,
    "role": _role,
    "department": texts.name,
    "manager_email": texts.email,
    "job_title": texts.name,
    "employee_number": texts.employee_number,
    "start_date": _day,
    "end_date": _day,
    "working_days": _working_days,
    "public_holiday_country_code": holiday_calendar.check_country,
    "leave_allowance": _allowance,
    "effective_from": _day,
}


def read(content: bytes, *, needed: Sequence[str]) -> PeopleFile:
    """The people in the file; ``needed`` are the required columns.

    UTF-8, or UTF-16 with a byte order mark; separated by comma, semicolon or tab. Raises
    InvalidInput for a file whose lines cannot be told apart.
    """
    text = _text(content)
    header, rows = _table(text)
    errors = _wrong_columns(header, needed)
    absent = frozenset(needed) - {*header}
    lines: list[Line] = []
    for count, (number, cells) in enumerate(rows):
        if count == MAX_LINES:
            raise _unreadable("too_long", f"A file holds at most {MAX_LINES:,} people.")
        if isinstance(cells, FieldError):
            errors.append(cells)
            continue
        line, wrong_cells = _line(number, header, cells, absent)
        lines.append(line)
        errors += wrong_cells
    errors += _repeated(lines)
    errors += _repeated_numbers(lines)
    codes = dict.fromkeys(name.removeprefix(ALLOWANCE) for name in header if _is_figure(name))
    return PeopleFile(lines=lines, errors=errors, allowance_codes=tuple(codes))


def _unreadable(code: str, detail: str) -> InvalidInput:
    return InvalidInput.of("file", code, detail)


def _text(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise _unreadable("too_large", f"A file has at most {MAX_BYTES // 2**20} MiB.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise _unreadable("not_utf_16", "The file begins as UTF-16 and is not.") from error
    if b"\0" in content[:200]:
        raise _unreadable("not_text", "The file is not UTF-8 text: save it as CSV UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _unreadable(
            "not_utf_8", f"Line {line} is not UTF-8; save the file as CSV UTF-8."
        ) from error


def _table(text: str) -> tuple[list[str], Iterator[tuple[int, list[str] | FieldError]]]:
    """The column names, and the rows that are not empty with the number of their first line."""
    first_line = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = _numbered(reader)
    _, header = next(rows, (1, []))
    if isinstance(header, FieldError):
        raise _unreadable(header.code, f"Line 1: {header.detail}")
    return [_column_name(name) for name in header], rows


def _column_name(text: str) -> str:
    name = re.sub(r"[\s-]+", "_", text.strip().lower())
    if not name.startswith(ALLOWANCE):
        return name
    # Codes have hyphens.
    return ALLOWANCE + name.removeprefix(ALLOWANCE).strip("_").replace("_", "-")


def _is_figure(column: str) -> bool:
    return column.startswith(ALLOWANCE) and column != ALLOWANCE


def _check_of(column: str) -> fields.Check | None:
    """The check of a column's cells; None for an unknown column."""
    return _allowance if _is_figure(column) else COLUMNS.get(column)


# The csv module has no public type for its readers.
def _numbered(reader: Any) -> Iterator[tuple[int, list[str] | FieldError]]:
    """Each row, or its error; the reader goes on with the next line."""
    line = 1
    while True:
        try:
            cells = next(reader)
            if any(cell.strip() for cell in cells):
                yield line, cells
        except StopIteration:
            return
        except csv.Error as error:
            yield line, FieldError(pointer=f"/{line}", code="not_csv", detail=_not_csv(str(error)))
        line = reader.line_num + 1


def _not_csv(reason: str) -> str:
    if reason.startswith(("unexpected end of data", "field larger")):
        return (
            "A quotation mark is not closed, so the lines after it cannot be told apart. Close it, "
            "or write it twice if it is part of the text."
        )
    return (
        f"This is no CSV: {reason}. Put the whole cell in quotation marks, and write those inside "
        "it twice."
    )


def _wrong_columns(header: list[str], needed: Sequence[str]) -> list[FieldError]:
    """An error for each unknown, repeated or missing column. Raises InvalidInput without any."""
    if not header:
        raise _unreadable("empty", "The file is empty; its first line names the columns.")
    known = [name for name in header if _check_of(name) is not None]
    if not known:
        columns = ", ".join(COLUMNS)
        raise _unreadable("wrong_columns", f"Line 1 has to name the columns, such as {columns}.")
    details = {name: _unknown(name) for name in header if name not in known}
    details |= {
        name: f"The column {name} is there twice. Remove one of them."
        for name in known
        if header.count(name) > 1
    }
    details |= {
        name: f"The column {name} is missing. Add it." for name in needed if name not in header
    }
    return [
        FieldError(pointer=f"/1/{name[:50]}", code="wrong_columns", detail=detail)
        for name, detail in details.items()
    ]


def _unknown(name: str) -> str:
    if not name:
        return "A column has no name. Name it in line 1, or remove it."
    close = difflib.get_close_matches(name[:50], COLUMNS, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"The columns are {', '.join(COLUMNS)}."
    return f"There is no such column. {hint}"


def _line(
    number: int, header: list[str], cells: list[str], absent: Set[str]
) -> tuple[Line, list[FieldError]]:
    """The line with its valid cells, and the errors of the others."""
    checks = {name: check for name in header if (check := _check_of(name)) is not None}
    cells_by_column = {
        name: cell.strip()
        for name, cell in zip(header, cells, strict=False)
        if name in checks and cell.strip()
    }
    values: Checked = {}
    errors: list[FieldError] = []
    for name, cell in cells_by_column.items():
        try:
            values[name] = checks[name](cell, name)
        except InvalidInput as error:
            errors += [
                replace(field_error, pointer=f"/{number}/{name}") for field_error in error.errors
            ]
    wrong = absent | (cells_by_column.keys() - values.keys())
    if "email" not in cells_by_column and "email" not in absent:
        detail = "email is required. Fill it in."
        errors.append(FieldError(pointer=f"/{number}/email", code="required", detail=detail))
    if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
        # A separator inside a text has shifted the other cells: their errors would mislead.
        detail = (
            f"It has {len(cells)} cells, and line 1 has {len(header)}. Put a text that contains "
            "the separator in quotation marks."
        )
        errors = [FieldError(pointer=f"/{number}", code="too_many_cells", detail=detail)]
        wrong = frozenset(checks) | frozenset(COLUMNS)
        values = {name: value for name, value in values.items() if name == "email"}
    department, manager = values.pop("department", None), values.pop("manager_email", None)
    if "leave_allowance" in values:
        values["leave_allowance_half_days"] = values.pop("leave_allowance")
    figures = {
        name.removeprefix(ALLOWANCE): values.pop(name) for name in [*values] if _is_figure(name)
    }
    line = Line(
        number=number,
        values=values,
        department=department,
        manager_email=manager,
        figures=figures,
        cells=cells_by_column,
        wrong=wrong,
    )
    return line, errors


def _repeated(lines: list[Line]) -> list[FieldError]:
    first: dict[str, int] = {}
    errors = []
    for line in lines:
        if not line.email:
            continue
        earlier = first.setdefault(texts.email_key(line.email), line.number)
        if earlier != line.number:
            detail = f"The address is in line {earlier} as well. Remove one of the two lines."
            errors.append(
                FieldError(pointer=f"/{line.number}/email", code="repeated_email", detail=detail)
            )
    return errors


def _repeated_numbers(lines: list[Line]) -> list[FieldError]:
    first: dict[str, int] = {}
    errors = []
    for line in lines:
        number = line.values.get("employee_number")
        if number is None:
            continue
        earlier = first.setdefault(number, line.number)
        if earlier != line.number:
            detail = f"Line {earlier} has the same number. Correct one of the two lines."
            errors.append(
                FieldError(
                    pointer=f"/{line.number}/employee_number",
                    code="repeated_employee_number",
                    detail=detail,
                )
            )
    return errors
