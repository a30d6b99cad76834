"""Settings: the caller's own calendar feeds. Their links are secrets, only in modals."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, words
from bot.interaction import listening, modals
from bot.interaction.interaction import Interaction
from bot.screens import screen
from bot.screens.screen import Saving, Screen
from storage.base.calendar_values import CalendarFeed
from storage.base.errors import NotFound
from storage.base.values import Caller
from storage.calendars import feeds, wallchart
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.outbox import organisation_config

NAME: Final = ids.FEEDS


async def open_list(interaction: Interaction) -> None:
    """Open the links, which are created on first use."""
    by = await listening.acknowledged(interaction)
    await interaction.database.write(feeds.get_or_create_personal, by=by, now=interaction.now)
    await interaction.open(await screen.view(interaction, _read_list, by))
    if by.is_admin:
        # The first feed was created, which is a step of the checklist.
        modals.refresh_home(interaction)


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    page = feeds.page(tx, screen.page_of(cursor, 20), by=by)
    organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
    personal = feeds.find_personal(tx, by=by)
    if personal is None:
        raise NotFound("calendar feed")
    return list_view(interaction.services.base_url, personal, page, organisation.timezone)


def list_view(
    base_url: str, personal: CalendarFeed, page: Page[CalendarFeed], timezone: str
) -> View:
    """The three links of the user's own token, and their further feeds."""
    regenerate = layout.button(gettext("Regenerate links"), f"{NAME}.regenerate", style="danger")
    regenerate["confirm"] = layout.confirm(
        gettext("Regenerate links?"),
        gettext(
            "The three links above will stop working right away. Calendars that use them need "
            "the new links."
        ),
        gettext("Regenerate"),
        gettext("Keep them"),
    )
    blocks: list[Block] = [
        layout.section(
            gettext(
                "Subscribe to a link in your calendar app. Anyone with the link can see that "
                "calendar."
            )
        ),
        *_own_links(base_url, personal),
        layout.quiet(gettext("Google and Outlook read the link every few hours.")),
        layout.quiet(layout.escaped(_last_fetch(personal, timezone))),
        layout.actions(regenerate),
        layout.header(gettext("More feeds")),
        layout.section(
            gettext(
                "Each feed has its own link, which you can remove separately. Add "
                "`?scope=team` or `?scope=org` to see more people."
            )
        ),
        layout.actions(layout.button(gettext("Add a feed"), f"{NAME}.new")),
    ]
    blocks += [_feed(base_url, feed, timezone) for feed in page.items]
    return screen.list_view(NAME, gettext("Calendar feeds"), blocks, page.next_cursor)


def _own_links(base_url: str, personal: CalendarFeed) -> list[Block]:
    if not personal.token:
        return [
            layout.section(
                gettext(
                    "Your links can no longer be shown. Calendars that already use them keep "
                    "working. Regenerate the links to get new ones."
                )
            )
        ]
    own = f"{base_url}/cal/{personal.token}"
    chart = gettext("See who is out this month in your browser")
    return [
        _link(gettext("Your leave"), own),
        _link(gettext("Your team"), f"{own}?scope=team"),
        _link(gettext("Organisation"), f"{own}?scope=org"),
        layout.section(f"<{wallchart.url(base_url, personal.token)}|{chart}>"),
    ]


def _link(title: str, url: str) -> Block:
    return layout.section(f"*{title}*\n{_copied_or_added(url, title)}")


def _copied_or_added(url: str, name: str) -> str:
    """The link to copy, and links that add it to a calendar."""
    # Google takes the address of a subscription only with this scheme.
    for_google = quote(url.replace("https://", "webcal://", 1), safe="")
    google = f"https://calendar.google.com/calendar/r?cid={for_google}"
    query = urlencode({"url": url, "name": name}, quote_via=quote)
    outlook = f"https://outlook.office.com/calendar/0/addfromweb?{query}"
    # A web page that redirects to a webcal address, which Slack does not link to.
    address, question_mark, scope = url.partition("?")
    apple = f"{address}/subscribe{question_mark}{scope}"
    links = (
        (google, gettext("Add to Google Calendar")),
        (outlook, gettext("Add to Outlook")),
        (apple, gettext("Add to Apple Calendar")),
    )
    shown = " · ".join(f"<{layout.escaped(link)}|{title}>" for link, title in links)
    return f"```{layout.escaped(url)}```{shown}"


def _last_fetch(feed: CalendarFeed, timezone: str) -> str:
    if feed.last_fetched_at is None:
        return gettext("No calendar has used it yet.")
    when = words.moment(feed.last_fetched_at, timezone)
    if feed.last_fetched_by is None:
        return gettext("Last read {when}.", when=when)
    return gettext("Last read {when} by {program}.", when=when, program=feed.last_fetched_by)


def _feed(base_url: str, feed: CalendarFeed, timezone: str) -> Block:
    name = feed.name
    remove = layout.button(
        gettext("Remove"),
        f"{NAME}.remove",
        feed.id,
        "danger",
        spoken=gettext("Remove {name}", name=name),
    )
    remove["confirm"] = layout.confirm(
        gettext("Remove this feed?"),
        gettext(
            "The link for {name} will stop working right away.",
            name=layout.cut(name, layout.MAX_NAME),
        ),
        gettext("Remove"),
        gettext("Keep it"),
    )
    link = (
        _copied_or_added(f"{base_url}/cal/{feed.token}", layout.cut(name, layout.MAX_NAME))
        if feed.token
        else gettext("This link can no longer be shown. Remove the feed and add a new one.")
    )
    fetched = layout.escaped(_last_fetch(feed, timezone))
    return {**layout.section(f"*{layout.name(name)}*\n{link}\n{fetched}"), "accessory": remove}


def form_view() -> View:
    name = fields.text_input(placeholder=gettext("For example, phone"))
    blocks = [fields.field("name", gettext("Name"), name, is_optional=True)]
    return screen.form_view(f"{NAME}.form", gettext("Add a feed"), blocks)


def _add(tx: Transaction, saving: Saving) -> object:
    return feeds.create(tx, saving.form.text("name"), by=saving.by, now=saving.now)


async def _regenerate(interaction: Interaction) -> None:
    """Slack has asked for confirmation."""
    by = await listening.acknowledged(interaction)
    await interaction.database.write(feeds.regenerate_personal, by=by, now=interaction.now)
    await modals.refresh(interaction, await screen.view(interaction, _read_list, by))


def register(app: AsyncApp) -> None:
    own = listening.caller
    app.action(NAME)(open_list)
    app.action(f"{NAME}.more")(screen.shows_more(_read_list, who=own))
    app.action(f"{NAME}.new")(screen.opens(lambda *_: form_view(), who=own))
    app.view(f"{NAME}.form")(screen.saves(_add, _read_list, who=own))
    app.action(f"{NAME}.remove")(screen.deletes(feeds.revoke, _read_list, who=own))
    app.action(f"{NAME}.regenerate")(_regenerate)


SCREEN: Final = Screen(gettext_noop("Calendar feeds and wallchart"), NAME, register)
