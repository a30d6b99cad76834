"""The commands ``hiatus import`` and ``hiatus slack link``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from storage.admin import people_import
from storage.admin.people_import import Imported
from storage.base.errors import InvalidInput
from storage.base.values import Organisation, as_dict
from storage.cli import commands
from storage.cli.commands import AsJson
from storage.db.database import Database, Transaction
from storage.rules import people_file
from storage.rules.people_file import BadLines, Line
from storage.slack import slack_workspaces

# More errors are not listed: the first ones show what is wrong with the file.
MAX_ERRORS: Final = 1_000

Env = Mapping[str, str]
Clock = Callable[[], datetime]
Slug = Annotated[str, typer.Option("--organisation", metavar="SLUG", help="Its slug.")]


def add_to(app: typer.Typer, env: Env, clock: Clock) -> typer.Typer:
    """Add the commands to those of ``commands.build_app``. Returns the group ``hiatus slack``."""
    _add_import(app, env, clock)
    slack = typer.Typer(name="slack", help="Slack workspaces.", no_args_is_help=True)
    _add_slack(slack, env, clock)
    app.add_typer(slack)
    return slack


def _add_import(app: typer.Typer, env: Env, clock: Clock) -> None:
    @app.command("import")
    def import_command(
        file: Annotated[
            Path, typer.Argument(metavar="FILE.csv", exists=True, dir_okay=False, readable=True)
        ],
        organisation: Slug,
        update: Annotated[
            bool, typer.Option("--update", help="Update people who exist already.")
        ] = False,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Check everything and change nothing.")
        ] = False,
        as_json: AsJson = False,
    ) -> None:
        """Import people and departments from a CSV file: all of them or none.

        Columns: email, first_name, last_name, role, department, manager_email, job_title,
        start_date (YYYY-MM-DD), working_days (monday tuesday friday:am),
        public_holiday_country_code, leave_allowance (days). A manager may be in any line.
        """
        needed = ["email"] if update else ["email", "first_name", "last_name"]
        with commands.errors_on_stderr(), _bad_lines_printed(as_json=as_json):
            lines = people_file.read(file.read_bytes(), needed=needed)
        with commands.opened(env) as database, _bad_lines_printed(as_json=as_json):
            found = database.read_now(commands.chosen_organisation, organisation)
            run = _preview if dry_run else _import
            done = run(database, found, lines, now=clock(), is_update=update)
        if as_json:
            commands.print_json(
                {"organisation_id": found.id, "dry_run": dry_run, **as_dict(done), "errors": []}
            )
            return
        typer.echo(_sentence(found, done, dry_run=dry_run))


def _preview(
    database: Database,
    organisation: Organisation,
    lines: list[Line],
    *,
    now: datetime,
    is_update: bool,
) -> Imported:
    by = commands.operator(organisation)
    return database.read_now(people_import.preview, lines, by=by, now=now, is_update=is_update)


def _import(
    database: Database,
    organisation: Organisation,
    lines: list[Line],
    *,
    now: datetime,
    is_update: bool,
) -> Imported:
    by = commands.operator(organisation)
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
def _progress_bar(total: int) -> Iterator[people_import.Progress]:
    """A bar on standard error, if that is a terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("Importing people"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("people", total=total)
        yield lambda done: bar.update(task, completed=done)


def _sentence(organisation: Organisation, done: Imported, *, dry_run: bool) -> str:
    verb = "would be" if dry_run else "were"
    return (
        f"In {organisation.name}, {done.people_created:,} people {verb} added, "
        f"{done.people_updated:,} changed, {done.people_unchanged:,} unchanged; "
        f"{done.departments_created:,} departments {verb} added."
    )


@contextmanager
def _bad_lines_printed(*, as_json: bool) -> Iterator[None]:
    """Print the wrong lines with their numbers, up to ``MAX_ERRORS``, and exit with 1."""
    try:
        yield
    except BadLines as bad:
        if as_json:
            commands.print_json(_report(bad))
        else:
            _print_lines(bad)
        raise typer.Exit(1) from bad


def _report(bad: BadLines) -> dict[str, object]:
    errors = [
        {"line": line, "column": column or None, "code": error.code, "detail": error.detail}
        for line, column, error in bad.by_line[:MAX_ERRORS]
    ]
    return {"errors": errors, "error_count": len(bad.errors)}


def _print_lines(bad: BadLines) -> None:
    shown, count = bad.by_line[:MAX_ERRORS], len(bad.errors)
    for line, column, error in shown:
        where = f"line {line}, {column}" if column else f"line {line}"
        typer.echo(f"{where}: {error.detail}", err=True)
    rest = f" The first {len(shown):,} are shown." if count > len(shown) else ""
    typer.echo(f"Nothing was imported: {count:,} errors.{rest}", err=True)


def _add_slack(slack: typer.Typer, env: Env, clock: Clock) -> None:
    @slack.command("link")
    def link_command(
        team: Annotated[str, typer.Option(metavar="T123", help="The workspace's id.")],
        organisation: Slug,
        as_json: AsJson = False,
    ) -> None:
        """Link an organisation to a Slack workspace."""
        with commands.opened(env) as database:
            found = database.write_now(_link, organisation, team.strip(), now=clock())
        if as_json:
            commands.print_json({"organisation_id": found.id, "slack_team_id": team.strip()})
            return
        typer.echo(f"{found.name} is linked to the workspace {team.strip()}.")


def _link(tx: Transaction, /, slug: str, team_id: str, *, now: datetime) -> Organisation:
    # Slack's ids: T for a workspace, E for an Enterprise organisation, then capitals and digits.
    if not (team_id.isascii() and team_id.isalnum() and team_id[0] in "TE" and team_id.isupper()):
        raise InvalidInput.of(
            "team", "invalid_team_id", "Use the workspace's id, which looks like T0123ABCD."
        )
    organisation = commands.chosen_organisation(tx, slug)
    if organisation.slack_team_id != team_id:
        slack_workspaces.link(tx, organisation, team_id, source="cli", now=now)
    return organisation
