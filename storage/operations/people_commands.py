"""The commands ``hiatus people``."""

from __future__ import annotations

from datetime import datetime

import click

from storage.admin import data_export, erasure
from storage.admin.data_export import PersonalData
from storage.admin.personal_data import Erasure
from storage.base.errors import NotFound
from storage.base.ids import is_id
from storage.base.texts import counted
from storage.base.values import User, record
from storage.db.database import Transaction
from storage.operations import console
from storage.operations.console import Clock, Env
from storage.people import people_rows


def people_group(env: Env, clock: Clock) -> click.Group:
    """The group ``hiatus people``."""
    people = click.Group("people", help="What is kept about people.")

    @people.command("export")
    @click.argument("address")
    @console.optional_slug_option
    def export_command(address: str, organisation: str | None) -> None:
        """Print everything that is kept about a person as one JSON object.

        ADDRESS is the person's e-mail address or id.
        """
        with console.opened(env) as database:
            data = database.read_now(_export, organisation, address, now=clock())
        console.print_json(record(data))

    @people.command("erase")
    @click.argument("address")
    @console.optional_slug_option
    @click.option("--confirm", required=True, metavar="ADDRESS", help="The address once more.")
    @click.option("--dry-run", is_flag=True, help="Only say what would be erased.")
    @console.as_json_option
    def erase_command(
        address: str, organisation: str | None, confirm: str, dry_run: bool, as_json: bool
    ) -> None:
        """Remove everything that identifies an archived person. Cannot be undone.

        ADDRESS is the person's e-mail address or id.
        """
        with console.opened(env) as database:
            run = database.dry_run_now if dry_run else database.write_now
            erased = run(_erase, organisation, address, confirm=confirm, now=clock())
        if as_json:
            console.print_json({"dry_run": dry_run} | record(erased))
            return
        click.echo("Would erase:" if dry_run else f"Erased {erased.user_id}:")
        click.echo(
            f"Without details stay: {counted(erased.leave_requests, 'leave request')}, "
            f"{counted(erased.audit_entries, 'audit entry', 'audit entries')}. "
            f"Rewritten: {counted(erased.webhook_events, 'event')}, "
            f"{counted(erased.slack_cards, 'message')} in Slack. "
            f"Deleted: {counted(erased.removed_rows, 'row')}."
        )
        for place in erased.remains:
            click.echo(f"{place.where.replace('_', ' ').capitalize()}: {place.what_to_do}")

    return people


def _export(tx: Transaction, slug: str | None, address: str, *, now: datetime) -> PersonalData:
    by = console.operator(console.chosen_organisation(tx, slug))
    return data_export.export(tx, _person(tx, by.organisation_id, address).id, by=by, now=now)


def _erase(
    tx: Transaction, slug: str | None, address: str, *, confirm: str, now: datetime
) -> Erasure:
    by = console.operator(console.chosen_organisation(tx, slug))
    user = _person(tx, by.organisation_id, address)
    return erasure.erase(tx, user.id, confirm=confirm, by=by, now=now)


def _person(tx: Transaction, organisation_id: str, address: str) -> User:
    """By address, else by id, which an erased person still has. Raises NotFound."""
    if is_id(address):
        user = people_rows.find(tx, organisation_id, address)
    else:
        user = people_rows.find_by_email(tx, organisation_id, address.strip())
    if user is None:
        raise NotFound(f"user as {address}")
    return user
