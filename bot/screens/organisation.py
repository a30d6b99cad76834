"""Settings: the organisation."""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, locale
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction.interaction import Interaction
from bot.screens import forms, screen, searches
from bot.screens.forms import Form
from bot.screens.screen import Saving, Screen
from storage.admin import organisation_settings, organisations
from storage.admin.organisation_settings import OF_PRO_RATA, PRO_RATA_OF_COUNTRY
from storage.base.allowance_values import ProRata
from storage.base.errors import InvalidInput
from storage.base.values import Caller, Organisation, local_day
from storage.db.database import Transaction
from storage.outbox import organisation_config
from storage.rules import holiday_calendar
from storage.workspaces import setup_checklist

NAME: Final = "settings.organisation"
FORM: Final = f"{NAME}.form"
_YEAR_TYPES: Final = (
    Option(label=gettext_noop("Calendar year"), value="calendar"),
    Option(label=gettext_noop("From the day and month below"), value="fiscal"),
    Option(label=gettext_noop("From each person's first day of work"), value="anniversary"),
)
# How a part of a leave year is granted; others are set over the API.
_PRO_RATA: Final = {
    "days": ProRata(),
    "GB": PRO_RATA_OF_COUNTRY["GB"],
    "DE": PRO_RATA_OF_COUNTRY["DE"],
}
_PARTS: Final = (
    Option(label=gettext_noop("By days, up to half a day (default)"), value="days"),
    Option(label=gettext_noop("UK: months started"), value="GB"),
    Option(label=gettext_noop("Germany: full months (BUrlG)"), value="DE"),
)
_OWN: Final = Option(label=gettext_noop("Own settings (set over the API)"), value="own")
JOIN: Final = "slack_members_join"
DIGEST: Final = "digest"


def read_form(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    settings = organisations.get(tx, by=by, now=interaction.now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(interaction.now, settings.timezone)
    terms = config.allowances[config.default_allowance_id].terms
    country_name = holiday_calendar.country_name(settings.country_code, locale())
    return form_view(settings, country_name, forms.from_when(config, terms, today))


def form_view(settings: Organisation, country_name: str, from_when: Block) -> View:
    """The form; ``country_name`` is that of the organisation's public holidays.

    ``from_when`` is the field with the day from which allowance and carry-over count.
    """
    months = [Option(label=words.month(number), value=str(number)) for number in range(1, 13)]
    ticked = [JOIN] * settings.slack_members_join + [DIGEST] * (settings.digest_channel is not None)
    expiry = str(settings.carry_over_expiry_month or ids.NOTHING)
    blocks = [
        fields.field("name", gettext("Name"), fields.text_input(settings.name)),
        fields.field(
            "country_code",
            gettext("Country for public holidays"),
            searches.country_select((settings.country_code, country_name)),
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
            searches.timezone_select(settings.timezone),
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
        _part_of_a_year(settings),
        from_when,
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
            fields.channel_select(settings.digest_channel),
            hint=gettext("Invite Hiatus first: type /invite @Hiatus in the channel."),
            is_optional=True,
        ),
    ]
    return layout.modal(gettext("Organisation"), blocks, FORM, gettext("Save"), gettext("Cancel"))


def _part_of_a_year(settings: Organisation) -> Block:
    """The choice of a pro rata rule; the present one is offered even if it is no preset."""
    present = {field: getattr(settings, name) for name, field in OF_PRO_RATA.items()}
    chosen = next((name for name, rule in _PRO_RATA.items() if rule == ProRata(**present)), None)
    offered = _PARTS if chosen else (*_PARTS, _OWN)
    return fields.field(
        "pro_rata",
        gettext("Part of a year"),
        fields.select(fields.translated(offered), chosen or _OWN.value),
        hint=gettext(
            "What people get who start or leave within a leave year, or whose allowance changes."
        ),
    )


def _save(tx: Transaction, saving: Saving) -> object:
    saved = organisation_settings.update(
        tx,
        _values(saving.form),
        effective_from=saving.form.day("effective_from"),
        is_set_up=setup_checklist.is_open(tx, "country", by=saving.by, now=saving.now),
        by=saving.by,
        now=saving.now,
        recorder=saving.recorder,
    )
    # A country that an admin saves without a region is right as it is.
    setup_checklist.check_off(tx, "country", by=saving.by, now=saving.now)
    return saved


def _values(form: Form) -> dict[str, object]:
    """Raises InvalidInput."""
    ticked = form.several("slack")
    channel = form.chosen("digest_channel")
    if DIGEST in ticked and channel is None:
        raise InvalidInput.of(
            "digest_channel", "required", gettext_noop("Choose the channel to post in.")
        )
    return {
        "name": form.text("name") or "",
        "country_code": form.chosen("country_code") or "",
        "timezone": form.chosen("timezone") or "",
        "working_days": form.working_days(),
        "leave_year_type": form.chosen("leave_year_type"),
        "leave_year_start_month": form.whole("leave_year_start_month"),
        "leave_year_start_day": form.whole("leave_year_start_day"),
        "default_leave_allowance_half_days": form.half_days("default_leave_allowance"),
        "carry_over_half_days": form.half_days("carry_over"),
        "carry_over_expiry_month": form.whole("carry_over_expiry_month"),
        **_pro_rata(form.chosen("pro_rata")),
        "slack_members_join": JOIN in ticked,
        "digest_channel": channel if DIGEST in ticked else None,
    }


def _pro_rata(chosen: str | None) -> dict[str, object]:
    """The settings of the chosen preset; none for settings of their own, which stay."""
    rule = _PRO_RATA.get(chosen or "")
    if rule is None:
        return {}
    return {name: getattr(rule, field) for name, field in OF_PRO_RATA.items()}


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(read_form))
    forms.register(app, FORM, screen.confirms(_save))


SCREEN: Final = Screen(gettext_noop("Organisation"), NAME, register)
