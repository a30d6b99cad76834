"""The set-up, ``hiatus import`` and ``slack link``, and the groups of the other commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from storage.admin import organisation_settings, organisations
from storage.admin.organisations import NewOrganisation
from storage.base import texts
from storage.base.allowance_values import ProRataMethod, ProRataRounding
from storage.base.errors import AlreadyExists, InvalidInput
from storage.base.settings import StorageSettings
from storage.base.values import Organisation, User, as_dict
from storage.db.database import Transaction
from storage.db.schema import check_schema, migrate
from storage.keys import api_keys
from storage.operations import (
    console,
    imports,
    key_commands,
    people_commands,
    report_commands,
)
from storage.operations.console import Clock, Env
from storage.operations.csv_file import MAX_ERRORS, BadLines, DateOrder, Options
from storage.operations.imports import Imported, ImportFile
from storage.operations.people_file import PeopleFile
from storage.operations.people_import import Progress
from storage.workspaces import slack_workspaces
from storage.workspaces.join_policy import employer_domain

_CHANGE_COUNTRY: Final = (
    "To count those of a region, change the organisation's country in Slack's settings or with "
    "PATCH /api/v1/organisation."
)

_CHANGE_PRO_RATA: Final = "To change that, use PATCH /api/v1/organisation."
_METHODS: Final[Mapping[ProRataMethod, str]] = {
    "days": "by days",
    "months_started": "by the months that have started, for leavers by days",
    "full_months": "by full months",
}
_ROUNDINGS: Final[Mapping[ProRataRounding, str]] = {
    "half_day_up": "rounded up to half days",
    "half_day_nearest": "rounded to the nearest half day",
    "day_up": "rounded up to days",
    "day_nearest": "rounded to the nearest day",
}


def build_app(env: Env, clock: Clock) -> click.Group:
    """The commands over the database that ``env`` names."""
    app = click.Group("hiatus", help="Leave management for organisations that live in Slack.")
    _add_set_up(app, env, clock)
    app.add_command(key_commands.keys_group(env, clock))
    app.add_command(key_commands.secrets_group(env))
    app.add_command(report_commands.report_group(env, clock))
    app.add_command(people_commands.people_group(env, clock))
    app.add_command(_organisations_group(env))
    add_import(app, env, clock)
    return app


def _organisations_group(env: Env) -> click.Group:
    group = click.Group("organisations", help="List the organisations of this deployment.")

    @group.command("list")
    @console.as_json_option
    def list_command(as_json: bool) -> None:
        """List all organisations, the oldest first, with how many people each has."""
        with console.opened(env) as database:
            found = database.read_now(organisations.listed)
        listed = found[: organisations.MAX_LISTED]
        if as_json:
            console.print_json({"data": [as_dict(each) for each in listed]})
        else:
            for each in listed:
                people = texts.counted(each.people, "person", "people")
                name = texts.printable(each.name)
                click.echo(f"{each.slug}  {name}  {each.id}  {people}  {each.created_at:%Y-%m-%d}")
        if len(found) > len(listed):
            click.echo(f"The oldest {len(listed):,} are shown; there are more.", err=True)

    return group


def _add_set_up(app: click.Group, env: Env, clock: Clock) -> None:
    @app.command("migrate")
    def migrate_command() -> None:
        """Bring the database's schema up to date."""
        with console.errors_on_stderr():
            settings = StorageSettings.from_env(env)
            applied = migrate(settings.database_url, settings.database_timeout)
            newer = check_schema(settings.database_url, settings.database_timeout)
        for name in applied:
            click.echo(f"Applied {name}.")
        if newer:
            click.echo(
                f"Nothing to do: the database has the migration {newer[-1]} of a newer version, "
                "with which this version works."
            )
        else:
            click.echo("The schema is up to date.")

    @app.command("init")
    @click.option("--name", required=True, help="The organisation's name.")
    @click.option(
        "--country",
        required=True,
        help="The country of the public holidays: GB, or GB-ENG with a region.",
    )
    @click.option("--timezone", required=True, help="An IANA name: Europe/London.")
    @click.option("--owner-email", required=True, help="The owner's e-mail address.")
    @click.option("--owner-name", required=True, help="First and last name.")
    @click.option(
        "--domain",
        help="The domain of its e-mail addresses. A Slack workspace is linked if its installer "
        "has an admin's address there. By default the owner's domain, unless a public "
        "provider's.",
    )
    @click.option(
        "--another", is_flag=True, help="Also if there is an organisation of that name already."
    )
    @console.as_json_option
    def init_command(
        name: str,
        country: str,
        timezone: str,
        owner_email: str,
        owner_name: str,
        domain: str | None,
        another: bool,
        as_json: bool,
    ) -> None:
        """Create an organisation with its leave types, holiday set, owner and an API key."""
        first_name, _, last_name = owner_name.strip().partition(" ")
        if not last_name:
            raise click.BadParameter("give a first and a last name", param_hint="--owner-name")
        new = NewOrganisation(
            name=name,
            country_code=country,
            timezone=timezone,
            owner_email=owner_email,
            owner_first_name=first_name,
            owner_last_name=last_name.strip(),
            domain=employer_domain(owner_email if domain is None else domain),
        )
        with console.opened(env) as database:
            organisation, owner, secret = database.write_now(
                _init, new, is_another=another, now=clock()
            )
        if note := console.region_note(organisation.country_code):
            click.echo(f"{note} {_CHANGE_COUNTRY}", err=True)
        if as_json:
            console.print_json(
                {"organisation_id": organisation.id, "user_id": owner.id, "api_key": secret}
            )
            return
        click.echo(f"Created {organisation.name} ({organisation.slug}), owned by {owner.email}.")
        if organisation.pro_rata_rules:
            click.echo(f"{_pro_rata_note(organisation)} {_CHANGE_PRO_RATA}")
        click.echo(f"API key, shown only once: {secret}")


