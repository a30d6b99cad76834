"""Admin settings: the organisation and its leave types."""

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

_MAX_FOUND: Final = 100
# The default for a new leave type.
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


def organisation(settings: Organisation) -> View:
    months = [Option(label=words.month(number), value=str(number)) for number in range(1, 13)]
    ticked = [JOIN] * settings.slack_members_join + [DIGEST] * (settings.digest_channel is not None)
    channel: Block = {
        "type": "conversations_select",
        # No shared channels (Slack Connect): other organisations would see who is out.
        "filter": {"include": ["public", "private"], "exclude_external_shared_channels": True},
    }
    if settings.digest_channel is not None:
        channel["initial_conversation"] = settings.digest_channel
    expiry = str(settings.carry_over_expiry_month or ids.NOTHING)
    blocks = [
        fields.field("name", gettext("Name"), fields.typed(settings.name)),
        fields.field(
            "country_code",
            gettext("Country for public holidays"),
            fields.search(
                ids.COUNTRY_SEARCH, Option(label=settings.country_code, value=settings.country_code)
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
                ids.TIMEZONE_SEARCH,
                Option(label=settings.timezone, value=settings.timezone),
                least=2,
            ),
        ),
        fields.field(
            "working_days",
            gettext("Working days"),
            fields.several(working_days(), settings.working_days),
        ),
        fields.field(
            "leave_year_type",
            gettext("Leave year"),
            fields.menu(fields.said(_YEAR_TYPES), settings.leave_year_type),
        ),
        fields.field(
            "leave_year_start_month",
            gettext("Leave year starts in (month)"),
            fields.menu(months, str(settings.leave_year_start_month)),
        ),
        fields.field(
            "leave_year_start_day",
            gettext("Leave year starts on (day of the month)"),
            fields.number(settings.leave_year_start_day, least=1, most=31),
        ),
        fields.field(
            "default_leave_allowance",
            gettext("Allowance (days per year)"),
            fields.days_a_year(settings.default_leave_allowance_half_days),
        ),
        fields.field(
            "carry_over",
            gettext("Carry-over limit (days)"),
            fields.days_a_year(settings.carry_over_half_days),
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
    """Countries and regions whose name or code contains the typed text; at most 100."""
    wanted = typed.casefold().strip()
    options = []
    for country in countries:
        places = [(country.code, _national(country))]
        places += [(code, f"{country.name}: {name} ({code})") for code, name in country.regions]
        options += [
            fields.option(Option(label=_fitting(label, code), value=code))
            for code, label in places
            if wanted in label.casefold()
        ]
        if len(options) >= _MAX_FOUND:
            break
    return options[:_MAX_FOUND]


def timezone_options(timezones: Iterable[str], typed: str) -> list[Block]:
    """Time zones that contain the typed text; at most 100."""
    wanted = typed.casefold().strip().replace(" ", "_")
    matching = [timezone for timezone in timezones if wanted in timezone.casefold()]
    return [
        fields.option(Option(label=timezone, value=timezone))
        for timezone in sorted(matching)[:_MAX_FOUND]
    ]


def leave_types(page: Page[LeaveType]) -> View:
    """All types, including archived ones, oldest first."""
    blocks = [fields.actions(fields.button(gettext("Add a leave type"), ids.LEAVE_TYPE_NEW))]
    for leave_type in page.items:
        edit = fields.button(
            gettext("Edit"),
            ids.LEAVE_TYPE_EDIT,
            leave_type.id,
            spoken=gettext("Edit {name}", name=leave_type.name),
        )
        told = f"{leave_type.name} ({leave_type.code})" + (
            f"\n{gettext(_ARCHIVED)}" if leave_type.is_archived else ""
        )
        blocks.append({"type": "section", "text": text.verbatim(told), "accessory": edit})
    return fields.modal(
        gettext("Leave types"), blocks + more(ids.LEAVE_TYPES_MORE, page.next_cursor)
    )


def leave_type(leave_type: LeaveType | None) -> View:
    """The form of a leave type; ``one`` is None for a new one."""
    ticked = (
        ["requires_approval", "deducts_allowance", "is_paid"]
        if leave_type is None
        else [flag for flag in FLAGS if getattr(leave_type, flag)]
    )
    blocks = [
        fields.field(
            "name", gettext("Name"), fields.typed(leave_type.name if leave_type else None)
        ),
        fields.field(
            "code",
            gettext("Code"),
            fields.typed(leave_type.code if leave_type else None, 64),
            hint=gettext("A short name for integrations. Leave empty to create one from the name."),
            is_optional=leave_type is None,
        ),
        fields.field(
            "colour",
            gettext("Colour in calendars"),
            fields.typed(leave_type.colour if leave_type else _COLOUR, 7),
        ),
        fields.field(
            "emoji",
            gettext("Emoji"),
            fields.typed(leave_type.emoji if leave_type else None, 100, placeholder="palm_tree"),
            is_optional=True,
        ),
        fields.field(
            "flags", gettext("Rules"), fields.boxes(fields.said(_FLAGS), ticked), is_optional=True
        ),
        fields.field(
            "min_notice_days",
            gettext("Notice (days)"),
            fields.number(leave_type.min_notice_days if leave_type else 0, most=730),
        ),
        fields.field(
            "max_consecutive_days",
            gettext("Maximum days in a row"),
            fields.number(
                leave_type.max_consecutive_days if leave_type else None, least=1, most=366
            ),
            hint=gettext("Leave empty for no limit."),
            is_optional=True,
        ),
    ]
    if leave_type is None:
        return fields.modal(
            gettext("Add a leave type"),
            blocks,
            ids.LEAVE_TYPE_FORM,
            gettext("Add"),
            gettext("Back"),
        )
    blocks.append(fields.actions(_archiving(leave_type)))
    return fields.modal(
        gettext("Leave type"),
        blocks,
        ids.LEAVE_TYPE_FORM,
        gettext("Save"),
        gettext("Back"),
        leave_type.id,
    )


def _archiving(leave_type: LeaveType) -> Block:
    if leave_type.is_archived:
        return fields.button(gettext("Restore"), ids.LEAVE_TYPE_RESTORE, leave_type.id)
    archive = fields.button(gettext("Archive"), ids.LEAVE_TYPE_ARCHIVE, leave_type.id, "danger")
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
    """The label cut to Slack's limit; the code is kept."""
    if len(label) <= text.MAX_OPTION:
        return label
    return f"{text.cut(label, text.MAX_OPTION - len(code) - 3)} ({code})"
