"""Reads and checks a CSV file of people, without the database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from storage.base import fields, texts
from storage.base.allowance_values import Amount
from storage.base.amounts import MAX_HALF_DAYS, amount_of
from storage.base.errors import FieldError, InvalidInput
from storage.base.fields import Checked
from storage.base.values import ROLES
from storage.operations import csv_file
from storage.operations.csv_file import Options, Row
from storage.operations.exports import Export
from storage.rules import counted_days, holiday_calendar

_DAYS: Final = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{1,2})?")
_SIGNED_DAYS: Final = re.compile(r"[+-]?[0-9]{1,3}(?:[.,][0-9]{1,2})?")
# `allowance:volunteering` has figures of the allowance with that code.
ALLOWANCE: Final = "allowance:"
# `days_left` has what people have left of the default allowance, `days_left:volunteering` of that.
DAYS_LEFT: Final = "days_left"
_DAYS_LEFT_OF: Final = f"{DAYS_LEFT}:"
DAYS_LEFT_ON: Final = f"{DAYS_LEFT}_on"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One person. ``number`` is the line in the file, from 1; ``values`` has the valid cells.

    ``department`` and ``manager_email`` are as typed, the other values are normalised. ``figures``
    has half-days a year by the code of the allowance, ``days_left`` half-days left by the column.
    ``cells`` has every cell that is not empty as typed, ``wrong`` the columns of invalid and absent
    ones.
    """

    number: int
    values: Checked
    department: str | None
    manager_email: str | None
    figures: Mapping[str, Amount] = field(default_factory=dict)
    days_left: Mapping[str, Amount] = field(default_factory=dict)
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

    ``allowance_codes`` are those of its columns for figures of allowances, ``days_left_columns``
    those for what is left, on the day ``days_left_on``. ``titles`` and ``left_behind`` as in
    ``csv_file.Table``.
    """

    lines: Sequence[Line]
    errors: Sequence[FieldError] = ()
    allowance_codes: Sequence[str] = ()
    days_left_columns: Sequence[str] = ()
    days_left_on: date | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    left_behind: Sequence[str] = ()


def days_left_code(column: str) -> str:
    """The code of the allowance whose days the column has; "" for the default one."""
    return column.removeprefix(DAYS_LEFT).removeprefix(":")


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


def _days_left(text: str, field: str) -> Amount:
    days = abs(float(text.replace(",", "."))) if _SIGNED_DAYS.fullmatch(text) else MAX_HALF_DAYS
    if days > MAX_HALF_DAYS // 2:
        raise InvalidInput.of(
            field,
            "not_a_number",
            "Use a number of days from -366 to 366 with at most two decimals, such as 12.5.",
        )
    half_days = amount_of(days, field)
    return -half_days if text.startswith("-") else half_days


def _unit(text: str, field: str) -> str:
    if text.lower() != "days":
        raise InvalidInput.of(
            field, "not_in_days", "Hiatus counts in days. Turn the allowance into days."
        )
    return text


def _role(text: str, field: str) -> str:
    role: str = fields.one_of(*ROLES, code="unknown_role")(text.lower(), field)
    return role


# The columns and their checks; docs/import.md has the same table.
COLUMNS: Final[Mapping[str, fields.Check]] = {
    "email": texts.email,
    "first_name": texts.name,
    "last_name": texts.name,
    "name": texts.name,
    "role": _role,
    "department": texts.name,
    "manager_email": texts.email,
    "job_title": texts.name,
    "employee_number": texts.employee_number,
    "start_date": csv_file.date_in,
    "end_date": csv_file.date_in,
    "working_days": _working_days,
    "public_holiday_country_code": holiday_calendar.check_country,
    "leave_allowance": _allowance,
    "effective_from": csv_file.date_in,
    DAYS_LEFT: _days_left,
    DAYS_LEFT_ON: csv_file.date_in,
}
# Only exports of other products have it.
_OTHERS: Final[Mapping[str, fields.Check]] = {"allowance_unit": _unit}
_DATES: Final = frozenset(name for name, check in COLUMNS.items() if check is csv_file.date_in)
_FOR_KNOWN_PEOPLE: Final = frozenset(("email", DAYS_LEFT, DAYS_LEFT_ON))


def read(
    content: bytes,
    *,
    options: Options | None = None,
    export: Export | None = None,
    max_lines: int = csv_file.MAX_LINES,
) -> PeopleFile:
    """The people in the file. Raises InvalidInput for one whose lines cannot be told apart."""
    options = options or Options()
    header = {_column_name(name) for name in csv_file.header_of(content)}
    needed = _needed(header, export, options)
    table = csv_file.read(
        content,
        export=export,
        is_column=lambda name: _check_of(_column_name(name)) is not None,
        known=[*COLUMNS],
        needed=needed,
        max_lines=max_lines,
    )
    dates = csv_file.dates_of(table.rows, _DATES, options.date_order)
    columns = [_column_name(name) for name in table.columns]
    checks = {name: check for name in columns if (check := _check_of(name)) is not None}
    checks |= dict.fromkeys(_DATES & checks.keys(), dates.check)
    absent = frozenset(needed) - frozenset(columns)
    errors = [*table.errors]
    lines: list[Line] = []
    for row in table.rows:
        line, wrong_cells = _line(row, checks, absent)
        lines.append(line)
        errors += wrong_cells
    errors += _repeated(lines)
    errors += _repeated_numbers(lines)
    days_left_columns = [name for name in columns if _is_days_left(name)]
    days_left_on, wrong_days = _days_left_on(lines, days_left_columns, options)
    codes = dict.fromkeys(name.removeprefix(ALLOWANCE) for name in columns if _is_figure(name))
    return PeopleFile(
        lines=lines,
        errors=[*errors, *wrong_days],
        allowance_codes=tuple(codes),
        days_left_columns=tuple(days_left_columns),
        days_left_on=days_left_on,
        titles=table.titles,
        left_behind=table.left_behind,
    )


def _needed(header: Set[str], export: Export | None, options: Options) -> list[str]:
    """The columns that the file must have: names, unless it is only about known people."""
    ours = {_of_export(name, export) for name in header}
    is_of_known = any(map(_is_days_left, ours)) and all(
        name in _FOR_KNOWN_PEOPLE or _is_days_left(name) for name in ours
    )
    if options.is_update or is_of_known or "name" in ours:
        return ["email"]
    return ["email", "first_name", "last_name"]


def _of_export(name: str, export: Export | None) -> str:
    return name if export is None else export.columns.get(name, name) or ""


def _days_left_on(
    lines: Sequence[Line], columns: Sequence[str], options: Options
) -> tuple[date | None, list[FieldError]]:
    """The day of the columns `days_left`, which is one for the whole file."""
    if not columns:
        return None, []
    chosen = options.days_left_on
    errors = []
    has_wrong = False
    for line in lines:
        has_wrong = has_wrong or DAYS_LEFT_ON in line.wrong
        day = line.values.pop(DAYS_LEFT_ON, None)
        if day is None:
            continue
        if chosen is not None and day != chosen:
            detail = f"All lines need the same day: this file is of {chosen}. Use one file a day."
            errors.append(
                FieldError(
                    pointer=f"/{line.number}/{DAYS_LEFT_ON}", code="several_days", detail=detail
                )
            )
        chosen = chosen or day
    if chosen is None and not has_wrong:
        detail = (
            "On which day were so many left? Add the column days_left_on, or say it for all lines: "
            "--days-left-on 2027-01-01 (days_left_on in REST)."
        )
        errors.append(FieldError(pointer=f"/1/{columns[0]}", code="required", detail=detail))
    return chosen, errors


def _column_name(name: str) -> str:
    for prefix in (ALLOWANCE, _DAYS_LEFT_OF):
        if name.startswith(prefix):
            # Codes have hyphens.
            return prefix + name.removeprefix(prefix).strip("_").replace("_", "-")
    return name


def _is_figure(column: str) -> bool:
    return column.startswith(ALLOWANCE) and column != ALLOWANCE


def _is_days_left(column: str) -> bool:
    return column == DAYS_LEFT or (column.startswith(_DAYS_LEFT_OF) and column != _DAYS_LEFT_OF)


def _check_of(column: str) -> fields.Check | None:
    """The check of a column's cells; None for an unknown column."""
    if _is_figure(column):
        return _allowance
    if _is_days_left(column):
        return _days_left
    return COLUMNS.get(column) or _OTHERS.get(column)


