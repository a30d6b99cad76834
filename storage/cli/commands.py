"""The commands ``hiatus migrate``, ``init``, ``secrets`` and ``keys``. ``serve.py`` adds the rest.

With ``--json`` standard output holds one object and nothing else. Exit codes: 0 done, 1 refused
with one sentence on standard error, 2 wrong usage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, NoReturn

import orjson
import typer

from storage.access import api_keys, secret_canary
from storage.admin import organisations, people
from storage.admin.organisations import NewOrganisation
from storage.base import records
from storage.base.email_domains import employer_domain
from storage.base.errors import (
    DatabaseUnavailable,
    DomainError,
    InvalidInput,
    NotFound,
    OutcomeUnknown,
    SchemaOutOfDate,
    SecretKeysUnusable,
)
from storage.base.settings import SettingsError, StorageSettings
from storage.base.values import SCOPES, ApiKey, Caller, Organisation, User
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.db.schema import check_schema, migrate

_KEYS_PER_READ: Final = 100

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
OfOrganisation = Annotated[
    str | None,
    typer.Option(
        "--organisation", metavar="SLUG", help="Needed only where there are several organisations."
    ),
]


def build_app(env: Mapping[str, str], clock: Callable[[], datetime]) -> typer.Typer:
    """The commands over the database that ``env`` names; ``clock`` gives aware UTC datetimes."""
    app = typer.Typer(
        name="hiatus",
        help="Leave management for organisations that live in Slack.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    _add_set_up(app, env, clock)
    keys = typer.Typer(name="keys", help="API keys.", no_args_is_help=True)
    _add_keys(keys, env, clock)
    app.add_typer(keys)
    secrets = typer.Typer(name="secrets", help="The secret keys.", no_args_is_help=True)
    _add_secrets(secrets, env)
    app.add_typer(secrets)
    return app


@contextmanager
def errors_on_stderr() -> Iterator[None]:
    """Turn errors that an operator can fix into a message on standard error and exit code 1."""
    try:
        yield
    except SettingsError as error:
        _refuse("\n".join(error.problems))
    except (DomainError, SchemaOutOfDate, SecretKeysUnusable) as error:
        _refuse(str(error))
    except OutcomeUnknown:
        _refuse(
            "The connection to the database was lost while the change was being saved. "
            "It may or may not have been saved. Check before you repeat the command."
        )
    except DatabaseUnavailable as error:
        # Drivers append lines of advice; the first line says what happened.
        _refuse(f"The database does not answer: {str(error).partition(chr(10))[0]}")


@contextmanager
def opened(env: Mapping[str, str], *, checks_keys: bool = True) -> Iterator[Database]:
    """The database of the environment, closed at the end. Errors exit as above.

    ``checks_keys``: check that the secret keys read what is in the database.
    """
    with errors_on_stderr():
        settings = StorageSettings.from_env(env)
        check_schema(settings.database_url, settings.database_timeout)
        database = open_database(
            settings.database_url, settings.secrets(), settings.database_timeout
        )
        try:
            if checks_keys:
                secret_canary.ensure(database)
            yield database
        finally:
            database.close()


def chosen_organisation(tx: Transaction, slug: str | None) -> Organisation:
    """The organisation of that slug, or the only one. Raises NotFound or InvalidInput."""
    if slug is not None:
        return organisations.by_slug(tx, slug)
    only = organisations.only_one(tx)
    if only is not None:
        return only
    if organisations.count(tx) == 0:
        raise NotFound("organisation, nor any other: run `hiatus init` first")
    raise InvalidInput.of(
        "organisation",
        "required",
        "There are several organisations. Choose one with --organisation.",
    )


def print_json(value: object) -> None:
    """Print one JSON object on one line, with timestamps as REST writes them."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC).decode())


def _refuse(sentence: str) -> NoReturn:
    typer.echo(sentence, err=True)
    raise typer.Exit(1)


def operator(organisation: Organisation) -> Caller:
    """An operator with a shell on the server: no user of the organisation, with every right."""
    return Caller(
        organisation_id=organisation.id,
        user_id=None,
        role="owner",
        scopes=frozenset(SCOPES),
        source="cli",
    )


def _add_set_up(app: typer.Typer, env: Mapping[str, str], clock: Callable[[], datetime]) -> None:
    @app.command("migrate")
    def migrate_command() -> None:
        """Bring the database's schema up to date."""
        with errors_on_stderr():
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
        with opened(env) as database:
            organisation, owner, secret = database.write_now(_init, new, now=clock())
        if as_json:
            print_json({"organisation_id": organisation.id, "user_id": owner.id, "api_key": secret})
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
        by=operator(organisation),
        now=now,
    )
    return organisation, owner, secret


