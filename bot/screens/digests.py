"""Settings: digests, the messages about who is out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, locale
from bot.blocks import fields, layout
from bot.blocks.fields import Option
from bot.interaction.interaction import Interaction
from bot.message_views import admin_messages
from bot.screens import organisation, screen, searches
from bot.screens.screen import Saving, Screen
from storage.admin import channel_digests
from storage.base.values import Caller, ChannelDigest, Department, Organisation
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.outbox import organisation_config

NAME: Final = "settings.digests"
_FREQUENCIES: Final = (
    Option(label=gettext_noop("Every working day: who's out today"), value="daily"),
    Option(label=gettext_noop("Mondays: who's out this week"), value="weekly"),
)
_SHORT: Final = {"daily": gettext_noop("Daily"), "weekly": gettext_noop("Weekly")}
# In the language itself, as people look for it.
_LANGUAGES: Final = (
    Option(label="English", value="en"),
    Option(label="Deutsch", value="de"),
    Option(label="Français", value="fr"),
    Option(label="Español", value="es"),
)


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    page = channel_digests.page(tx, screen.page_of(cursor), by=by)
    return list_view(config.organisation, page, config.departments)


def list_view(
    settings: Organisation,
    page: Page[ChannelDigest],
    departments: Mapping[str, Department],
) -> View:
    """The digests of channels, after the organisation's own."""
    blocks: list[Block] = [
        layout.section(gettext("At 9:00 I post who's out, and I keep the message up to date.")),
        layout.actions(layout.button(gettext("Add a digest"), f"{NAME}.new")),
    ]
    if settings.digest_channel is not None:
        spoken = gettext("Change the organisation's digest")
        change = layout.button(gettext("Change"), organisation.IN_SLACK, spoken=spoken)
        facts = (gettext("Daily"), gettext("Everyone"), gettext("Set in the organisation settings"))
        blocks.append(_row(settings.digest_channel, facts, change))
    for digest in page.items:
        blocks.append(_digest(digest, departments))
    return screen.list_view(NAME, gettext("Digests"), blocks, page.next_cursor)


def read_form(tx: Transaction, interaction: Interaction, by: Caller, digest_id: str) -> View:
    digest = channel_digests.get(tx, digest_id, by=by) if digest_id else None
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return form_view(digest, config.departments.values(), locale().language)


def form_view(
    digest: ChannelDigest | None, departments: Iterable[Department], language: str
) -> View:
    """The form of a digest; None for a new one, in the admin's ``language``."""
    blocks = [
        fields.field(
            "channel",
            gettext("Channel"),
            fields.channel_select(digest.channel if digest else None),
            hint=gettext("Invite Hiatus first: type /invite @Hiatus in the channel."),
        ),
        fields.field(
            "department_id",
            gettext("Who"),
            searches.department_select(
                departments, digest.department_id if digest else None, gettext("Everyone")
            ),
        ),
        fields.field(
            "frequency",
            gettext("When"),
            fields.select(fields.translated(_FREQUENCIES), digest.frequency if digest else "daily"),
        ),
        fields.field(
            "locale",
            gettext("Language"),
            fields.select(_LANGUAGES, digest.locale if digest else language),
        ),
    ]
    if digest is None:
        return screen.form_view(f"{NAME}.form", gettext("Add a digest"), blocks)
    delete = layout.button(gettext("Delete"), f"{NAME}.delete", digest.id, "danger")
    delete["confirm"] = layout.confirm(
        gettext("Delete this digest?"),
        gettext("Nothing more is posted. Messages in the channel stay."),
        gettext("Delete"),
        gettext("Keep it"),
    )
    blocks.append(layout.actions(delete))
    return screen.form_view(f"{NAME}.form", gettext("Digest"), blocks, digest.id)


def _digest(digest: ChannelDigest, departments: Mapping[str, Department]) -> Block:
    department = departments.get(digest.department_id or "")
    who = gettext("Everyone") if department is None else layout.name(department.name)
    language = next(option.label for option in _LANGUAGES if option.value == digest.locale)
    facts = [gettext(_SHORT[digest.frequency]), who, language]
    edit = layout.button(
        gettext("Edit"),
        f"{NAME}.edit",
        digest.id,
        spoken=gettext("Edit the digest of {department}", department=who),
    )
    problem = digest.refused_because and admin_messages.why_no_digest(digest.refused_because)
    return _row(digest.channel, facts, edit, problem)


def _row(channel: str, facts: Iterable[str], accessory: Block, problem: str | None = None) -> Block:
    lines = [f"<#{channel}>", " · ".join(facts), *([f":warning: {problem}"] if problem else [])]
    return {**layout.section("\n".join(lines)), "accessory": accessory}


def _save(tx: Transaction, saving: Saving) -> object:
    fields_of_form = ("channel", "department_id", "frequency", "locale")
    values = {name: saving.form.chosen(name) for name in fields_of_form}
    if saving.form.about:
        return channel_digests.update(tx, saving.form.about, values, by=saving.by, now=saving.now)
    return channel_digests.create(tx, values, by=saving.by, now=saving.now)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(_read_list))
    app.action(f"{NAME}.more")(screen.shows_more(_read_list))
    app.action(f"{NAME}.new")(screen.opens(read_form))
    app.action(f"{NAME}.edit")(screen.opens(read_form))
    app.view(f"{NAME}.form")(screen.saves(_save, _read_list))
    deleted = (gettext_noop("Digest"), gettext_noop("The digest was deleted."))
    app.action(f"{NAME}.delete")(screen.deletes(channel_digests.delete, _read_list, done=deleted))


SCREEN: Final = Screen(gettext_noop("Digests"), NAME, register)
