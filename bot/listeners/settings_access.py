"""Settings of one's own: API keys and calendar feeds."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from bot.admin_views import settings_access as views
from bot.base import ids
from bot.interaction import identity, modals
from bot.interaction.forms import Form
from bot.interaction.listening import Listener, Visit
from storage.access import api_keys, feeds
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.events import organisation_config

_KEYS_SHOWN: Final = 20
_FEEDS_SHOWN: Final = 20


async def keys(visit: Visit) -> None:
    """Open the list of one's keys."""
    await visit.ack()
    by = await identity.caller(visit)
    await visit.open(await _keys(visit, by))


async def more_keys(visit: Visit) -> None:
    """Show the next part of the list."""
    await visit.ack()
    by = await identity.caller(visit)
    await modals.redraw(visit, await _keys(visit, by, modals.clicked(visit)))


async def ask_key(visit: Visit) -> None:
    """Open the form that makes a key."""
    await visit.ack()
    await identity.caller(visit)
    await visit.open(views.key_form())


async def create_key(visit: Visit) -> None:
    """Make a key, and show it this once in place of the form."""
    by, form = await identity.caller(visit), Form(visit)
    name, last_day = form.text("name") or "", form.day("expires_at")
    # As `hiatus keys create` reads it: the whole of that day, in UTC.
    expires_at = (
        None if last_day is None else datetime.combine(last_day, time(), UTC) + timedelta(days=1)
    )

    def create(tx: Transaction) -> str:
        _, secret = api_keys.create_key(
            tx,
            for_user=str(by.user_id),
            name=name,
            scopes=form.several("scopes"),
            variant=1,
            expires_at=expires_at,
            by=by,
            now=visit.now,
        )
        return secret

    secret = await modals.sent(visit, create)
    if secret is not None:
        await visit.ack(response_action="update", view=views.new_key(name, secret))
        await modals.redraw_below(visit, await _keys(visit, by))


async def revoke_key(visit: Visit) -> None:
    """Stop a key; Slack has asked whether that is meant."""
    await visit.ack()
    by = await identity.caller(visit)
    await visit.edge.database.write(api_keys.revoke, modals.clicked(visit), by=by, now=visit.now)
    await modals.redraw(visit, await _keys(visit, by))


async def calendar_feeds(visit: Visit) -> None:
    """Open the links of one's calendars."""
    await visit.ack()
    by = await identity.caller(visit)
    await visit.open(await _feeds(visit, by))


async def more_feeds(visit: Visit) -> None:
    """Show the next part of the list."""
    await visit.ack()
    by = await identity.caller(visit)
    await modals.redraw(visit, await _feeds(visit, by, modals.clicked(visit)))


async def regenerate(visit: Visit) -> None:
    """Make new links; Slack has asked whether that is meant."""
    await visit.ack()
    by = await identity.caller(visit)
    await visit.edge.database.write(feeds.regenerate, by=by, now=visit.now)
    await modals.redraw(visit, await _feeds(visit, by))


async def ask_feed(visit: Visit) -> None:
    """Open the form that adds a feed."""
    await visit.ack()
    await identity.caller(visit)
    await visit.open(views.feed_form())


async def create_feed(visit: Visit) -> None:
    """Add a feed, and show its link in the list."""
    by = await identity.caller(visit)
    name = Form(visit).text("name")
    added = await modals.sent(visit, lambda tx: feeds.create(tx, name, by=by, now=visit.now))
    if added is not None:
        await visit.ack()
        await modals.redraw_below(visit, await _feeds(visit, by))


async def remove_feed(visit: Visit) -> None:
    """Make a feed's link stop working; Slack has asked whether that is meant."""
    await visit.ack()
    by = await identity.caller(visit)
    await visit.edge.database.write(feeds.revoke, modals.clicked(visit), by=by, now=visit.now)
    await modals.redraw(visit, await _feeds(visit, by))


async def _keys(visit: Visit, by: Caller, cursor: str | None = None) -> dict[str, Any]:
    def read(tx: Transaction) -> dict[str, Any]:
        page = api_keys.page(
            tx, PageOf(limit=_KEYS_SHOWN, cursor=cursor), by=by, own_only=True, is_revoked=False
        )
        organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
        return views.keys(page, organisation.timezone, visit.now)

    return await visit.edge.database.read(read)


async def _feeds(visit: Visit, by: Caller, cursor: str | None = None) -> dict[str, Any]:
    base_url = visit.edge.base_url

    def read(tx: Transaction) -> dict[str, Any]:
        # The token is made when it is first asked for.
        own = feeds.get_or_create_personal(tx, by=by, now=visit.now)
        page = feeds.page(tx, PageOf(limit=_FEEDS_SHOWN, cursor=cursor), by=by)
        organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
        return views.feeds(base_url, own, page, organisation.timezone)

    return await visit.edge.database.write(read)


LISTENERS: Final = (
    Listener(kind="action", name=ids.KEYS, act=keys),
    Listener(kind="action", name=ids.KEYS_MORE, act=more_keys),
    Listener(kind="action", name=ids.KEY_NEW, act=ask_key),
    Listener(kind="view", name=ids.KEY_FORM, act=create_key),
    Listener(kind="action", name=ids.KEY_REVOKE, act=revoke_key),
    Listener(kind="action", name=ids.FEEDS, act=calendar_feeds),
    Listener(kind="action", name=ids.FEEDS_MORE, act=more_feeds),
    Listener(kind="action", name=ids.FEEDS_REGENERATE, act=regenerate),
    Listener(kind="action", name=ids.FEED_NEW, act=ask_feed),
    Listener(kind="view", name=ids.FEED_FORM, act=create_feed),
    Listener(kind="action", name=ids.FEED_REMOVE, act=remove_feed),
)
