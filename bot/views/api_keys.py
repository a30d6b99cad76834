"""The user's own API keys. Secrets appear only in modals."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text, words
from bot.blocks.fields import Option
from storage.base.values import SCOPES, ApiKey
from storage.db.pages import Page

_SECRET_ONCE: Final = gettext_noop(
    "Copy this key now and store it somewhere safe. You won't see it again."
)


def keys(page: Page[ApiKey], timezone: str, now: datetime) -> View:
    """The user's keys that are not revoked, newest first."""
    blocks: list[Block] = [
        text.section(
            gettext("API keys let programs act on your behalf, with the scopes you choose.")
        ),
        layout.actions(layout.button(gettext("Create API key"), ids.KEY_NEW, style="primary")),
    ]
    for key in page.items:
        revoke = layout.button(
            gettext("Revoke"),
            ids.KEY_REVOKE,
            key.id,
            "danger",
            spoken=gettext("Revoke {name}", name=key.name),
        )
        revoke["confirm"] = layout.confirm(
            gettext("Revoke this key?"),
            gettext(
                "{name} will stop working right away. This can't be undone.",
                name=text.cut(key.name, text.MAX_NAME),
            ),
            gettext("Revoke"),
            gettext("Keep it"),
        )
        lines = "\n".join(_key_lines(key, timezone, now))
        shown: Block = {"type": "section", "text": text.verbatim(lines), "accessory": revoke}
        blocks.append(shown)
    if not page.items:
        blocks.append(text.section(gettext("You have no API keys.")))
    return layout.modal(
        gettext("API keys"), blocks + layout.show_more(ids.KEYS_MORE, page.next_cursor)
    )


def key_form() -> View:
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
        gettext("Create API key"), blocks, ids.KEY_FORM, gettext("Create"), gettext("Back")
    )


def new_key(name: str, secret: str) -> View:
    """Shows a key, only this once."""
    blocks: list[Block] = [
        text.paragraph(text.cut(name, 200)),
        text.section(f"```{secret}```"),
        text.section(gettext(_SECRET_ONCE)),
    ]
    return layout.modal(gettext("Your new API key"), blocks, close=gettext("Done"))


def _key_lines(key: ApiKey, timezone: str, now: datetime) -> list[str]:
    used = (
        gettext("Never used")
        if key.last_used_at is None
        else gettext("Last used {when}", when=words.moment(key.last_used_at, timezone))
    )
    scopes = gettext("All scopes") if set(key.scopes) == set(SCOPES) else ", ".join(key.scopes)
    lines = [f"{text.cut(key.name, 200)} ({key.prefix}…)", scopes]
    if key.expires_at is None:
        return [*lines, used]
    until = words.moment(key.expires_at, timezone)
    if key.expires_at <= now:
        return [*lines, used, gettext("Expired {when}", when=until)]
    return [*lines, used, gettext("Expires {when}", when=until)]
