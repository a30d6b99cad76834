"""The commands ``hiatus migrate`` and ``hiatus init``, and the groups of the others.

``serve.py`` adds those that run the service.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import click

from storage.access import api_keys
from storage.admin import organisations
from storage.admin.organisations import NewOrganisation
from storage.base import texts
from storage.base.errors import AlreadyExists
from storage.base.settings import StorageSettings
from storage.base.values import Organisation, User, as_dict
from storage.cli import console, import_command, key_commands, secret_commands
from storage.cli.console import Clock, Env
from storage.db.database import Transaction
from storage.db.schema import check_schema, migrate
from storage.slack.join_policy import employer_domain

_CHANGE_COUNTRY: Final = (
    "To count those of a region, change the organisation's country in Slack's settings or with "
    "PATCH /api/v1/organisation."
)


def build_app(env: Env, clock: Clock) -> click.Group:
    """The commands over the database that ``env`` names."""
    app = click.Group("hiatus", help="Leave management for organisations that live in Slack.")
    _add_set_up(app, env, clock)
    app.add_command(key_commands.build_app(env, clock))
    app.add_command(secret_commands.build_app(env))
    app.add_command(_organisations_group(env))
    import_command.add_to(app, env, clock)
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
        click.echo(f"API key, shown only once: {secret}")


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