def _add_secrets(secrets: typer.Typer, env: Mapping[str, str]) -> None:
    # Without a callback, Typer would turn the only command into the group itself.
    @secrets.callback()
    def group() -> None: ...

    @secrets.command("reencrypt")
    def reencrypt_command(
        accept_loss: Annotated[
            bool,
            typer.Option(
                "--accept-loss", help="Continue if keys are lost and some secrets are unreadable."
            ),
        ] = False,
    ) -> None:
        """Encrypt stored secrets with the first of HIATUS_SECRET_KEYS, to retire older keys."""
        with opened(env, checks_keys=False) as database:
            done = secret_canary.reencrypt(database, accept_loss=accept_loss)
        typer.echo(f"Encrypted {done.changed:,} stored secrets with the first key.")
        lost = ", ".join(f"{count:,} ({kind})" for kind, count in done.unreadable.items())
        if done.is_complete and not lost:
            typer.echo("You can remove older keys a day from now.")
        elif done.is_complete:
            typer.echo(
                f"Unreadable: {lost}. Rotate those webhooks' secrets, regenerate those feeds' "
                "links and reinstall the app in those workspaces."
            )
        else:
            _refuse(
                f"A key is missing: no key reads {lost or 'the secrets of this database'}. Add "
                "it to HIATUS_SECRET_KEYS or, if it is lost, use --accept-loss."
            )


def _add_keys(keys: typer.Typer, env: Mapping[str, str], clock: Callable[[], datetime]) -> None:
    @keys.command("create")
    def create_command(
        email: Annotated[str, typer.Option(help="The e-mail address of the key's owner.")],
        name: Annotated[str, typer.Option(help="What the key is for.")],
        scope: Annotated[
            list[str] | None,
            typer.Option(help="Repeat it for each scope. Without it, the key has every scope."),
        ] = None,
        variant: Annotated[int, typer.Option(min=1, max=2, help="Shape of GET /users.")] = 1,
        expires: Annotated[
            datetime | None,
            typer.Option(formats=["%Y-%m-%d"], help="The last day (UTC) on which it works."),
        ] = None,
        organisation: OfOrganisation = None,
        as_json: AsJson = False,
    ) -> None:
        """Create an API key for a person. It is printed only once."""
        # The key works until the end of that day.
        until = None if expires is None else expires.replace(tzinfo=UTC) + timedelta(days=1)
        with opened(env) as database:
            key, secret = database.write_now(
                _create_key,
                organisation,
                email,
                name=name,
                scopes=scope or None,
                variant=variant,
                expires_at=until,
                now=clock(),
            )
        if as_json:
            print_json({"id": key.id, "api_key": secret})
            return
        typer.echo(f"Key {key.id}, shown only once: {secret}")

    @keys.command("list")
    def list_command(organisation: OfOrganisation = None, as_json: AsJson = False) -> None:
        """List all API keys, newest first, with revoked ones."""
        with opened(env) as database:
            found = database.read_now(_all_keys, organisation)
        if as_json:
            print_json({"data": [records.api_key(key) for key, _ in found]})
            return
        for key, email in found:
            typer.echo(f"{key.id}  {key.prefix}…  {_state(key, clock())}  {email}  {key.name}")

    @keys.command("revoke")
    def revoke_command(
        key_id: Annotated[str, typer.Argument(metavar="ID")],
        organisation: OfOrganisation = None,
        as_json: AsJson = False,
    ) -> None:
        """Revoke a key immediately and permanently."""
        with opened(env) as database:
            key = database.write_now(_revoke_key, organisation, key_id, now=clock())
        if as_json:
            print_json({"id": key.id, "revoked_at": key.revoked_at})
            return
        typer.echo(f"Key {key.id} is revoked.")


def _create_key(
    tx: Transaction,
    /,
    slug: str | None,
    email: str,
    *,
    name: str,
    scopes: Sequence[str] | None,
    variant: int,
    expires_at: datetime | None,
    now: datetime,
) -> tuple[ApiKey, str]:
    organisation = chosen_organisation(tx, slug)
    user = people.find_by_email(tx, organisation.id, email.strip())
    if user is None:
        raise NotFound(f"user as {email}")
    return api_keys.create_key(
        tx,
        for_user=user.id,
        name=name,
        scopes=scopes,
        variant=variant,
        expires_at=expires_at,
        by=operator(organisation),
        now=now,
    )


def _all_keys(tx: Transaction, slug: str | None) -> list[tuple[ApiKey, str]]:
    """Every key with its owner's e-mail address."""
    by = operator(chosen_organisation(tx, slug))
    emails = {user.id: user.email for user in people.list_all(tx, by=by)}
    page = api_keys.page(tx, PageOf(limit=_KEYS_PER_READ), by=by)
    keys = page.items
    while page.next_cursor is not None:
        after = PageOf(limit=_KEYS_PER_READ, cursor=page.next_cursor)
        page = api_keys.page(tx, after, by=by)
        keys += page.items
    return [(key, emails.get(key.user_id, key.user_id)) for key in keys]


def _revoke_key(tx: Transaction, slug: str | None, key_id: str, *, now: datetime) -> ApiKey:
    return api_keys.revoke(tx, key_id, by=operator(chosen_organisation(tx, slug)), now=now)


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "active"
