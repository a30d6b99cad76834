"""The Home tab's balance."""

from __future__ import annotations

from typing import Final

from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import layout, text, words
from storage.leave.ledgers import Balance

_TAKEN, _PENDING, _LEFT = "█", "▒", "░"
_BAR_LENGTH: Final = 20


def bar(balance: Balance) -> str:
    """A bar of 20 characters for taken, pending and remaining days; "" without an allowance."""
    whole = max(balance.entitled_half_days, balance.taken_half_days + balance.pending_half_days)
    if whole <= 0:
        return ""
    taken = round(_BAR_LENGTH * balance.taken_half_days / whole)
    used = round(_BAR_LENGTH * (balance.taken_half_days + balance.pending_half_days) / whole)
    return _TAKEN * taken + _PENDING * (used - taken) + _LEFT * (_BAR_LENGTH - used)


def blocks(balance: Balance) -> list[Block]:
    year = words.span(balance.year.first_day, balance.year.last_day)
    left = _days(balance.remaining_half_days)
    entitled = _days(balance.entitled_half_days)
    summary = gettext("{left} of {entitled} days left", left=left, entitled=entitled)
    lines = [f"*{summary}*"]
    if progress := bar(balance):
        lines.append(f"`{progress}`")
    figures = (
        (gettext("Allowance"), entitled),
        (gettext("Approved"), _days(balance.taken_half_days)),
        (gettext("Pending"), _days(balance.pending_half_days)),
        (gettext("Left"), left),
    )
    blocks = [
        layout.header(gettext("Your balance")),
        {
            **text.section("\n".join(lines)),
            "fields": [text.mrkdwn(f"*{title}*\n{figure}") for title, figure in figures],
        },
        text.quiet(gettext("Leave year: {year}", year=year)),
    ]
    if balance.lapsing_half_days > 0 and balance.lapsing_after is not None:
        lapsing = words.amount(balance.lapsing_half_days)
        last = words.day(balance.lapsing_after)
        blocks.append(
            text.quiet(
                gettext(
                    "Includes {amount} carried over, to use by {day}.", amount=lapsing, day=last
                )
            )
        )
    return blocks


def _days(half_days: int) -> str:
    return words.number(half_days / 2)
