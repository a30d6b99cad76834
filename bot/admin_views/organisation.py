"""Admin settings: the organisation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot.admin_views.countries import country_option
from bot.admin_views.digests import channel_select
from bot.admin_views.people import WEEK
from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text, words
from bot.blocks.fields import Option
from storage.base.values import Organisation

_YEAR_TYPES: Final = (
    Option(label=gettext_noop("Calendar year"), value="calendar"),
    Option(label=gettext_noop("From the day and month below"), value="fiscal"),
    Option(label=gettext_noop("From each person's first day of work"), value="anniversary"),
)
# The fields of the weekdays, from Monday.
WEEKDAYS: Final = tuple(f"working_days/{day}" for day in WEEK)
JOIN: Final = "slack_members_join"
DIGEST: Final = "digest"


def organisation(settings: Organisation, country_name: str) -> View:
    """The form; ``country_name`` is that of the organisation's public holidays."""
    months = [Option(label=words.month(number), value=str(number)) for number in range(1, 13)]
    ticked = [JOIN] * settings.slack_members_join + [DIGEST] * (settings.digest_channel is not None)
    expiry = str(settings.carry_over_expiry_month or ids.NOTHING)
    blocks = [
        fields.field("name", gettext("Name"), fields.text_input(settings.name)),
        fields.field(
            "country_code",
            gettext("Country for public holidays"),
            fields.external_select(
                ids.COUNTRY_SEARCH, country_option(settings.country_code, country_name)
            ),
            hint=(
                gettext(
                    "Without a region, only national holidays apply. Choose one for regional "
                    "holidays."
                )
            ),
        ),
        fields.field(
            "timezone",
            gettext("Time zone"),
            fields.external_select(
                ids.TIMEZONE_SEARCH,
                Option(label=settings.timezone, value=settings.timezone),
                least=2,
            ),
        ),
        *_week(settings.working_days),
        fields.field(
            "leave_year_type",
            gettext("Leave year"),
            fields.select(fields.translated(_YEAR_TYPES), settings.leave_year_type),
        ),
        fields.field(
            "leave_year_start_month",
            gettext("Leave year starts in (month)"),
            fields.select(months, str(settings.leave_year_start_month)),
        ),
        fields.field(
            "leave_year_start_day",
            gettext("Leave year starts on (day of the month)"),
            fields.number_input(settings.leave_year_start_day, least=1, most=31),
        ),
        fields.field(
            "default_leave_allowance",
            gettext("Allowance (days per year)"),
            fields.days_input(settings.default_leave_allowance_half_days),
        ),
        fields.field(
            "carry_over",
            gettext("Carry-over limit (days)"),
            fields.days_input(settings.carry_over_half_days),
        ),
        fields.field(
            "carry_over_expiry_month",
            gettext("Use carried-over days by the end of"),
            fields.select(
                [Option(label=gettext("The leave year"), value=ids.NOTHING), *months], expiry
            ),
        ),
        fields.field(
            "slack",
            gettext("In Slack"),
            fields.checkboxes(
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
            channel_select(settings.digest_channel),
            hint=gettext("Invite Hiatus first: type /invite @Hiatus in the channel."),
            is_optional=True,
        ),
    ]
    return layout.modal(
        gettext("Organisation"), blocks, ids.ORGANISATION_FORM, gettext("Save"), gettext("Cancel")
    )


def _week(working_days: Sequence[str]) -> list[Block]:
    """A menu for each weekday; its values are those of ``working_days``."""
    rows = []
    for number, day in enumerate(WEEK):
        options = [
            Option(label=gettext("Works"), value=day),
            Option(label=gettext("Mornings only"), value=f"{day}:am"),
            Option(label=gettext("Afternoons only"), value=f"{day}:pm"),
            Option(label=gettext("Off"), value=ids.NOTHING),
        ]
        chosen = next((entry for entry in working_days if entry.startswith(day)), ids.NOTHING)
        menu = fields.select(options, chosen)
        rows.append(fields.field(WEEKDAYS[number], words.weekday(number), menu))
    title = gettext("Working days")
    return [text.quiet(f"*{title}*"), *rows]


def timezone_options(timezones: Iterable[str], typed: str) -> list[Block]:
    """Time zones that contain the typed text; at most 100."""
    query = typed.casefold().strip().replace(" ", "_")
    matching = [timezone for timezone in timezones if query in timezone.casefold()]
    return [
        fields.option(Option(label=timezone, value=timezone))
        for timezone in sorted(matching)[: fields.MAX_OPTIONS]
    ]
