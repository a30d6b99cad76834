"""Admin settings: digests, the messages about who is out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bot.admin_views.people import department_select
from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text
from bot.blocks.fields import Option
from bot.message_views import admin_messages
from storage.base.values import ChannelDigest, Department, Organisation
from storage.db.pages import Page

_FREQUENCIES: Final = (
    Option(label=gettext_noop("Every working day: who's out today"), value="daily"),
    Option(label=gettext_noop("Mondays: who's out this week"), value="weekly"),
)
_SHORT: Final = {"daily": gettext_noop("Daily"), "weekly": gettext_noop("Weekly")}
# In the language itself, as people look for it.
_LANGUAGES: Final = (
    Option(label="English", value="en"),
    Option(label="Deutsch", value="de"),
)


def digests(
    organisation: Organisation,
    page: Page[ChannelDigest],
    departments: Mapping[str, Department],
) -> View:
    """The digests of channels, after the organisation's own."""
    blocks: list[Block] = [
        text.section(gettext("At 9:00 I post who's out, and I keep the message up to date.")),
        layout.actions(layout.button(gettext("Add a digest"), ids.DIGEST_NEW)),
    ]
    if organisation.digest_channel is not None:
        change = layout.button(
            gettext("Change"), ids.ORGANISATION, spoken=gettext("Change the organisation's digest")
        )
        facts = (gettext("Daily"), gettext("Everyone"), gettext("Set in the organisation settings"))
        blocks.append(_row(organisation.digest_channel, facts, change))
    for digest in page.items:
        blocks.append(_digest(digest, departments))
    return layout.modal(
        gettext("Digests"), blocks + layout.show_more(ids.DIGESTS_MORE, page.next_cursor)
    )


def channel_select(channel: str | None) -> Block:
    """A menu of the channels that may have a digest."""
    menu: Block = {
        "type": "conversations_select",
        # No shared channels (Slack Connect): other organisations would see who is out.
        "filter": {"include": ["public", "private"], "exclude_external_shared_channels": True},
    }
    return menu if channel is None else menu | {"initial_conversation": channel}


def digest(digest: ChannelDigest | None, departments: Iterable[Department], language: str) -> View:
    """The form of a digest; None for a new one, in the admin's ``language``."""
    blocks = [
        fields.field(
            "channel",
            gettext("Channel"),
            channel_select(digest.channel if digest else None),
            hint=gettext("Invite Hiatus first: type /invite @Hiatus in the channel."),
        ),
        fields.field(
            "department_id",
            gettext("Who"),
            department_select(
                list(departments), digest.department_id if digest else None, gettext("Everyone")
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
        return layout.modal(
            gettext("Add a digest"), blocks, ids.DIGEST_FORM, gettext("Add"), gettext("Back")
        )
    delete = layout.button(gettext("Delete"), ids.DIGEST_DELETE, digest.id, "danger")
    delete["confirm"] = layout.confirm(
        gettext("Delete this digest?"),
        gettext("Nothing more is posted. Messages in the channel stay."),
        gettext("Delete"),
        gettext("Keep it"),
    )
    blocks.append(layout.actions(delete))
    return layout.modal(
        gettext("Digest"), blocks, ids.DIGEST_FORM, gettext("Save"), gettext("Back"), digest.id
    )


def _digest(digest: ChannelDigest, departments: Mapping[str, Department]) -> Block:
    department = departments.get(digest.department_id or "")
    who = gettext("Everyone") if department is None else text.name(department.name)
    language = next(option.label for option in _LANGUAGES if option.value == digest.locale)
    facts = [gettext(_SHORT[digest.frequency]), who, language]
    edit = layout.button(
        gettext("Edit"),
        ids.DIGEST_EDIT,
        digest.id,
        spoken=gettext("Edit the digest of {department}", department=who),
    )
    problem = digest.refused_because and admin_messages.why_no_digest(digest.refused_because)
    return _row(digest.channel, facts, edit, problem)


def _row(channel: str, facts: Iterable[str], accessory: Block, problem: str | None = None) -> Block:
    lines = [f"<#{channel}>", " · ".join(facts), *([f":warning: {problem}"] if problem else [])]
    return {**text.section("\n".join(lines)), "accessory": accessory}
