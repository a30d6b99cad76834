"""Settings of the organisation, in three forms: where it is, its leave year, and Slack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, locale, ngettext
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction.interaction import Interaction
from bot.screens import forms, screen, searches
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
from storage.workspaces.setup_checklist import Checkable

NAME: Final = "settings.organisation"
LEAVE_YEAR: Final = "settings.leave_year"
IN_SLACK: Final = "settings.in_slack"
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
    Option(label=gettext_noop("By days, rounded up to half days (default)"), value="days"),
    Option(label=gettext_noop("UK: months started"), value="GB"),
    Option(label=gettext_noop("Germany: full months (BUrlG)"), value="DE"),
)
_OWN: Final = Option(label=gettext_noop("Own settings (set over the API)"), value="own")
JOIN: Final = "slack_members_join"
DIGEST: Final = "digest"
EXPIRY: Final = "expiry_notices"
_RETENTION_MONTHS: Final = (12, 24, 36, 60, 120)


def read_form(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    settings = organisations.get(tx, by=by, now=interaction.now)
    country_name = holiday_calendar.country_name(settings.country_code, locale())
    return form_view(settings, country_name)


def read_leave_year(tx: Transaction, interaction: Interaction, by: Caller, step: str) -> View:
    settings = organisations.get(tx, by=by, now=interaction.now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(interaction.now, settings.timezone)
    terms = config.allowances[config.default_allowance_id].terms
    return leave_year_view(settings, forms.from_when(config, terms, today), step)


def read_in_slack(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    return in_slack_view(organisations.get(tx, by=by, now=interaction.now))


def form_view(settings: Organisation, country_name: str) -> View:
    """Name, place and working days; ``country_name`` is that of the public holidays."""
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
        _retention(settings),
    ]
    return _form(gettext("Organisation"), blocks, NAME)


def _retention(settings: Organisation) -> Block:
    """How long texts are kept; the present time is offered even if it is none of the usual."""
    chosen = settings.retention_months
    offered = sorted({*_RETENTION_MONTHS, *([] if chosen is None else [chosen])})
    forever = Option(label=gettext("Forever"), value=ids.NOTHING)
    months = [
        Option(
            label=ngettext("{count} month", "{count} months", count),
            value=str(count),
        )
        for count in offered
    ]
    return fields.field(
        "retention_months",
        gettext("Keep notes and reasons of past leave"),
        fields.select([forever, *months], str(chosen or ids.NOTHING)),
        hint=gettext("Older ones are removed once a day, also from the audit trail. Days stay."),
    )


def leave_year_view(settings: Organisation, from_when: Block, step: str = "") -> View:
    """What everyone gets in a leave year; only what a ``step`` of the checklist is about.

    ``from_when`` is the field with the day from which allowance and carry-over count.
    """
    match step:
        case "allowance":
            return _form(gettext("Allowance"), [_allowance(settings), from_when], LEAVE_YEAR, step)
        case "leave_year":
            return _form(gettext("Leave year"), _leave_year(settings), LEAVE_YEAR, step)
        case "carry_over":
            blocks = [*_carry_over(settings), from_when]
            return _form(gettext("Carry-over"), blocks, LEAVE_YEAR, step)
    blocks = [
        *_leave_year(settings),
        _allowance(settings),
        *_carry_over(settings),
        from_when,
    ]
    return _form(gettext("Leave year"), blocks, LEAVE_YEAR)


def _allowance(settings: Organisation) -> Block:
    return fields.field(
        "default_leave_allowance",
        gettext("Allowance (days per year)"),
        fields.days_input(settings.default_leave_allowance_half_days),
    )


def _leave_year(settings: Organisation) -> list[Block]:
    return [
        fields.field(
            "leave_year_type",
            gettext("Leave year"),
            fields.select(fields.translated(_YEAR_TYPES), settings.leave_year_type),
        ),
        fields.field(
            "leave_year_start_month",
            gettext("Leave year starts in (month)"),
            fields.select(_months(), str(settings.leave_year_start_month)),
        ),
        fields.field(
            "leave_year_start_day",
            gettext("Leave year starts on (day of the month)"),
            fields.number_input(settings.leave_year_start_day, least=1, most=31),
        ),
        _part_of_a_year(settings),
    ]


def _carry_over(settings: Organisation) -> list[Block]:
    until = [Option(label=gettext("The leave year"), value=ids.NOTHING), *_months()]
    return [
        fields.field(
            "carry_over",
            gettext("Carry-over limit (days)"),
            fields.days_input(settings.carry_over_half_days),
        ),
        fields.field(
            "carry_over_expiry_month",
            gettext("Use carried-over days by the end of"),
            fields.select(until, str(settings.carry_over_expiry_month or ids.NOTHING)),
        ),
    ]


def _months() -> list[Option]:
    return [Option(label=words.month(number), value=str(number)) for number in range(1, 13)]


def in_slack_view(settings: Organisation) -> View:
    """Who joins, who is told of days that lapse, and where is posted who is out."""
    chosen = {
        JOIN: settings.slack_members_join,
        EXPIRY: settings.expiry_notices,
        DIGEST: settings.digest_channel is not None,
    }
    blocks = [
        fields.field(
            "slack",
            gettext("In Slack"),
            fields.checkboxes(
                (
                    Option(label=gettext("Add new workspace members automatically"), value=JOIN),
                    Option(label=gettext("Tell people before their days lapse"), value=EXPIRY),
                    Option(label=gettext("Post who's out in the channel below"), value=DIGEST),
                ),
                [value for value, is_chosen in chosen.items() if is_chosen],
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
    return _form(gettext("In Slack"), blocks, IN_SLACK)


def _form(title: str, blocks: Sequence[Block], name: str, about: str = "") -> View:
    return layout.modal(title, blocks, f"{name}.form", gettext("Save"), gettext("Cancel"), about)


def _part_of_a_year(settings: Organisation) -> Block:
    """The choice of a pro rata rule; the present one is offered even if it is no preset."""
    present = {field: getattr(settings, name) for name, field in OF_PRO_RATA.items()}
    chosen = next((name for name, rule in _PRO_RATA.items() if rule == ProRata(**present)), None)
    offered = _PARTS if chosen else (*_PARTS, _OWN)
    return fields.field(
        "pro_rata",
        gettext("Part-year allowance"),
        fields.select(fields.translated(offered), chosen or _OWN.value),
        hint=gettext(
            "For people who start or leave during a leave year, or whose allowance changes."
        ),
    )


def _save(tx: Transaction, saving: Saving) -> object:
    form = saving.form
    values: dict[str, object] = {
        "name": form.text("name") or "",
        "country_code": form.chosen("country_code") or "",
        "timezone": form.chosen("timezone") or "",
        "working_days": form.working_days(),
    }
    # A form that an earlier version opened has no such field.
    if form.text("retention_months") is not None:
        values["retention_months"] = form.whole("retention_months")
    is_set_up = setup_checklist.is_open(tx, "country", by=saving.by, now=saving.now)
    saved = _update(tx, saving, values, is_set_up=is_set_up)
    # A country that an admin saves without a region is right as it is.
    setup_checklist.check_off(tx, "country", by=saving.by, now=saving.now)
    return saved


def _save_leave_year(tx: Transaction, saving: Saving) -> object:
    """Save what the form shows; the steps of the checklist that it has are right as they are."""
    form = saving.form
    values: dict[str, object] = {}
    shown: list[Checkable] = []
    if form.text("default_leave_allowance") is not None:
        shown.append("allowance")
        values["default_leave_allowance_half_days"] = form.half_days("default_leave_allowance")
    if form.text("leave_year_type") is not None:
        shown.append("leave_year")
        values |= {
            "leave_year_type": form.chosen("leave_year_type"),
            "leave_year_start_month": form.whole("leave_year_start_month"),
            "leave_year_start_day": form.whole("leave_year_start_day"),
            **_pro_rata(form.chosen("pro_rata")),
        }
    if form.text("carry_over") is not None:
        shown.append("carry_over")
        values |= {
            "carry_over_half_days": form.half_days("carry_over"),
            "carry_over_expiry_month": form.whole("carry_over_expiry_month"),
        }
    saved = _update(tx, saving, values)
    for step in shown:
        setup_checklist.check_off(tx, step, by=saving.by, now=saving.now)
    return saved


def _save_in_slack(tx: Transaction, saving: Saving) -> object:
    """Raises InvalidInput."""
    ticked = saving.form.several("slack")
    channel = saving.form.chosen("digest_channel")
    if DIGEST in ticked and channel is None:
        raise InvalidInput.of(
            "digest_channel", "required", gettext_noop("Choose the channel to post in.")
        )
    values: dict[str, object] = {
        "slack_members_join": JOIN in ticked,
        "expiry_notices": EXPIRY in ticked,
        "digest_channel": channel if DIGEST in ticked else None,
    }
    return _update(tx, saving, values)


def _update(
    tx: Transaction, saving: Saving, values: Mapping[str, object], *, is_set_up: bool = False
) -> object:
    return organisation_settings.update(
        tx,
        values,
        effective_from=saving.form.day("effective_from"),
        is_set_up=is_set_up,
        by=saving.by,
        now=saving.now,
        recorder=saving.recorder,
    )


def _pro_rata(chosen: str | None) -> dict[str, object]:
    """The settings of the chosen preset; none for settings of their own, which stay."""
    rule = _PRO_RATA.get(chosen or "")
    if rule is None:
        return {}
    return {name: getattr(rule, field) for name, field in OF_PRO_RATA.items()}


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(read_form))
    forms.register(app, f"{NAME}.form", screen.confirms(_save))


def _register_leave_year(app: AsyncApp) -> None:
    app.action(LEAVE_YEAR)(screen.opens(read_leave_year))
    forms.register(app, f"{LEAVE_YEAR}.form", screen.confirms(_save_leave_year))


def _register_in_slack(app: AsyncApp) -> None:
    app.action(IN_SLACK)(screen.opens(read_in_slack))
    # It affects no one's leave, so there is nothing to confirm.
    app.view(f"{IN_SLACK}.form")(screen.confirms(_save_in_slack))


SCREENS: Final = (
    Screen(gettext_noop("Organisation"), NAME, register),
    Screen(gettext_noop("Leave year and allowance"), LEAVE_YEAR, _register_leave_year),
    Screen(gettext_noop("In Slack"), IN_SLACK, _register_in_slack),
)
