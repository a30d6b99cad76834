"""Settings: the caller's own API keys. Secrets appear only in modals."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction import listening, modals
from bot.interaction.interaction import Interaction
from bot.screens import screen
from bot.screens.forms import Form
from bot.screens.screen import Screen
from storage.base.values import SCOPES, ApiKey, Caller
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.keys import api_keys
from storage.outbox import organisation_config

NAME: Final = "settings.keys"


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    page = api_keys.page(tx, screen.page_of(cursor, 20), by=by, own_only=True, is_revoked=False)
    organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
    return list_view(page, organisation.timezone, interaction.now)


def list_view(page: Page[ApiKey], timezone: str, now: datetime) -> View:
    """The user's keys that are not revoked, newest first."""
    blocks: list[Block] = [
        layout.section(
            gettext("API keys let programs act on your behalf, with the scopes you choose.")
        ),
        layout.actions(layout.button(gettext("Create API key"), f"{NAME}.new", style="primary")),
    ]
    for key in page.items:
        revoke = layout.button(
            gettext("Revoke"),
            f"{NAME}.revoke",
            key.id,
            "danger",
            spoken=gettext("Revoke {name}", name=key.name),
        )
        revoke["confirm"] = layout.confirm(
            gettext("Revoke this key?"),
            gettext(
                "{name} will stop working right away. This can't be undone.",
                name=layout.cut(key.name, layout.MAX_NAME),
            ),
            gettext("Revoke"),
            gettext("Keep it"),
        )
        lines = layout.paragraph("\n".join(_key_lines(key, timezone, now)))
        blocks.append({**lines, "accessory": revoke})
    if not page.items:
        blocks.append(layout.section(gettext("You have no API keys.")))
    return screen.list_view(NAME, gettext("API keys"), blocks, page.next_cursor)


def _key_lines(key: ApiKey, timezone: str, now: datetime) -> list[str]:
    used = (
        gettext("Never used")
        if key.last_used_at is None
        else gettext("Last used {when}", when=words.moment(key.last_used_at, timezone))
    )
    scopes = gettext("All scopes") if set(key.scopes) == set(SCOPES) else ", ".join(key.scopes)
    lines = [f"{layout.cut(key.name, 200)} ({key.prefix}…)", scopes]
    if key.expires_at is None:
        return [*lines, used]
    until = words.moment(key.expires_at, timezone)
    if key.expires_at <= now:
        return [*lines, used, gettext("Expired {when}", when=until)]
    return [*lines, used, gettext("Expires {when}", when=until)]


def form_view() -> View:
    blocks = [
        fields.field(
            "name",
            gettext("Name"),
            fields.text_input(placeholder=gettext("For example, payroll sync")),
        ),
        fields.field(
            "scopes",
            gettext("Scopes"),
            fields.multi_select([Option(label=scope, value=scope) for scope in SCOPES]),
            hint=gettext("What the key can do. Write access includes read access."),
        ),
        fields.field(
            "expires_at",
            gettext("Last day"),
            fields.date_picker(),
            hint=gettext("Leave empty to keep the key until you revoke it."),
            is_optional=True,
        ),
    ]
    return layout.modal(
        gettext("Create API key"), blocks, f"{NAME}.form", gettext("Create"), gettext("Back")
    )


def new_key(name: str, secret: str) -> View:
    """Shows a key, only this once."""
    blocks: list[Block] = [
        layout.paragraph(layout.cut(name, 200)),
        layout.section(f"```{secret}```"),
        layout.section(
            gettext("Copy this key now and store it somewhere safe. You won't see it again.")
        ),
    ]
    return layout.modal(gettext("Your new API key"), blocks, close=gettext("Done"))


async def _create(interaction: Interaction) -> None:
    """Create a key and show it once in place of the form."""
    by, form = await listening.caller(interaction), Form(interaction)
    name, last_day = form.text("name") or "", form.day("expires_at")
    # As in `hiatus keys create`: until the end of that day in UTC.
    expires_at = (
        None if last_day is None else datetime.combine(last_day, time(), UTC) + timedelta(days=1)
    )
    created = await modals.run_once(
        interaction,
        lambda tx: api_keys.create_key(
            tx,
            for_user=str(by.user_id),
            name=name,
            scopes=form.several("scopes"),
            variant=1,
            expires_at=expires_at,
            by=by,
            now=interaction.now,
        ),
    )
    if created is not None:
        _, secret = created
        await interaction.ack(response_action="update", view=new_key(name, secret))
        await modals.refresh_below(interaction, await screen.view(interaction, _read_list, by))


def register(app: AsyncApp) -> None:
    own = listening.caller
    app.action(NAME)(screen.opens(_read_list, who=own))
    app.action(f"{NAME}.more")(screen.shows_more(_read_list, who=own))
    app.action(f"{NAME}.new")(screen.opens(lambda *_: form_view(), who=own))
    app.view(f"{NAME}.form")(_create)
    app.action(f"{NAME}.revoke")(screen.deletes(api_keys.revoke, _read_list, who=own))


SCREEN: Final = Screen(gettext_noop("API keys"), NAME, register)
