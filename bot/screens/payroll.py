"""Settings: the payroll file of a month, sent to the admin who asks for it.

As a file where the workspace lets the app send files, else as a link that works once.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

import structlog
from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, Message, View
from bot.base.language import gettext, gettext_noop
from bot.base.payloads import UnexpectedPayload
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.client import slack_web
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.screens import screen
from bot.screens.forms import Form
from bot.screens.screen import Screen
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.reports import formats, leave, report_links, reports
from storage.reports.leave import LeaveReportRow
from storage.reports.reports import Period, Run

NAME: Final = "settings.payroll"
_MONTHS: Final = 13
# More than an organisation of 50,000 people has; a larger file is a link, which is streamed.
_MAX_UPLOAD_BYTES: Final = 16_000_000

_log = structlog.stdlib.get_logger("hiatus.slack")


def _read(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    return form_view(reports.today(tx, by=by, now=interaction.now))


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
    period = Period(first_day=first_day, last_day=reports.month_end(first_day))
    await interaction.tell(gettext("I'm sending you the file. Find it in the Messages tab."))
    run = await interaction.database.read(
        leave.start, period.first_day, period.last_day, by=by, now=interaction.now
    )
    content = await _content(interaction, run)
    month = words.month_of_year(first_day)
    posted = await interaction.client.chat_postMessage(
        channel=interaction.slack_user_id,
        text=gettext("Here is the payroll file for {month}.", month=month),
    )
    if content is not None:
        try:
            await interaction.client.files_upload_v2(
                channel=posted["channel"], filename=f"{run.file_name}.csv", content=content
            )
        except slack_web.FAILURES as failure:
            # Most often the optional scope is missing.
            _log.info("slack.file_not_sent", reason=slack_web.summary(failure))
        else:
            return
    url = report_links.url(
        interaction.services.base_url,
        interaction.database.secrets,
        period,
        by=by,
        now=interaction.now,
    )
    await interaction.client.chat_update(
        channel=posted["channel"], ts=posted["ts"], **link_message(month, url)
    )


async def _content(interaction: Interaction, run: Run[LeaveReportRow]) -> bytes | None:
    """The file; None if it is too large to send."""
    parts: list[bytes] = []
    rest: Run[LeaveReportRow] | None = run
    while rest is not None:
        part = await interaction.database.read(formats.read, rest, "csv")
        parts.append(part.content)
        rest = part.next
        if sum(map(len, parts)) > _MAX_UPLOAD_BYTES:
            return None
    return b"".join(parts)


def link_message(month: str, url: str) -> Message:
    """The message with the link."""
    sentence = gettext(
        "Here is the payroll file for {month}. The link works once, within a day.", month=month
    )
    button = layout.button(gettext("Download"), f"{NAME}.download", style="primary")
    button["url"] = url
    blocks: list[Block] = [layout.section(sentence), layout.actions(button)]
    return {"text": sentence, "blocks": blocks}


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(_read))
    app.view(f"{NAME}.form")(_send)


SCREEN: Final = Screen(gettext_noop("Payroll file"), NAME, register)
