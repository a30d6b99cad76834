"""CSV as spreadsheets save it: its lines, its cells, the order of its dates, and errors by line."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, Literal, Protocol

from typing_extensions import TypedDict

from storage.base import texts
from storage.base.errors import FieldError, InvalidInput, Sentence
from storage.base.fields import Check, Checked
from storage.operations.exports import Export

# Ten times the largest customer that is expected.
MAX_LINES: Final = 100_000
MAX_BYTES: Final = 64 * 1024 * 1024
# More errors are not listed: the first ones show what is wrong with the file.
MAX_ERRORS: Final = 1_000

DateOrder = Literal["dmy", "mdy"]

_SEPARATORS: Final = (",", ";", "\t")
_MAX_NAME: Final = 50
_MAX_VALUE: Final = 80
_ISO_DAY: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]00:00(?::00)?(?:\.0+)?Z?)?")
_GERMAN_DAY: Final = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_EITHER_DAY: Final = re.compile(r"([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What a file does not say itself. ``is_update``: known people change, too.

    ``date_order`` is that of dates with slashes, None: as the file shows. ``days_left_on`` is the
    day of its column `days_left`, ``hours_per_day`` how many hours its amounts count as a day.
    """

    is_update: bool = False
    date_order: DateOrder | None = None
    days_left_on: date | None = None
    hours_per_day: float | None = None


class WrongCell(TypedDict):
    """What is wrong in a line; ``column`` and ``value`` are null if it is the whole line."""

    line: int
    column: str | None
    value: str | None
    code: str
    detail: str


