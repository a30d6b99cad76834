"""Settings of one's own: API keys and calendar feeds. Secrets appear in modals only."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from bot.base import ids
from bot.base.language import later, say
from bot.views import fields, text, words
from bot.views.fields import Option
from bot.views.text import Block
from storage.base.values import SCOPES, ApiKey, CalendarFeed
from storage.db.pages import Page

_SECRET_ONCE: Final = later(
    "Copy the key now and keep it where only your server reads it. It is never shown again."
)


def keys(page: Page[ApiKey], timezone: str, now: datetime) -> dict[str, Any]:
    """One's keys that were not revoked, newest first."""
    blocks: list[Block] = [
        text.section(say("API keys let programs act for you, with the scopes that you choose.")),
        fields.actions(fields.button(say("Create API Key"), ids.KEY_NEW, style="primary")),
    ]
    for key in page.items:
        revoke = fields.button(
            say("Revoke"),
            ids.KEY_REVOKE,
            key.id,
            "danger",
            spoken=say("Revoke {name}", name=key.name),
        )
        revoke["confirm"] = fields.confirm(
            say("Revoke this key?"),
            say(
                "{name} stops working at once, and for good.",
                name=text.cut(key.name, text.LONGEST_NAME),
            ),
            say("Revoke"),
            say("Keep it"),
        )
        lines = "\n".join(_key_lines(key, timezone, now))
        shown: Block = {"type": "section", "text": text.verbatim(lines), "accessory": revoke}
        blocks.append(shown)
    if not page.items:
        blocks.append(text.section(say("You have no API keys.")))
    return fields.modal(say("API keys"), blocks + more(ids.KEYS_MORE, page.next_cursor))


def key_form() -> dict[str, Any]:
    """What a new key is called, may do, and until when."""
    blocks = [
        fields.field("name", say("Name"), fields.typed(placeholder=say("What will use the key"))),
        fields.field(
            "scopes",
            say("Scopes"),
            fields.several([Option(scope, scope) for scope in SCOPES]),
            hint=say("What the key may do; a scope that writes reads as well."),
        ),
        fields.field(
            "expires_at",
            say("Last day"),
            fields.day(),
            hint=say("Without one, the key works until you revoke it."),
            is_optional=True,
        ),
    ]
    return fields.modal(say("Create API Key"), blocks, ids.KEY_FORM, say("Create"), say("Back"))


def new_key(name: str, secret: str) -> dict[str, Any]:
    """The only sight of a key."""
    blocks: list[Block] = [
        {"type": "section", "text": text.verbatim(text.cut(name, 200))},
        text.section(f"```{secret}```"),
        text.section(say(_SECRET_ONCE)),
    ]
    return fields.modal(say("Your new API key"), blocks, close=say("Done"))


def feeds(
    base_url: str, personal: CalendarFeed, page: Page[CalendarFeed], timezone: str
) -> dict[str, Any]:
    """The three links of one's own token, and the feeds made beside it."""
    regenerate = fields.button(say("Regenerate links"), ids.FEEDS_REGENERATE, style="danger")
    regenerate["confirm"] = fields.confirm(
        say("Make new links?"),
        say(
            "The three links above stop working at once. Calendars that subscribe to them have to "
            "subscribe to the new ones."
        ),
        say("Regenerate"),
        say("Keep them"),
    )
    blocks: list[Block] = [
        text.section(
            say("Paste a link into your calendar as a subscription. Whoever has it can read it.")
        ),
        *_own_links(base_url, personal),
        text.quiet(text.escaped(_last_fetch(personal, timezone))),
        fields.actions(regenerate),
        fields.header(say("Further feeds")),
        text.section(
            say(
                "Each has a link of its own, which can be removed alone. `?scope=team` and "
                "`?scope=org` work there too."
            )
        ),
        fields.actions(fields.button(say("Add a feed"), ids.FEED_NEW)),
    ]
    for feed in page.items:
        blocks.append(_feed(base_url, feed, timezone))
    return fields.modal(say("Calendar feeds"), blocks + more(ids.FEEDS_MORE, page.next_cursor))


def _own_links(base_url: str, personal: CalendarFeed) -> list[Block]:
    if not personal.token:
        return [
            text.section(
                say(
                    "Your links cannot be shown any more, because the server lost the secret key "
                    "that they were encrypted with. Calendars that subscribe to them go on "
                    "working. Regenerate the links to see new ones."
                )
            )
        ]
    own = f"{base_url}/cal/{personal.token}"
    return [
        _link(say("Your leave"), own),
        _link(say("Your team"), f"{own}?scope=team"),
        _link(say("Organisation"), f"{own}?scope=org"),
    ]


def feed_form() -> dict[str, Any]:
    """What a new feed is called."""
    name = fields.typed(placeholder=say("For instance: kitchen display"))
    blocks = [fields.field("name", say("Name"), name, is_optional=True)]
    return fields.modal(say("Add a feed"), blocks, ids.FEED_FORM, say("Add"), say("Back"))


def more(action_id: str, cursor: str | None) -> list[Block]:
    """The button that shows the next part of a list, where there is one."""
    return [fields.actions(fields.button(say("Show more"), action_id, cursor))] if cursor else []


def _key_lines(key: ApiKey, timezone: str, now: datetime) -> list[str]:
    used = (
        say("Never used")
        if key.last_used_at is None
        else say("Last used {when}", when=words.moment(key.last_used_at, timezone))
    )
    lines = [f"{text.cut(key.name, 200)} ({key.prefix}…)", ", ".join(key.scopes)]
    if key.expires_at is None:
        return [*lines, used]
    until = words.moment(key.expires_at, timezone)
    if key.expires_at <= now:
        return [*lines, used, say("Expired {when}", when=until)]
    return [*lines, used, say("Expires {when}", when=until)]


def _link(title: str, url: str) -> Block:
    return text.section(f"*{title}*\n```{text.escaped(url)}```")


def _last_fetch(feed: CalendarFeed, timezone: str) -> str:
    if feed.last_fetched_at is None:
        return say("No calendar has read it yet.")
    when = words.moment(feed.last_fetched_at, timezone)
    if feed.last_fetched_by is None:
        return say("Last read {when}.", when=when)
    return say("Last read {when} by {program}.", when=when, program=feed.last_fetched_by)


def _feed(base_url: str, feed: CalendarFeed, timezone: str) -> Block:
    name = feed.name
    remove = fields.button(
        say("Remove"), ids.FEED_REMOVE, feed.id, "danger", spoken=say("Remove {name}", name=name)
    )
    remove["confirm"] = fields.confirm(
        say("Remove this feed?"),
        say("The link of {name} stops working at once.", name=text.cut(name, text.LONGEST_NAME)),
        say("Remove"),
        say("Keep it"),
    )
    link = (
        f"```{text.escaped(base_url)}/cal/{feed.token}```"
        if feed.token
        else say("This link cannot be shown any more. Remove the feed and add another one.")
    )
    fetched = text.escaped(_last_fetch(feed, timezone))
    return {**text.section(f"*{text.name(name)}*\n{link}\n{fetched}"), "accessory": remove}
