"""Admin settings: a person's balance, and the form that adjusts it."""

from __future__ import annotations

from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import fields, layout, text, words
from bot.blocks.fields import Option
from storage.base.values import User
from storage.leave.ledgers import Balance, Line

# A year may have hundreds of adjustments; the API lists all of them.
_MAX_SHOWN: Final = 10


def balance(user: User, balance: Balance) -> View:
    """The figures of this leave year, its last adjustments, and the fields of a new one."""
    year = balance.year.first_day.year
    years = [Option(label=str(each), value=str(each)) for each in (year - 1, year, year + 1)]
    blocks: list[Block] = [
        layout.row(user.name or user.email, _facts(balance)),
        *_adjustments(balance),
        layout.header(gettext("Adjust the balance")),
        fields.field(
            "days",
            gettext("Days"),
            fields.days_input(None) | {"min_value": "-366"},
            hint=gettext("Use a minus to take days away, such as -1.5."),
        ),
        fields.field("leave_year", gettext("Leave year"), fields.select(years, str(year))),
        fields.field(
            "reason",
            gettext("Reason"),
            fields.text_input(),
            hint=gettext("Visible to the person and their approvers."),
        ),
    ]
    return layout.modal(
        gettext("Balance"), blocks, ids.ADJUSTMENT_FORM, gettext("Adjust"), gettext("Back"), user.id
    )


def adjusted(user: User, balance: Balance) -> View:
    """What is left in this leave year after an adjustment."""
    blocks = [
        text.section(gettext("The balance was adjusted.")),
        layout.row(user.name or user.email, _facts(balance)),
    ]
    return layout.modal(gettext("Balance"), blocks)


def _facts(balance: Balance) -> list[str]:
    return [
        gettext(
            "{amount} left in {year}",
            amount=words.amount(balance.remaining_half_days),
            year=balance.year.name,
        ),
        gettext("{amount} in total", amount=words.amount(balance.entitled_half_days)),
        gettext("{amount} approved", amount=words.amount(balance.taken_half_days)),
        gettext("{amount} pending", amount=words.amount(balance.pending_half_days)),
    ]


def _adjustments(balance: Balance) -> list[Block]:
    lines = [_line(line) for line in balance.lines if line.type == "adjustment"]
    if not lines:
        return []
    shown = "\n".join(lines[-_MAX_SHOWN:])
    return [text.quiet(gettext("Adjustments of this leave year")), text.paragraph(shown)]


def _line(line: Line) -> str:
    days = words.number(line.half_days / 2)
    signed = f"+{days}" if line.half_days > 0 else days
    reason = "" if line.adjustment is None else line.adjustment.reason
    return f"• {signed}: {text.cut(text.one_line(reason), 200)}"
