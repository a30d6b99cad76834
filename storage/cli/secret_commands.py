"""The command ``hiatus secrets reencrypt``."""

from __future__ import annotations

from typing import Annotated

import typer

from storage.access import reencryption
from storage.cli import console
from storage.cli.console import Env


def build_app(env: Env) -> typer.Typer:
    """The group ``hiatus secrets``."""
    secrets = typer.Typer(name="secrets", help="The secret keys.", no_args_is_help=True)

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
        with console.opened(env, checks_keys=False) as database:
            result = reencryption.reencrypt(database, accept_loss=accept_loss)
        typer.echo(f"Encrypted {result.changed:,} stored secrets with the first key.")
        lost = ", ".join(f"{count:,} ({kind})" for kind, count in result.unreadable.items())
        if result.is_complete and not lost:
            typer.echo("You can remove older keys a day from now.")
        elif result.is_complete:
            typer.echo(
                f"Unreadable: {lost}. Rotate those webhooks' secrets, regenerate those feeds' "
                "links and reinstall the app in those workspaces."
            )
        else:
            console.fail(
                f"A key is missing: no key reads {lost or 'the secrets of this database'}. Add "
                "it to HIATUS_SECRET_KEYS or, if it is lost, use --accept-loss."
            )

    return secrets
