"""Reads and checks a CSV file of people, without the database."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from storage.base import fields, texts
from storage.base.amounts import half_days_of
from storage.base.errors import FieldError, InvalidInput
from storage.base.fields import Checked
from storage.base.values import ROLES
from storage.rules import holiday_calendar, working_week

# Ten times the largest customer that is expected.
MAX_LINES: Final = 100_000
MAX_BYTES: Final = 64 * 1024 * 1024

_SEPARATORS: Final = (",", ";", "\t")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAYS: Final = re.compile(r"[0-9]{1,3}(?:[.,][0-9])?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One person. ``number`` is the line in the file, from 1; ``values`` has no empty cells.

    ``department`` and ``manager_email`` are as typed, the other values are normalised.
    """

    number: int
    values: Checked
    department: str | None
    manager_email: str | None

    @property
    def email(self) -> str:
        address: str = self.values["email"]
        return address


class BadLines(InvalidInput):
    """Invalid lines; pointers are ``/<line>/<column>``, or ``/<line>`` for a whole line."""

    code = "bad_lines"
    title = "Lines of the file break rules."

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(errors)
        self.code = BadLines.code

    @property
    def by_line(self) -> list[tuple[int, str, FieldError]]:
        """Line, column and error, by line."""
        errors_by_line = []
        for error in self.errors:
            line, _, column = error.pointer[1:].partition("/")
            errors_by_line.append((int(line), column, error))
        return sorted(errors_by_line, key=lambda item: item[0])


def _day(text: str, field: str) -> date:
    if _DAY.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise InvalidInput.of(field, "invalid_date", "Use a date that exists, as YYYY-MM-DD.")


def _working_days(text: str, field: str) -> tuple[str, ...]:
    return working_week.check_working_days(re.findall(r"[^\s,;|]+", text.lower()), field)


def _allowance(text: str, field: str) -> int:
    if _DAYS.fullmatch(text) is None:
        raise InvalidInput.of(
            field, "not_a_number", "Use a number of days from 0 to 366, such as 25 or 12.5."
        )
    return half_days_of(float(text.replace(",", ".")), field)


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
    "start_date": _day,
    "end_date": _day,
    "working_days": _working_days,
    "public_holiday_country_code": holiday_calendar.check_country,
    "leave_allowance": _allowance,
    "effective_from": _day,
}


def read(content: bytes, *, needed: Sequence[str]) -> list[Line]:
    """The people in the file; ``needed`` are the required columns.

    UTF-8, or UTF-16 with a byte order mark; separated by comma, semicolon or tab. Raises
    InvalidInput for an unreadable file, and BadLines with an error for each invalid cell.
    """
    text = _text(content)
    header, rows = _table(text)
    _check_header(header, needed)
    lines: list[Line] = []
    errors: list[FieldError] = []
    for number, cells in rows:
        if len(lines) == MAX_LINES:
            raise _unreadable("too_long", f"A file holds at most {MAX_LINES:,} people.")
        try:
            lines.append(_line(number, header, cells))
        except BadLines as error:
            errors.extend(error.errors)
    errors += _repeated(lines)
    if errors:
        raise BadLines(errors)
    return lines


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


def _table(text: str) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The column names, and the rows that are not empty with the number of their first line."""
    first_line = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = _numbered(reader)
    header = next(rows, (1, []))[1]
    return [re.sub(r"[\s-]+", "_", name.strip().lower()) for name in header], rows


# The csv module has no public type for its readers.
def _numbered(reader: Any) -> Iterator[tuple[int, list[str]]]:
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise _unreadable("not_csv", f"Line {line} is no CSV: {error}.") from error


def _check_header(header: list[str], needed: Sequence[str]) -> None:
    if not header:
        raise _unreadable("empty", "The file is empty; its first line names the columns.")
    problems = [_unknown(name) for name in header if name not in COLUMNS]
    problems += [
        f"The column {name} is there twice."
        for name in dict.fromkeys(header)
        if name in COLUMNS and header.count(name) > 1
    ]
    problems += [f"The column {name} is missing." for name in needed if name not in header]
    if problems:
        raise _unreadable("wrong_columns", " ".join(problems[:20]))


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, COLUMNS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"the columns are {', '.join(COLUMNS)}."
    return f"There is no column {name[:50]!r}: {hint}"


def _line(number: int, header: list[str], cells: list[str]) -> Line:
    """Raises BadLines with all errors of the line."""
    if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
        detail = f"It has {len(cells)} cells; the header has {len(header)}."
        raise BadLines([FieldError(pointer=f"/{number}", code="too_many_cells", detail=detail)])
    typed = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if cell.strip()}
    values: Checked = {}
    errors: list[FieldError] = []
    if "email" not in typed:
        errors.append(
            FieldError(pointer=f"/{number}/email", code="required", detail="email is required.")
        )
    for name, cell in typed.items():
        try:
            values[name] = COLUMNS[name](cell, name)
        except InvalidInput as error:
            errors += [
                replace(field_error, pointer=f"/{number}/{name}") for field_error in error.errors
            ]
    if errors:
        raise BadLines(errors)
    department, manager = values.pop("department", None), values.pop("manager_email", None)
    if "leave_allowance" in values:
        values["leave_allowance_half_days"] = values.pop("leave_allowance")
    return Line(number=number, values=values, department=department, manager_email=manager)


def _repeated(lines: list[Line]) -> list[FieldError]:
    first: dict[str, int] = {}
    errors = []
    for line in lines:
        earlier = first.setdefault(texts.email_key(line.email), line.number)
        if earlier != line.number:
            detail = f"{line.email} stands in line {earlier} already."
            errors.append(
                FieldError(pointer=f"/{line.number}/email", code="repeated_email", detail=detail)
            )
    return errors
