"""Reports as JSON and as CSV, batch by batch.

CSV is what spreadsheets open: UTF-8 with a byte order mark (without it, Excel takes the file for
the system's old encoding and breaks "Łódź"), commas, CRLF, decimal points. A text that a
spreadsheet would run as a formula has an apostrophe before it:
https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import csv
import io
from datetime import date, datetime
from functools import partial
from typing import Any, Final, Literal

import orjson
from pydantic import TypeAdapter

from storage.base.values import record
from storage.db.database import Part, Transaction
from storage.reports.reports import Run

Format = Literal["json", "csv"]

_BYTE_ORDER_MARK: Final = "\ufeff"
# With the full-width forms, which some spreadsheets read as the others.
_BEGIN_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def read(tx: Transaction, run: Run[Any], format: Format) -> Part:
    """The next part of the report. One after the other they are the file."""
    batch = run.read(tx)
    records = [record(row) for row in batch.rows]
    is_first, is_last = run.after_id is None, batch.next is None
    write = _json if format == "json" else _csv
    content = write(run, records, is_first=is_first, is_last=is_last)
    more = None if batch.next is None else partial(read, run=batch.next, format=format)
    return Part(content=content, more=more)


def columns(row: type[Any]) -> tuple[str, ...]:
    """The names of a row's columns, in order."""
    return tuple(TypeAdapter(row).json_schema(mode="serialization")["properties"])


def _json(run: Run[Any], records: list[dict[str, Any]], *, is_first: bool, is_last: bool) -> bytes:
    content = b""
    if is_first:
        content = orjson.dumps({**run.about, "data": []}).removesuffix(b"]}")
    if records and run.is_begun:
        content += b","
    content += orjson.dumps(records, option=orjson.OPT_UTC_Z)[1:-1]
    return content + (b"]}" if is_last else b"")


def _csv(run: Run[Any], records: list[dict[str, Any]], *, is_first: bool, is_last: bool) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    if is_first:
        text.write(_BYTE_ORDER_MARK)
        writer.writerow(columns(run.row))
    writer.writerows([map(_cell, each.values()) for each in records])
    return text.getvalue().encode()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value:g}"
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
    text = str(value)
    return f"'{text}" if text.startswith(_BEGIN_FORMULAS) else text