def _line(
    row: Row, checks: Mapping[str, fields.Check], absent: Set[str]
) -> tuple[Line, list[FieldError]]:
    """The line with its valid cells, and the errors of the others."""
    row = replace(row, cells={_column_name(name): cell for name, cell in row.cells.items()})
    values, errors = csv_file.checked(row, checks)
    wrong = absent | (row.cells.keys() - values.keys())
    if "email" not in row.cells and "email" not in absent:
        detail = "email is required. Fill it in."
        errors.append(FieldError(pointer=f"/{row.number}/email", code="required", detail=detail))
    if row.is_shifted:
        errors = []
        wrong = frozenset(checks) | frozenset(COLUMNS)
        values = {name: value for name, value in values.items() if name == "email"}
    full_name = values.pop("name", None)
    if full_name is not None:
        values = _named(full_name) | values
    values.pop("allowance_unit", None)
    department, manager = values.pop("department", None), values.pop("manager_email", None)
    if "leave_allowance" in values:
        values["leave_allowance_half_days"] = values.pop("leave_allowance")
    figures = {
        name.removeprefix(ALLOWANCE): values.pop(name) for name in [*values] if _is_figure(name)
    }
    days_left = {name: values.pop(name) for name in [*values] if _is_days_left(name)}
    line = Line(
        number=row.number,
        values=values,
        department=department,
        manager_email=manager,
        figures=figures,
        days_left=days_left,
        cells=row.cells,
        wrong=wrong,
    )
    return line, errors


def _named(full_name: str) -> Checked:
    """First and last name: "Ada King Lovelace" or "Lovelace, Ada"."""
    last, comma, first = full_name.partition(",")
    if not comma:
        first, _, last = full_name.partition(" ")
    names = {"first_name": first.strip(), "last_name": last.strip()}
    return {column: name for column, name in names.items() if name}


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
