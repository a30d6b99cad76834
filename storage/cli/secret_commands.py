"""The commands ``hiatus secrets reencrypt`` and ``hiatus secrets rotate``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from storage.access import stored_secrets
from storage.access.stored_secrets import Reencrypted
from storage.base import texts
from storage.base.environment import Environment
from storage.base.secrets import new_secret_key
from storage.base.settings import StorageSettings, key_file_in_use, replace_keys
from storage.cli import console
from storage.cli.console import Env
from storage.db.database import Database


def build_app(env: Env) -> click.Group:
    """The group ``hiatus secrets``."""
    secrets = click.Group("secrets", help="Manage the secret keys.")

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
