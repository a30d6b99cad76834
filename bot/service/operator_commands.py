"""The operator's command for the Slack app: ``hiatus slack manifest``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import click

from bot.base import ids
from bot.base.settings import command_problem
from bot.service import manifest

# Without characters that have a meaning in YAML.
_PLAIN: Final = re.compile(r"https://[A-Za-z0-9._~:/-]+")


def add_to(slack: click.Group, env: Mapping[str, str]) -> None:
    """Add the command to the group ``hiatus slack``."""

    @slack.command("manifest")
    @click.option(
        "--base-url",
        metavar="URL",
        help="Where Slack reaches Hiatus: https://hiatus.example.com. With Socket Mode only "
        "needed where workspaces install the app themselves.",
    )
    @click.option("--socket-mode", is_flag=True, help="For `hiatus bot` instead of `hiatus serve`.")
    @click.option(
        "--command",
        metavar="/NAME",
        help="The slash command; HIATUS_SLACK_COMMAND has to be the same.",
    )
    def manifest_command(base_url: str | None, socket_mode: bool, command: str | None) -> None:
        """Print the app's manifest for https://api.slack.com/apps, "From a manifest"."""
        name = command or env.get("HIATUS_SLACK_COMMAND", "").strip() or ids.COMMAND
        if (problem := command_problem(name)) is not None:
            raise click.BadParameter(f"The command {problem}", param_hint="--command")
        url = None if base_url is None else base_url.strip().rstrip("/")
        if url is None and not socket_mode:
            raise click.BadParameter("is needed without --socket-mode", param_hint="--base-url")
        if url is not None and not _is_public(url):
            raise click.BadParameter(
                "must be an https:// address such as https://hiatus.example.com",
                param_hint="--base-url",
            )
        click.echo(manifest.render(url, is_socket_mode=socket_mode, command=name), nl=False)


def _is_public(url: str) -> bool:
    try:
        return _PLAIN.fullmatch(url) is not None and bool(urlsplit(url).hostname)
    except ValueError:
        return False