def _pro_rata_note(organisation: Organisation) -> str:
    """How the allowance of a part of a year is granted, which is by the country at first."""
    method = f"{_METHODS[organisation.pro_rata]}, {_ROUNDINGS[organisation.pro_rata_rounding]}"
    note = f"Allowance for part of a year (usual in {organisation.country_code[:2]}): {method}"
    if organisation.full_claim_after_months is not None:
        note += f"; the whole year's after {organisation.full_claim_after_months} months"
    if organisation.full_claim_for_leavers_after_june:
        note += "; the whole year's for people who leave in its second half"
    return f"{note}."


def _init(
    tx: Transaction, new: NewOrganisation, *, is_another: bool, now: datetime
) -> tuple[Organisation, User, str]:
    slug = organisations.slug_of_name(tx, new.name)
    if slug is not None and not is_another:
        raise AlreadyExists(
            "There is an organisation called {name} already ({slug}). Use --another to add a "
            "second one of that name, or `hiatus keys create --organisation {slug}` for another "
            "key to it.",
            name=new.name.strip(),
            slug=slug,
        )
    organisation, owner = organisations.create(tx, new, source="cli", now=now)
    organisation = organisation_settings.update(
        tx, {}, is_set_up=True, by=console.operator(organisation), now=now
    )
    _, secret = api_keys.create_key(
        tx,
        for_user=owner.id,
        name="First key",
        scopes=None,
        variant=1,
        expires_at=None,
        by=console.operator(organisation),
        now=now,
    )
    return organisation, owner, secret


def add_import(app: click.Group, env: Env, clock: Clock) -> None:

    @app.command("import")
    @click.argument(
        "file",
        metavar="FILE.csv",
        type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    )
    @console.slug_option
    @click.option("--update", is_flag=True, help="Also update people who already exist.")
    @click.option("--dry-run", is_flag=True, help="Check everything and change nothing.")
    @click.option(
        "--days-left-on",
        type=click.DateTime(["%Y-%m-%d"]),
        help="The day of the column days_left: leave before it is deducted already.",
    )
    @click.option(
        "--date-order",
        type=click.Choice(["dmy", "mdy"]),
        help="Of dates such as 03/04/2027, if the file does not show it.",
    )
    @click.option(
        "--hours-per-day",
        type=click.FloatRange(1, 24),
        help="How many hours of an amount of leave are a day.",
    )
    @console.as_json_option
    def import_command(
        file: Path,
        organisation: str,
        update: bool,
        dry_run: bool,
        days_left_on: datetime | None,
        date_order: DateOrder | None,
        hours_per_day: float | None,
        as_json: bool,
    ) -> None:
        """Import people, what they have left, or booked leave from a CSV file: all or nothing.

        Columns of people: email, first_name, last_name (or name), role, department, manager_email,
        job_title, employee_number, start_date, end_date, working_days (monday tuesday friday:am),
        public_holiday_country_code, leave_allowance (days), effective_from (from when working days,
        public holidays, allowance and department change), allowance:CODE (days a year in that
        allowance), days_left and days_left:CODE (with days_left_on). A manager may be in any line.

        Columns of leave: email, employee_number or name, leave_type, start_date, end_date,
        start_half_day and end_half_day (am or pm), status, amount, note.

        Exports of Timetastic, Vacation Tracker, BambooHR and Personio are read as they are.
        """
        options = Options(
            is_update=update,
            date_order=date_order,
            days_left_on=None if days_left_on is None else days_left_on.date(),
            hours_per_day=hours_per_day,
        )
        with console.errors_on_stderr():
            content = imports.read(file.read_bytes(), options)
        with console.opened(env) as database, _bad_lines_printed(as_json=as_json):
            target = database.read_now(console.chosen_organisation, organisation)
            # A dry run does everything and rolls it back.
            run = database.dry_run_now if dry_run else database.write_now
            counts = _import(run, target, content, options, now=clock())
        for note in _notes(content):
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
    file: ImportFile,
    options: Options,
    *,
    now: datetime,
) -> Imported:
    by = console.operator(organisation)
    with _progress_bar(file.length) as progress:
        return run(imports.run, file, options, by=by, now=now, progress=progress)


