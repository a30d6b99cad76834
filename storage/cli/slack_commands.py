"""The command ``hiatus slack link``."""

from __future__ import annotations

from datetime import datetime

import click

from storage.base.errors import InvalidInput
from storage.base.values import Organisation
from storage.cli import console
from storage.cli.console import Clock, Env
from storage.db.database import Transaction
from storage.slack import slack_workspaces


def add_to(app: click.Group, env: Env, clock: Clock) -> click.Group:
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
