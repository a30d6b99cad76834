"""The command ``hiatus slack link``."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from storage.base.errors import InvalidInput
from storage.base.values import Organisation
from storage.cli import console
from storage.cli.console import AsJson, Clock, Env, Slug
from storage.db.database import Transaction
from storage.slack import slack_workspaces


def add_to(app: typer.Typer, env: Env, clock: Clock) -> typer.Typer:
    """Add the group ``hiatus slack`` and return it: ``bot`` adds more commands to it."""
    slack = typer.Typer(name="slack", help="Slack workspaces.", no_args_is_help=True)

    @slack.command("link")
    def link_command(
        team: Annotated[str, typer.Option(metavar="T123", help="The workspace's id.")],
        organisation: Slug,
        as_json: AsJson = False,
    ) -> None:
        """Link an organisation to a Slack workspace."""
        with console.opened(env) as database:
            linked = database.write_now(_link, organisation, team.strip(), now=clock())
        if as_json:
            console.print_json({"organisation_id": linked.id, "slack_team_id": team.strip()})
            return
        typer.echo(f"{linked.name} is linked to the workspace {team.strip()}.")

    app.add_typer(slack)
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