def _notes(file: ImportFile) -> list[str]:
    """What the file does not tell: columns that stay behind, and regions of countries."""
    notes = [] if file.people is None else _region_notes(file.people)
    if file.left_behind:
        columns = ", ".join(map(texts.printable, file.left_behind))
        notes.append(f"An export of {file.product}. These columns are left behind: {columns}.")
    return notes


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
    would_be = "would be " if dry_run else ""
    if counts.kind == "leave":
        requests = texts.counted(counts.leave_created, "line")
        return (
            f"In {organisation.name}: leave of {requests} {would_be}booked, "
            f"{counts.leave_known:,} known already, {counts.leave_left_out:,} left out (declined, "
            "cancelled, or ended more than two years ago)."
        )
    people = texts.counted(counts.people_created, "person", "people")
    departments = texts.counted(counts.departments_created, "department")
    sentence = (
        f"In {organisation.name}: {people} {would_be}added, {counts.people_updated:,} changed, "
        f"{counts.people_unchanged:,} unchanged; {departments} {would_be}added."
    )
    if counts.days_left_set or counts.days_left_known:
        figures = texts.counted(counts.days_left_set, "balance")
        sentence += f" {figures} {would_be}set, {counts.days_left_known:,} set before."
    return sentence


@contextmanager
def _bad_lines_printed(*, as_json: bool) -> Iterator[None]:
    """Print the wrong lines with their numbers, up to ``MAX_ERRORS``, and exit with 1."""
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
            "line": cell["line"],
            "column": cell["column"] and texts.printable(cell["column"]),
            "value": cell["value"] and texts.printable(cell["value"]),
            "code": cell["code"],
            "detail": texts.printable(cell["detail"]),
        }
        for cell in bad.lines
    ]
    return {"errors": errors, "error_count": bad.error_count}


def _print_lines(bad: BadLines) -> None:
    for cell in bad.lines:
        where = (
            f"line {cell['line']}, {cell['column']}" if cell["column"] else f"line {cell['line']}"
        )
        value = f' "{cell["value"]}"' if cell["value"] else ""
        click.echo(texts.printable(f"{where}{value}: {cell['detail']}"), err=True)
    errors = texts.counted(bad.error_count, "error")
    lines = texts.counted(bad.line_count, "line")
    rest = f" The first {MAX_ERRORS:,} are shown." if bad.error_count > MAX_ERRORS else ""
    click.echo(f"Nothing was imported: {errors} in {lines}.{rest}", err=True)


def add_slack(app: click.Group, env: Env, clock: Clock) -> click.Group:
    """Add the group ``hiatus slack`` and return it: ``bot`` adds more commands to it."""
    slack = click.Group("slack", help="Manage Slack workspaces.")

    @slack.command("link")
    @click.option("--team", metavar="T123", required=True, help="The workspace's id.")
    @console.slug_option
    @console.as_json_option
    def link_command(team: str, organisation: str, as_json: bool) -> None:
        """Link an organisation to a Slack workspace."""
        with console.opened(env) as database:
            linked = database.write_now(_link, organisation, team.strip(), now=clock())
        if as_json:
            console.print_json({"organisation_id": linked.id, "slack_team_id": team.strip()})
            return
        click.echo(f"{linked.name} is linked to the workspace {team.strip()}.")

    app.add_command(slack)
    return slack


def _link(tx: Transaction, /, slug: str, team_id: str, *, now: datetime) -> Organisation:
    # Slack's ids: T for a workspace, E for an Enterprise organisation, then capitals and digits.
    if not (team_id.isascii() and team_id.isalnum() and team_id[0] in "TE" and team_id.isupper()):
        raise InvalidInput.of(
            "team", "invalid_team_id", "Use the workspace's id, which looks like T0123ABCD."
        )
    organisation = console.chosen_organisation(tx, slug)
    if organisation.slack_team_id != team_id:
        slack_workspaces.link(tx, organisation, team_id, source="cli", now=now)
    return organisation
