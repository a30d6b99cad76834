"""The Home tab's balance: a row for each leave year."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.base.block_kit import Block
from bot.base.language import gettext, ngettext
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


def blocks(balances: Sequence[Balance]) -> list[Block]:
    shown = [layout.header(gettext("Your balance"))]
    for balance in balances:
        shown.append(text.section("\n".join(_lines(balance))))
        if small_print := _small_print(balance):
            shown.append(text.quiet(" ".join(small_print)))
    return shown


def _lines(balance: Balance) -> list[str]:
    summary = ngettext(
        "{year}: {left} of {entitled} day left",
        "{year}: {left} of {entitled} days left",
        words.plural_number(balance.entitled_half_days),
        year=balance.year.name,
        left=_days(balance.remaining_half_days),
        entitled=_days(balance.entitled_half_days),
    )
    figures = gettext(
        "Approved: {approved}. Pending: {pending}.",
        approved=_days(balance.taken_half_days),
        pending=_days(balance.pending_half_days),
    )
    progress = bar(balance)
    return [f"*{summary}*", f"{progress}  {figures}" if progress else figures]


def _small_print(balance: Balance) -> list[str]:
    sentences = []
    if "/" in balance.year.name:
        year = words.span(balance.year.first_day, balance.year.last_day)
        sentences.append(gettext("Leave year: {year}.", year=year))
    if balance.lapsing_half_days > 0 and balance.lapsing_after is not None:
        sentences.append(
            gettext(
                "Includes {amount} carried over, to use by {day}.",
                amount=words.amount(balance.lapsing_half_days),
                day=words.day(balance.lapsing_after),
            )
        )
    return sentences


def _days(half_days: int) -> str:
    return words.number(half_days / 2)
