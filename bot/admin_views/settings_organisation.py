"""Settings of an admin: the organisation itself, and its leave types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.admin_views.settings_access import more
from bot.admin_views.settings_people import working_days
from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.views import fields, text, words
from bot.views.fields import Option
from storage.base.calendar_values import Country
from storage.base.values import LeaveType, Organisation
from storage.db.pages import Page

_MOST_FOUND: Final = 100
# What a new type has as long as nobody chooses.
_COLOUR: Final = "#4a7fb5"
_ARCHIVED: Final = gettext_noop("Archived")
_YEAR_TYPES: Final = (
    Option(label=gettext_noop("Calendar year"), value="calendar"),
    Option(label=gettext_noop("From the day and month below"), value="fiscal"),
    Option(label=gettext_noop("From each person's first day of work"), value="anniversary"),
)
_FLAGS: Final = (
    Option(label=gettext_noop("Requires approval"), value="requires_approval"),
    Option(label=gettext_noop("Uses the allowance"), value="deducts_allowance"),
    Option(label=gettext_noop("Allowance can be overdrawn"), value="allow_overdraft"),
    Option(label=gettext_noop("Paid"), value="is_paid"),
    Option(label=gettext_noop("Colleagues see only “Away”"), value="is_private"),
    Option(label=gettext_noop("Requires a note"), value="requires_note"),
)
FLAGS: Final = tuple(flag.value for flag in _FLAGS)
JOIN: Final = "slack_members_join"
DIGEST: Final = "digest"


def organisation(one: Organisation) -> View:
    """All settings of the organisation."""
    months = [Option(label=words.month(number), value=str(number)) for number in range(1, 13)]
    ticked = [JOIN] * one.slack_members_join + [DIGEST] * (one.digest_channel is not None)
    channel: Block = {
        "type": "conversations_select",
        # No shared channels (Slack Connect): other organisations would see who is out.
        "filter": {"include": ["public", "private"], "exclude_external_shared_channels": True},
    }
    if one.digest_channel is not None:
        channel["initial_conversation"] = one.digest_channel
    expiry = str(one.carry_over_expiry_month or ids.NOTHING)
    blocks = [
        fields.field("name", gettext("Name"), fields.typed(one.name)),
        fields.field(
            "country_code",
            gettext("Country for public holidays"),
            fields.search(
                ids.COUNTRY_SEARCH, Option(label=one.country_code, value=one.country_code)
            ),
            hint=(
                gettext(
                    "A country on its own has only its national holidays. Choose a region to "
                    "include regional ones."
                )
            ),
        ),
        fields.field(
            "timezone",
            gettext("Time zone"),
            fields.search(
                ids.TIMEZONE_SEARCH, Option(label=one.timezone, value=one.timezone), least=2
            ),
        ),
        fields.field(
            "working_days",
            gettext("Working days"),
            fields.several(working_days(), one.working_days),
        ),
        fields.field(
            "leave_year_type",
            gettext("Leave year"),
            fields.menu(fields.said(_YEAR_TYPES), one.leave_year_type),
        ),
        fields.field(
            "leave_year_start_month",
            gettext("Leave year starts in"),
            fields.menu(months, str(one.leave_year_start_month)),
        ),
        fields.field(
            "leave_year_start_day",
            gettext("Leave year starts on day"),
            fields.number(one.leave_year_start_day, least=1, most=31),
        ),
        fields.field(
            "default_leave_allowance",
            gettext("Allowance (days per year)"),
            fields.days_a_year(one.default_leave_allowance_half_days),
        ),
        fields.field(
            "carry_over",
            gettext("Carry-over limit (days)"),
            fields.days_a_year(one.carry_over_half_days),
        ),
        fields.field(
            "carry_over_expiry_month",
            gettext("Use carried-over days by the end of"),
            fields.menu(
                [Option(label=gettext("The leave year"), value=ids.NOTHING), *months], expiry
            ),
        ),
        fields.field(
            "slack",
            gettext("In Slack"),
            fields.boxes(
                (
                    Option(label=gettext("Add new workspace members automatically"), value=JOIN),
                    Option(label=gettext("Post who's out in the channel below"), value=DIGEST),
                ),
                ticked,
            ),
            is_optional=True,
        ),
        fields.field(
            "digest_channel",
            gettext("Channel for who's out"),
            channel,
            hint=gettext("Invite Hiatus first: type /invite @Hiatus in the channel."),
            is_optional=True,
        ),
    ]
    return fields.modal(
        gettext("Organisation"), blocks, ids.ORGANISATION_FORM, gettext("Save"), gettext("Cancel")
    )


def country_options(countries: Iterable[Country], typed: str) -> list[Block]:
    """Countries and regions whose name or code holds what was typed; at most a hundred."""
    wanted = typed.casefold().strip()
    found = []
    for country in countries:
        places = [(country.code, _national(country))]
        places += [(code, f"{country.name}: {name} ({code})") for code, name in country.regions]
        found += [
            fields.option(Option(label=_fitting(label, code), value=code))
            for code, label in places
            if wanted in label.casefold()
        ]
        if len(found) >= _MOST_FOUND:
            break
    return found[:_MOST_FOUND]


def timezone_options(timezones: Iterable[str], typed: str) -> list[Block]:
    """Time zones that hold what was typed; at most a hundred."""
    wanted = typed.casefold().strip().replace(" ", "_")
    found = [one for one in timezones if wanted in one.casefold()]
    return [fields.option(Option(label=one, value=one)) for one in sorted(found)[:_MOST_FOUND]]


def leave_types(page: Page[LeaveType]) -> View:
    """The types, archived ones included, oldest first."""
    blocks = [fields.actions(fields.button(gettext("Add a leave type"), ids.LEAVE_TYPE_NEW))]
    for one in page.items:
        edit = fields.button(
            gettext("Edit"),
            ids.LEAVE_TYPE_EDIT,
            one.id,
            spoken=gettext("Edit {name}", name=one.name),
        )
        told = f"{one.name} ({one.code})" + (f"\n{gettext(_ARCHIVED)}" if one.is_archived else "")
        blocks.append({"type": "section", "text": text.verbatim(told), "accessory": edit})
    return fields.modal(
        gettext("Leave types"), blocks + more(ids.LEAVE_TYPES_MORE, page.next_cursor)
    )


def leave_type(one: LeaveType | None) -> View:
    """The form of one type; of a new one where there is none yet."""
    ticked = (
        ["requires_approval", "deducts_allowance", "is_paid"]
        if one is None
        else [flag for flag in FLAGS if getattr(one, flag)]
    )
    blocks = [
        fields.field("name", gettext("Name"), fields.typed(one.name if one else None)),
        fields.field(
            "code",
            gettext("Code"),
            fields.typed(one.code if one else None, 64),
            hint=gettext("A short name for integrations. Leave empty to create one from the name."),
            is_optional=one is None,
        ),
        fields.field(
            "colour",
            gettext("Colour in calendars"),
            fields.typed(one.colour if one else _COLOUR, 7),
        ),
        fields.field(
            "emoji",
            gettext("Emoji"),
            fields.typed(one.emoji if one else None, 100, placeholder="palm_tree"),
            is_optional=True,
        ),
        fields.field(
            "flags", gettext("Rules"), fields.boxes(fields.said(_FLAGS), ticked), is_optional=True
        ),
        fields.field(
            "min_notice_days",
            gettext("Notice (days)"),
            fields.number(one.min_notice_days if one else 0, most=730),
        ),
        fields.field(
            "max_consecutive_days",
            gettext("Maximum days in a row"),
            fields.number(one.max_consecutive_days if one else None, least=1, most=366),
            hint=gettext("Leave empty for no limit."),
            is_optional=True,
        ),
    ]
    if one is None:
        return fields.modal(
            gettext("Add a leave type"),
            blocks,
            ids.LEAVE_TYPE_FORM,
            gettext("Add"),
            gettext("Back"),
        )
    blocks.append(fields.actions(_archiving(one)))
    return fields.modal(
        gettext("Leave type"), blocks, ids.LEAVE_TYPE_FORM, gettext("Save"), gettext("Back"), one.id
    )


def _archiving(one: LeaveType) -> Block:
    if one.is_archived:
        return fields.button(gettext("Restore"), ids.LEAVE_TYPE_RESTORE, one.id)
    archive = fields.button(gettext("Archive"), ids.LEAVE_TYPE_ARCHIVE, one.id, "danger")
    archive["confirm"] = fields.confirm(
        gettext("Archive this type?"),
        gettext(
            "People can no longer request it. Existing requests stay. A type that was never "
            "used is deleted."
        ),
        gettext("Archive"),
        gettext("Keep it"),
    )
    return archive


def _national(country: Country) -> str:
    named = f"{country.name} ({country.code})"
    return gettext("{country}, national holidays only", country=named) if country.regions else named


def _fitting(label: str, code: str) -> str:
    """The label in a menu; the code is never cut off."""
    if len(label) <= text.LONGEST_OPTION:
        return label
    return f"{text.cut(label, text.LONGEST_OPTION - len(code) - 3)} ({code})"
