"""The commands ``hiatus keys``: API keys created, listed and revoked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import click

from storage.access import api_keys
from storage.base import records
from storage.base.errors import NotFound
from storage.base.values import ApiKey
from storage.cli import console
from storage.cli.console import Clock, Env
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import people_lists, people_rows

_KEYS_PER_READ: Final = 100


def build_app(env: Env, clock: Clock) -> click.Group:
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
            console.print_json({"data": [records.api_key(key) for key, _ in keys_and_emails]})
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
    """Every key with its owner's e-mail address."""
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
