"""The command ``hiatus import``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from storage.base import texts
from storage.base.values import Organisation, as_dict
from storage.cli import console
from storage.cli.console import Clock, Env

if TYPE_CHECKING:
    from storage.cli.people_file import BadLines, PeopleFile
    from storage.cli.people_import import Imported, Progress

# More errors are not listed: the first ones show what is wrong with the file.
MAX_ERRORS: Final = 1_000
_MAX_VALUE: Final = 80


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
        with console.errors_on_stderr():
            people = people_file.read(file.read_bytes(), needed=needed)
        with console.opened(env) as database, _bad_lines_printed(as_json=as_json):
            target = database.read_now(console.chosen_organisation, organisation)
            # A dry run does everything and rolls it back.
            run = database.dry_run_now if dry_run else database.write_now
            counts = _import(run, target, people, now=clock(), is_update=update)
        for note in _region_notes(people):
            click.echo(note, err=True)
        if as_json:
            console.print_json(
                {"organisation_id": target.id, "dry_run": dry_run, **as_dict(counts), "errors": []}
            )
            return
        click.echo(_sentence(target, counts, dry_run=dry_run))


def _import(
    run: Callable[..., Imported],
    organisation: Organisation,
    people: PeopleFile,
    *,
    now: datetime,
    is_update: bool,
) -> Imported:
    from storage.cli import people_import

    by = console.operator(organisation)
    with _progress_bar(len(people.lines)) as progress:
        return run(
            people_import.import_people,
            people,
            by=by,
            now=now,
            is_update=is_update,
            progress=progress,
        )


def _region_notes(people: PeopleFile) -> list[str]:
    """A note for each country in the file whose regions have holidays of their own."""
    codes = {line.values.get("public_holiday_country_code", "") for line in people.lines} - {""}
    notes = map(console.region_note, sorted(codes))
    cure = "To count those of a region, use its code in public_holiday_country_code."
    return [f"{note} {cure}" for note in notes if note]


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
        {
            "line": cell.line,
            "column": texts.printable(cell.column) or None,
            "value": _shown(cell.value) or None,
            "code": cell.code,
            "detail": texts.printable(cell.detail),
        }
        for cell in bad.by_line()[:MAX_ERRORS]
    ]
    return {"errors": errors, "error_count": len(bad.errors)}


def _print_lines(bad: BadLines) -> None:
    cells = bad.by_line()
    for cell in cells[:MAX_ERRORS]:
        where = f"line {cell.line}, {cell.column}" if cell.column else f"line {cell.line}"
        value = f' "{_shown(cell.value)}"' if cell.value else ""
        click.echo(texts.printable(f"{where}{value}: {cell.detail}"), err=True)
    errors = texts.counted(len(cells), "error")
    lines = texts.counted(len({cell.line for cell in cells}), "line")
    rest = f" The first {MAX_ERRORS:,} are shown." if len(cells) > MAX_ERRORS else ""
    click.echo(f"Nothing was imported: {errors} in {lines}.{rest}", err=True)


def _shown(value: str) -> str:
    """A cell's text for a terminal, at most 80 characters of it."""
    shown = texts.printable(value[:_MAX_VALUE])
    return f"{shown}…" if len(value) > _MAX_VALUE else shown
