"""The command ``hiatus secrets reencrypt``."""

from __future__ import annotations

import click

from storage.access import reencryption
from storage.cli import console
from storage.cli.console import Env


def build_app(env: Env) -> click.Group:
    """The group ``hiatus secrets``."""
    secrets = click.Group("secrets", help="The secret keys.")

    @secrets.command("reencrypt")
    @click.option(
        "--accept-loss",
        is_flag=True,
        help="Continue if keys are lost and some secrets are unreadable.",
    )
    def reencrypt_command(accept_loss: bool) -> None:
        """Encrypt stored secrets with the first of HIATUS_SECRET_KEYS, to retire older keys."""
        with console.opened(env, checks_keys=False) as database:
            result = reencryption.reencrypt(database, accept_loss=accept_loss)
        click.echo(f"Encrypted {result.changed:,} stored secrets with the first key.")
        lost = ", ".join(f"{count:,} ({kind})" for kind, count in result.unreadable.items())
        if result.is_complete and not lost:
            click.echo("You can remove older keys a day from now.")
        elif result.is_complete:
            click.echo(
                f"Unreadable: {lost}. Rotate those webhooks' secrets, regenerate those feeds' "
                "links and reinstall the app in those workspaces."
            )
        else:
            console.fail(
                f"A key is missing: no key reads {lost or 'the secrets of this database'}. Add "
                "it to HIATUS_SECRET_KEYS or, if it is lost, use --accept-loss."
            )

    return secrets
