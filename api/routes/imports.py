"""`/imports`: people, what they have left and booked leave from a CSV file."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from api.http.fields import Day, DryRun, Flag, Form
from api.http.operations import RequestContext, operation
from api.routes.users import USERS
from storage.base.errors import InsufficientScope
from storage.db.database import Transaction
from storage.operations import imports
from storage.operations.csv_file import BadLines, Options
from storage.operations.imports import Imported
from storage.operations.people_import import FileOvertaken

_MAX_LINES: Final = 10_000


class ImportForm(Form):
    EXAMPLE = {"file": "email,name\nada@example.com,Ada Lovelace\n", "update": "true"}

    file: Annotated[
        bytes,
        Field(
            description="The CSV file, at most 10,000 lines; the form has at most 1 MiB.",
            json_schema_extra={"type": "string", "contentMediaType": "text/csv"},
        ),
    ]
    update: Annotated[Flag, Field(description="`true` also changes known people.")] = "false"
    days_left_on: Annotated[
        Day | None,
        Field(description="The day of the column `days_left`, if no column `days_left_on` has it."),
    ] = None
    date_order: Annotated[
        Literal["dmy", "mdy"] | None,
        Field(description="Of dates such as 03/04/2027, if the file does not show it."),
    ] = None
    hours_per_day: Annotated[
        float | None,
        Field(ge=1, le=24, description="How many hours of the column `amount` are a day."),
    ] = None


@operation(
    "POST",
    "/imports",
    tag=USERS,
    role="admin",
    refusals=(BadLines, FileOvertaken),
    rules=(
        *("empty", "not_csv", "not_text", "not_utf_16", "not_utf_8", "too_large", "too_long"),
        *(
            "out_of_range",
            "repeated_field",
            "required",
            "unknown_choice",
            "wrong_columns",
            "wrong_type",
        ),
    ),
)
def run(tx: Transaction, context: RequestContext, query: DryRun, body: ImportForm) -> Imported:
    """Import a CSV file.

    People, what they have left on a day, or booked leave: all of the file, or nothing and every
    error with its line, column and value. `docs/import.md` has the columns; files of Timetastic,
    Vacation Tracker, BambooHR and Personio are recognised. The same file twice changes nothing.
    Leave and figures of what is left also need the scope `leave:write`. With `dry_run=true` the
    counts are what the import would do.
    """
    options = Options(
        is_update=body.update == "true",
        date_order=body.date_order,
        days_left_on=body.days_left_on,
        hours_per_day=body.hours_per_day,
    )
    file = imports.read(body.file, options, max_lines=_MAX_LINES)
    if file.is_about_leave and "leave:write" not in context.caller.scopes:
        raise InsufficientScope("leave:write")
    return imports.run(
        tx, file, options, by=context.caller, now=context.now, progress=lambda _: None
    )


OPERATIONS = (run,)
