"""The commands ``hiatus report``: the reports of REST with everyone, printed or in a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from storage.base.values import Caller
from storage.db.database import Database, Transaction
from storage.operations import console
from storage.operations.console import Clock, Env
from storage.reports import balances as balance_report
from storage.reports import expiring as expiring_report
from storage.reports import formats
from storage.reports import leave as leave_report
from storage.reports.formats import Format
from storage.reports.reports import Run

# Called with the transaction, the operator and the time.
Start = Callable[[Transaction, Caller, datetime], Run[Any]]

_DAY: Final = click.DateTime(["%Y-%m-%d"])
_format_option = click.option(
    "--format", "format", type=click.Choice(["csv", "json"]), default="csv", show_default=True
)
_output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A new file, which only its owner may read. Without it, standard output.",
)


def report_group(env: Env, clock: Clock) -> click.Group:
    """The group ``hiatus report``."""
    report = click.Group("report", help="Write reports for payroll.")

    def write(start: Start, slug: str | None, format: Format, output: Path | None) -> None:
        with console.opened(env) as database:
            run = database.read_now(_started, start, slug, clock())
            with _opened(output) as file:
                try:
                    _write(database, run, format, file)
                except BaseException:
                    if output is not None:
                        # A part of a report looks like a whole one.
                        output.unlink(missing_ok=True)
                    raise

    @report.command("leave")
    @console.optional_slug_option
    @click.option("--from", "first_day", type=_DAY, help="The first day; by default last month's.")
    @click.option("--to", "last_day", type=_DAY, help="The last day.")
    @_format_option
    @_output_option
    def leave_command(
        organisation: str | None,
        first_day: datetime | None,
        last_day: datetime | None,
        format: Format,
        output: Path | None,
    ) -> None:
        """Days of approved leave in a period: a row for each person and leave type."""
        first, last = _date(first_day), _date(last_day)
        write(
            lambda tx, by, now: leave_report.start(tx, first, last, by=by, now=now),
            organisation,
            format,
            output,
        )

    @report.command("balances")
    @console.optional_slug_option
    @click.option("--on", type=_DAY, help="By default today.")
    @_format_option
    @_output_option
    def balances_command(
        organisation: str | None, on: datetime | None, format: Format, output: Path | None
    ) -> None:
        """What each person has left on a day: a row for each person and allowance."""
        day = _date(on)
        write(
            lambda tx, by, now: balance_report.start(tx, day, by=by, now=now),
            organisation,
            format,
            output,
        )

    @report.command("expiring")
    @console.optional_slug_option
    @click.option("--on", type=_DAY, help="By default today.")
    @_format_option
    @_output_option
    def expiring_command(
        organisation: str | None, on: datetime | None, format: Format, output: Path | None
    ) -> None:
        """Days that lapse on a day or later, and when people were told: a row for each."""
        day = _date(on)
        write(
            lambda tx, by, now: expiring_report.start(tx, day, by=by, now=now),
            organisation,
            format,
            output,
        )

    return report


def _date(moment: datetime | None) -> date | None:
    return None if moment is None else moment.date()


def _started(tx: Transaction, start: Start, slug: str | None, now: datetime) -> Run[Any]:
    by = console.operator(console.chosen_organisation(tx, slug))
    return start(tx, by, now)


def _opened(output: Path | None) -> AbstractContextManager[BinaryIO]:
    if output is None:
        return nullcontext(sys.stdout.buffer)
    try:
        # As backups: the file holds personal data, and an older one is not overwritten.
        return os.fdopen(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError:
        console.fail(f"{output} exists already. Choose another name.")
    except OSError as error:
        console.fail(f"{output} cannot be written: {error.strerror}.")


def _write(database: Database, run: Run[Any], format: Format, file: BinaryIO) -> None:
    first = database.read_now(formats.read, run, format)
    file.writelines(database.read_parts_now(first))
    file.flush()