class HasCells(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def cells(self) -> Mapping[str, str]: ...


class BadLines(InvalidInput):
    """Lines of the file are wrong: `lines` has the line, column, value and cure of each error, at
    most 1,000, and `error_count` counts them all.

    Nothing was imported.
    """

    code = "bad_lines"
    title = "Lines of the file break rules."
    cure = "Correct the lines that are listed and import the file again."
    example = (
        [FieldError(pointer="/3/email", code="invalid_email", detail="This is no address.")],
    )
    members = ("lines", "error_count")
    lines: list[WrongCell]
    error_count: int

    def __init__(
        self,
        errors: Sequence[FieldError],
        lines: Iterable[HasCells] = (),
        titles: Mapping[str, str] | None = None,
    ) -> None:
        """``titles`` has the names of the columns as the file spells them."""
        super().__init__(errors[:MAX_ERRORS])
        self.code = BadLines.code
        self.error_count = len(errors)
        cells = {line.number: line.cells for line in lines}
        found = []
        for error in errors:
            number, _, column = error.pointer[1:].partition("/")
            found.append(
                WrongCell(
                    line=int(number),
                    column=(titles or {}).get(column, column) or None,
                    value=_shown(cells.get(int(number), {}).get(column, "")),
                    code=error.code,
                    detail=str(error.detail),
                )
            )
        self.line_count = len({cell["line"] for cell in found})
        # Not the sentences of thousands of errors in one.
        self.detail = Sentence(
            "Nothing was imported: {errors} in {lines}.",
            errors=texts.counted(len(found), "error"),
            lines=texts.counted(self.line_count, "line"),
        )
        # The values of one line stand together, in the order of their errors.
        self.lines = sorted(found, key=lambda cell: cell["line"])[:MAX_ERRORS]


def _shown(value: str) -> str | None:
    return f"{value[:_MAX_VALUE]}…" if len(value) > _MAX_VALUE else value or None


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """The cells of a file by line, under our names of its columns.

    ``titles`` has the columns as the file spells them, by our names. ``left_behind`` are columns
    that the export of another product has and that are not read. ``errors`` are those of columns
    and of lines that cannot be told apart.
    """

    rows: Sequence[Row]
    columns: Sequence[str]
    titles: Mapping[str, str]
    errors: Sequence[FieldError]
    left_behind: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line: its number in the file, from 1, and its cells that are not empty.

    ``is_shifted``: it has more cells than columns, so that they may be in the wrong ones.
    """

    number: int
    cells: Mapping[str, str]
    is_shifted: bool = False


def unreadable(code: str, detail: str) -> InvalidInput:
    return InvalidInput.of("file", code, detail)


def header_of(content: bytes) -> list[str]:
    """The names of the columns, in lower case with underscores. Raises InvalidInput."""
    header, _ = _rows(_text(content))
    return [column_name(name) for name in header]


def read(
    content: bytes,
    *,
    export: Export | None,
    is_column: Callable[[str], bool],
    known: Iterable[str],
    needed: Iterable[str],
    max_lines: int = MAX_LINES,
) -> Table:
    """The table in a file. ``known`` columns are named in errors, ``needed`` ones must be there.

    UTF-8, or UTF-16 with a byte order mark; separated by comma, semicolon or tab. Raises
    InvalidInput for a file whose lines cannot be told apart.
    """
    typed, rows = _rows(_text(content))
    if not typed:
        raise unreadable("empty", "The file is empty; its first line names the columns.")
    names = [column_name(name) for name in typed]
    header: list[str | None] = [*names]
    left_behind: list[str] = []
    if export is not None:
        header = [export.columns.get(name, name if is_column(name) else None) for name in names]
        left_behind = [
            title.strip()[:_MAX_NAME]
            for column, title in zip(header, typed, strict=True)
            if column is None and title.strip()
        ]
    errors = _wrong_columns(header, is_column, [*known], [*needed])
    titles = {
        column: title.strip()[:_MAX_NAME]
        for column, title in zip(header, typed, strict=True)
        if column and export is not None
    }
    found: list[Row] = []
    for count, (number, cells) in enumerate(rows):
        if count == max_lines:
            raise unreadable("too_long", f"A file holds at most {max_lines:,} lines.")
        if isinstance(cells, FieldError):
            errors.append(cells)
            continue
        is_shifted = len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :])
        if is_shifted:
            # A separator inside a text has shifted the other cells: their errors would mislead.
            detail = (
                f"It has {len(cells)} cells, and line 1 has {len(header)}. Put a text that "
                "contains the separator in quotation marks."
            )
            errors.append(FieldError(pointer=f"/{number}", code="too_many_cells", detail=detail))
        by_column = {
            column: cell.strip()
            for column, cell in zip(header, cells, strict=False)
            if column and is_column(column) and cell.strip()
        }
        found.append(Row(number=number, cells=by_column, is_shifted=is_shifted))
    columns = [column for column in header if column and is_column(column)]
    return Table(rows=found, columns=columns, titles=titles, errors=errors, left_behind=left_behind)


def column_name(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().lower())


def checked(row: Row, checks: Mapping[str, Check]) -> tuple[Checked, list[FieldError]]:
    """The valid values of a line, and the errors of its other cells."""
    values: Checked = {}
    errors: list[FieldError] = []
    for name, cell in row.cells.items():
        try:
            if cell.startswith("="):
                raise InvalidInput.of(
                    name, "formula", "This is a formula. Save the file with its result instead."
                )
            values[name] = checks[name](cell, name)
        except InvalidInput as error:
            errors += [replace(each, pointer=f"/{row.number}/{name}") for each in error.errors]
    return values, errors


@dataclass(kw_only=True, slots=True)
class Dates:
    """Reads the dates of a file: YYYY-MM-DD, DD.MM.YYYY, and with slashes in the file's order.

    One error says that the order is not known, not one for each date.
    """

    order: DateOrder | None
    _is_told: bool = field(default=False, init=False)

    def check(self, text: str, field: str) -> date:
        """Raises InvalidInput, without an error if the order is not known and that was told."""
        parts = self._parts(text)
        if parts is None and _EITHER_DAY.fullmatch(text):
            if self._is_told:
                raise InvalidInput([])
            self._is_told = True
            detail = (
                "The dates of this file do not show whether the day or the month is first. Say it: "
                "--date-order dmy or --date-order mdy (date_order in REST)."
            )
            raise InvalidInput.of(field, "ambiguous_date", detail)
        try:
            if parts is not None:
                return date(*parts)
        except ValueError:
            pass
        raise InvalidInput.of(field, "invalid_date", "Use a date that exists, as YYYY-MM-DD.")

    def _parts(self, text: str) -> tuple[int, int, int] | None:
        if match := _ISO_DAY.fullmatch(text):
            year, month, day = match[1].split("-")
        elif match := _GERMAN_DAY.fullmatch(text):
            day, month, year = match.groups()
        elif (match := _EITHER_DAY.fullmatch(text)) and self.order is not None:
            first, second, year = match.groups()
            day, month = (first, second) if self.order == "dmy" else (second, first)
        else:
            return None
        return int(year), int(month), int(day)


def date_in(text: str, field: str) -> date:
    """A date that shows its order by itself; ``dates_of`` has the check of a whole file."""
    return Dates(order=None).check(text, field)


def dates_of(rows: Iterable[Row], columns: Set[str], order: DateOrder | None) -> Dates:
    """``order``, or what the first date shows whose day cannot be a month."""
    if order is not None:
        return Dates(order=order)
    for row in rows:
        for column in columns & row.cells.keys():
            if match := _EITHER_DAY.fullmatch(row.cells[column]):
                if int(match[1]) > 12:
                    return Dates(order="dmy")
                if int(match[2]) > 12:
                    return Dates(order="mdy")
    return Dates(order=None)


def _text(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise unreadable("too_large", f"A file has at most {MAX_BYTES // 2**20} MiB.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise unreadable("not_utf_16", "The file begins as UTF-16 and is not.") from error
    if b"\0" in content[:200]:
        raise unreadable("not_text", "The file is not UTF-8 text: save it as CSV UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise unreadable(
            "not_utf_8", f"Line {line} is not UTF-8; save the file as CSV UTF-8."
        ) from error


def _rows(text: str) -> tuple[list[str], Iterator[tuple[int, list[str] | FieldError]]]:
    """The column names, and the rows that are not empty with the number of their first line."""
    first_line = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = _numbered(reader)
    _, header = next(rows, (1, []))
    if isinstance(header, FieldError):
        raise unreadable(header.code, f"Line 1: {header.detail}")
    return header, rows


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


def _wrong_columns(
    header: Sequence[str | None],
    is_column: Callable[[str], bool],
    known: list[str],
    needed: list[str],
) -> list[FieldError]:
    """An error for each unknown, repeated or missing column. Raises InvalidInput without any."""
    named = [name for name in header if name is not None]
    present = [name for name in named if is_column(name)]
    if not present:
        raise unreadable(
            "wrong_columns", f"Line 1 has to name the columns, such as {', '.join(known)}."
        )
    details = {name: _unknown(name, known) for name in named if name not in present}
    details |= {
        name: f"The column {name} is there twice. Remove one of them."
        for name in present
        if header.count(name) > 1
    }
    details |= {
        name: f"The column {name} is missing. Add it." for name in needed if name not in header
    }
    return [
        FieldError(pointer=f"/1/{name[:_MAX_NAME]}", code="wrong_columns", detail=detail)
        for name, detail in details.items()
    ]


def _unknown(name: str, known: list[str]) -> str:
    if not name:
        return "A column has no name. Name it in line 1, or remove it."
    close = difflib.get_close_matches(name[:_MAX_NAME], known, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"The columns are {', '.join(known)}."
    return f"There is no such column. {hint}"
