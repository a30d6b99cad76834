"""A CSV file of people or of booked leave, read by its columns and imported: for commands and REST.

Exports of other products are recognised by their columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from storage.base.values import Caller
from storage.db.database import Transaction
from storage.operations import (
    csv_file,
    exports,
    leave_file,
    leave_import,
    people_file,
    people_import,
)
from storage.operations.csv_file import MAX_LINES, Options
from storage.operations.leave_file import LeaveFile
from storage.operations.people_file import PeopleFile
from storage.operations.people_import import Progress

Kind = Literal["people", "leave"]
# A file with one of these is about leave.
_OF_LEAVE: Final = frozenset(("leave_type", "start_half_day", "end_half_day"))


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportFile:
    """A file that was read; ``product`` is the one that exported it, None for a file of ours."""

    kind: Kind
    product: str | None
    people: PeopleFile | None = None
    leave: LeaveFile | None = None

    @property
    def length(self) -> int:
        return len((self.people or self.leave or PeopleFile(lines=())).lines)

    @property
    def is_about_leave(self) -> bool:
        """Whether it changes leave or balances."""
        return self.leave is not None or bool(self.people and self.people.days_left_columns)

    @property
    def left_behind(self) -> Sequence[str]:
        """Columns of the other product's export that are not read."""
        return (self.people or self.leave or PeopleFile(lines=())).left_behind


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What a file has changed, or would in a dry run; what it does not have counts 0."""

    kind: Kind
    product: Annotated[
        str | None, Field(description="The product whose export it is; null for other files.")
    ]
    people_created: int = 0
    people_updated: int = 0
    people_unchanged: Annotated[
        int, Field(description="Lines that say what Hiatus knows already.")
    ] = 0
    departments_created: int = 0
    days_left_set: Annotated[
        int, Field(description="Figures of `days_left` that balances now have.")
    ] = 0
    days_left_known: Annotated[int, Field(description="Those that were imported before.")] = 0
    leave_created: int = 0
    leave_known: Annotated[int, Field(description="Lines whose leave was there already.")] = 0
    leave_left_out: Annotated[
        int,
        Field(
            description="Lines that were declined or cancelled, or ended more than two years ago."
        ),
    ] = 0
    columns_left_behind: Annotated[
        tuple[str, ...], Field(description="Columns of the export that are not read.")
    ] = ()


def read(content: bytes, options: Options, *, max_lines: int = MAX_LINES) -> ImportFile:
    """The file. Raises InvalidInput for one whose lines cannot be told apart."""
    header = csv_file.header_of(content)
    export = exports.recognised(header)
    kind: Kind = export.kind if export is not None else _kind(header)
    product = None if export is None else export.product
    if kind == "leave":
        leave = leave_file.read(content, options=options, export=export, max_lines=max_lines)
        return ImportFile(kind=kind, product=product, leave=leave)
    people = people_file.read(content, options=options, export=export, max_lines=max_lines)
    return ImportFile(kind=kind, product=product, people=people)


def _kind(header: Sequence[str]) -> Kind:
    return "people" if _OF_LEAVE.isdisjoint(header) else "leave"


def run(
    tx: Transaction,
    file: ImportFile,
    options: Options,
    *,
    by: Caller,
    now: datetime,
    progress: Progress,
) -> Imported:
    """Import it in this transaction. Raises BadLines with every error, or FileOvertaken."""
    left_behind = tuple(file.left_behind)
    if file.leave is not None:
        leave = leave_import.import_leave(tx, file.leave, by=by, now=now)
        progress(file.length)
        return Imported(
            kind=file.kind,
            product=file.product,
            leave_created=leave.leave_created,
            leave_known=leave.leave_known,
            leave_left_out=leave.leave_left_out,
            columns_left_behind=left_behind,
        )
    assert file.people is not None
    people = people_import.import_people(
        tx, file.people, by=by, now=now, is_update=options.is_update, progress=progress
    )
    return Imported(
        kind=file.kind,
        product=file.product,
        people_created=people.people_created,
        people_updated=people.people_updated,
        people_unchanged=people.people_unchanged,
        departments_created=people.departments_created,
        days_left_set=people.days_left_set,
        days_left_known=people.days_left_known,
        columns_left_behind=left_behind,
    )
