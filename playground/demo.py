"""``hiatus serve --demo``: the demo organisation's playground, and what the terminal shows."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import click
from starlette.routing import BaseRoute

from bot.base.ids import COMMAND
from bot.base.settings import SlackSettings
from playground import web, webhooks
from playground.playground import Playground, player
from playground.webhooks import Connection, Inbox
from storage.db.database import Database
from storage.operations import demo
from storage.operations.demo import DemoOrganisation

# The people whom the page shows first: an employee, an approver and an owner.
_FIRST_PLAYERS: Final = ("amir@acme.example", "grace@acme.example", "henrik@acme.example")


def start(
    database: Database,
    slack: SlackSettings | None,
    *,
    base_url: str,
    address: str,
    clock: Callable[[], datetime],
    stack: ExitStack,
) -> tuple[SlackSettings | None, list[BaseRoute]]:
    """Fill an empty database, print what to try, and start the playground if there may be one.

    Returns the Slack settings to use, and the playground's routes. ``stack`` stops the playground.
    """
    now = clock()
    organisation = database.write_now(demo.ensure, now=now)
    playground = open_playground(
        database, organisation, slack, base_url=base_url, address=address, now=now
    )
    click.echo(banner(organisation, playground, slack, base_url))
    if playground is None or organisation is None:
        return slack, []
    playground.slack.start()
    stack.callback(playground.slack.stop)
    connection = webhooks.Connection(f"http://{address}", organisation.api_key)
    return (
        replace(playground.settings, base_url=base_url),
        routes(playground, connection, clock),
    )


def open_playground(
    database: Database,
    organisation: DemoOrganisation | None,
    slack: SlackSettings | None,
    *,
    base_url: str,
    address: str,
    now: datetime,
) -> Playground | None:
    """A playground for the demo organisation's people. ``address`` is a host and a port.

    None if there is a real Slack or if other machines can reach Hiatus: the playground lets its
    users act as any of these people.
    """
    if organisation is None or slack is not None or not is_loopback(base_url):
        return None
    users = database.write_now(demo.enter, organisation.organisation_id, now=now)
    if users is None:
        return None
    return Playground(demo.TEAM_ID, map(player, users), f"http://{address}")


def is_loopback(url: str) -> bool:
    """Whether only programs on this machine can reach the URL."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def routes(
    playground: Playground, connection: Connection, clock: Callable[[], datetime]
) -> list[BaseRoute]:
    """The playground's pages and what they request."""
    token = secrets.token_urlsafe(32)
    inbox = Inbox()
    first = playground.first(_FIRST_PLAYERS)
    return [
        *web.page_routes(first, COMMAND, token),
        *web.from_page_only(web.game_routes(playground), token),
        *webhooks.open_routes(inbox, token, clock),
        *web.from_page_only(webhooks.page_only_routes(inbox, connection), token),
    ]


def banner(
    organisation: DemoOrganisation | None,
    playground: Playground | None,
    slack: SlackSettings | None,
    base_url: str,
) -> str:
    """First steps, with API keys of the demo organisation's people."""
    if organisation is None:
        return f"Hiatus serves your organisations at {base_url}. None of them is the demo."
    return "\n".join(
        [
            f"Hiatus serves the demo organisation {organisation.organisation_name} at {base_url}",
            f"  Slack     {_where_slack_is(playground, slack, base_url)}",
            f"  API       {base_url}/api/v1, described at {base_url}/docs",
            f"  API key   {organisation.api_key} of {organisation.owner_email}, an owner",
            f"  API key   {organisation.member_api_key} of {organisation.member_email}, a member",
            f"  Try       curl -H 'Authorization: Bearer {organisation.api_key}' "
            f"{base_url}/api/v1/leave-requests",
            "Next",
            "  Connect your Slack   docs/slack.md; `hiatus slack manifest` prints the app",
            "  Deploy               docs/deployment.md",
            "  Start over           make run ARGS=--start-over",
        ]
    )


def _where_slack_is(
    playground: Playground | None, slack: SlackSettings | None, base_url: str
) -> str:
    if playground is not None:
        return f"{base_url}/playground, a Slack for three people at once"
    if slack is not None:
        return "the workspace of your settings, so there is no playground"
    if not is_loopback(base_url):
        return "none: BASE_URL is not on this machine, so there is no playground"
    return "none: the demo organisation belongs to a real workspace, so there is no playground"
