"""The commands ``hiatus migrate`` and ``hiatus init``, and the groups of the others.

``serve.py`` adds those that run the service.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from storage.access import api_keys
from storage.admin import organisations
from storage.admin.organisation_defaults import employer_domain
from storage.admin.organisations import NewOrganisation
from storage.base.settings import StorageSettings
from storage.base.values import Organisation, User
from storage.cli import console, import_command, key_commands, secret_commands
from storage.cli.console import AsJson, Clock, Env
from storage.db.database import Transaction
from storage.db.schema import migrate


def build_app(env: Env, clock: Clock) -> typer.Typer:
    """The commands over the database that ``env`` names."""
    app = typer.Typer(
        name="hiatus",
        help="Leave management for organisations that live in Slack.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    _add_set_up(app, env, clock)
    app.add_typer(key_commands.build_app(env, clock))
    app.add_typer(secret_commands.build_app(env))
    import_command.add_to(app, env, clock)
    return app


def _add_set_up(app: typer.Typer, env: Env, clock: Clock) -> None:
    @app.command("migrate")
    def migrate_command() -> None:
        """Bring the database's schema up to date."""
        with console.errors_on_stderr():
            settings = StorageSettings.from_env(env)
            applied = migrate(settings.database_url, settings.database_timeout)
        for name in applied:
            typer.echo(f"Applied {name}.")
        typer.echo("The schema is up to date.")

    @app.command("init")
    def init_command(
        name: Annotated[str, typer.Option(help="The organisation's name.")],
        country: Annotated[
            str,
            typer.Option(help="The country of the public holidays: GB, or GB-ENG with a region."),
        ],
        timezone: Annotated[str, typer.Option(help="An IANA name: Europe/London.")],
        owner_email: Annotated[str, typer.Option(help="The owner's e-mail address.")],
        owner_name: Annotated[str, typer.Option(help="First and last name.")],
        domain: Annotated[
            str | None,
            typer.Option(
                help="The domain of its e-mail addresses. A Slack workspace is linked if its "
                "installer has an admin's address there. By default the owner's domain, unless "
                "a public provider's."
            ),
        ] = None,
        as_json: AsJson = False,
    ) -> None:
        """Create an organisation with its leave types, holiday set, owner and an API key."""
        first_name, _, last_name = owner_name.strip().partition(" ")
        if not last_name:
            raise typer.BadParameter("give a first and a last name", param_hint="--owner-name")
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
            organisation, owner, secret = database.write_now(_init, new, now=clock())
        if as_json:
            console.print_json(
                {"organisation_id": organisation.id, "user_id": owner.id, "api_key": secret}
            )
            return
        typer.echo(f"Created {organisation.name} ({organisation.slug}), owned by {owner.email}.")
        typer.echo(f"API key, shown only once: {secret}")


def _init(
    tx: Transaction, new: NewOrganisation, *, now: datetime
) -> tuple[Organisation, User, str]:
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
