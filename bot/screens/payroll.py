"""Settings: the payroll file of a month, sent to the admin who asks for it.

As a file where the workspace lets the app send files, else as a link that works once.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import View
from bot.base.language import gettext, gettext_noop
from bot.base.payloads import UnexpectedPayload
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.screens import file_messages, screen
from bot.screens.forms import Form
from bot.screens.screen import Screen
from storage.base.values import Caller, month_end
from storage.db.database import Transaction
from storage.outbox import organisation_config
from storage.reports import formats, leave, report_links
from storage.reports.leave import LeaveReportRow
from storage.reports.reports import Period, Run

NAME: Final = "settings.payroll"
_MONTHS: Final = 13


def _read(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    return form_view(organisation_config.today(tx, by.organisation_id, interaction.now))


def form_view(today: date) -> View:
    """Asks for the month: by default the last one."""
    months = [today.replace(day=1)]
    while len(months) < _MONTHS:
        months.append((months[-1] - timedelta(days=1)).replace(day=1))
    options = [
        Option(label=words.month_of_year(month), value=month.isoformat()) for month in months
    ]
    blocks = [
        layout.section(
            gettext(
                "A CSV file for your payroll office: the days of approved leave in a month, a row "
                "for each person and leave type, with employee numbers."
            )
        ),
        fields.field("month", gettext("Month"), fields.select(options, options[1].value)),
    ]
    return layout.modal(
        gettext("Payroll file"), blocks, f"{NAME}.form", gettext("Send it to me"), gettext("Back")
    )


async def _send(interaction: Interaction) -> None:
    """Send the file in a direct message; the form says so meanwhile."""
    by, form = await modals.admin(interaction), Form(interaction)
    try:
        first_day = date.fromisoformat(form.chosen("month") or "")
    except ValueError as error:
        raise UnexpectedPayload("month") from error
    period = Period(first_day=first_day, last_day=month_end(first_day))
    await interaction.tell(gettext("I'm sending you the file. Find it in the Messages tab."))
    run = await interaction.database.read(
        leave.start, period.first_day, period.last_day, by=by, now=interaction.now
    )
    content = await _content(interaction, run)
    month = words.month_of_year(first_day)
    await file_messages.send(
        interaction,
        content,
        f"{run.file_name}.csv",
        gettext("Here is the payroll file for {month}.", month=month),
        report_links.url(
            interaction.services.base_url,
            interaction.database.secrets,
            period,
            by=by,
            now=interaction.now,
        ),
    )


async def _content(interaction: Interaction, run: Run[LeaveReportRow]) -> bytes | None:
    """The file; None if it is too large to send."""
    content = bytearray()
    first = await interaction.database.read(formats.read, run, "csv")
    async for part in interaction.database.read_parts(first):
        content += part
        if len(content) > file_messages.MAX_BYTES:
            return None
    return bytes(content)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(_read))
    app.view(f"{NAME}.form")(_send)


SCREEN: Final = Screen(gettext_noop("Payroll file"), NAME, register)
