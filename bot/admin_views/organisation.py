"""Admin settings: the organisation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.admin_views.countries import country_option
from bot.admin_views.digests import channel_select
from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from storage.base.values import Organisation

_YEAR_TYPES: Final = (
    Option(label=gettext_noop("Calendar year"), value="calendar"),
    Option(label=gettext_noop("From the day and month below"), value="fiscal"),
    Option(label=gettext_noop("From each person's first day of work"), value="anniversary"),
)
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
        *fields.week_fields(settings.working_days),
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


def timezone_options(timezones: Iterable[str], typed: str) -> list[Block]:
    """Time zones that contain the typed text; at most 100."""
    query = typed.casefold().strip().replace(" ", "_")
    matching = [timezone for timezone in timezones if query in timezone.casefold()]
    return [
        fields.option(Option(label=timezone, value=timezone))
        for timezone in sorted(matching)[: fields.MAX_OPTIONS]
    ]
