"""The commands ``hiatus keys`` and ``hiatus secrets``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from storage.base import texts
from storage.base.environment import Environment
from storage.base.errors import NotFound
from storage.base.secrets import new_secret_key
from storage.base.settings import StorageSettings, key_file_in_use, replace_keys
from storage.base.values import ApiKey, record
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.keys import api_keys, stored_secrets
from storage.keys.stored_secrets import Reencrypted
from storage.operations import console
from storage.operations.console import Clock, Env
from storage.people import people_lists, people_rows

_KEYS_PER_READ: Final = 100


def keys_group(env: Env, clock: Clock) -> click.Group:
    """The group ``hiatus keys``."""
    keys = click.Group("keys", help="Manage API keys.")

    @keys.command("create")
    @click.option("--email", required=True, help="The e-mail address of the key's owner.")
    @click.option("--name", required=True, help="What the key is for.")
    @click.option(
        "--scope",
        "scopes",
        multiple=True,
        help="Repeat it for each scope. Without it, the key has every scope.",
    )
    @click.option(
        "--variant",
        type=click.IntRange(1, 2),
        default=1,
        show_default=True,
        help="Shape of GET /users.",
    )
    @click.option(
        "--expires",
        type=click.DateTime(["%Y-%m-%d"]),
        help="The last day (UTC) on which it works.",
    )
    @console.optional_slug_option
    @console.as_json_option
    def create_command(
        email: str,
        name: str,
        scopes: tuple[str, ...],
        variant: int,
        expires: datetime | None,
        organisation: str | None,
        as_json: bool,
    ) -> None:
        """Create an API key for a person. It is printed only once."""
        # The key works until the end of that day.
        until = None if expires is None else expires.replace(tzinfo=UTC) + timedelta(days=1)
        with console.opened(env) as database:
            key, secret = database.write_now(
                _create_key,
                organisation,
                email,
                name=name,
                scopes=scopes or None,
                variant=variant,
                expires_at=until,
                now=clock(),
            )
        if as_json:
            console.print_json({"id": key.id, "api_key": secret})
            return
        click.echo(f"Key {key.id}, shown only once: {secret}")

    @keys.command("list")
    @console.optional_slug_option
    @console.as_json_option
    def list_command(organisation: str | None, as_json: bool) -> None:
        """List all API keys, newest first, with revoked ones."""
        with console.opened(env) as database:
            keys_and_emails = database.read_now(_all_keys, organisation)
        if as_json:
            console.print_json({"data": [record(key) for key, _ in keys_and_emails]})
            return
        for key, email in keys_and_emails:
            click.echo(f"{key.id}  {key.prefix}…  {_state(key, clock())}  {email}  {key.name}")

    @keys.command("revoke")
    @click.argument("key_id", metavar="ID")
    @console.optional_slug_option
    @console.as_json_option
    def revoke_command(key_id: str, organisation: str | None, as_json: bool) -> None:
        """Revoke a key immediately and permanently."""
        with console.opened(env) as database:
            key = database.write_now(_revoke_key, organisation, key_id, now=clock())
        if as_json:
            console.print_json({"id": key.id, "revoked_at": key.revoked_at})
            return
        click.echo(f"Key {key.id} is revoked.")

    return keys


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
    organisation = console.chosen_organisation(tx, slug)
    user = people_rows.find_by_email(tx, organisation.id, email.strip())
    if user is None:
        raise NotFound(f"user as {email}")
    return api_keys.create_key(
        tx,
        for_user=user.id,
        name=name,
        scopes=scopes,
        variant=variant,
        expires_at=expires_at,
        by=console.operator(organisation),
        now=now,
    )


def _all_keys(tx: Transaction, slug: str | None) -> list[tuple[ApiKey, str]]:
    by = console.operator(console.chosen_organisation(tx, slug))
    emails = {user.id: user.email for user in people_lists.list_all(tx, by=by)}
    page = api_keys.page(tx, PageOf(limit=_KEYS_PER_READ), by=by)
    keys = page.items
    while page.next_cursor is not None:
        after = PageOf(limit=_KEYS_PER_READ, cursor=page.next_cursor)
        page = api_keys.page(tx, after, by=by)
        keys += page.items
    return [(key, emails.get(key.user_id, key.user_id)) for key in keys]


def _revoke_key(tx: Transaction, slug: str | None, key_id: str, *, now: datetime) -> ApiKey:
    return api_keys.revoke(
        tx, key_id, by=console.operator(console.chosen_organisation(tx, slug)), now=now
    )


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= now else "active"


def secrets_group(env: Env) -> click.Group:
    """The group ``hiatus secrets``."""
    secrets = click.Group("secrets", help="Manage the secret keys.")

    @secrets.command("generate")
    def generate_command() -> None:
        """Print a new key for HIATUS_SECRET_KEYS. It is stored nowhere: save it."""
        click.echo(new_secret_key())

    @secrets.command("reencrypt")
    @click.option(
        "--accept-loss",
        is_flag=True,
        help="Continue if keys are lost and some secrets are unreadable.",
    )
    def reencrypt_command(accept_loss: bool) -> None:
        """Encrypt stored secrets with the first of HIATUS_SECRET_KEYS, to retire older keys."""
        with console.opened(env, checks_keys=False) as database:
            result = _reencrypt(database, accept_loss=accept_loss)
        lost = _lost(result)
        if result.is_complete and not lost:
            click.echo("You can remove older keys a day from now.")
        elif result.is_complete:
            click.echo(
                f"Unreadable: {lost}. Rotate those webhooks' secrets, regenerate those feeds' "
                "links and reinstall the app in those workspaces."
            )
        else:
            _fail_for_missing_key(lost)

    @secrets.command("rotate")
    @click.option(
        "--drop-old-keys",
        is_flag=True,
        help="The last step, a day later: remove the older keys from the key file.",
    )
    def rotate_command(drop_old_keys: bool) -> None:
        """Replace the secret key, one step per run: add a key, then re-encrypt."""
        with console.opened(env) as database:
            settings = StorageSettings.from_env(env)
            keys = settings.secret_keys
            key_file = key_file_in_use(Environment(env), settings.database_url)
            if drop_old_keys:
                _drop_old_keys(database, keys, key_file)
            elif len(keys) == 1:
                _add_key(keys, key_file)
            else:
                result = _reencrypt(database, accept_loss=False)
                if not result.is_complete:
                    _fail_for_missing_key(_lost(result))
                click.echo(
                    "Older keys are no longer needed for them. Run `hiatus secrets rotate "
                    "--drop-old-keys` a day from now: until then, older keys decrypt stored "
                    "responses of idempotent requests."
                )

    return secrets


def _add_key(keys: tuple[str, ...], key_file: Path | None) -> None:
    new = new_secret_key()
    if key_file is None:
        click.echo(f"A new key, shown only once: {new}")
        click.echo("Put it in front of the key in HIATUS_SECRET_KEYS everywhere, comma-separated.")
    else:
        _replace(key_file, keys, (new, *keys))
        click.echo(f"Added a key in front of the one in {key_file}. Back the file up again.")
    click.echo("Restart every process, so that it knows both keys, and run the command again.")


def _drop_old_keys(database: Database, keys: tuple[str, ...], key_file: Path | None) -> None:
    if len(keys) == 1:
        click.echo("There is only one key.")
        return
    if stored_secrets.needs_older_keys(database):
        console.fail("Older keys are still needed: run `hiatus secrets rotate` first.")
    if key_file is None:
        click.echo("Remove all keys but the first from HIATUS_SECRET_KEYS everywhere.")
    else:
        _replace(key_file, keys, keys[:1])
        click.echo(f"Removed all keys but the first from {key_file}.")
    click.echo("Restart every process. Keep the older keys with older backups.")


def _replace(key_file: Path, old: tuple[str, ...], new: tuple[str, ...]) -> None:
    try:
        is_replaced = replace_keys(key_file, old, new)
    except OSError as error:
        console.fail(f"The key file {key_file} cannot be changed: {error.strerror}.")
    if not is_replaced:
        console.fail(f"The key file {key_file} was changed meanwhile: run the command again.")


def _reencrypt(database: Database, *, accept_loss: bool) -> Reencrypted:
    total = database.read_now(stored_secrets.count)
    terminal = sys.stderr
    with click.progressbar(
        length=total, label="Encrypting", file=terminal, hidden=not terminal.isatty()
    ) as bar:
        result = stored_secrets.reencrypt(database, accept_loss=accept_loss, on_read=bar.update)
    number = texts.counted(result.changed, "stored secret")
    click.echo(f"Encrypted {number} with the first key.")
    return result


def _lost(result: Reencrypted) -> str:
    return ", ".join(f"{count:,} ({kind})" for kind, count in result.unreadable.items())


def _fail_for_missing_key(lost: str) -> None:
    console.fail(
        f"A key is missing: no key reads {lost or 'the secrets of this database'}. Add it to "
        "HIATUS_SECRET_KEYS or, if it is lost, use `hiatus secrets reencrypt --accept-loss`."
    )
