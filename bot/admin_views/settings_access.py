"""The user's own settings: API keys and calendar feeds. Secrets appear only in modals."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.views import fields, text, words
from bot.views.fields import Option
from storage.base.calendar_values import CalendarFeed
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
        fields.actions(fields.button(gettext("Create API key"), ids.KEY_NEW, style="primary")),
    ]
    for key in page.items:
        revoke = fields.button(
            gettext("Revoke"),
            ids.KEY_REVOKE,
            key.id,
            "danger",
            spoken=gettext("Revoke {name}", name=key.name),
        )
        revoke["confirm"] = fields.confirm(
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
    return fields.modal(gettext("API keys"), blocks + more(ids.KEYS_MORE, page.next_cursor))


def key_form() -> View:
    blocks = [
        fields.field(
            "name", gettext("Name"), fields.typed(placeholder=gettext("For example, payroll sync"))
        ),
        fields.field(
            "scopes",
            gettext("Scopes"),
            fields.several([Option(label=scope, value=scope) for scope in SCOPES]),
            hint=gettext("What the key can do. Write access includes read access."),
        ),
        fields.field(
            "expires_at",
            gettext("Last day"),
            fields.day(),
            hint=gettext("Leave empty to keep the key until you revoke it."),
            is_optional=True,
        ),
    ]
    return fields.modal(
        gettext("Create API key"), blocks, ids.KEY_FORM, gettext("Create"), gettext("Back")
    )


def new_key(name: str, secret: str) -> View:
    """Shows a key, only this once."""
    blocks: list[Block] = [
        text.paragraph(text.cut(name, 200)),
        text.section(f"```{secret}```"),
        text.section(gettext(_SECRET_ONCE)),
    ]
    return fields.modal(gettext("Your new API key"), blocks, close=gettext("Done"))


def feeds(base_url: str, personal: CalendarFeed, page: Page[CalendarFeed], timezone: str) -> View:
    """The three links of the user's own token, and their further feeds."""
    regenerate = fields.button(gettext("Regenerate links"), ids.FEEDS_REGENERATE, style="danger")
    regenerate["confirm"] = fields.confirm(
        gettext("Regenerate links?"),
        gettext(
            "The three links above will stop working right away. Calendars that use them need "
            "the new links."
        ),
        gettext("Regenerate"),
        gettext("Keep them"),
    )
    blocks: list[Block] = [
        text.section(
            gettext(
                "Subscribe to a link in your calendar app. Anyone with the link can see that "
                "calendar."
            )
        ),
        *_own_links(base_url, personal),
        text.quiet(text.escaped(_last_fetch(personal, timezone))),
        fields.actions(regenerate),
        fields.header(gettext("More feeds")),
        text.section(
            gettext(
                "Each feed has its own link, which you can remove separately. Add "
                "`?scope=team` or `?scope=org` to see more people."
            )
        ),
        fields.actions(fields.button(gettext("Add a feed"), ids.FEED_NEW)),
    ]
    for feed in page.items:
        blocks.append(_feed(base_url, feed, timezone))
    return fields.modal(gettext("Calendar feeds"), blocks + more(ids.FEEDS_MORE, page.next_cursor))


def _own_links(base_url: str, personal: CalendarFeed) -> list[Block]:
    if not personal.token:
        return [
            text.section(
                gettext(
                    "Your links can no longer be shown. Calendars that already use them keep "
                    "working. Regenerate the links to get new ones."
                )
            )
        ]
    own = f"{base_url}/cal/{personal.token}"
    return [
        _link(gettext("Your leave"), own),
        _link(gettext("Your team"), f"{own}?scope=team"),
        _link(gettext("Organisation"), f"{own}?scope=org"),
    ]


def feed_form() -> View:
    name = fields.typed(placeholder=gettext("For example, kitchen display"))
    blocks = [fields.field("name", gettext("Name"), name, is_optional=True)]
    return fields.modal(
        gettext("Add a feed"), blocks, ids.FEED_FORM, gettext("Add"), gettext("Back")
    )


def more(action_id: str, cursor: str | None) -> list[Block]:
    """The button for the next page, if there is one."""
    return (
        [fields.actions(fields.button(gettext("Show more"), action_id, cursor))] if cursor else []
    )


def _key_lines(key: ApiKey, timezone: str, now: datetime) -> list[str]:
    used = (
        gettext("Never used")
        if key.last_used_at is None
        else gettext("Last used {when}", when=words.moment(key.last_used_at, timezone))
    )
    lines = [f"{text.cut(key.name, 200)} ({key.prefix}…)", ", ".join(key.scopes)]
    if key.expires_at is None:
        return [*lines, used]
    until = words.moment(key.expires_at, timezone)
    if key.expires_at <= now:
        return [*lines, used, gettext("Expired {when}", when=until)]
    return [*lines, used, gettext("Expires {when}", when=until)]


def _link(title: str, url: str) -> Block:
    return text.section(f"*{title}*\n```{text.escaped(url)}```")


def _last_fetch(feed: CalendarFeed, timezone: str) -> str:
    if feed.last_fetched_at is None:
        return gettext("No calendar has used it yet.")
    when = words.moment(feed.last_fetched_at, timezone)
    if feed.last_fetched_by is None:
        return gettext("Last read {when}.", when=when)
    return gettext("Last read {when} by {program}.", when=when, program=feed.last_fetched_by)


def _feed(base_url: str, feed: CalendarFeed, timezone: str) -> Block:
    name = feed.name
    remove = fields.button(
        gettext("Remove"),
        ids.FEED_REMOVE,
        feed.id,
        "danger",
        spoken=gettext("Remove {name}", name=name),
    )
    remove["confirm"] = fields.confirm(
        gettext("Remove this feed?"),
        gettext(
            "The link for {name} will stop working right away.",
            name=text.cut(name, text.MAX_NAME),
        ),
        gettext("Remove"),
        gettext("Keep it"),
    )
    link = (
        f"```{text.escaped(base_url)}/cal/{feed.token}```"
        if feed.token
        else gettext("This link can no longer be shown. Remove the feed and add a new one.")
    )
    fetched = text.escaped(_last_fetch(feed, timezone))
    return {**text.section(f"*{text.name(name)}*\n{link}\n{fetched}"), "accessory": remove}
