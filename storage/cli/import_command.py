"""The command ``hiatus import``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from storage.base import texts
from storage.base.values import Organisation, as_dict
from storage.cli import console
from storage.cli.console import Clock, Env
from storage.db.database import Database

if TYPE_CHECKING:
    from storage.cli.people_file import BadLines, Line
    from storage.cli.people_import import Imported, Progress

# More errors are not listed: the first ones show what is wrong with the file.
MAX_ERRORS: Final = 1_000


def add_to(app: click.Group, env: Env, clock: Clock) -> None:

    @app.command("import")
    @click.argument(
        "file",
        metavar="FILE.csv",
        type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    )
    @console.slug_option
    @click.option("--update", is_flag=True, help="Also update people who already exist.")
    @click.option("--dry-run", is_flag=True, help="Check everything and change nothing.")
    @console.as_json_option
    def import_command(
        file: Path, organisation: str, update: bool, dry_run: bool, as_json: bool
    ) -> None:
        """Import people and departments from a CSV file: all of them or none.

        Columns: email, first_name, last_name, role, department, manager_email, job_title,
        start_date, end_date (YYYY-MM-DD), working_days (monday tuesday friday:am),
        public_holiday_country_code, leave_allowance (days), effective_from (from when working
        days, public holidays, allowance and department change). A manager may be in any line.
        """
        from storage.cli import people_file

        needed = ["email"] if update else ["email", "first_name", "last_name"]
        with console.errors_on_stderr(), _bad_lines_printed(as_json=as_json):
            lines = people_file.read(file.read_bytes(), needed=needed)
        with console.opened(env) as database, _bad_lines_printed(as_json=as_json):
            target = database.read_now(console.chosen_organisation, organisation)
            run = _preview if dry_run else _import
            counts = run(database, target, lines, now=clock(), is_update=update)
        if as_json:
            console.print_json(
                {"organisation_id": target.id, "dry_run": dry_run, **as_dict(counts), "errors": []}
            )
            return
        click.echo(_sentence(target, counts, dry_run=dry_run))


def _preview(
    database: Database,
    organisation: Organisation,
    lines: list[Line],
    *,
    now: datetime,
    is_update: bool,
) -> Imported:
    from storage.cli import people_import

    by = console.operator(organisation)
    return database.read_now(people_import.preview, lines, by=by, now=now, is_update=is_update)


def _import(
    database: Database,
    organisation: Organisation,
    lines: list[Line],
    *,
    now: datetime,
    is_update: bool,
) -> Imported:
    from storage.cli import people_import

    by = console.operator(organisation)
    with _progress_bar(len(lines)) as progress:
        return database.write_now(
            people_import.import_people,
            lines,
            by=by,
            now=now,
            is_update=is_update,
            progress=progress,
        )


@contextmanager
def _progress_bar(total: int) -> Iterator[Progress]:
    """A bar on standard error, if that is a terminal."""
    with click.progressbar(
        length=total,
        label="Importing people",
        show_pos=True,
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
    ) as bar:
        yield lambda done: bar.update(done - bar.pos)


def _sentence(organisation: Organisation, counts: Imported, *, dry_run: bool) -> str:
    people = texts.counted(counts.people_created, "person", "people")
    departments = texts.counted(counts.departments_created, "department")
    would_be = "would be " if dry_run else ""
    return (
        f"In {organisation.name}: {people} {would_be}added, {counts.people_updated:,} changed, "
        f"{counts.people_unchanged:,} unchanged; {departments} {would_be}added."
    )


@contextmanager
def _bad_lines_printed(*, as_json: bool) -> Iterator[None]:
    """Print the wrong lines with their numbers, up to ``MAX_ERRORS``, and exit with 1."""
    from storage.cli.people_file import BadLines

    try:
        yield
    except BadLines as bad:
        if as_json:
            console.print_json(_report(bad))
        else:
            _print_lines(bad)
        raise click.exceptions.Exit(1) from bad


def _report(bad: BadLines) -> dict[str, object]:
    errors = [
        {"line": line, "column": column or None, "code": error.code, "detail": error.detail}
        for line, column, error in bad.by_line[:MAX_ERRORS]
    ]
    return {"errors": errors, "error_count": len(bad.errors)}


def _print_lines(bad: BadLines) -> None:
    errors, count = bad.by_line[:MAX_ERRORS], len(bad.errors)
    for line, column, error in errors:
        where = f"line {line}, {column}" if column else f"line {line}"
        click.echo(f"{where}: {error.detail}", err=True)
    rest = f" The first {len(errors):,} are shown." if count > len(errors) else ""
    click.echo(f"Nothing was imported: {count:,} errors.{rest}", err=True)
